//! Files that are damaged or made up through all that reads them, for as long as one likes. Nothing may
//! panic or hang, and what is accepted must survive being written out.
//!
//! `cargo run -p goodqueue-fuzz -- TARGET SECONDS SEED [FILE...]`, from the root of the repository.
//! `captures` takes captures and traces that are not packed, those of two sides of a link one after the
//! other, and also wraps, compresses and disorders them; `scenario`, `study`, `tc` and `ns2` change what is in `scenarios/`, `studies/`, `tools/ns2` and the
//! tests of the crates, and `records` flow records. An input at fault is kept as `fuzz/crash-*`, and the program ends.

mod captures;
mod damage;
mod made_up;
mod mutate;
mod probe;
mod texts;
mod wrapped;

use goodqueue_types::RandomStream;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let target = arguments.next().ok_or("name a target")?;
    let seconds: u64 = arguments.next().ok_or("say how many seconds")?.parse()?;
    let seed: u64 = arguments.next().ok_or("give a seed")?.parse()?;
    let files: Vec<String> = arguments.collect();
    match &*target {
        "captures" => captures::run_for(seconds, seed, &files),
        "scenario" => texts::run_for(&texts::scenario()?, seconds, seed),
        "study" => texts::run_for(&texts::study()?, seconds, seed),
        "tc" => texts::run_for(&texts::tc()?, seconds, seed),
        "ns2" => texts::run_for(&texts::ns2()?, seconds, seed),
        "records" => texts::run_for(&texts::records()?, seconds, seed),
        "rates" => texts::run_for(&texts::rates(), seconds, seed),
        "probe" => probe::run_for(seconds, seed),
        _ => Err(format!(
            "\"{target}\" is no target: captures, scenario, study, tc, ns2, records, rates, probe"
        )
        .into()),
    }
}

/// A number from 0 to `limit - 1`.
fn below(random: &mut RandomStream, limit: usize) -> usize {
    (random.unit() * limit as f64) as usize
}
