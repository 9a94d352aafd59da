//! Guesses about a JSON text that is no output of `tc qdisc show`: the program that wrote it.

use serde_json::{Map, Value};

/// Keys that all tables of a program's output have, and the program.
const TABLES: &[(&[&str], &str)] = &[
    (&["start", "intervals", "end"], "output of iperf3"),
    (&["class"], "output of `tc class show`"),
    (&["protocol", "pref"], "output of `tc filter show`"),
    (&["ifname", "link_type"], "output of `ip link`"),
    (&["dst", "dev"], "output of `ip route` or `ip neigh`"),
    (&["metadata", "results", "x_values"], "data of Flent"),
    (&["rules", "exports"], "an answer of `goodqueue size`"),
    (&["results_version"], "results of goodqueue"),
    (&["PORT"], "a configuration of SONiC without BUFFER_QUEUE"),
    (
        &["DEVICE_METADATA"],
        "a configuration of SONiC without BUFFER_QUEUE",
    ),
    (&["type", "features"], "GeoJSON"),
];

/// Keys of a table that a message names at most.
const NAMED: usize = 4;

/// Returns a description of a JSON value that was expected to be something else.
pub(super) fn seems(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "a truth value".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::String(_) => "a text".to_owned(),
        Value::Object(table) => of_table(table),
        Value::Array(values) => match values.first() {
            None => "an empty list".to_owned(),
            Some(Value::Object(table)) => format!("a list of tables: {}", of_table(table)),
            Some(first) => format!("a list whose first value is {}", short(first)),
        },
    }
}

/// Returns the description of a value within another one.
fn short(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
        Value::String(_) => "a text",
        _ => "a number or a truth value",
    }
}

fn of_table(table: &Map<String, Value>) -> String {
    let known = TABLES.iter().find(|known| {
        let mut keys = known.0.iter();
        keys.all(|key| table.contains_key(*key))
    });
    if let Some((_, program)) = known {
        return (*program).to_owned();
    }
    let keys = table.keys().take(NAMED);
    let keys: Vec<String> = keys
        .map(|key| format!("\"{}\"", goodqueue_types::message::shorten(key)))
        .collect();
    match (keys.len(), table.len()) {
        (0, _) => "an empty table".to_owned(),
        (few, all) if few < all => format!("a table with the keys {}, …", keys.join(", ")),
        _ => format!("a table with the keys {}", keys.join(", ")),
    }
}
