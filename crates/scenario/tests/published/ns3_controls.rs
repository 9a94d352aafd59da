//! CUBIC, BBR and Vegas beside ns-3.37 on the links of scenarios/ns3.toml: what `tools/ns3/dumbbell.cc`
//! prints for them (docs/validation.md), without running it.

use goodqueue_scenario::Scenario;
use goodqueue_sim::run;

/// Goodput in bit/s, mean backlog in packets and loss rate of one flow.
fn simulate(overrides: &[(&str, &str)]) -> (f64, f64, f64) {
    let text = include_bytes!("../../../../scenarios/ns3.toml");
    let overrides: Vec<(String, String)> = overrides
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    let scenario = Scenario::parse(text, "ns3", &overrides);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let outcome = run(&scenario.network());
    let link = &outcome.links[0];
    let queue = link.backlog_packets.mean.expect("something waited");
    (outcome.flows[0].goodput_bps, queue, link.loss_rate)
}

fn within(value: f64, wanted: f64, share: f64) -> bool {
    (value - wanted).abs() <= share * wanted
}

#[test]
fn cubic_follows_the_curve_of_ns3() {
    let (goodput, backlog, loss) = simulate(&[]);
    assert!(within(goodput, 48_601_843.0, 0.03), "{goodput}");
    assert!(within(backlog, 242.554, 0.1), "{backlog}");
    assert!(within(loss, 0.000_128_15, 0.1), "{loss}");
}

const SMALL: [(&str, &str); 4] = [
    ("topology.bottleneck.rate", "10Mbps"),
    ("topology.bottleneck.queue.limit", "133p"),
    ("flow.bulk.rtt", "40ms"),
    ("duration", "100s"),
];

#[test]
fn bbr_without_probe_rtt_fills_the_queue_as_in_ns3() {
    let bbr = r#"{ kind = "bbr", probe_rtt_interval = "3000s" }"#;
    let control = [("tcp.congestion_control", bbr)];
    let (goodput, backlog, loss) = simulate(&[&SMALL[..], &control].concat());
    assert!(within(goodput, 9_720_407.5, 0.03), "{goodput}");
    // ns-3's mean of ten seeds.
    assert!(within(backlog, 7.58, 0.1), "{backlog}");
    assert!(loss == 0.0, "{loss}");
}

#[test]
fn vegas_stays_where_ns3_stays() {
    let control = [("tcp.congestion_control", "vegas")];
    let (goodput, backlog, loss) = simulate(&[&SMALL[..], &control].concat());
    assert!(within(goodput, 9_720_407.5, 0.03), "{goodput}");
    assert!(within(backlog, 2.6625, 0.1), "{backlog}");
    assert!(loss == 0.0, "{loss}");
}
