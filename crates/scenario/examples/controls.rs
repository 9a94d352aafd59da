//! Tables of a queue and of fairness with each congestion control:
//! `cargo run --release -p goodqueue-scenario --example controls`.

use goodqueue_scenario::Scenario;
use goodqueue_sim::{Outcome, run};

const CONTROLS: [&str; 10] = [
    "reno", "gaimd", "cubic", "bbr", "bbr3", "vegas", "westwood", "scalable", "ledbat", "dctcp",
];

/// Runs that each share is the mean of.
const SEEDS: u64 = 5;

/// Flows with these round trips (in ms) over 10 Mbit/s behind a queue of `limit` packets, with
/// other tables of flows if any.
fn measure(control: &str, limit: u64, rtts: &[u64], seed: u64, others: &str) -> Outcome {
    let flows: Vec<String> = rtts
        .iter()
        .enumerate()
        .map(|(n, rtt)| {
            format!(
                "[[flow]]\nname = \"f{n}\"\nrtt = \"{rtt}ms\"\nstart_jitter = \"100ms\"\n\
                 workload = {{ kind = \"bulk\" }}\n"
            )
        })
        .collect();
    let text = format!(
        "schema_version = 1\nduration = \"200s\"\nwarmup = \"15%\"\nseed = {seed}\n\
         [topology]\nshape = \"dumbbell\"\naccess = {{ rate = \"1Gbps\" }}\n\
         bottleneck = {{ rate = \"10Mbps\", delay = \"10ms\", queue = {{ limit = \"{limit}p\" }} }}\n\
         [tcp]\nprofile = \"linux\"\ncongestion_control = \"{control}\"\n{}{others}",
        flows.concat()
    );
    let scenario = Scenario::parse(text.as_bytes(), control, &[]);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    run(&scenario.network())
}

/// Jain's index of the goodputs, the first over the last, and the utilisation.
fn shares(control: &str, rtts: &[u64]) -> (f64, f64, f64) {
    let (mut jain, mut ratio, mut used) = (0.0, 0.0, 0.0);
    for seed in 1..=SEEDS {
        let outcome = measure(control, 33, rtts, seed, "");
        let goodput: Vec<f64> = outcome.flows.iter().map(|flow| flow.goodput_bps).collect();
        let sum: f64 = goodput.iter().sum();
        let squares: f64 = goodput.iter().map(|x| x * x).sum();
        jain += sum * sum / (goodput.len() as f64 * squares);
        ratio += goodput[0] / goodput[goodput.len() - 1];
        used += outcome.links[0].utilization;
    }
    let mean = |sum: f64| sum / SEEDS as f64;
    (mean(jain), mean(ratio), mean(used))
}

/// A ping that shares the queue, so that no phase is locked.
const PING: &str = "[[flow]]\nname = \"ping\"\nrtt = \"40ms\"\n\
                    workload = { kind = \"ping\", interval = \"100ms\" }\n";

fn main() {
    println!("| control | flows | limit | utilisation | loss rate | mean queue |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for control in CONTROLS {
        for (flows, limit) in [(1, 8), (1, 33), (1, 133), (4, 33), (4, 133)] {
            let outcome = measure(control, limit, &vec![40; flows], 1, PING);
            let link = &outcome.links[0];
            println!(
                "| `{control}` | {flows} | {limit} | {:.4} | {:.5} | {:.2} |",
                link.utilization,
                link.loss_rate,
                link.backlog_packets.mean.unwrap_or_default()
            );
        }
    }
    println!("\n| control | Jain's index | utilisation | 20 ms over 80 ms |");
    println!("| --- | --- | --- | --- |");
    for control in CONTROLS {
        let (jain, _, used) = shares(control, &[40, 40]);
        let (_, ratio, _) = shares(control, &[20, 80]);
        println!("| `{control}` | {jain:.3} | {used:.3} | {ratio:.2} |");
    }
}
