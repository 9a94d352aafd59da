//! Trees of values as TOML.

use super::axis::leaves;
use crate::document::{Entry, Node, Value};
use crate::error::Origin;
use crate::write::quote;
use std::fmt::Write;

/// A value on one line.
pub(crate) fn inline_value(node: &Node) -> String {
    match &node.value {
        Value::Text(text) => quote(text),
        Value::Integer(_, Some(value)) => value.to_string(),
        Value::Integer(text, None) | Value::Float(text, _) | Value::Date(text) => text.clone(),
        Value::Flag(flag) => flag.to_string(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(inline_value).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(table) => {
            let mut entries: Vec<_> = table.entries.iter().collect();
            entries.sort_by(|a, b| a.name.cmp(&b.name));
            let items: Vec<String> = entries
                .iter()
                .map(|entry| format!("{} = {}", key(&entry.name), inline_value(&entry.node)))
                .collect();
            format!("{{ {} }}", items.join(", "))
        }
    }
}

/// A value as results show it: a text without its quotes.
pub(crate) fn shown(node: &Node) -> String {
    match &node.value {
        Value::Text(text) => text.clone(),
        _ => inline_value(node),
    }
}

/// A key, quoted if it must be.
pub(crate) fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(bare) {
        name.to_owned()
    } else {
        quote(name)
    }
}

/// A table under a header of its own, and those below it under theirs.
pub(crate) fn write_table(out: &mut String, path: &str, node: &Node) {
    let tables = |node: &Node| match &node.value {
        Value::List(items) => {
            !items.is_empty()
                && items
                    .iter()
                    .all(|item| matches!(item.value, Value::Table(_)))
        }
        Value::Table(_) => true,
        _ => false,
    };
    let entries = entries(node);
    let _ = write!(out, "\n[{path}]\n");
    for entry in entries.iter().filter(|entry| !tables(&entry.node)) {
        let _ = writeln!(out, "{} = {}", key(&entry.name), inline_value(&entry.node));
    }
    for entry in entries.iter().filter(|entry| tables(&entry.node)) {
        let below = format!("{path}.{}", key(&entry.name));
        match &entry.node.value {
            Value::List(items) => {
                for item in items {
                    let _ = write!(out, "\n[[{below}]]\n{}", lines(item));
                }
            }
            _ => {
                let _ = write!(out, "\n[{below}]\n{}", lines(&entry.node));
            }
        }
    }
}

/// The keys of a table, a line each.
pub(crate) fn lines(node: &Node) -> String {
    let line = |entry: &&Entry| format!("{} = {}\n", key(&entry.name), inline_value(&entry.node));
    entries(node).iter().map(line).collect()
}

/// `[sweep]`: axes by their paths, then what is zipped and excluded.
pub(crate) fn write_sweep(out: &mut String, node: &Node) {
    let _ = write!(out, "\n[sweep]\n{}", axes(node));
    for entry in entries(node) {
        if let ("zip" | "exclude", Value::List(items)) = (&*entry.name, &entry.node.value) {
            for item in items {
                let _ = write!(out, "\n[[sweep.{}]]\n{}", entry.name, axes(item));
            }
        }
    }
}

/// Values by their paths, a line each.
fn axes(node: &Node) -> String {
    let mut out = String::new();
    for (path, node) in leaves(node, "") {
        if !matches!(path.as_str(), "zip" | "exclude") {
            let parts: Vec<String> = path.split('.').map(key).collect();
            let _ = writeln!(out, "{} = {}", parts.join("."), inline_value(node));
        }
    }
    out
}

/// The entries of a table in the order of the file.
fn entries(node: &Node) -> Vec<&Entry> {
    let Value::Table(table) = &node.value else {
        return Vec::new();
    };
    let mut entries: Vec<&Entry> = table.entries.iter().collect();
    entries.sort_by_key(|entry| match entry.at {
        Origin::File(offset) => offset,
        Origin::Override(index) => usize::MAX - index,
    });
    entries
}
