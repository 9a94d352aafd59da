//! Shipped scenarios.

use goodqueue_queue::{Configuration, Limit, QueueConfig};
use goodqueue_scenario::Scenario;
use goodqueue_types::{Framing, LinkId, Rate, Span, Time};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

fn load(name: &str, overrides: &[(&str, &str)]) -> Scenario {
    let overrides: Vec<(String, String)> = overrides
        .iter()
        .map(|(path, value)| ((*path).to_owned(), (*value).to_owned()))
        .collect();
    Scenario::load(&folder().join(name), &overrides).unwrap_or_else(|error| panic!("{error}"))
}

fn limit(scenario: &Scenario, link: &str) -> Limit {
    let network = scenario.network();
    let link = network
        .links
        .iter()
        .find(|config| config.name == link)
        .expect("the link exists");
    link.queue.limit()
}

fn all() -> Vec<(String, Scenario)> {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .expect("the folder exists")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names
        .into_iter()
        .map(|name| (name.clone(), load(&name, &[])))
        .collect()
}

#[test]
fn every_scenario_survives_being_written_out() {
    let scenarios = all();
    assert!(scenarios.len() >= 7);
    for (name, scenario) in scenarios {
        let text = scenario.resolved_toml();
        let again = Scenario::parse(text.as_bytes(), "resolved", &[])
            .unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        assert_eq!(again.resolved_toml(), text, "{name}");
        let (first, second) = (scenario.network(), again.network());
        assert_eq!(format!("{first:?}"), format!("{second:?}"), "{name}");
    }
}

#[test]
fn the_gijsbers_link_has_its_limit_on_every_interface() {
    let scenario = load("gijsbers-link.toml", &[("topology.queue.limit", "12p")]);
    let network = scenario.network();
    // R1 <-> R2 and four access links: the ping shares the hosts of the upload.
    assert_eq!(network.links.len(), 6);
    for link in &network.links {
        assert_eq!(
            link.queue,
            QueueConfig::drop_tail(Limit::Packets(12)),
            "{}",
            link.name
        );
        assert_eq!(link.framing, Framing::bytes(7));
    }
    assert_eq!(network.flows[0].forward, [LinkId(2), LinkId(0), LinkId(5)]);
    assert_eq!(network.flows[0].reverse, [LinkId(4), LinkId(1), LinkId(3)]);
    assert_eq!(network.flows[1].forward, network.flows[0].forward);
    assert_eq!(network.links[2].rate, Rate(2_000_000));
    assert_eq!(network.links[2].delay, Span::from_millis(1));
    let Some((tcp, None)) = network.flows[0].workload.as_bulk() else {
        panic!("the upload is endless")
    };
    assert_eq!((tcp.mss, tcp.receive_window), (536, 100_000));
}

#[test]
fn the_mixed_round_trip_times_are_those_of_the_ns2_dumbbell() {
    let network = load("s1.toml", &[]).network();
    assert_eq!(network.flows.len(), 100);
    assert_eq!(
        (network.warmup, network.end),
        (
            Time::ZERO + Span::from_secs(50),
            Time::ZERO + Span::from_secs(200)
        )
    );
    for (i, flow) in network.flows.iter().enumerate() {
        let there: Vec<Span> = flow
            .forward
            .iter()
            .map(|id| network.links[id.0 as usize].delay)
            .collect();
        let back: Vec<Span> = flow
            .reverse
            .iter()
            .map(|id| network.links[id.0 as usize].delay)
            .collect();
        let round_trip = there
            .iter()
            .chain(&back)
            .fold(Span::ZERO, |sum, delay| sum + *delay);
        let expected = 0.020 + (i % 18) as f64 * (0.534 - 0.020) / 17.0;
        assert!((round_trip.as_secs_f64() - expected).abs() < 2e-12, "{i}");
        // Half before the bottleneck and half behind it, as there.
        assert!(there[0].0.abs_diff(there[2].0) <= 1 && there[0].0.abs_diff(back[0].0) <= 1);
        let start = flow.start.as_secs_f64() - 0.01 * i as f64;
        assert!((0.0..0.01).contains(&start), "{i} starts {start} late");
    }
}

#[test]
fn limits_follow_the_link_and_the_flows() {
    let growth = load(
        "growth.toml",
        &[
            ("flow.bulk.count", "1000"),
            ("topology.bottleneck.rate", "500Mbps"),
        ],
    );
    assert_eq!(limit(&growth, "bottleneck"), Limit::Bytes(6_250_000));
    assert_eq!(limit(&growth, "bottleneck.reverse"), Limit::Unlimited);
    // 10 Mb/s × 40 ms = 50,000 B.
    let s3 = load("s3.toml", &[("topology.bottleneck.queue.limit", "1.5bdp")]);
    assert_eq!(limit(&s3, "bottleneck"), Limit::Bytes(75_000));
    // Mean round-trip time of 18 full classes: (20 + 534) / 2 = 277 ms.
    let s1 = load(
        "s1.toml",
        &[
            ("topology.bottleneck.queue.limit", "1bdp"),
            ("flow.0.count", "18"),
        ],
    );
    assert_eq!(limit(&s1, "bottleneck"), Limit::Bytes(1_731_250));
}

#[test]
fn packets_are_as_large_as_their_options_make_them() {
    let scenario = load("linux-bottleneck.toml", &[]);
    let buffer = scenario.buffer("bottleneck").expect("the link exists");
    assert_eq!(
        (buffer.frame_bytes, buffer.bytes),
        (1_500, Some(33 * 1_500))
    );
}
