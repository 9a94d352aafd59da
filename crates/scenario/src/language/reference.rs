//! The tables of docs/scenario.md, generated from the parser's lists of keys.

use crate::language::spec::{Kind, SCENARIO, Spec, variants};
use crate::language::units::{format_size, format_span};
use crate::language::value::default_text;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// Number of tables from which on a row that they share is written once.
const MIN_SHARED: usize = 3;

const HEADING: &str = "| key | value | default | meaning |\n| --- | --- | --- | --- |\n";

/// A table of keys with its place, and the row of each key.
struct Table {
    path: String,
    name: &'static str,
    rows: Vec<(&'static str, String)>,
}

/// Returns the tables of docs/scenario.md: every key with its kind, default and meaning. A row that
/// several tables share stands in a table of its own, and they name its key.
pub fn reference_markdown() -> String {
    let tables = tables();
    let mut places: HashMap<&str, Vec<&str>> = HashMap::new();
    for table in &tables {
        for (_, row) in &table.rows {
            places.entry(row).or_default().push(table.name);
        }
    }
    let is_shared = |row: &str| places[row].len() >= MIN_SHARED;
    let mut out = String::new();
    for table in &tables {
        let _ = writeln!(out, "### {} ({})\n", place(&table.path), table.name);
        let (shared, own): (Vec<_>, Vec<_>) = table.rows.iter().partition(|row| is_shared(&row.1));
        if !own.is_empty() {
            out.push_str(HEADING);
        }
        for (_, row) in &own {
            let _ = writeln!(out, "{row}");
        }
        if !shared.is_empty() {
            let keys: Vec<String> = shared.iter().map(|(key, _)| format!("`{key}`")).collect();
            let before = if own.is_empty() { "" } else { "\n" };
            let _ = writeln!(
                out,
                "{before}[Keys of several tables](#keys-of-several-tables): {}.",
                keys.join(", ")
            );
        }
        out.push('\n');
    }
    out.push_str("### Keys of several tables\n\n");
    let mut written = HashSet::new();
    out.push_str("| key | value | default | meaning | tables |\n| --- | --- | --- | --- | --- |\n");
    for (_, row) in tables.iter().flat_map(|table| &table.rows) {
        if is_shared(row)
            && let Some(names) = places.get(row.as_str())
            && written.insert(row)
        {
            let _ = writeln!(out, "{row} {} |", names.join(", "));
        }
    }
    out.push('\n');
    out
}

/// Returns the tables of keys, each once, in the order in which a reader of the file meets them.
fn tables() -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    let mut waiting: Vec<(String, &Spec)> = vec![(String::new(), &SCENARIO)];
    while !waiting.is_empty() {
        let (path, spec) = waiting.remove(0);
        if tables.iter().any(|table| table.name == spec.name) {
            continue;
        }
        let parent = if path.is_empty() {
            String::new()
        } else {
            path.clone() + "."
        };
        let mut rows = Vec::new();
        for key in spec.keys {
            let (value, default) = (value_text(key.kind), code(&default_text(spec, key)));
            let row = format!(
                "| `{}` | {value} | {default} | {} |",
                key.name,
                key.meaning()
            );
            rows.push((key.name, row));
            below(&format!("{parent}{}", key.name), key.kind, &mut waiting);
        }
        tables.push(Table {
            path,
            name: spec.name,
            rows,
        });
    }
    tables
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
