//! Whoever changes what runs yield says so: stores of results go by `RESULTS_VERSION`.

use goodqueue_scenario::{RESULTS_VERSION, Scenario, summary_json};
use serde_json::Value;

/// A bit of everything that decides: two controls, an active queue, random loss, datagrams.
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

/// The figures that show any change of a packet's fate or time; new figures beside them are no
/// change.
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

/// FNV-1a over the figures as JSON has them, to the last bit.
fn fingerprint(summary: &Value) -> u64 {
    let figures = FIGURES.map(|path| summary.pointer(path).unwrap_or_else(|| panic!("{path}")));
    let text = figures.map(Value::to_string).join(" ");
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[test]
fn results_that_change_have_a_new_version() {
    let scenario = Scenario::parse(SCENARIO.as_bytes(), "scenario", &[]).expect("it is valid");
    let network = scenario.network();
    let summary = summary_json(&scenario, &network, &goodqueue_sim::run(&network));
    assert_eq!(
        (RESULTS_VERSION, fingerprint(&summary)),
        (5, 0xa8f9_a3a0_985a_ddb3),
        "runs yield other figures: add one to RESULTS_VERSION in crates/sim/src/lib.rs, and write \
         both here"
    );
}
