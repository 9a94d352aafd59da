//! Axes: which keys take which values.

use super::measure::{Measured, measure};
use super::range::range;
use super::toml::{inline_value, shown};
use crate::document::{Node, Value};
use crate::error::{Checked, Origin, Problem, nearest, shorten};
use crate::reader::Reader;
use crate::spec::{COMPARISON, LABELLED};
use serde_json::json;
use std::collections::HashSet;

/// Keys that are varied together, each with as many values.
#[derive(Debug)]
pub(crate) struct Axis {
    pub keys: Vec<Swept>,
    pub len: usize,
}

/// A key of the scenario with the values it takes.
#[derive(Debug)]
pub(crate) struct Swept {
    pub path: String,
    pub at: Origin,
    /// What results call it: its path and the unit of its values.
    pub column: String,
    pub values: Vec<Node>,
    labels: Vec<Option<String>>,
    /// The values as results have them.
    pub shown: Vec<serde_json::Value>,
}

/// What `[sweep]` says.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    pub axes: Vec<Axis>,
    /// Points that match one of these are left out.
    excluded: Vec<Vec<Condition>>,
}

#[derive(Debug)]
struct Condition {
    axis: usize,
    /// For each value of the axis.
    holds: Vec<bool>,
}

/// The values below a table by their paths, in the order of the file.
pub(crate) fn leaves<'a>(node: &'a Node, path: &str) -> Vec<(String, &'a Node)> {
    let mut found = Vec::new();
    collect(node, path, &mut found);
    found.sort_by_key(|(_, node)| offset(node.at));
    found
}

fn collect<'a>(node: &'a Node, path: &str, found: &mut Vec<(String, &'a Node)>) {
    match &node.value {
        Value::Table(table) if path.is_empty() || !is_leaf(node) => {
            for entry in &table.entries {
                let below = if path.is_empty() {
                    entry.name.clone()
                } else {
                    format!("{path}.{}", entry.name)
                };
                collect(&entry.node, &below, found);
            }
        }
        _ => found.push((path.to_owned(), node)),
    }
}

/// Where something stands in the file.
pub(crate) fn offset(at: Origin) -> usize {
    match at {
        Origin::File(offset) | Origin::Override(offset) => offset,
    }
}

/// A table that says which values: a range or a comparison. A key of the scenario may be called
/// `from` too, but then a list of values stands there.
fn is_leaf(node: &Node) -> bool {
    let Value::Table(table) = &node.value else {
        return true;
    };
    ["from", "to", "above", "below"].iter().any(|name| {
        let value = table.get(name).map(|node| &node.value);
        value.is_some_and(|value| !matches!(value, Value::List(_) | Value::Table(_)))
    })
}

impl Sweep {
    /// Reads `[sweep]`.
    pub(crate) fn read(node: &Node) -> Checked<Self> {
        let Value::Table(table) = &node.value else {
            let message = format!("{} stands where a table belongs", node.value.describe());
            let help = "write [sweep], and below it keys of the scenario with lists of values";
            return Err(Problem::new(node.at, "sweep", message, help));
        };
        let mut sweep = Self::default();
        for (path, node) in leaves(node, "") {
            if !matches!(path.as_str(), "zip" | "exclude") {
                let swept = Swept::read(path, node)?;
                let len = swept.values.len();
                let keys = vec![swept];
                sweep.axes.push(Axis { keys, len });
            }
        }
        for node in tables(table.get("zip"), "sweep.zip")? {
            sweep.axes.push(zip(node)?);
        }
        sweep.axes.sort_by_key(|axis| offset(axis.keys[0].at));
        sweep.check_distinct()?;
        for node in tables(table.get("exclude"), "sweep.exclude")? {
            let conditions = leaves(node, "").into_iter();
            let conditions: Checked<Vec<Condition>> = conditions
                .map(|(path, node)| sweep.condition(&path, node))
                .collect();
            sweep.excluded.push(conditions?);
        }
        Ok(sweep)
    }

    fn swept(&self) -> impl Iterator<Item = &Swept> {
        self.axes.iter().flat_map(|axis| &axis.keys)
    }

    fn check_distinct(&self) -> Checked<()> {
        let mut seen: Vec<&Swept> = Vec::new();
        for swept in self.swept() {
            if seen.iter().any(|other| other.path == swept.path) {
                let message = "two axes set this key";
                let help = "keep one of them, with the values of both";
                return Err(Problem::new(swept.at, &swept.path, message, help));
            }
            seen.push(swept);
        }
        Ok(())
    }

    /// The column of an axis, by its key or by its column.
    pub(crate) fn column(&self, name: &str) -> Option<&str> {
        let found = self
            .swept()
            .find(|swept| swept.path == name || swept.column == name);
        found.map(|swept| swept.column.as_str())
    }

    /// The message for a name that is no axis.
    pub(crate) fn no_axis(&self, at: Origin, key: impl Into<String>, name: &str) -> Problem {
        let paths: Vec<&str> = self.swept().map(|swept| swept.path.as_str()).collect();
        let help = match nearest(name, paths.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None if paths.is_empty() => "there is no axis: add some below [sweep]".to_owned(),
            None => format!("the axes are {}", paths.join(", ")),
        };
        let message = format!("\"{}\" is not an axis of this study", shorten(name));
        Problem::new(at, key, message, help)
    }

    fn place(&self, path: &str) -> Option<(usize, usize)> {
        self.axes.iter().enumerate().find_map(|(index, axis)| {
            let key = axis.keys.iter().position(|swept| swept.path == path);
            key.map(|key| (index, key))
        })
    }

    /// For which values of an axis what an exclusion says of it holds.
    fn condition(&self, path: &str, node: &Node) -> Checked<Condition> {
        let Some((axis, key)) = self.place(path) else {
            return Err(self.no_axis(node.at, path, path));
        };
        let swept = &self.axes[axis].keys[key];
        let holds = match &node.value {
            Value::Table(_) if is_leaf(node) => compare(swept, node, path)?,
            Value::List(items) => {
                let mut holds = vec![false; swept.values.len()];
                for item in items {
                    holds[swept.find(item)?] = true;
                }
                holds
            }
            _ => {
                let only = swept.find(node)?;
                (0..swept.values.len()).map(|i| i == only).collect()
            }
        };
        Ok(Condition { axis, holds })
    }

    /// Which value each axis has with the value of one of them stated: axis and index.
    pub(crate) fn stated(&self, path: &str, node: &Node) -> Checked<(usize, usize)> {
        let Some((axis, key)) = self.place(path) else {
            return Err(self.no_axis(node.at, path, path));
        };
        Ok((axis, self.axes[axis].keys[key].find(node)?))
    }

    /// How many points the grid has, nothing excluded.
    pub(crate) fn points(&self) -> u128 {
        let lengths = self.axes.iter().map(|axis| axis.len as u128);
        lengths.fold(1, u128::saturating_mul)
    }

    /// The points that are not excluded: for each axis the index of its value.
    pub(crate) fn grid(&self) -> Vec<Vec<usize>> {
        let mut points = Vec::new();
        let mut at = vec![0; self.axes.len()];
        'points: loop {
            let excluded = self.excluded.iter().any(|conditions| {
                let mut conditions = conditions.iter();
                conditions.all(|condition| condition.holds[at[condition.axis]])
            });
            if !excluded {
                points.push(at.clone());
            }
            for index in (0..at.len()).rev() {
                at[index] += 1;
                if at[index] < self.axes[index].len {
                    continue 'points;
                }
                at[index] = 0;
            }
            return points;
        }
    }
}

/// The tables of a list of tables, if there is one.
fn tables<'a>(node: Option<&'a Node>, path: &str) -> Checked<&'a [Node]> {
    match node.map(|node| (node, &node.value)) {
        None => Ok(&[]),
        Some((_, Value::List(items)))
            if items
                .iter()
                .all(|item| matches!(item.value, Value::Table(_))) =>
        {
            Ok(items)
        }
        Some((node, other)) => Err(Problem::new(
            node.at,
            path,
            format!("{} stands where a list of tables belongs", other.describe()),
            format!("write [[{path}]] with double brackets"),
        )),
    }
}

/// Axes that go together.
fn zip(node: &Node) -> Checked<Axis> {
    let keys: Checked<Vec<Swept>> = leaves(node, "")
        .into_iter()
        .map(|(path, node)| Swept::read(path, node))
        .collect();
    let keys = keys?;
    let Some(first) = keys.first() else {
        let help = "write below it keys with lists of values, all of one length";
        return Err(Problem::new(
            node.at,
            "sweep.zip",
            "nothing is zipped here",
            help,
        ));
    };
    let len = first.values.len();
    match keys.iter().find(|swept| swept.values.len() != len) {
        None => Ok(Axis { keys, len }),
        Some(other) => {
            let message = format!(
                "{} values here, {len} of {}: zipped axes go side by side",
                other.values.len(),
                first.path
            );
            let help = "give every key of a [[sweep.zip]] as many values";
            Err(Problem::new(other.at, &other.path, message, help))
        }
    }
}

/// For which values of an axis a comparison holds.
fn compare(swept: &Swept, node: &Node, path: &str) -> Checked<Vec<bool>> {
    let table = Reader::open(node, &COMPARISON, path.to_owned())?;
    let bound = |name: &str| -> Checked<Option<Measured>> {
        table
            .get(name)
            .map(|field| {
                measure(field.node).ok_or_else(|| {
                    let message = format!("{} cannot be compared", field.node.value.describe());
                    field.problem(message, "write a number, with its unit if it has one")
                })
            })
            .transpose()
    };
    let (above, below) = (bound("above")?, bound("below")?);
    let holds = |value: &Node| {
        let Some(value) = measure(value) else {
            return Err(());
        };
        let fits = |bound: &Option<Measured>, holds: fn(f64, f64) -> bool| match bound {
            None => Ok(true),
            Some(bound) if bound.dimension == value.dimension => {
                Ok(holds(value.value, bound.value))
            }
            Some(_) => Err(()),
        };
        Ok(fits(&above, |v, b| v > b)? && fits(&below, |v, b| v < b)?)
    };
    let found: Result<Vec<bool>, ()> = swept.values.iter().map(holds).collect();
    found.map_err(|()| {
        let message = "not every value of this axis can be compared with this";
        let help = "compare numbers of one unit, or list the values themselves";
        Problem::new(node.at, path, message, help)
    })
}

impl Swept {
    fn read(path: String, node: &Node) -> Checked<Self> {
        let (values, labels) = match &node.value {
            Value::List(items) => items
                .iter()
                .map(|item| labelled(item, &path))
                .collect::<Checked<Vec<_>>>()?
                .into_iter()
                .unzip(),
            Value::Table(_) => {
                let values = range(node, &path)?;
                let labels = vec![None; values.len()];
                (values, labels)
            }
            _ => (vec![node.clone()], vec![None]),
        };
        if values.is_empty() {
            let help = "write at least one value, or leave the key out";
            return Err(Problem::new(node.at, path, "this axis has no value", help));
        }
        let mut swept = Self {
            column: path.clone(),
            path,
            at: node.at,
            values,
            labels,
            shown: Vec::new(),
        };
        swept.show();
        swept.check_values()?;
        Ok(swept)
    }

    /// Numbers of one unit become numbers of that unit; all else stays as it was written.
    fn show(&mut self) {
        let measured: Option<Vec<Measured>> = self.values.iter().map(measure).collect();
        let measured = measured.filter(|all| {
            let same = all.iter().all(|one| one.dimension == all[0].dimension);
            same && self.labels.iter().all(Option::is_none)
        });
        if let Some(measured) = measured {
            self.column = format!("{}{}", self.path, measured[0].dimension.suffix);
            let whole = measured
                .iter()
                .all(|one| one.value.fract() == 0.0 && one.value.abs() < 1e15);
            let number = |one: &Measured| {
                if whole {
                    json!(one.value as i64)
                } else {
                    json!(one.value)
                }
            };
            self.shown = measured.iter().map(number).collect();
            return;
        }
        let text = |(value, label): (&Node, &Option<String>)| {
            json!(label.clone().unwrap_or_else(|| shown(value)))
        };
        self.shown = self.values.iter().zip(&self.labels).map(text).collect();
    }

    fn check_values(&self) -> Checked<()> {
        let mut seen = HashSet::new();
        for (index, one) in self.shown.iter().enumerate() {
            if !seen.insert(one.to_string()) {
                let message = format!("{} stands in this axis twice", shorten(&one.to_string()));
                let help = "name each value once; replicates come from \"seeds\"";
                return Err(Problem::new(
                    self.values[index].at,
                    &self.path,
                    message,
                    help,
                ));
            }
        }
        Ok(())
    }

    /// The index of a value or a label.
    fn find(&self, node: &Node) -> Checked<usize> {
        let same = |value: &Node| match (measure(value), measure(node)) {
            (Some(a), Some(b)) => a == b,
            _ => inline_value(value) == inline_value(node),
        };
        let text = shown(node);
        let label = self
            .labels
            .iter()
            .position(|label| label.as_ref() == Some(&text));
        let found = label.or_else(|| self.values.iter().position(same));
        found.ok_or_else(|| {
            let values: Vec<String> = self.values.iter().map(shown).collect();
            let help = match nearest(&text, values.iter().map(String::as_str)) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("its values are {}", shorten(&values.join(", "))),
            };
            let message = format!("\"{}\" is not a value of this axis", shorten(&text));
            Problem::new(node.at, &self.path, message, help)
        })
    }
}

/// A value, with its label if it has one.
fn labelled(node: &Node, path: &str) -> Checked<(Node, Option<String>)> {
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
