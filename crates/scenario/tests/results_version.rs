//! Changes of results need a new `RESULTS_VERSION`, because stores of results are checked against
//! it.

use goodqueue_scenario::{RESULTS_VERSION, Scenario, summary_json};
use goodqueue_types::{Span, Time};
use serde_json::Value;
use std::path::Path;

/// A scenario with many features: two controls, an active queue, random loss, datagrams.
const SCENARIO: &str = r#"
schema_version = 1
duration = "20s"
warmup = "2s"
seed = 7
[topology]
shape = "dumbbell"
framing = "14B"
access = { rate = "50Mbps", delay = "1ms" }
[topology.bottleneck]
rate = "5Mbps"
delay = "10ms"
queue = { kind = "codel" }
loss = { kind = "independent", probability = "0.1%" }
[[flow]]
name = "cubic"
count = 2
start_jitter = "500ms"
workload = { kind = "bulk" }
tcp = { congestion_control = "cubic" }
[[flow]]
name = "reno"
rtt = "60ms"
workload = { kind = "bulk" }
tcp = { congestion_control = "reno" }
[[flow]]
name = "noise"
workload = { kind = "poisson", rate = "200kbps", packet = "500B" }
"#;

/// Figures that show any change of a packet's fate or time; additional figures are no change.
const FIGURES: [&str; 8] = [
    "/links/bottleneck/arrivals",
    "/links/bottleneck/drops",
    "/links/bottleneck/mean_queueing_delay_s",
    "/links/bottleneck/mean_backlog_bytes",
    "/links/bottleneck.reverse/departures",
    "/flows/cubic.1/goodput_bps",
    "/flows/reno/mean_rtt_s",
    "/flows/noise/packets_lost",
];

/// Returns FNV-1a over the figures in JSON, to the last bit.
fn fingerprint(summary: &Value) -> u64 {
    let figures = FIGURES.map(|path| summary.pointer(path).unwrap_or_else(|| panic!("{path}")));
    let text = figures.map(Value::to_string).join(" ");
    fnv(&text)
}

fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Ready scenarios with each kind of link, queue and workload.
const READY: [&str; 16] = [
    "adsl",
    "cellular",
    "evening",
    "gijsbers-periodic",
    "home-web",
    "incast",
    "linux-bottleneck",
    "office",
    "parking-lot",
    "red-study",
    "satellite",
    "shared-buffer",
    "short-flows",
    "tree",
    "web-search",
    "wifi",
];

/// Returns the results of the first ten seconds of a ready scenario: packets' fates, and waits to
/// the last bit.
fn ten_seconds(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let scenario = Scenario::load(&folder.join(format!("{name}.toml")), &[]);
    let mut network = scenario.unwrap_or_else(|error| panic!("{error}")).network();
    network.end = network.end.min(Time::ZERO + Span::from_secs(10));
    network.warmup = Time::ZERO;
    let outcome = goodqueue_sim::run(&network);
    let waits: Vec<_> = outcome
        .links
        .iter()
        .map(|link| link.queueing_delay_s.mean)
        .collect();
    let totals = outcome.totals;
    format!(
        "{name} {} {} {} {waits:?}",
        totals.sent, totals.delivered, totals.dropped
    )
}

#[test]
fn ready_scenarios_have_unchanged_results() {
    let text = READY.map(ten_seconds).join("\n");
    println!("{text}");
    assert_eq!(
        (RESULTS_VERSION, fnv(&text)),
        (11, 0xe1bd_60a9_907c_b2d2),
        "runs yield other figures: add one to RESULTS_VERSION in crates/sim/src/lib.rs, and write \
         both here"
    );
}

#[test]
fn results_that_change_have_a_new_version() {
    let scenario = Scenario::parse(SCENARIO.as_bytes(), "scenario", &[]).expect("it is valid");
    let network = scenario.network();
    let summary = summary_json(&scenario, &network, &goodqueue_sim::run(&network));
    assert_eq!(
        (RESULTS_VERSION, fingerprint(&summary)),
        (11, 0xc72f_49b4_e2f3_8740),
        "runs yield other figures: add one to RESULTS_VERSION in crates/sim/src/lib.rs, and write \
         both here"
    );
}
