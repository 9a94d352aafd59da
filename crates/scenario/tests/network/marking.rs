//! ECN end to end: one flow through a FIFO that marks beyond a threshold, beside the closed forms of
//! the saw-teeth. Windows and queues in packets.

use goodqueue_scenario::Scenario;
use goodqueue_sim::{LinkOutcome, run};

/// Packets in flight when the link is just full: 1 Gb/s, 1 ms, 1250-byte packets.
const BDP: f64 = 100.0;

const LINK: &str = r#"schema_version = 1
duration = "6s"
warmup = "2s"
record = { series = true }
[topology]
shape = "dumbbell"
[topology.bottleneck]
rate = "1Gbps"
delay = "500us"
queue = { kind = "step", limit = "1000p", threshold = "40p" }
reverse = { rate = "1000Gbps" }
[tcp]
profile = "rfc"
mss = "1210B"
ack_every = 1
initial_ssthresh = "20000B"
[[flow]]
workload = { kind = "bulk" }
"#;

/// The bottleneck, and the lowest and highest backlog seen.
fn simulate(overrides: &[(&str, &str)]) -> (LinkOutcome, f64, f64) {
    let overrides: Vec<_> = overrides
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    let scenario = Scenario::parse(LINK.as_bytes(), "marking", &overrides);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let network = scenario.network();
    let mut outcome = run(&network);
    let series = outcome.series.backlog.iter();
    let packets = series.filter(|row| row.0 == 0 && row.1 >= network.warmup);
    let (low, high) = packets.fold((u64::MAX, 0), |(low, high), row| {
        (low.min(row.2), high.max(row.2))
    });
    (outcome.links.swap_remove(0), low as f64, high as f64)
}

/// Alizadeh and others, "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.3: marks begin at the
/// window W* = C·RTT + K; the share α of marked packets solves α²(1 − α/4) = (2W* + 1)/(W* + 1)²,
/// which is about 2/W*; the window swings by D = (W* + 1)α/2, and with one flow so does the queue.
#[test]
fn dctcp_swings_about_the_threshold_as_its_paper_says() {
    for threshold in [40.0, 100.0] {
        let text = format!(r#"{{ kind = "step", limit = "1000p", threshold = "{threshold}p" }}"#);
        let (link, low, high) = simulate(&[
            ("topology.bottleneck.queue", &text),
            ("tcp.congestion_control", "dctcp"),
            ("tcp.ecn", "dctcp"),
        ]);
        let w = BDP + threshold;
        let target = (2.0 * w + 1.0) / (w + 1.0).powi(2);
        let alpha = (0..50).fold(0.0, |alpha: f64, _| (target / (1.0 - alpha / 4.0)).sqrt());
        let swing = (w + 1.0) * alpha / 2.0;
        let share = link.marks as f64 / link.arrivals as f64;
        let mean = link.backlog_packets.mean.expect("something waits");
        println!(
            "K {threshold}: α {alpha:.4}, marked {share:.4}; D {swing:.2}, queue {low} to {high}, mean {mean:.2}"
        );
        assert_eq!(link.drops, 0);
        assert!(link.utilization > 0.9999, "{}", link.utilization);
        assert!((share / alpha - 1.0).abs() < 0.1, "{share} {alpha}");
        // One window beyond the threshold.
        assert!((high - (threshold + 1.0)).abs() <= 1.5, "{high}");
        assert!((high - low - swing).abs() <= 2.0, "{low} {high} {swing}");
        assert!((mean - f64::midpoint(high, low)).abs() <= 1.0, "{mean}");
    }
}

/// One DCTCP flow behind `dualpi2`, whose step of 1 ms is less than two packets at 20 Mb/s. The floor: a
/// flow that halves its window whenever the path is full, without any buffer, has three quarters of
/// the bandwidth-delay product in flight on average; DCTCP gives up α/2 ≤ 1/2 (RFC 8257 section 3.3).
#[test]
fn one_dctcp_flow_behind_dualpi2_keeps_the_link_busy() {
    for profile in ["linux", "rfc"] {
        let (link, ..) = simulate(&[
            ("duration", "40s"),
            ("warmup", "10s"),
            ("topology.access", r#"{ rate = "1Gbps" }"#),
            ("topology.bottleneck.rate", "20Mbps"),
            ("topology.bottleneck.delay", "5ms"),
            ("topology.bottleneck.queue", r#"{ kind = "dualpi2" }"#),
            ("flow.0.rtt", "40ms"),
            (
                "tcp",
                &format!(
                    r#"{{ profile = "{profile}", congestion_control = "dctcp", ecn = "dctcp", l4s = true }}"#
                ),
            ),
        ]);
        println!(
            "{profile}: {:.3} busy, {:.3} marked",
            link.utilization,
            link.marks as f64 / link.arrivals as f64
        );
        assert_eq!(link.drops, 0);
        assert!(link.utilization > 0.75, "{profile}: {}", link.utilization);
    }
}

/// A packet at 10 Mb/s takes longer than the step of 1 ms. The `DualPI2` that the L4S project
/// tested in 2020 did not mark packets that found fewer than two waiting, as `min_qlen_step 2` does
/// in Linux 6.17, and two flows used the link. The bound is that of a window that is halved without
/// a buffer.
#[test]
fn the_step_can_spare_short_queues_on_slow_links() {
    for profile in ["linux", "rfc"] {
        let (link, ..) = simulate(&[
            ("duration", "40s"),
            ("warmup", "10s"),
            ("topology.access", r#"{ rate = "1Gbps" }"#),
            ("topology.bottleneck.rate", "10Mbps"),
            ("topology.bottleneck.delay", "5ms"),
            (
                "topology.bottleneck.queue",
                r#"{ kind = "dualpi2", min_qlen_step = "2p" }"#,
            ),
            ("flow.0.rtt", "40ms"),
            (
                "tcp",
                &format!(
                    r#"{{ profile = "{profile}", congestion_control = "dctcp", ecn = "dctcp", l4s = true }}"#
                ),
            ),
        ]);
        println!("{profile}: {:.3} busy", link.utilization);
        assert!(link.utilization > 0.75, "{profile}: {}", link.utilization);
    }
}

/// RFC 3168 section 6.1.2: marks of one round trip halve the window once. While the queue never
/// empties a round trip lasts as long as the window is large, so the window, growing from b/2 to b,
/// is (2/3)(b³ − a³)/(b² − a²) = 7b/9 in the mean over time.
#[test]
fn reno_halves_once_per_round_trip_of_marks() {
    let (link, low, high) = simulate(&[
        (
            "topology.bottleneck.queue",
            r#"{ kind = "step", limit = "1000p", threshold = "160p" }"#,
        ),
        ("tcp.congestion_control", "reno"),
        ("tcp.ecn", "rfc3168"),
        ("duration", "20s"),
    ]);
    let b = BDP + 160.0 + 1.0;
    let mean = link.backlog_packets.mean.expect("something waits");
    let share = link.marks as f64 / link.arrivals as f64;
    println!("queue {low} to {high}, mean {mean:.2}; marked {share:.5}");
    assert_eq!(link.drops, 0);
    assert!(link.utilization > 0.9999, "{}", link.utilization);
    assert!((high - (b - BDP)).abs() <= 2.0, "{high}");
    assert!((low - (b / 2.0 - BDP)).abs() <= 3.0, "{low}");
    assert!((mean - (7.0 / 9.0 * b - BDP)).abs() <= 3.0, "{mean}");
    // A round trip of marks, b packets, of the 3b²/8 between two reductions.
    assert!((share / (8.0 / (3.0 * b)) - 1.0).abs() < 0.15, "{share}");
}
