//! The summary of a run, whose keys docs/results.md lists.

use goodqueue_scenario::{Scenario, metrics, summary_json};
use serde_json::Value;
use std::collections::BTreeSet;

fn run(overrides: &[(&str, &str)]) -> Value {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/gijsbers-link.toml");
    let overrides: Vec<(String, String)> = overrides
        .iter()
        .map(|(path, value)| ((*path).to_owned(), (*value).to_owned()))
        .collect();
    let scenario = Scenario::load(&path, &overrides).unwrap_or_else(|error| panic!("{error}"));
    let network = scenario.network();
    summary_json(&scenario, &network, &goodqueue_sim::run(&network))
}

fn keys(value: &Value, prefix: &str, found: &mut BTreeSet<String>) {
    for (key, below) in value.as_object().into_iter().flatten() {
        found.insert(format!("{prefix}{key}"));
        if ["limit", "limited_by"].contains(&key.as_str()) {
            keys(below, &format!("{key}."), found);
        }
    }
}

/// Returns the summary of one second of 1,001 flows in one group, and of another flow.
fn crowd(overrides: &[(&str, &str)]) -> Value {
    let (scenario, summary) = run_crowd(overrides);
    assert_eq!(scenario.flow_names().len(), 1_002);
    summary
}

fn run_crowd(overrides: &[(&str, &str)]) -> (Scenario, Value) {
    let text = r#"
        schema_version = 1
        duration = "1s"
        [topology]
        shape = "dumbbell"
        access = { rate = "10Mbps", delay = "1ms" }
        bottleneck = { rate = "100Mbps", delay = "5ms", queue = { kind = "drop_tail", limit = "50p" } }
        [[flow]]
        name = "crowd"
        count = 1001
        workload = { kind = "bulk" }
        [[flow]]
        name = "alone"
        workload = { kind = "bulk", size = "100kB" }
    "#;
    let overrides: Vec<(String, String)> = overrides
        .iter()
        .map(|(path, value)| ((*path).to_owned(), (*value).to_owned()))
        .collect();
    let scenario = Scenario::parse(text.as_bytes(), "crowd", &overrides);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let network = scenario.network();
    let summary = summary_json(&scenario, &network, &goodqueue_sim::run(&network));
    (scenario, summary)
}

/// The entry of a large group has the distributions of what each flow's own entry would have.
#[test]
fn a_large_group_has_the_distributions_of_its_flows() {
    let (scenario, summary) = run_crowd(&[]);
    let (other, listed) = run_crowd(&[("record.flows", "true")]);
    assert_eq!(listed.get("groups"), None);
    assert_eq!(summary["flows"].as_object().unwrap().len(), 1);
    assert_eq!(summary["flows"]["alone"], listed["flows"]["alone"]);
    let crowd = &summary["groups"]["crowd"];
    assert_eq!(crowd["flows"], 1_001);
    let flows: Vec<&Value> = (0..1_001)
        .map(|index| &listed["flows"][format!("crowd.{index}")])
        .collect();
    for key in ["goodput_bps", "packets_lost", "mean_rtt_s"] {
        let mut values: Vec<f64> = flows.iter().filter_map(|f| f[key].as_f64()).collect();
        values.sort_by(f64::total_cmp);
        let figure = &crowd[key];
        assert_eq!(figure["flows"], values.len(), "{key}");
        // The rank of the 5th percentile of 1,001 values is 51.
        let rank = |share: f64| (share * values.len() as f64).ceil() as usize - 1;
        for (name, rank) in [
            ("min", 0),
            ("p5", rank(0.05)),
            ("p50", rank(0.5)),
            ("p95", rank(0.95)),
            ("max", values.len() - 1),
        ] {
            assert_eq!(figure[name].as_f64(), Some(values[rank]), "{key} {name}");
        }
    }
    let lost = |flow: &&&Value| flow["losses_at"]["bottleneck"].as_u64().unwrap_or(0);
    let at_bottleneck: u64 = flows.iter().map(|flow| lost(&flow)).sum();
    assert!(at_bottleneck > 0);
    assert_eq!(crowd["losses_at"]["bottleneck"], at_bottleneck);
    let classes = crowd["class"].as_object().unwrap().values();
    let known = flows.iter().filter(|flow| !flow["class"].is_null()).count();
    assert_eq!(classes.filter_map(Value::as_u64).sum::<u64>(), known as u64);

    let figures = |scenario, summary| -> Vec<(String, f64)> {
        let named = metrics(scenario, summary);
        let words = ["crowd.bottleneck", "crowd.class"];
        let is_number = |(name, _): &(String, f64)| !words.contains(&&**name);
        named.into_iter().filter(is_number).collect()
    };
    let (grouped, each) = (figures(&scenario, &summary), figures(&other, &listed));
    assert_eq!(grouped.len(), each.len());
    for ((name, ours), (same_name, theirs)) in grouped.iter().zip(&each) {
        assert_eq!(name, same_name);
        let same = ours.is_nan() && theirs.is_nan();
        // Sums over all flows are added in another order.
        let near = (ours - theirs).abs() <= 1e-12 * theirs.abs();
        assert!(same || near, "{name}: {ours} and {theirs}");
    }
    assert!(scenario.resolved_toml() != other.resolved_toml());
}

#[test]
fn every_key_is_documented_and_every_documented_key_exists() {
    let summary = run(&[
        ("duration", "5s"),
        ("record.access", "true"),
        (
            "topology.pool",
            "[{ name = \"memory\", capacity = \"90kB\" }]",
        ),
        ("topology.bottleneck.pool", "memory"),
        (
            "topology.bottleneck.pause",
            "{ xoff = \"9kB\", xon = \"3kB\", reaction = \"1us\" }",
        ),
    ]);
    let mut found = BTreeSet::new();
    keys(&summary, "", &mut found);
    let shaped = run(&[
        ("duration", "5s"),
        (
            "topology.bottleneck.queue",
            "{ kind = \"cake\", bandwidth = \"900kbps\" }",
        ),
        (
            "topology.bottleneck.autorate",
            "{ kind = \"sqm_autorate\", ping = \"ping\", base = \"900kbps\" }",
        ),
    ]);
    keys(&shaped["links"]["bottleneck"], "", &mut found);
    for name in ["links", "flows", "pools", "totals"] {
        found.remove(name);
    }
    keys(&summary["links"]["bottleneck"], "", &mut found);
    keys(&summary["flows"]["upload"], "", &mut found);
    keys(&summary["flows"]["ping"], "", &mut found);
    keys(&summary["pools"]["memory"], "", &mut found);
    keys(&summary["totals"], "", &mut found);
    for (flow, workload) in [
        (
            "upload",
            "{ kind = \"transfers\", size = \"5kB\", interval = \"100ms\", direction = \"down\", reuse = true }",
        ),
        ("upload", "{ kind = \"exchanges\", pause = \"100ms\" }"),
        ("upload", "{ kind = \"web\", think = \"100ms\" }"),
        ("upload", "{ kind = \"video\" }"),
        ("upload", "{ kind = \"responsiveness\" }"),
        ("ping", "{ kind = \"voice\" }"),
        ("ping", "{ kind = \"game\" }"),
    ] {
        let path = format!("flow.{flow}.workload");
        let summary = run(&[("duration", "5s"), (&path, workload)]);
        keys(&summary["flows"][flow], "", &mut found);
    }

    let many = &crowd(&[]);
    keys(&many["groups"]["crowd"]["goodput_bps"], "", &mut found);

    // The caller that chose the engine adds its name, and the hosts that a file does not describe.
    found.insert("engine".into());
    found.insert("assumed_hosts".into());
    // Only queues that split super-segments count these (`network/interfaces.rs`).
    found.insert("split".into());

    let page = include_str!("../../../../docs/results.md");
    let mut documented = BTreeSet::new();
    for row in page.lines().filter(|line| line.starts_with("| `")) {
        let cell = row.split(" | ").next().unwrap_or_default();
        let names: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
        let first = names[0];
        for name in names {
            // The name `p50_…` represents `p50_` and the rest of the first name after `mean_`.
            let rest = first.trim_start_matches("mean_");
            documented.insert(name.replace('…', rest));
        }
    }
    assert_eq!(found, documented);
    // The hosts' own links are listed because they were requested.
    assert!(summary["links"]["upload.far_access.reverse"]["departures"].as_u64() > Some(0));
    assert_eq!(
        summary["links"].as_object().map(serde_json::Map::len),
        Some(6)
    );
}

#[test]
fn a_limit_is_printed_in_every_unit_with_the_frames_that_it_counts() {
    let summary = run(&[("duration", "1s")]);
    let limit = &summary["links"]["bottleneck"]["limit"];
    assert_eq!(
        (limit["packets"].as_u64(), limit["bytes"].as_u64()),
        (Some(100), Some(58_300))
    );
    assert_eq!(limit["ms"].as_f64(), Some(466.4));
    // 1 Mb/s × 24 ms = 3000 B.
    assert!((limit["bdp"].as_f64().unwrap_or_default() - 58_300.0 / 3_000.0).abs() < 1e-9);
    assert!(
        limit["counts"]
            .as_str()
            .is_some_and(|text| text.contains("not the one in transmission"))
    );
}

/// n segments in flight keep the link busy or wait for the round trip: `n · 576 · 8 / max(RTT,
/// n · s)` with a round trip of 34.08 ms and a service time s of 4.664 ms (the closed form of a
/// window-limited flow on this link), plus a ping of 76 B a second.
#[test]
fn a_window_limited_flow_has_a_window_per_round_trip() {
    for (window, segments) in [(1_000, 1.0), (3_000, 5.0), (4_000, 7.0), (10_000, 18.0)] {
        let window = format!("{window}B");
        let summary = run(&[
            ("duration", "60s"),
            ("flow.upload.tcp.receive_window", &window),
        ]);
        let upload = &summary["flows"]["upload"];
        let expected = segments * 576.0 * 8.0 / f64::max(0.034_08, segments * 0.004_664);
        let measured = upload["throughput_bps"].as_f64().unwrap_or_default();
        assert!(
            (measured / expected - 1.0).abs() < 0.01,
            "{window}: {measured} {expected}"
        );
        assert_eq!(summary["links"]["bottleneck"]["drops"].as_u64(), Some(0));
    }
}

/// Seven flows overload 100 kb/s, so that packets wait for longer than the warm-up lasts.
#[test]
fn loss_is_a_share_where_packets_are_dropped_long_after_their_arrival() {
    let text = r#"
        schema_version = 1
        duration = "3s"
        warmup = "1s"
        [topology]
        shape = "dumbbell"
        bottleneck = { rate = "100kbps", delay = "10ms", queue = { kind = "fq_codel" } }
        [[flow]]
        name = "bulk"
        count = 7
        workload = { kind = "bulk" }
    "#;
    let scenario = Scenario::parse(text.as_bytes(), "overload.toml", &[]);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let network = scenario.network();
    let outcome = goodqueue_sim::run(&network);
    let link = &outcome.links[0];
    assert!(link.arrivals > 0 && link.drops <= link.arrivals, "{link:?}");
    assert!((0.0..=1.0).contains(&link.loss_rate));
}
