//! The JSON Schema and the tables of the documentation, generated from the parser's lists of keys.

use crate::language::spec::{Key, Kind, REQUIRED, SCENARIO, Spec, variants};
use crate::language::units::{WithUnits, format_size, format_span, pattern};
use crate::language::value::default_text;
use serde_json::{Map, Value, json};
use std::fmt::Write;

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

/// Returns the tables of docs/scenario.md: every key with its kind, default and meaning.
pub fn reference_markdown() -> String {
    let mut out = String::new();
    let mut written = Vec::new();
    let mut waiting: Vec<(String, &Spec)> = vec![(String::new(), &SCENARIO)];
    while !waiting.is_empty() {
        let (path, spec) = waiting.remove(0);
        if written.contains(&spec.name) {
            continue;
        }
        written.push(spec.name);
        let _ = writeln!(out, "### {} ({})\n", place(&path), spec.name);
        out.push_str("| key | value | default | meaning |\n| --- | --- | --- | --- |\n");
        for key in spec.keys {
            let (value, default) = (value_text(key.kind), code(&default_text(spec, key)));
            let _ = writeln!(
                out,
                "| `{}` | {value} | {default} | {} |",
                key.name,
                key.meaning()
            );
            let parent = if path.is_empty() {
                String::new()
            } else {
                path.clone() + "."
            };
            below(&format!("{parent}{}", key.name), key.kind, &mut waiting);
        }
        out.push('\n');
    }
    out
}

/// Returns the place of a table.
fn place(path: &str) -> String {
    if path.is_empty() {
        "Top level".to_owned()
    } else {
        format!("`{path}`")
    }
}

/// Marks a default that is written as in TOML.
fn code(default: &str) -> String {
    if default.starts_with(['"', '{', '[']) || default.parse::<f64>().is_ok() || default == "false"
    {
        return format!("`{default}`");
    }
    default.to_owned()
}

/// Adds the tables that a key at this path may contain to `waiting`.
fn below(path: &str, kind: Kind, waiting: &mut Vec<(String, &'static Spec)>) {
    match kind {
        Kind::Table(spec) | Kind::List(spec) => waiting.push((path.to_owned(), spec)),
        Kind::Tagged { .. } | Kind::Law(_) | Kind::Queue => {
            let (_, variants) = variants(kind).unwrap_or_default();
            waiting.extend(variants.iter().map(|(_, spec)| (path.to_owned(), *spec)));
        }
        Kind::Either(kinds) => kinds.iter().for_each(|kind| below(path, *kind, waiting)),
        Kind::ListOf(kind) => below(path, *kind, waiting),
        _ => {}
    }
}

fn value_text(kind: Kind) -> String {
    match kind {
        Kind::Text => "text".to_owned(),
        Kind::Name => "name".to_owned(),
        Kind::Flag => "`true` or `false`".to_owned(),
        Kind::Integer { min, max } if min == max => min.to_string(),
        Kind::Integer { min, max } => format!("whole number, {min} to {max}"),
        Kind::Number { min, max } => format!("number, {min} to {max}"),
        Kind::Fraction => "share, `12.5%` or 0 to 1".to_owned(),
        Kind::Percent => "percentage".to_owned(),
        Kind::Rate | Kind::RateOrZero => "rate".to_owned(),
        Kind::Span { min, max } => format!("time, {} to {}", format_span(min), format_span(max)),
        Kind::Size { min, max } => format!("size, {} to {}", format_size(min), format_size(max)),
        Kind::Packets { min, max } => format!("packets, {min}p to {max}p"),
        Kind::Limit => "queue limit".to_owned(),
        Kind::Choice(words) => words
            .iter()
            .map(|word| format!("`\"{word}\"`"))
            .collect::<Vec<_>>()
            .join(", "),
        Kind::Integers { .. } => "list of whole numbers".to_owned(),
        Kind::Numbers { count, max } => format!("{count} whole numbers, 0 to {max}"),
        Kind::ListOf(kind) => format!("list: {}", value_text(*kind)),
        Kind::Quantity(_) | Kind::Free => "value".to_owned(),
        Kind::Table(_) => "table".to_owned(),
        Kind::List(_) => "list of tables".to_owned(),
        Kind::Tagged { tag, .. } => format!("table, by `{tag}`"),
        Kind::Queue => "table, by `kind`".to_owned(),
        Kind::Law(_) => "table, by `law`".to_owned(),
        Kind::Either(kinds) => kinds
            .iter()
            .map(|kind| value_text(*kind))
            .collect::<Vec<_>>()
            .join("; or "),
    }
}
