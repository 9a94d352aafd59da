//! Compares a control and a queue of one's own with CUBIC and drop tail in one scenario.

use goodqueue_plugin_example::{gentle, stale};
use goodqueue_scenario::Scenario;
use goodqueue_types::Span;

/// A home uplink with two uploads and a buffer of a quarter of a second.
const UPLINK: &str = r#"
schema_version = 2
duration = "60s"
warmup = "10s"
[topology]
shape = "dumbbell"
bottleneck = { rate = "10Mbps", delay = "15ms", queue = { limit = "208p" } }
[[flow]]
name = "upload"
count = 2
workload = { kind = "bulk" }
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scenario = Scenario::parse(UPLINK.as_bytes(), "uplink", &[])?;
    let own = scenario.with_control("upload", &gentle())?;
    println!("control  queue      utilisation  mean delay  loss");
    for (control, scenario) in [("cubic", &scenario), ("gentle", &own)] {
        for (queue, discipline) in [
            ("drop tail", None),
            ("stale", Some(stale(208, Span::from_millis(20)))),
        ] {
            let mut network = scenario.network();
            if let Some(discipline) = discipline {
                network.set_queue("bottleneck", &discipline);
            }
            let link = &goodqueue_sim::run(&network).links[0];
            println!(
                "{control:8} {queue:10} {:9.2} % {:8.2} ms {:5.2} %",
                100.0 * link.utilization,
                1e3 * link.queueing_delay_s.mean.unwrap_or(0.0),
                100.0 * link.loss_rate
            );
        }
    }
    Ok(())
}
