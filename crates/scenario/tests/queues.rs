//! Every queue discipline by its keys: what a file says is what runs, and what runs can be written.

use goodqueue_queue::{Configuration, Limit, QueueConfig};
use goodqueue_scenario::{Scenario, ScenarioError, queue_toml, schema};
use proptest::prelude::*;
use serde_json::Value;

/// 1500-byte packets on a link of 10 Mb/s with 40 ms of base round-trip time.
const LINK: &str = r#"schema_version = 1
duration = "10s"
[topology]
shape = "dumbbell"
[topology.bottleneck]
rate = "10Mbps"
delay = "20ms"
framing = "14B"
queue = { limit = "100p" }
[[flow]]
workload = { kind = "bulk" }
tcp = { mss = "1460B" }
"#;

fn with_queue(queue: &str) -> Result<Scenario, ScenarioError> {
    let overrides = [("topology.bottleneck.queue".to_owned(), queue.to_owned())];
    Scenario::parse(LINK.as_bytes(), "test", &overrides)
}

fn queue_of(scenario: &Scenario) -> QueueConfig {
    scenario.network().links[0].queue.clone()
}

fn read(queue: &str) -> QueueConfig {
    queue_of(&with_queue(queue).unwrap_or_else(|error| panic!("{error}\n{queue}")))
}

/// The usual parameters of every discipline that a file can name, and how it would.
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
            Limit::Packets(packets) => packets * 1514,
            Limit::Bytes(bytes) => bytes,
            Limit::Unlimited => panic!("{name} has no limit"),
        };
        assert_eq!(
            (buffer.bytes, buffer.packets),
            (Some(bytes), Some(bytes / 1514))
        );
        // 10 Mb/s is 1250 bytes in a millisecond and 50 kB in 40 ms.
        assert_eq!(buffer.ms, Some(bytes as f64 / 1250.0), "{name}");
        assert_eq!(buffer.bdp, Some(bytes as f64 / 50_000.0), "{name}");
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

/// A value of about the right form for a key, by the schema.
fn value(property: &Value, random: u32) -> Option<String> {
    if let Some(words) = property["enum"].as_array() {
        return Some(words[random as usize % words.len()].to_string());
    }
    if let Some(any) = property["anyOf"].as_array() {
        return value(&any[random as usize % any.len()], random / 7);
    }
    if let Some(word) = property.get("const") {
        return Some(word.to_string());
    }
    let number = [1, 2, 5, 15, 64, 100, 1514, 30_000][(random % 8) as usize];
    match property["type"].as_str()? {
        "boolean" => Some((random % 2 == 0).to_string()),
        "integer" => Some(number.to_string()),
        "number" => Some(format!("{}", f64::from(random % 1000) / 500.0)),
        "string" => {
            let units = property["pattern"].as_str()?.rsplit_once('(')?.1;
            let units: Vec<&str> = units.trim_end_matches([')', '$']).split('|').collect();
            let unit = units[(random / 8) as usize % units.len()];
            Some(format!("\"{number}{}\"", unit.trim_end_matches("%?")))
        }
        _ => None,
    }
}

fn kinds() -> Vec<(String, Value)> {
    let schema: Value = serde_json::from_str(&schema()).expect("the schema is JSON");
    let queue = &schema["$defs"]["bottleneck"]["properties"]["queue"];
    let variants = queue["oneOf"].as_array().expect("disciplines");
    let kind = |variant: &Value| {
        let name = variant["allOf"][1]["properties"]["kind"]["const"].as_str()?;
        let path = variant["allOf"][0]["$ref"]
            .as_str()?
            .trim_start_matches('#');
        Some((name.to_owned(), schema.pointer(path)?["properties"].clone()))
    };
    let kinds: Vec<_> = variants.iter().filter_map(kind).collect();
    assert_eq!(kinds.len(), variants.len());
    kinds
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    /// Whatever its keys say, a queue is refused in one message or survives being written.
    #[test]
    fn any_parameters_are_refused_or_survive_being_written(
        kind in any::<prop::sample::Index>(),
        draws in prop::collection::vec(any::<Option<u32>>(), 24),
    ) {
        let kinds = kinds();
        let (name, properties) = &kinds[kind.index(kinds.len())];
        let mut keys = vec![format!("kind = \"{name}\"")];
        let properties = properties.as_object().expect("keys");
        for ((key, property), draw) in properties.iter().zip(draws).filter(|((key, _), _)| *key != "kind") {
            if let Some(text) = draw.and_then(|draw| value(property, draw)) {
                keys.push(format!("{key} = {text}"));
            }
        }
        let text = format!("{{ {} }}", keys.join(", "));
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
