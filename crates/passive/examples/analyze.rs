//! Prints the analysis of a capture (and of one behind the link), and the speed of reading and
//! analysis.
//!
//! `cargo run --release -p goodqueue-passive --example analyze -- before.pcap [after.pcap]`

use goodqueue_passive::{Class, Control, Options, analyze_files};
use goodqueue_trace::read::{Capture, decode};
use std::fs::File;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<_> = std::env::args_os()
        .skip(1)
        .map(std::path::PathBuf::from)
        .collect();
    let path = paths.first().ok_or("name a capture")?;
    if let Ok(mut capture) = Capture::new(File::open(path)?) {
        let begin = Instant::now();
        let mut good = 0_u64;
        while let Some(frame) = capture.next_frame()? {
            good += u64::from(decode(&frame).is_ok());
        }
        let rate = good as f64 / begin.elapsed().as_secs_f64();
        println!("read: {good} packets, {rate:.3e} packets/s");
    }
    let options = Options {
        path: path.clone(),
        after: paths.get(1).cloned(),
        seed: 1,
        ..Options::default()
    };
    let begin = Instant::now();
    let (report, readings) = analyze_files(&options, |_| true)?;
    let packets: u64 = readings.iter().map(|reading| reading.packets).sum();
    let rate = packets as f64 / begin.elapsed().as_secs_f64();
    println!("analysed: {packets} packets, {rate:.3e} packets/s");
    println!(
        "{}",
        serde_json::to_string_pretty(&report.summary_json(&readings))?
    );
    let ms = |value: Option<i64>| value.map_or(f64::NAN, |value| value as f64 * 1e-6);
    for flow in report
        .flows
        .iter()
        .filter(|flow| flow.counts.bytes > 20_000)
    {
        let counts = &flow.counts;
        println!(
            "{} fwd {} bytes {} mss {} rtt {:.2} (hs {:.2} ss {:.2} ts {:.2} pair {:.2} mean {:.2}) \
             rtx {} fast {} rto {} spur {} reord {} lost {:?} marked {:?} flight {} / {:.0} win {} \
             shares {:.2?} {} {:?} red {} expl {:?} dec {:.3?} {}",
            flow.name(),
            flow.forward,
            counts.bytes,
            flow.mss,
            ms(flow.rtt.base),
            ms(flow.rtt.handshake),
            ms(flow.rtt.slow_start),
            ms(flow.rtt.timestamps),
            ms(flow.rtt.pairs),
            flow.rtt.mean_s.unwrap_or(0.0) * 1e3,
            counts.retransmissions,
            counts.fast,
            counts.timeouts,
            counts.spurious,
            counts.reordered,
            counts.lost,
            counts.marked,
            flow.max_flight,
            flow.mean_flight.unwrap_or(0.0),
            flow.max_window,
            flow.shares,
            Class::NAMES[flow.class as usize],
            flow.bottleneck,
            flow.reductions,
            flow.explained,
            flow.decrease_factor,
            Control::NAMES[flow.control as usize],
        );
    }
    Ok(())
}
