//! The `linux` profile beside a real kernel: Linux 6.18 through a drop-tail bottleneck of 10 Mbit/s
//! and 40 ms between two network namespaces, TCP flows and a ping every 0.1 s, 11 to 69 s after the
//! start. Means over up to three recordings.

use goodqueue_scenario::Scenario;
use goodqueue_sim::run;

/// Control, flows, limit; utilisation, loss rate, mean queue in packets.
const RECORDED: [(&str, usize, u64, f64, f64, f64); 15] = [
    ("reno", 1, 8, 0.86216, 0.002_773, 1.980),
    ("reno", 1, 33, 0.99466, 0.001_102, 17.478),
    ("reno", 1, 133, 1.0, 0.000_198, 95.261),
    ("reno", 4, 33, 0.99613, 0.009_523, 21.892),
    ("reno", 4, 133, 0.99998, 0.002_183, 105.337),
    ("cubic", 1, 8, 0.96768, 0.001_457, 2.739),
    ("cubic", 1, 33, 0.99989, 0.000_505, 24.770),
    ("cubic", 1, 133, 0.99999, 0.000_797, 109.396),
    ("cubic", 4, 33, 0.99999, 0.006_345, 27.050),
    ("cubic", 4, 133, 1.0, 0.002_368, 118.367),
    ("bbr", 1, 8, 0.97684, 0.026_269, 3.199),
    ("bbr", 1, 33, 0.97731, 0.0, 7.964),
    ("bbr", 1, 133, 0.97759, 0.0, 7.598),
    ("bbr", 4, 33, 0.98593, 0.121_304, 30.046),
    ("bbr", 4, 133, 0.98663, 0.0, 80.177),
];

/// Utilisation, loss rate, mean queue. Longer than the recording, so that the mean is settled.
fn simulate(control: &str, flows: usize, limit: u64) -> (f64, f64, f64) {
    let text = include_bytes!("../../../../scenarios/linux-bottleneck.toml");
    let overrides = [
        ("tcp.congestion_control", control.to_owned()),
        ("flow.bulk.count", flows.to_string()),
        ("topology.bottleneck.queue.limit", format!("{limit}p")),
        ("duration", String::from("211s")),
    ]
    .map(|(key, value)| (key.to_owned(), value));
    let scenario = Scenario::parse(text, control, &overrides);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let outcome = run(&scenario.network());
    let link = &outcome.links[0];
    let queue = link.backlog_packets.mean.expect("something waited");
    (link.utilization, link.loss_rate, queue)
}

/// Utilisation within a point (two for buffers below half a bandwidth-delay product), the queue within
/// 10 % or half a packet, losses within 25 %; twice that for BBR.
#[test]
fn the_linux_profile_is_like_linux() {
    let mut misses = Vec::new();
    for (control, flows, limit, utilisation, loss, queue) in RECORDED {
        let ours = simulate(control, flows, limit);
        let slack = if control == "bbr" { 2.0 } else { 1.0 };
        let point = if limit < 17 { 0.02 } else { 0.01 };
        let case = format!("{control} × {flows} on {limit}");
        assert!(
            (ours.0 - utilisation).abs() < slack * point,
            "{case}: {ours:?}"
        );
        if (ours.1 - loss).abs() > slack * 0.25 * loss + 1e-4 {
            misses.push(format!("{case}: loss {:.5}", ours.1));
        }
        if (ours.2 - queue).abs() > slack * f64::max(0.1 * queue, 0.5) {
            misses.push(format!("{case}: queue {:.2}", ours.2));
        }
    }
    assert!(misses.is_empty(), "{misses:#?}");
}
