//! The JSON Schema of a scenario file, generated from the parser's lists of keys.

use crate::language::spec::{Key, Kind, REQUIRED, SCENARIO, Spec, variants};
use crate::language::units::{WithUnits, pattern};
use crate::language::value::default_text;
use serde_json::{Map, Value, json};

/// Returns the JSON Schema (draft 2020-12) of a scenario file, for editors. It contains keys,
/// types, words and the form of values with units. Only the parser checks bounds and the relations
/// of keys.
pub fn schema() -> String {
    let mut definitions = Map::new();
    let mut root = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "goodqueue scenario",
    });
    let scenario = table(&SCENARIO, &mut definitions);
    if let (Value::Object(root), Value::Object(scenario)) = (&mut root, scenario) {
        root.extend(scenario);
        root.insert("$defs".to_owned(), Value::Object(definitions));
    }
    format!("{root:#}\n")
}

/// Returns the schema of a table; tables below it become definitions.
fn table(spec: &Spec, definitions: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    for key in spec.keys {
        let mut property = value(key.kind, definitions);
        if let Value::Object(map) = &mut property {
            map.insert("description".to_owned(), json!(description(spec, key)));
        }
        properties.insert(key.name.to_owned(), property);
    }
    let required: Vec<&str> = spec
        .keys
        .iter()
        .filter(|key| key.default == REQUIRED)
        .map(|key| key.name)
        .collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn description(spec: &Spec, key: &Key) -> String {
    format!(
        "{} Default: {}. Example: {}",
        key.meaning(),
        default_text(spec, key),
        key.toml_example()
    )
}

/// Returns a reference to a table's definition, which is created at the first use.
fn reference(spec: &'static Spec, definitions: &mut Map<String, Value>) -> Value {
    let name = spec.name.replace(' ', "_");
    if !definitions.contains_key(&name) {
        definitions.insert(name.clone(), Value::Null);
        let definition = table(spec, definitions);
        definitions.insert(name.clone(), definition);
    }
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// Returns the schema of a number with one of these units.
fn units(units: &str) -> Value {
    json!({ "type": "string", "pattern": format!("^[0-9]+([.][0-9]+)?( ?)({units})$") })
}

fn with_units(kind: WithUnits) -> Value {
    units(&pattern(kind))
}

fn value(kind: Kind, definitions: &mut Map<String, Value>) -> Value {
    match kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Name => json!({ "type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Integer { min, max } => {
            json!({ "type": "integer", "minimum": min, "maximum": max })
        }
        Kind::Number { min, max } => json!({ "type": "number", "minimum": min, "maximum": max }),
        Kind::Fraction => json!({ "anyOf": [
            { "type": "number", "minimum": 0, "maximum": 1 },
            { "type": "string", "pattern": "^[0-9]+([.][0-9]+)?( ?%)?$" },
        ] }),
        Kind::Percent => units("%"),
        Kind::Rate | Kind::RateOrZero => with_units(WithUnits::Rate),
        Kind::Span { .. } => with_units(WithUnits::Span),
        Kind::Size { .. } => with_units(WithUnits::Size),
        Kind::Packets { .. } => with_units(WithUnits::Packets),
        Kind::Limit => json!({ "anyOf": [
            { "const": "unlimited" },
            with_units(WithUnits::Limit),
        ] }),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Integers { max } => json!({
            "type": "array",
            "uniqueItems": true,
            "items": { "type": "integer", "minimum": 0, "maximum": max },
        }),
        Kind::Numbers { count, max } => json!({
            "type": "array",
            "minItems": count,
            "maxItems": count,
            "items": { "type": "integer", "minimum": 0, "maximum": max },
        }),
        Kind::Quantity(_) | Kind::Free => json!({}),
        Kind::ListOf(kind) => json!({ "type": "array", "items": value(*kind, definitions) }),
        Kind::Table(spec) => reference(spec, definitions),
        Kind::List(spec) => {
            json!({ "type": "array", "minItems": 1, "items": reference(spec, definitions) })
        }
        Kind::Tagged { .. } | Kind::Law(_) | Kind::Queue => {
            let (tag, variants) = variants(kind).unwrap_or_default();
            tagged(tag, variants, definitions)
        }
        Kind::Either(kinds) => {
            let any: Vec<Value> = kinds.iter().map(|one| value(*one, definitions)).collect();
            json!({ "anyOf": any })
        }
    }
}

/// Returns one alternative for each word at the tag; at most one of them matches.
fn tagged(
    tag: &str,
    variants: &[(&str, &'static Spec)],
    definitions: &mut Map<String, Value>,
) -> Value {
    let variants: Vec<Value> = variants
        .iter()
        .map(|(word, spec)| {
            let reference = reference(spec, definitions);
            // Only the first alternative may omit the word, if any may.
            let first = *word == variants[0].0;
            let required: &[&str] = if first { &[] } else { &[tag] };
            json!({ "allOf": [
                reference,
                { "properties": { tag: { "const": word } }, "required": required },
            ] })
        })
        .collect();
    json!({ "oneOf": variants })
}
