//! Probes drawn links in virtual time and prints how often and by how much the probe is wrong.
//!
//! `cargo run --release -p goodqueue-probe --example drawn_links -- LINKS SEED [FILE]`

#[path = "../tests/bed/mod.rs"]
mod bed;
#[path = "../tests/drawn/mod.rs"]
mod drawn;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let links: u64 = arguments
        .next()
        .map_or(100, |text| text.parse().expect("a number"));
    let seed: u64 = arguments
        .next()
        .map_or(1, |text| text.parse().expect("a number"));
    let verbose = arguments.next().is_some();
    let from: u64 = arguments
        .next()
        .map_or(0, |text| text.parse().expect("a number"));
    let found: Vec<_> = std::thread::scope(|scope| {
        let threads = (0..4).map(|thread| {
            let mine = (from..from + links).filter(move |link| link % 4 == thread);
            scope.spawn(move || {
                mine.map(|link| drawn::probe(seed, link))
                    .collect::<Vec<_>>()
            })
        });
        let threads: Vec<_> = threads.collect();
        let found = threads.into_iter().map(|one| one.join().expect("no panic"));
        found.flatten().collect()
    });
    for one in found.iter().filter(|_| verbose) {
        println!("{}", one.line());
    }
    print!("{}", drawn::table(&found));
}
