//! Axes of a study: keys and their values.

use super::labels::{labelled, with_short_names};
use super::measure::{Measured, measure};
use super::range::range;
use super::toml::{inline_value, shown};
use crate::language::document::{Node, Value};
use crate::language::error::{Checked, Origin, Problem, nearest, shorten};
use crate::language::reader::Reader;
use crate::language::spec::COMPARISON;
use serde_json::json;
use std::collections::HashSet;

/// Most values of all keys of a study.
const MAX_VALUES: usize = 500_000;
/// Most keys of a study.
const MAX_KEYS: usize = 1_000;
/// Most comparisons of excluded values with values of axes.
const MAX_COMPARISONS: usize = 5_000_000;

/// Keys that vary together, each with the same number of values.
#[derive(Debug)]
pub(crate) struct Axis {
    pub keys: Vec<Swept>,
    pub len: usize,
}

/// A key of the scenario with its values.
#[derive(Debug)]
pub(crate) struct Swept {
    pub path: String,
    pub at: Origin,
    /// Its name in results: its path and the unit of its values.
    pub column: String,
    pub values: Vec<Node>,
    labels: Vec<Option<String>>,
    /// The values in the form of results.
    pub shown: Vec<serde_json::Value>,
}

/// Content of `[sweep]`.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    pub axes: Vec<Axis>,
    /// Conditions of excluded points: a point that matches one of them is left out.
    excluded: Vec<Vec<Condition>>,
    /// Comparisons of values that the conditions take.
    comparisons: usize,
}

/// Condition on the values of an axis.
#[derive(Debug)]
pub(crate) struct Condition {
    axis: usize,
    /// Index of the axis's key that the condition names.
    key: usize,
    /// True for each value of the axis that meets the condition.
    holds: Vec<bool>,
}

impl Condition {
    /// Returns true if the condition holds at a point of the grid.
    pub(crate) fn holds(&self, point: &[usize]) -> bool {
        self.holds[point[self.axis]]
    }
}

/// Returns the values below a table by their paths, in the order of the file.
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

/// Returns the offset of a value in the file.
pub(crate) fn offset(at: Origin) -> usize {
    match at {
        Origin::File(offset) | Origin::Override(offset) => offset,
    }
}

/// Returns true for a table that selects values: a range or a comparison. A key of the scenario may
/// also be called `from`, but then it has a list of values.
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
            let message = format!("expected a table, found {}", node.value.describe());
            let help = "write [sweep], and below it keys of the scenario with lists of values";
            return Err(Problem::new(node.at, "sweep", message, help));
        };
        let mut sweep = Self::default();
        let mut values = (0, 0);
        for (path, node) in leaves(node, "") {
            if !matches!(path.as_str(), "zip" | "exclude") {
                let swept = Swept::read(path, node)?;
                count(&swept, &mut values)?;
                let len = swept.values.len();
                let keys = vec![swept];
                sweep.axes.push(Axis { keys, len });
            }
        }
        for node in tables(table.get("zip"), "sweep.zip")? {
            sweep.axes.push(zip(node, &mut values)?);
        }
        sweep.axes.sort_by_key(|axis| offset(axis.keys[0].at));
        sweep.check_distinct()?;
        for node in tables(table.get("exclude"), "sweep.exclude")? {
            let conditions = leaves(node, "").into_iter();
            let conditions: Checked<Vec<Condition>> = conditions
                .map(|(path, node)| {
                    sweep.count_comparisons(&path, node)?;
                    sweep.condition(&path, node)
                })
                .collect();
            sweep.excluded.push(conditions?);
        }
        Ok(sweep)
    }

    /// Adds the comparisons of a condition to those before it, unless they are too many.
    fn count_comparisons(&mut self, path: &str, node: &Node) -> Checked<()> {
        let longest = self.axes.iter().map(|axis| axis.len).max().unwrap_or(0);
        let items = match &node.value {
            Value::List(items) => items.len(),
            _ => 1,
        };
        self.comparisons = self.comparisons.saturating_add(items * longest);
        if self.comparisons <= MAX_COMPARISONS {
            return Ok(());
        }
        let message = "the excluded values up to here take too many comparisons";
        let help = format!(
            "exclude less, or take longer steps: excluded values times those of the longest axis \
             are at most {MAX_COMPARISONS}"
        );
        Err(Problem::new(node.at, path, message, help))
    }

    /// Returns the number of excluding conditions.
    pub(crate) fn conditions(&self) -> usize {
        self.excluded.iter().map(Vec::len).sum()
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

    /// Returns the column of an axis, named as in [`Sweep::place`].
    pub(crate) fn column(&self, name: &str) -> Option<&str> {
        let (axis, key) = self.place(name)?;
        Some(&self.axes[axis].keys[key].column)
    }

    /// Returns the possible names of axes: their paths, and the ends of these.
    pub(crate) fn names(&self) -> Vec<&str> {
        let paths = self.swept().map(|swept| swept.path.as_str());
        paths.flat_map(ends_of).collect()
    }

    /// Returns the paths that end in a name.
    pub(crate) fn that_end_in(&self, name: &str) -> Vec<&str> {
        let paths = self.swept().map(|swept| swept.path.as_str());
        paths.filter(|path| ends_with(path, name)).collect()
    }

    /// Returns the message for a name that is not an axis, or is the end of several.
    pub(crate) fn no_axis(&self, at: Origin, key: impl Into<String>, name: &str) -> Problem {
        let several = self.that_end_in(name);
        if several.len() > 1 {
            let message = format!("\"{}\" is the end of several axes", shorten(name));
            let help = format!("write one of {}", several.join(", "));
            return Problem::new(at, key, message, help);
        }
        let paths: Vec<&str> = self.swept().map(|swept| swept.path.as_str()).collect();
        let help = match nearest(name, self.names()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None if paths.is_empty() => "this study has no axis; add some below [sweep]".to_owned(),
            None => format!("the axes are {}", paths.join(", ")),
        };
        let message = format!("\"{}\" is not an axis of this study", shorten(name));
        Problem::new(at, key, message, help)
    }

    /// Returns the axis and key of a name: a path, a column, or the unique end of a path.
    fn place(&self, name: &str) -> Option<(usize, usize)> {
        let only = |fits: &dyn Fn(&Swept) -> bool| {
            let axes = self.axes.iter().enumerate();
            let keys = axes.flat_map(|(index, axis)| {
                let keys = axis.keys.iter().enumerate();
                keys.map(move |(key, swept)| ((index, key), swept))
            });
            let mut found = keys.filter(|(_, swept)| fits(swept));
            let first = found.next();
            first.filter(|_| found.next().is_none()).map(|one| one.0)
        };
        only(&|swept| swept.path == name || swept.column == name)
            .or_else(|| only(&|swept| ends_with(&swept.path, name)))
    }

    /// Returns, for each value of an axis, true if it equals a value, one of several, or meets a comparison.
    pub(crate) fn condition(&self, path: &str, node: &Node) -> Checked<Condition> {
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
        Ok(Condition { axis, key, holds })
    }

    /// Returns the column that a condition names, and its values that meet the condition.
    pub(crate) fn values(&self, condition: &Condition) -> (&str, Vec<&serde_json::Value>) {
        let swept = &self.axes[condition.axis].keys[condition.key];
        let values = swept.shown.iter().zip(&condition.holds);
        let held = values.filter(|(_, holds)| **holds).map(|(value, _)| value);
        (&swept.column, held.collect())
    }

    /// Returns axis and index of the value of a key that a condition states.
    pub(crate) fn stated(&self, path: &str, node: &Node) -> Checked<(usize, usize)> {
        let Some((axis, key)) = self.place(path) else {
            return Err(self.no_axis(node.at, path, path));
        };
        Ok((axis, self.axes[axis].keys[key].find(node)?))
    }

    /// Returns the number of points of the grid, including excluded ones.
    pub(crate) fn points(&self) -> u128 {
        let lengths = self.axes.iter().map(|axis| axis.len as u128);
        lengths.fold(1, u128::saturating_mul)
    }

    /// Returns the number of points that are not excluded, and the first `most` of them: for each
    /// axis the index of its value.
    pub(crate) fn grid(&self, most: u64) -> (u64, Vec<Vec<usize>>) {
        let (mut count, mut points) = (0, Vec::new());
        let mut at = vec![0; self.axes.len()];
        'points: loop {
            let excluded = self.excluded.iter().any(|conditions| {
                let mut conditions = conditions.iter();
                conditions.all(|condition| condition.holds(&at))
            });
            if !excluded {
                count += 1;
                if count <= most {
                    points.push(at.clone());
                }
            }
            for index in (0..at.len()).rev() {
                at[index] += 1;
                if at[index] < self.axes[index].len {
                    continue 'points;
                }
                at[index] = 0;
            }
            return (count, points);
        }
    }
}

/// Returns the tables of a list of tables, if there is one.
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
            format!("expected a list of tables, found {}", other.describe()),
            format!("write [[{path}]] with double brackets"),
        )),
    }
}

/// Adds a key and its values to those before it, unless they are too many.
fn count(swept: &Swept, (keys, values): &mut (usize, usize)) -> Checked<()> {
    *keys += 1;
    *values += swept.values.len();
    if *keys <= MAX_KEYS && *values <= MAX_VALUES {
        return Ok(());
    }
    let message = format!("the axes up to this one have {keys} keys with {values} values");
    let help = format!("a study has at most {MAX_KEYS} keys with {MAX_VALUES} values in all");
    Err(Problem::new(swept.at, &swept.path, message, help))
}

/// Reads axes that vary together.
fn zip(node: &Node, values: &mut (usize, usize)) -> Checked<Axis> {
    let keys: Checked<Vec<Swept>> = leaves(node, "")
        .into_iter()
        .map(|(path, node)| {
            let swept = Swept::read(path, node)?;
            count(&swept, values)?;
            Ok(swept)
        })
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

/// Returns, for each value of an axis, true if a comparison holds.
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
        let labels = with_short_names(&values, labels);
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

    /// Converts numbers of one unit to numbers of that unit; all other values stay as written.
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
                let message = format!("this axis contains {} twice", shorten(&one.to_string()));
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

    /// Returns the index of the value with the smallest difference from a number of the axis's
    /// unit.
    fn nearest_number(&self, node: &Node) -> Option<usize> {
        let wanted = measure(node)?;
        let measured = self.values.iter().enumerate();
        let same = measured.filter_map(|(index, value)| {
            let value = measure(value).filter(|value| value.dimension == wanted.dimension)?;
            Some((index, (value.value - wanted.value).abs()))
        });
        let nearest = same.min_by(|one, other| one.1.total_cmp(&other.1));
        nearest.map(|(index, _)| index)
    }

    /// Returns the index of a value or a label.
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
            let pairs = self.values.iter().zip(&self.labels);
            let values: Vec<String> = pairs
                .map(|(value, label)| label.clone().unwrap_or_else(|| shown(value)))
                .collect();
            let by_letters = || nearest(&text, values.iter().map(String::as_str));
            let near = self.nearest_number(node).map(|index| &*values[index]);
            let help = match near.or_else(by_letters) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("its values are {}", shorten(&values.join(", "))),
            };
            let message = format!("\"{}\" is not a value of this axis", shorten(&text));
            Problem::new(node.at, &self.path, message, help)
        })
    }
}

/// Yields a path, and the rest after each of its dots.
fn ends_of(path: &str) -> impl Iterator<Item = &str> {
    let dots = path.match_indices('.').map(|(dot, _)| &path[dot + 1..]);
    std::iter::once(path).chain(dots)
}

/// Returns true if a path ends in a name, from a dot on.
fn ends_with(path: &str, name: &str) -> bool {
    let start = path.strip_suffix(name);
    start.is_some_and(|start| start.ends_with('.') && !name.is_empty())
}
