//! A link with any queue, for tests.

use goodqueue_queue::QueueConfig;
use goodqueue_scenario::{Scenario, ScenarioError, schema};
use proptest::prelude::*;
use serde_json::Value;
use std::sync::LazyLock;

/// 1500-byte packets on a link of 10 Mb/s with 40 ms of base round-trip time.
pub const LINK: &str = r#"schema_version = 1
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

pub fn with_queue(queue: &str) -> Result<Scenario, ScenarioError> {
    let overrides = [("topology.bottleneck.queue".to_owned(), queue.to_owned())];
    Scenario::parse(LINK.as_bytes(), "test", &overrides)
}

pub fn queue_of(scenario: &Scenario) -> QueueConfig {
    scenario.network().links[0].queue.clone()
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
        "boolean" => Some(random.is_multiple_of(2).to_string()),
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

/// Every discipline with the schema of its keys.
static KINDS: LazyLock<Vec<(String, Value)>> = LazyLock::new(|| {
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
});

/// The table of a queue whose keys have values of about the right form.
pub fn any_queue() -> impl Strategy<Value = String> {
    let draws = prop::collection::vec(any::<Option<u32>>(), 32);
    (any::<prop::sample::Index>(), draws).prop_map(|(kind, draws)| {
        let (name, properties) = &KINDS[kind.index(KINDS.len())];
        let mut keys = vec![format!("kind = \"{name}\"")];
        let properties = properties.as_object().expect("keys");
        let others = properties.iter().filter(|property| property.0 != "kind");
        for ((key, property), draw) in others.zip(draws) {
            if let Some(text) = draw.and_then(|draw| value(property, draw)) {
                keys.push(format!("{key} = {text}"));
            }
        }
        format!("{{ {} }}", keys.join(", "))
    })
}
