//! The control and the queue keep the rules that all of them must keep, and do what they are for.

use goodqueue_plugin_example::{gentle, stale};
use goodqueue_queue::conformance::{Claims, check};
use goodqueue_queue::{Configuration, QueueConfig};
use goodqueue_scenario::Scenario;
use goodqueue_tcp::cc::conformance;
use goodqueue_types::Span;

const LINK: &str = r#"
schema_version = 2
duration = "30s"
warmup = "10s"
[topology]
shape = "dumbbell"
bottleneck = { rate = "10Mbps", delay = "20ms", queue = { limit = "10p" } }
[[flow]]
name = "upload"
workload = { kind = "bulk" }
tcp = { congestion_control = "reno" }
"#;

#[test]
fn the_control_keeps_the_rules_of_all_controls() {
    let control = gentle();
    let calls = conformance::check(
        |config| (control.make)(config),
        conformance::Claims::default(),
        1,
    );
    assert!(calls.unwrap_or_else(|broken| panic!("{broken}")) > 1000);
}

#[test]
fn the_queue_keeps_the_rules_of_all_queues() {
    let QueueConfig::Custom(queue) = stale(50, Span::from_millis(20)) else {
        unreachable!("the queue is defined here")
    };
    check(|random| queue.build(random), Claims::default(), 1)
        .unwrap_or_else(|broken| panic!("{broken}"));
}

/// Reno keeps half of its window at a loss and needs a buffer of one BDP, here 33 packets. A control
/// that keeps 7/8 needs a seventh of a BDP.
#[test]
fn the_control_needs_less_buffer_than_reno() {
    let scenario = Scenario::parse(LINK.as_bytes(), "link", &[]).unwrap();
    let own = scenario.with_control("upload", &gentle()).unwrap();
    let [reno, gentle] =
        [scenario, own].map(|one| goodqueue_sim::run(&one.network()).links[0].utilization);
    assert!(reno < 0.95, "{reno}");
    assert!(gentle > 0.98, "{gentle}");
}

#[test]
fn no_packet_waits_longer_than_the_bound_and_one_transmission() {
    let scenario = Scenario::parse(LINK.as_bytes(), "link", &[]).unwrap();
    let mut network = scenario.network();
    assert!(network.set_queue("bottleneck", &stale(1000, Span::from_millis(20))));
    let link = &goodqueue_sim::run(&network).links[0];
    let longest = link.queueing_delay_s.max.expect("packets were sent");
    assert!(longest <= 0.020 + 0.0012, "{longest}");
    assert!(link.utilization > 0.9, "{}", link.utilization);
    assert!(!network.set_queue("no such link", &stale(1, Span::ZERO)));
}
