//! The schema and the documentation agree with the parser.
//!
//! After a change of keys, `UPDATE_DOCS=1 cargo test -p goodqueue-scenario --test schema` writes
//! the generated parts anew.

use goodqueue_scenario::{Scenario, reference_markdown, schema};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns a TOML file as JSON.
fn to_json(text: &str) -> Value {
    let table = DeTable::parse(text).expect("valid TOML");
    table_to_json(table.get_ref())
}

fn table_to_json(table: &DeTable<'_>) -> Value {
    let entries = table
        .iter()
        .map(|(key, value)| (key.get_ref().to_string(), value_to_json(value.get_ref())));
    Value::Object(entries.collect::<Map<_, _>>())
}

fn value_to_json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Integer(number) => json!(number.as_str().parse::<i64>().expect("it fits")),
        DeValue::Float(number) => json!(number.as_str().parse::<f64>().expect("a number")),
        DeValue::Boolean(flag) => json!(flag),
        DeValue::Datetime(date) => json!(date.to_string()),
        DeValue::Array(list) => list
            .iter()
            .map(|item| value_to_json(item.get_ref()))
            .collect(),
        DeValue::Table(table) => table_to_json(table),
    }
}

/// Validates a value by the used part of JSON Schema; patterns are tested with the unit parsers.
fn validate(schema: &Value, root: &Value, value: &Value) -> Result<(), String> {
    let refuse = |why: &str| Err(format!("{why}: {value}"));
    for (keyword, wanted) in schema.as_object().expect("a schema is an object") {
        let all = |pick: &dyn Fn(usize) -> bool| {
            let schemas = wanted.as_array().expect("a list of schemas");
            pick(
                schemas
                    .iter()
                    .filter(|one| validate(one, root, value).is_ok())
                    .count(),
            )
        };
        match keyword.as_str() {
            "$ref" => {
                let path = wanted.as_str().expect("a path").trim_start_matches('#');
                validate(root.pointer(path).expect("a definition"), root, value)?;
            }
            "type" => {
                let right = match wanted.as_str().expect("a type") {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "number" => value.is_number(),
                    other => panic!("unknown type {other}"),
                };
                if !right {
                    return refuse(&format!("not a {wanted}"));
                }
            }
            "enum" if !wanted.as_array().expect("a list").contains(value) => {
                return refuse("not a choice");
            }
            "const" if wanted != value => return refuse("not the constant"),
            "minimum" if value.as_f64() < wanted.as_f64() => return refuse("too small"),
            "maximum" if value.as_f64() > wanted.as_f64() => return refuse("too large"),
            "minItems" if value.as_array().is_some_and(Vec::is_empty) => return refuse("empty"),
            "required" => {
                let keys = wanted.as_array().expect("a list");
                if keys
                    .iter()
                    .any(|key| value.get(key.as_str().expect("a key")).is_none())
                {
                    return refuse("a key is missing");
                }
            }
            "properties" => {
                for (key, below) in value.as_object().into_iter().flatten() {
                    if let Some(below_schema) = wanted.get(key) {
                        validate(below_schema, root, below)
                            .map_err(|why| format!("{key}: {why}"))?;
                    }
                }
            }
            "additionalProperties" => {
                let known = &schema["properties"];
                let mut keys = value.as_object().into_iter().flatten().map(|(key, _)| key);
                if keys.any(|key| known.get(key).is_none()) {
                    return refuse("an unknown key");
                }
            }
            "items" => {
                for item in value.as_array().into_iter().flatten() {
                    validate(wanted, root, item)?;
                }
            }
            "allOf" if !all(&|valid| valid == wanted.as_array().expect("a list").len()) => {
                return refuse("not all of the alternatives");
            }
            "anyOf" if !all(&|valid| valid >= 1) => return refuse("none of the alternatives"),
            "oneOf" if !all(&|valid| valid == 1) => return refuse("not one of the alternatives"),
            _ => {}
        }
    }
    Ok(())
}

fn valid(text: &str) -> Result<(), String> {
    let schema: Value = serde_json::from_str(&schema()).expect("the schema is JSON");
    validate(&schema, &schema, &to_json(text))
}

#[test]
fn the_schema_accepts_every_scenario_and_every_key_written_out() {
    let folder = std::fs::read_dir(root().join("scenarios")).expect("the folder exists");
    let mut count = 0;
    for entry in folder {
        let path = entry.expect("it can be listed").path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("it can be read");
        valid(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        let scenario = Scenario::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        valid(&scenario.resolved_toml()).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        count += 1;
    }
    assert!(count >= 7);
}

#[test]
fn the_schema_refuses_files_that_the_parser_refuses() {
    let good = read("scenarios/bufferbloat.toml");
    valid(&good).expect("it is valid");
    for (what, by) in [
        ("duration = \"180s\"", ""),
        ("duration = \"180s\"", "duration = 180"),
        ("duration = \"180s\"", "duration = \"180s\"\nspeed = 1"),
        ("shape = \"dumbbell\"", "shape = \"chain\""),
        ("shape = \"dumbbell\"", "shape = \"ring\""),
        ("kind = \"ping\"", "kind = \"bulk\""),
        ("kind = \"drop_tail\"", "kind = \"green\""),
        ("profile = \"rfc\"", "profile = \"linus\""),
        ("seed = 1", "seed = -1"),
        ("mss = \"536B\"", "nagle = 1"),
    ] {
        assert_eq!(good.matches(what).count(), 1, "{what}");
        let text = good.replace(what, by);
        assert!(valid(&text).is_err(), "{by} is accepted by the schema");
        assert!(
            Scenario::parse(text.as_bytes(), "test", &[]).is_err(),
            "{by} is accepted"
        );
    }
}

/// The TCP table of a resolved scenario contains every key of the schema except those of another
/// congestion control or estimator, and the replaced profile.
#[test]
fn every_tcp_key_is_written_out() {
    let scenario = Scenario::load(
        &root().join("scenarios/bufferbloat.toml"),
        &[(
            "flow.upload.tcp.congestion_control".to_owned(),
            "gaimd".to_owned(),
        )],
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let resolved = to_json(&scenario.resolved_toml());
    let schema: Value = serde_json::from_str(&schema()).expect("the schema is JSON");
    for (definition, path) in [
        ("tcp", "/flow/0/tcp"),
        ("rto", "/flow/0/tcp/rto"),
        ("details", "/flow/0/tcp/details"),
    ] {
        let written = resolved.pointer(path).expect("a table");
        let keys = schema["$defs"][definition]["properties"]
            .as_object()
            .expect("keys");
        for key in keys.keys().filter(|key| *key != "profile") {
            assert!(written.get(key).is_some(), "{definition}.{key}");
        }
    }
}

/// Writes a generated text to its file if `UPDATE_DOCS` is set.
fn update(path: &str, wanted: &str) {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(root().join(path), wanted).expect("it can be written");
    }
}

const OUT_OF_DATE: &str =
    "out of date: run UPDATE_DOCS=1 cargo test -p goodqueue-scenario --test schema";

#[test]
fn the_documented_keys_are_the_parsers() {
    const BEGIN: &str = "<!-- keys: begin -->\n";
    const END: &str = "<!-- keys: end -->";
    let page = read("docs/scenario.md");
    let (before, rest) = page
        .split_once(BEGIN)
        .expect("the page has a mark where keys begin");
    let (_, after) = rest
        .split_once(END)
        .expect("the page has a mark where keys end");
    let wanted = format!("{before}{BEGIN}\n{}{END}{after}", reference_markdown());
    update("docs/scenario.md", &wanted);
    assert!(
        read("docs/scenario.md") == wanted,
        "docs/scenario.md is {OUT_OF_DATE}"
    );
}

#[test]
fn the_documented_examples_are_valid() {
    let page = read("docs/scenario.md");
    let examples: Vec<&str> = page
        .split("```toml\n")
        .skip(1)
        .map(|part| part.split("```").next().unwrap_or_default())
        .filter(|example| example.contains("schema_version"))
        .collect();
    assert!(examples.len() >= 2);
    for example in examples {
        Scenario::parse(example.as_bytes(), "docs/scenario.md", &[])
            .unwrap_or_else(|error| panic!("{error}\n{example}"));
    }
}
