//! Trees of values as TOML.

use super::axis::{leaves, offset};
use crate::language::document::{Entry, Node, Value};
use crate::language::error::Origin;
use crate::language::text::quote;
use std::fmt::Write;

/// Writes a value on one line.
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

/// Returns a value in the form of results: a text without its quotes.
pub(crate) fn shown(node: &Node) -> String {
    match &node.value {
        Value::Text(text) => text.clone(),
        _ => inline_value(node),
    }
}

/// Returns a key, quoted if necessary.
pub(crate) fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(bare) {
        name.to_owned()
    } else {
        quote(name)
    }
}

/// Writes a table with its header, and tables below it with theirs.
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

/// Writes the keys of a table, one per line.
pub(crate) fn lines(node: &Node) -> String {
    let line = |entry: &&Entry| format!("{} = {}\n", key(&entry.name), inline_value(&entry.node));
    entries(node).iter().map(line).collect()
}

/// Writes `[sweep]`: axes by their paths, then zipped and excluded ones. Axes keep their order. One
/// that follows a `[[sweep.zip]]` is written as such a table with a single key, which is
/// equivalent.
pub(crate) fn write_sweep(out: &mut String, node: &Node) {
    let zips = tables_of(node, "zip").into_iter();
    let mut zips: Vec<(usize, String)> = zips.map(|item| (first(item), axes(item))).collect();
    let before = zips.iter().map(|zip| zip.0).min().unwrap_or(usize::MAX);
    let _ = write!(out, "\n[sweep]\n");
    for (path, leaf) in axes_of(node) {
        if offset(leaf.at) < before {
            out.push_str(&axis(&path, leaf));
        } else {
            zips.push((offset(leaf.at), axis(&path, leaf)));
        }
    }
    zips.sort_by_key(|zip| zip.0);
    for (_, lines) in zips {
        let _ = write!(out, "\n[[sweep.zip]]\n{lines}");
    }
    for item in tables_of(node, "exclude") {
        let _ = write!(out, "\n[[sweep.exclude]]\n{}", axes(item));
    }
}

/// Returns the tables of a list of `[sweep]`.
fn tables_of<'a>(node: &'a Node, name: &str) -> Vec<&'a Node> {
    let entries = entries(node).into_iter();
    let lists = entries.filter(|entry| &*entry.name == name);
    let items = lists.filter_map(|entry| match &entry.node.value {
        Value::List(items) => Some(items),
        _ => None,
    });
    items.flatten().collect()
}

/// Returns the place of the first value of a table in the file.
fn first(node: &Node) -> usize {
    axes_of(node).first().map_or(0, |(_, leaf)| offset(leaf.at))
}

/// Returns values and their paths.
fn axes_of(node: &Node) -> Vec<(String, &Node)> {
    let mut found = leaves(node, "");
    found.retain(|(path, _)| !matches!(path.as_str(), "zip" | "exclude"));
    found
}

/// Writes values by their paths, one per line.
fn axes(node: &Node) -> String {
    let lines = axes_of(node).into_iter();
    lines.map(|(path, leaf)| axis(&path, leaf)).collect()
}

fn axis(path: &str, leaf: &Node) -> String {
    let parts: Vec<String> = path.split('.').map(key).collect();
    format!("{} = {}\n", parts.join("."), inline_value(leaf))
}

/// Returns the entries of a table in the order of the file.
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
