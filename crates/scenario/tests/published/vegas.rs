//! Vegas under profiles that time one segment per round trip, or every one by timestamps.

use goodqueue_scenario::Scenario;
use goodqueue_sim::run;

/// Mean backlog of one flow over 10 Mbit/s and 40 ms with room for 400 packets.
fn backlog(overrides: &[(&str, &str)]) -> f64 {
    let text = include_bytes!("../../../../scenarios/s3.toml");
    let shared = [
        ("tcp.congestion_control", "vegas"),
        ("topology.bottleneck.queue.limit", "400p"),
        ("duration", "40s"),
    ];
    let overrides: Vec<(String, String)> = shared
        .iter()
        .chain(overrides)
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    let scenario = Scenario::parse(text, "vegas", &overrides);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    run(&scenario.network()).links[0]
        .backlog_packets
        .mean
        .expect("something waited")
}

/// α = 2 and β = 4 segments, the one in service counted.
#[test]
fn alpha_to_beta_packets_wait_whatever_the_profile_times() {
    for profile in ["rfc", "linux", "ns2"] {
        for every in ["1", "2"] {
            let waiting = backlog(&[("tcp.profile", profile), ("tcp.ack_every", every)]);
            assert!(
                (1.0..=4.0).contains(&waiting),
                "{profile}, {every}: {waiting}"
            );
        }
    }
    let waiting = backlog(&[("tcp.profile", "rfc"), ("tcp.timestamps", "1ms")]);
    assert!((1.0..=4.0).contains(&waiting), "timestamps: {waiting}");
}
