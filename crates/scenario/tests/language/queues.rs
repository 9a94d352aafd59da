//! Every queue discipline by its keys: a file gives the queue of the run, and that queue can be
//! written.

use crate::any_queue;

use crate::any_queue::{any_queue, queue_of, with_queue};
use goodqueue_queue::{Configuration, Limit, QueueConfig, RedUnit, conformance};
use goodqueue_scenario::{Scenario, queue_toml};
use proptest::prelude::*;

fn read(queue: &str) -> QueueConfig {
    queue_of(&with_queue(queue).unwrap_or_else(|error| panic!("{error}\n{queue}")))
}

#[test]
fn code_points_have_numbers_and_names() {
    // RFC 2474, RFC 2597, RFC 3246, RFC 5865, RFC 8622.
    let named = [
        ("ef", 46),
        ("va", 44),
        ("le", 1),
        ("cs0", 0),
        ("cs1", 8),
        ("cs7", 56),
        ("af11", 10),
        ("af41", 34),
        ("af43", 38),
    ];
    for (name, point) in named {
        let overrides = [("flow.0.dscp".to_owned(), name.to_owned())];
        let scenario = Scenario::parse(any_queue::LINK.as_bytes(), "test", &overrides);
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(scenario.network().flows[0].dscp, point, "{name}");
    }
}

/// A threshold counts what its unit says, and never another quantity.
#[test]
fn thresholds_of_red_have_one_meaning() {
    let thresholds = |keys: &str| match read(&format!(
        "{{ kind = \"ns2_red\", limit = \"100p\", {keys} }}"
    )) {
        QueueConfig::Red(red) => (red.unit, red.min, red.max),
        other => panic!("{other:?}"),
    };
    let (packets, bytes) = (RedUnit::Packets, RedUnit::Bytes);
    for (keys, unit, min, max) in [
        ("min = \"5p\"", packets, 5.0, 15.0),
        ("max = \"30p\", min = \"5p\"", packets, 5.0, 30.0),
        ("min = 5, unit = \"packets\"", packets, 5.0, 15.0),
        (
            "min = 5, max = \"10p\", unit = \"packets\"",
            packets,
            5.0,
            10.0,
        ),
        ("min = \"1000B\"", bytes, 1_000.0, 3_000.0),
        (
            "min = \"2kB\", max = \"9kB\", unit = \"bytes\"",
            bytes,
            2_000.0,
            9_000.0,
        ),
        ("min = 1000", bytes, 1_000.0, 3_000.0),
        ("min = 5, unit = \"bytes\"", bytes, 5.0, 15.0),
        ("min = 0, max = 9000", bytes, 0.0, 9_000.0),
    ] {
        assert_eq!(thresholds(keys), (unit, min, max), "{keys}");
    }
    for keys in [
        "min = 5",
        "min = 499.5, mean_packet = \"500B\"",
        "min = \"5p\", max = \"9000B\"",
        "min = \"5p\", max = 15, unit = \"bytes\"",
        "min = \"1000B\", unit = \"packets\"",
        "min = \"1000\"",
        "min = \"5ms\"",
    ] {
        let queue = format!("{{ kind = \"ns2_red\", limit = \"100p\", {keys} }}");
        let error = with_queue(&queue).expect_err(keys);
        // The advice is accepted if it is followed.
        let followed = error.help.split("min = ").nth(1).map(|rest| {
            let value = rest.split(['"']).nth(1).unwrap_or_default();
            format!("{{ kind = \"ns2_red\", limit = \"100p\", min = \"{value}\" }}")
        });
        if let Some(followed) = followed {
            with_queue(&followed).unwrap_or_else(|error| panic!("{followed}: {error}"));
        }
    }
}

/// Yields the usual parameters of every discipline in a file, with their text.
fn examples() -> impl Iterator<Item = (String, QueueConfig)> {
    let all = goodqueue_queue::examples().into_iter();
    all.filter_map(|(_, config)| Some((queue_toml(&config)?, config)))
}

#[test]
fn every_discipline_survives_being_written() {
    for (text, config) in examples() {
        assert_eq!(read(&text), config, "{text}");
    }
}

#[test]
fn every_discipline_has_its_buffer_in_every_unit_and_takes_another_limit() {
    for (name, config) in examples() {
        let scenario = with_queue(&name).unwrap_or_else(|error| panic!("{error}"));
        let buffer = scenario.buffer("bottleneck").expect("it is there");
        assert_eq!(buffer.limit, config.limit(), "{name}");
        let bytes = match config.limit() {
            Limit::Packets(packets) => Some(packets * 1514),
            Limit::Bytes(bytes) => Some(bytes),
            Limit::Unlimited => None,
        };
        let packets = bytes.map(|bytes| bytes / 1514);
        assert_eq!((buffer.bytes, buffer.packets), (bytes, packets));
        // 10 Mb/s is 1250 bytes in a millisecond, and the base round trip has 40.
        let rate = match &config {
            QueueConfig::Cake(cake) => cake.bandwidth.map_or(1e7, |rate| rate.0 as f64),
            _ => 1e7,
        };
        let ms = bytes.map(|bytes| bytes as f64 * 8e3 / rate);
        assert_eq!(buffer.ms, ms, "{name}");
        let bdp = bytes.map(|bytes| bytes as f64 / (rate * 0.04 / 8.0));
        assert_eq!(buffer.bdp, bdp, "{name}");
        let limit = Limit::Bytes(60_560);
        let changed = scenario
            .with_limit("bottleneck", limit)
            .expect("it is there");
        assert_eq!(changed.limit("bottleneck"), Ok(limit), "{name}");
        assert_eq!(queue_of(&changed).limit(), limit, "{name}");
    }
}

#[test]
fn a_shaper_counts_time_at_its_own_rate() {
    let tbf = r#"{ kind = "tbf", rate = "4Mbps", burst = "10kB", limit = "50ms" }"#;
    // 4 Mb/s is 500 bytes in a millisecond and 20 kB in 40 ms.
    assert_eq!(read(tbf).limit(), Limit::Bytes(25_000));
    let scenario = with_queue(tbf).unwrap_or_else(|error| panic!("{error}"));
    let buffer = scenario.buffer("bottleneck").expect("it is there");
    assert_eq!((buffer.ms, buffer.bdp), (Some(50.0), Some(1.25)));
    let bdp = tbf.replace("50ms", "1bdp");
    assert_eq!(read(&bdp).limit(), Limit::Bytes(20_000));
    // rate · latency + burst.
    let latency = tbf.replace("limit = \"50ms\"", "latency = \"50ms\"");
    assert_eq!(read(&latency).limit(), Limit::Bytes(35_000));
}

#[test]
fn a_class_counts_time_at_its_highest_rate() {
    let htb = r#"{ kind = "htb", classes = [{ name = "line", rate = "8Mbps" },
        { name = "a", parent = "line", rate = "1Mbps", ceil = "4Mbps", queue = { limit = "50ms" } }] }"#
        .replace('\n', " ");
    assert_eq!(read(&htb).limit(), Limit::Bytes(25_000));
    let again = with_queue(&htb).unwrap_or_else(|error| panic!("{error}"));
    let again = Scenario::parse(again.resolved_toml().as_bytes(), "resolved", &[]);
    assert_eq!(queue_of(&again.expect("it can be read")), read(&htb));
    let committed = htb.replace(r#", ceil = "4Mbps""#, "");
    assert_eq!(read(&committed).limit(), Limit::Bytes(6_250));
}

#[test]
fn a_threshold_that_follows_from_a_long_limit_can_be_written() {
    let choke = r#"{ kind = "choke", limit = "1514s", min = "2packets", burst = 2 }"#;
    let scenario = with_queue(choke).unwrap_or_else(|error| panic!("{error}"));
    let again = Scenario::parse(scenario.resolved_toml().as_bytes(), "resolved", &[]);
    assert_eq!(
        queue_of(&again.expect("it can be read")),
        queue_of(&scenario)
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    /// Any values of its keys give a queue that can be written and read, or one message.
    #[test]
    fn any_parameters_are_refused_or_survive_being_written(
        text in any_queue(),
    ) {
        match with_queue(&text) {
            Ok(scenario) => {
                let resolved = scenario.resolved_toml();
                let again = Scenario::parse(resolved.as_bytes(), "resolved", &[])
                    .unwrap_or_else(|error| panic!("{error}\n{text}\n{resolved}"));
                prop_assert_eq!(queue_of(&again), queue_of(&scenario));
                prop_assert_eq!(again.resolved_toml(), resolved);
            }
            Err(error) => {
                prop_assert!(error.key.starts_with("topology.bottleneck."), "{}", error);
                prop_assert!(!error.message.is_empty() && !error.help.is_empty(), "{}", error);
                prop_assert_eq!(error.to_string().lines().count(), 2, "{}", error);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    /// Accepted queues satisfy the conformance suite under thousands of packets.
    #[test]
    fn any_accepted_parameters_conform(text in any_queue(), seed: u64) {
        let Ok(scenario) = with_queue(&text) else {
            return Ok(());
        };
        let queue = queue_of(&scenario);
        // In a full set of queues a flow may overtake itself (docs/queues/fair.md).
        if matches!(&queue, QueueConfig::FqCodel(config) if config.set_ways > 1) {
            return Ok(());
        }
        let result = conformance::check_config(&queue, seed);
        prop_assert!(result.is_ok(), "{}\n{:?}", text, result);
    }
}
