//! TOML as JSON, without the meaning of a scenario.

use crate::language::document::{Document, Node, Value};
use crate::language::error::ScenarioError;
use serde_json::Value as Json;

/// Returns the tables of a TOML text as JSON. Dates, and numbers that JSON does not have, are texts.
///
/// # Errors
/// Returns the first mistake. Deep nesting is a mistake, too.
pub fn toml_json(bytes: &[u8], name: &str) -> Result<String, ScenarioError> {
    Document::read_any(bytes, name, &[]).map(|document| json(&document.root).to_string())
}

fn json(node: &Node) -> Json {
    match &node.value {
        Value::Text(text) | Value::Date(text) => text.as_str().into(),
        Value::Integer(text, value) => {
            let number = value.and_then(|value| i64::try_from(value).ok());
            number.map_or_else(|| text.as_str().into(), Json::from)
        }
        Value::Float(text, value) => {
            let number = serde_json::Number::from_f64(*value);
            number.map_or_else(|| text.as_str().into(), Json::Number)
        }
        Value::Flag(flag) => (*flag).into(),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Table(table) => {
            let entries = table.entries.iter();
            let entries = entries.map(|entry| (entry.name.clone(), json(&entry.node)));
            Json::Object(entries.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_type() {
        let text = "a.b = [1, 2.5, true]\nc = 'x'\n[d]\ne = 1979-05-27\nf = inf\n";
        let found = toml_json(text.as_bytes(), "test").unwrap();
        let right = r#"{"a":{"b":[1,2.5,true]},"c":"x","d":{"e":"1979-05-27","f":"inf"}}"#;
        assert_eq!(found, right);
    }

    #[test]
    fn a_long_dotted_key_is_refused() {
        let text = format!("{}a = 1\n", "a.".repeat(40_000));
        assert!(toml_json(text.as_bytes(), "test").is_err());
    }
}
