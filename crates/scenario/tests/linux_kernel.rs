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
    let text = format!(
        "schema_version = 1\nduration = \"211s\"\nwarmup = \"11s\"\nseed = 1\n\
         [topology]\nshape = \"dumbbell\"\naccess = {{ rate = \"1Gbps\" }}\n\
         bottleneck = {{ rate = \"10Mbps\", delay = \"10ms\", queue = {{ limit = \"{limit}p\" }} }}\n\
         [tcp]\nprofile = \"linux\"\ncongestion_control = \"{control}\"\n\
         [[flow]]\nname = \"bulk\"\ncount = {flows}\nrtt = \"40ms\"\nstart_jitter = \"10ms\"\n\
         workload = {{ kind = \"bulk\" }}\n\
         [[flow]]\nname = \"ping\"\nrtt = \"40ms\"\nworkload = {{ kind = \"ping\", interval = \"100ms\" }}\n"
    );
    let scenario = Scenario::parse(text.as_bytes(), control, &[]);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let outcome = run(&scenario.network());
    let link = &outcome.links[0];
    let queue = link.backlog_packets.mean.expect("something waited");
    (link.utilization, link.loss_rate, queue)
}

/// Utilisation within a point (two for buffers below half a bandwidth-delay product), the queue within
/// 10 % or half a packet, losses within 25 %; twice that for BBR. Figures that are out or nearly so:
/// where eight packets may wait, the ping beside CUBIC loses more of its packets than the kernel's
/// (TCP retransmits as often), and BBR's queue is shorter; four BBR flows lose half as much again;
/// Reno on 33 packets loses a third less.
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
    let known = [
        "reno × 1 on 33: loss",
        "cubic × 1 on 8: loss",
        "bbr × 1 on 8: queue",
        "bbr × 4 on 33: loss",
    ];
    let is_known = |miss: &String| known.iter().any(|known| miss.starts_with(known));
    assert!(misses.iter().all(is_known), "{misses:#?}");
}
