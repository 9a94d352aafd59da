//! Labels of the values of an axis: given, or short names of tables.

use super::toml::shown;
use crate::language::document::{Node, Value};
use crate::language::error::Checked;
use crate::language::reader::Reader;
use crate::language::spec::LABELLED;
use std::collections::HashMap;

/// Returns the labels of values, after tables without a label have got short ones. A short name
/// belongs to one value of the axis; a table without such a name is written in full.
pub(crate) fn with_short_names(
    values: &[Node],
    labels: Vec<Option<String>>,
) -> Vec<Option<String>> {
    let mut uses: HashMap<String, usize> = HashMap::new();
    let mut short = Vec::new();
    for (value, label) in values.iter().zip(&labels) {
        let names = match label {
            Some(_) => Vec::new(),
            None => short_names(value),
        };
        let own = label.clone().unwrap_or_else(|| shown(value));
        for name in names.iter().chain([&own]) {
            *uses.entry(name.clone()).or_default() += 1;
        }
        short.push(names);
    }
    let unique = |names: Vec<String>| names.into_iter().find(|name| uses[name] == 1);
    let pairs = labels.into_iter().zip(short);
    pairs
        .map(|(label, names)| label.or_else(|| unique(names)))
        .collect()
}

/// Returns the short names of a table, the shortest one first: its class without and with the
/// module, or its kind if it has no other key.
fn short_names(value: &Node) -> Vec<String> {
    let Value::Table(table) = &value.value else {
        return Vec::new();
    };
    let text = |name: &str| match table.get(name).map(|node| &node.value) {
        Some(Value::Text(text)) => Some(text.clone()),
        _ => None,
    };
    if let Some(whole) = text("class") {
        let class = whole.rsplit(':').next().unwrap_or_default().to_owned();
        return vec![class, whole];
    }
    let kind = text("kind").filter(|_| table.entries.len() == 1);
    kind.into_iter().collect()
}

/// Returns a value, with its label if it has one.
pub(crate) fn labelled(node: &Node, path: &str) -> Checked<(Node, Option<String>)> {
    let Value::Table(table) = &node.value else {
        return Ok((node.clone(), None));
    };
    if table.get("label").is_none() {
        return Ok((node.clone(), None));
    }
    let reader = Reader::open(node, &LABELLED, path.to_owned())?;
    let label = reader.require("label")?.text()?;
    Ok((reader.require("value")?.node.clone(), Some(label)))
}
