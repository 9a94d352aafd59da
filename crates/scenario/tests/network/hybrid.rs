//! Scenarios for the hybrid engine: those that it runs or refuses, and the names of its figures.

use goodqueue_fluid::FluidOutcome;
use goodqueue_scenario::{Scenario, metrics};

const BASE: &str = r#"
schema_version = 1
duration = "40s"
warmup = "10s"
[topology]
shape = "dumbbell"
access = { rate = "1Gbps", delay = "1ms" }
[topology.bottleneck]
rate = "50Mbps"
delay = "10ms"
queue = { limit = "60p" }
[[flow]]
name = "long"
count = 6
rtt = ["30ms", "60ms", "90ms"]
workload = { kind = "bulk" }
tcp = { congestion_control = "cubic" }
[[flow]]
name = "reno"
rtt = "60ms"
workload = { kind = "bulk" }
tcp = { congestion_control = "reno" }
"#;

fn scenario(overrides: &[(&str, &str)]) -> Scenario {
    let owned = overrides
        .iter()
        .map(|(path, value)| ((*path).to_owned(), (*value).to_owned()));
    let owned: Vec<_> = owned.collect();
    Scenario::parse(BASE.as_bytes(), "test", &owned).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(overrides: &[(&str, &str)]) -> String {
    scenario(overrides)
        .hybrid()
        .err()
        .unwrap_or_else(|| panic!("{overrides:?} was taken"))
}

#[test]
fn scenarios_beyond_the_engine_are_refused_with_the_reason() {
    let cases: [(&[(&str, &str)], &str); 16] = [
        (
            &[("flow.1.workload", "{ kind = \"bulk\", size = \"1MB\" }")],
            "finite transfers: flow \"reno\"",
        ),
        (
            &[("flow.0.tcp.congestion_control", "bbr")],
            "congestion control bbr: flow \"long\"",
        ),
        (
            &[("flow.0.tcp.recovery", "newreno")],
            "recovery without SACK: flow \"long\"",
        ),
        (
            &[("flow.0.tcp.mss", "500B")],
            "packets differ in size: flow \"long\"",
        ),
        (
            &[("flow.1.start", "11s")],
            "start after the warm-up: flow \"reno\"",
        ),
        (&[("flow.1.stop", "15s")], "flows that stop: flow \"reno\""),
        (
            &[
                ("topology.bottleneck.queue.kind", "fq_codel"),
                ("topology.bottleneck.queue.limit", "1000p"),
            ],
            "queue of kind fq_codel",
        ),
        (
            &[(
                "topology.bottleneck.queue",
                "{ kind = \"codel\", ecn = true }",
            )],
            "codel that marks",
        ),
        (
            &[(
                "topology.bottleneck.queue",
                "{ kind = \"red\", limit = \"100kB\" }",
            )],
            "queue of kind red",
        ),
        (
            &[(
                "topology.bottleneck.queue",
                "{ kind = \"ns2_red\", limit = \"100p\", gentle = false }",
            )],
            "without its gentle part",
        ),
        (
            &[(
                "topology.bottleneck.loss",
                "{ kind = \"independent\", probability = \"1%\" }",
            )],
            "random losses: \"bottleneck\"",
        ),
        (
            &[(
                "topology.bottleneck.jitter",
                "{ law = \"uniform\", from = \"0s\", to = \"1ms\" }",
            )],
            "jitter, reordering or copies: \"bottleneck\"",
        ),
        (
            &[("topology.bottleneck.drop_list", "[7]")],
            "lists of drops: \"bottleneck\"",
        ),
        (
            &[("topology.access.rate", "60Mbps")],
            "below 2 times the rate of \"bottleneck\": \"access\"",
        ),
        (
            &[("topology.bottleneck.reverse.rate", "1Mbps")],
            "no queue of ACKs: \"bottleneck\"",
        ),
        (
            &[("flow.1.from", "1"), ("flow.1.to", "0")],
            "\"reno\" does not cross that of \"bottleneck\"",
        ),
    ];
    for (overrides, words) in cases {
        let why = refusal(overrides);
        assert!(why.contains(words), "{overrides:?}: {why}");
        assert!(why.starts_with("the hybrid engine has "), "{why}");
    }
}

#[test]
fn traffic_that_is_no_tcp_is_refused() {
    let lines = "workload = { kind = \"bulk\" }\ntcp = { congestion_control = \"reno\" }";
    let steady = "workload = { kind = \"cbr\", rate = \"1Mbps\", packet = \"500B\" }";
    let text = BASE.replace(lines, steady);
    let why = Scenario::parse(text.as_bytes(), "test", &[])
        .unwrap()
        .hybrid()
        .unwrap_err();
    assert!(why.contains("traffic but TCP: flow \"reno\""), "{why}");
}

#[test]
fn other_queues_on_the_path_are_refused_unless_no_packet_waits_there() {
    let chain = |rate: &str| {
        let queue = if rate == "unlimited" {
            ""
        } else {
            "queue = { limit = \"60p\" }"
        };
        let text = format!(
            r#"
schema_version = 1
duration = "40s"
warmup = "10s"
[topology]
shape = "chain"
[[topology.link]]
name = "first"
rate = "{rate}"
delay = "10ms"
{queue}
[[topology.link]]
name = "second"
rate = "50Mbps"
delay = "10ms"
queue = {{ limit = "60p" }}
[[flow]]
workload = {{ kind = "bulk" }}
"#
        );
        Scenario::parse(text.as_bytes(), "chain", &[])
            .unwrap()
            .hybrid()
            .map(|one| one.link_name())
    };
    assert_eq!(chain("unlimited"), Ok("second".to_owned()));
    assert_eq!(chain("200Mbps"), Ok("second".to_owned()));
    // The slowest link comes first, so nothing waits behind it.
    assert_eq!(chain("40Mbps"), Ok("first".to_owned()));
    let why = chain("60Mbps").unwrap_err();
    assert!(
        why.contains("packets wait for \"first\" besides \"second\""),
        "{why}"
    );
}

#[test]
fn a_link_that_was_not_compared_says_why() {
    let alike = ("flow.1.tcp.congestion_control", "cubic");
    assert_eq!(scenario(&[alike]).hybrid().unwrap().check_range(), Ok(()));
    let small = scenario(&[alike, ("topology.bottleneck.queue.limit", "1p")]);
    let why = small.hybrid().unwrap().check_range().unwrap_err();
    assert!(why.contains("packets, not 1,"), "{why}");
}

#[test]
fn a_receive_window_that_path_and_buffer_do_not_fill_is_none() {
    let bound = |window: &str| {
        let both = ["flow.0.tcp.receive_window", "flow.1.tcp.receive_window"];
        let text = format!(
            "{:?}",
            scenario(&both.map(|key| (key, window))).hybrid().unwrap()
        );
        !text.contains("max_window: inf")
    };
    // 50 Mb/s for 90 ms are 375 packets, and 60 wait: 635 kB of payload.
    assert!(!bound("640kB"));
    assert!(bound("370kB"));
}

fn run(scenario: &Scenario) -> FluidOutcome {
    scenario.hybrid().unwrap().run(&mut || true).unwrap()
}

#[test]
fn figures_have_the_names_of_the_packet_engines() {
    let scenario = scenario(&[]);
    let hybrid = scenario.hybrid().unwrap();
    let outcome = run(&scenario);
    let summary = hybrid.summary_json(&outcome);
    assert_eq!(summary["engine"], "hybrid");
    assert_eq!(summary["flows"].as_object().unwrap().len(), 7);
    // The figures are the same from the summary and directly.
    let known = metrics(&scenario, &summary);
    let find = |name: &str| {
        known
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, value)| *value)
    };
    for (name, value) in hybrid.metrics(&outcome) {
        let other = find(&name).unwrap_or_else(|| panic!("{name} is not in the summary"));
        assert!(
            value.to_bits() == other.to_bits() || (value - other).abs() <= 1e-12 * value.abs(),
            "{name}: {value} {other}"
        );
    }
    // These are the figures for sizing.
    for name in [
        "utilization",
        "loss_rate",
        "p99_queueing_delay_s",
        "drops_overlimit",
        "loss_bursts",
        "mean_flows_hit",
    ] {
        let value = find(&format!("bottleneck.{name}"));
        assert!(value.is_some_and(f64::is_finite), "{name}: {value:?}");
    }
    for name in [
        "long.goodput_bps.sum",
        "reno.goodput_bps.jain",
        "flows.goodput_bps.jain",
    ] {
        assert!(find(name).is_some_and(f64::is_finite), "{name}");
    }
    // Unknown figures are missing or NaN.
    assert!(find("long.timeouts").is_none_or(f64::is_nan));
}

#[test]
fn a_run_that_is_stopped_yields_nothing() {
    // The run has ten days; `go_on` is called every few milliseconds of computing.
    let long = scenario(&[("duration", "900000s")]).hybrid().unwrap();
    assert!(long.run(&mut || false).is_none());
}

#[test]
fn a_flow_that_would_stop_after_the_run_is_run() {
    assert!(scenario(&[("flow.1.stop", "40s")]).hybrid().is_ok());
}
