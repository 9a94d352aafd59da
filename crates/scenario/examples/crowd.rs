//! Memory and CPU time of a run with many flows:
//! `cargo run --release -p goodqueue-scenario --example crowd -- 1000000 linux 3`.
//!
//! The arguments are the number of flows, the TCP profile and the simulated seconds. The program
//! reads a scenario, runs it and writes its summary by group to nowhere, as `goodqueue run --json`
//! does without Python. Each flow has 0.5 Mb/s of the bottleneck, 40 ms of round trip and 20 ms of
//! buffer. All flows start within the first second.

use goodqueue_scenario::{Scenario, summary_json};
use goodqueue_sim::run;
use std::fs::read_to_string;

/// Clock ticks per second in `/proc/self/stat` (proc(5)): 100 on every Linux of this decade.
const TICKS_PER_SECOND: f64 = 100.0;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument =
        |at: usize, usual: &str| arguments.get(at).map_or(usual, String::as_str).to_owned();
    let (flows, profile, seconds) = (argument(0, "20000"), argument(1, "linux"), argument(2, "3"));
    let flows: u64 = flows
        .parse()
        .expect("the number of flows is a whole number");
    let seconds: f64 = seconds.parse().expect("the simulated seconds are a number");
    let scenario = Scenario::parse(text(flows, &profile, seconds).as_bytes(), "crowd", &[]);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    report("scenario", flows);
    let network = scenario.network();
    report("network", flows);
    let before = cpu_s();
    let outcome = run(&network);
    let running = cpu_s() - before;
    report("run", flows);
    let summary = summary_json(&scenario, &network, &outcome);
    report("summary", flows);
    println!("utilisation {:.4}", outcome.links[0].utilization);
    println!("summary of {} bytes", summary.to_string().len());
    let packets = outcome.totals.delivered_forward;
    println!(
        "{packets} data packets, {:.0} ns of CPU time each",
        1e9 * running / packets as f64
    );
    println!(
        "{:.1} s of CPU time per simulated second",
        running / seconds
    );
}

/// Returns the scenario file.
fn text(flows: u64, profile: &str, seconds: f64) -> String {
    let rate_kbps = 500 * flows;
    format!(
        "schema_version = 1\nduration = \"{seconds}s\"\nwarmup = \"1s\"\nseed = 1\n\
         [topology]\nshape = \"dumbbell\"\naccess = {{ rate = \"1Gbps\" }}\n\
         bottleneck = {{ rate = \"{rate_kbps}kbps\", delay = \"10ms\", queue = {{ limit = \"20ms\" }} }}\n\
         [tcp]\nprofile = \"{profile}\"\n\
         [[flow]]\nname = \"bulk\"\ncount = {flows}\nstart_jitter = \"1s\"\nrtt = \"40ms\"\n\
         workload = {{ kind = \"bulk\" }}\n"
    )
}

/// Prints the largest resident memory of this process until now.
fn report(after: &str, flows: u64) {
    let bytes = peak_bytes();
    let (megabytes, each) = (bytes as f64 / 1e6, bytes as f64 / flows as f64);
    println!(
        "{after}: peak {megabytes:.0} MB, {each:.0} B per flow, CPU {:.1} s",
        cpu_s()
    );
}

/// Returns the largest resident memory of this process until now, in bytes (proc(5)).
fn peak_bytes() -> u64 {
    let status = read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    1024 * kibibytes
        .and_then(|text| text.parse::<u64>().ok())
        .expect("a number of kB")
}

/// Returns the user and system CPU time of this process in seconds (proc(5)).
fn cpu_s() -> f64 {
    let stat = read_to_string("/proc/self/stat").expect("Linux");
    // The name of the process, in parentheses, may contain spaces.
    let (_, fields) = stat.rsplit_once(") ").expect("the name ends");
    let ticks: u64 = fields
        .split(' ')
        .skip(11)
        .take(2)
        .map(|field| field.parse::<u64>().expect("ticks"))
        .sum();
    ticks as f64 / TICKS_PER_SECOND
}
