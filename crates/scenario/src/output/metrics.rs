//! The figures of a run as a flat list, for tables with a row per run.

use crate::scenario::Scenario;
use serde_json::{Map, Value};

/// Figures of links that repeat the scenario.
const ECHOES: [&str; 4] = [
    "delay_s",
    "framing_bytes",
    "framing_minimum_bytes",
    "limit.counts",
];
/// Figure of flows with a sum, extremes and fairness.
pub(crate) const GOODPUT: &str = "goodput_bps";
/// Figures of flows whose sum over all flows is reported.
pub(crate) const SUMS: [&str; 6] = [
    GOODPUT,
    "throughput_bps",
    "packets_sent",
    "packets_lost",
    "retransmissions",
    "timeouts",
];

/// Returns the figures of a summary by name; NaN if there was no sample.
///
/// A link's and a pool's figures are `<link>.<key>`, as in the summary. A flow's are
/// `<flow>.<key>`; for a group of flows they are the mean over those with a sample. Goodput also
/// has `.sum`, `.min`, `.max` and `.jain`. `flows.<key>.sum`, `flows.goodput_bps.mean` and `.jain`
/// are over all flows of the scenario. docs/studies.md lists them.
pub fn metrics(scenario: &Scenario, summary: &Value) -> Vec<(String, f64)> {
    let mut list = List::default();
    let empty = Map::new();
    let table = |name: &str| summary[name].as_object().unwrap_or(&empty);
    for (name, link) in table("links").iter().chain(table("pools")) {
        list.link(name, link);
    }
    let (flows, groups) = (table("flows"), table("groups"));
    for group in scenario.flows.iter() {
        let name = stem(&group.name, [table("links"), table("pools")]);
        if let Some(large) = groups.get(&group.name) {
            list.large_group(&name, large);
            continue;
        }
        let members = (0..group.count).filter_map(|index| flows.get(&group.flow_name(index)));
        let members: Vec<&Value> = members.collect();
        list.group(&name, &members);
    }
    let flows: Vec<&Value> = flows.values().collect();
    list.all_flows(&SUMS, |key| {
        let mut sums = Sums::from_values(&samples(&flows, key));
        for group in groups.values() {
            sums.add(&Sums::of_group(&group[key]));
        }
        sums
    });
    list.link("totals", &summary["totals"]);
    list.into()
}

/// Returns the beginning of the metrics of a group of flows: its name, unless other metrics begin
/// with it.
pub(crate) fn stem(group: &str, tables: [&Map<String, Value>; 2]) -> String {
    let taken = tables.iter().any(|table| table.contains_key(group));
    if taken || matches!(group, "flows" | "totals") {
        format!("flow.{group}")
    } else {
        group.to_owned()
    }
}

/// The figures, in the order of the table.
#[derive(Default)]
pub(crate) struct List(Vec<(String, f64)>);

impl From<List> for Vec<(String, f64)> {
    fn from(list: List) -> Self {
        list.0
    }
}

impl List {
    fn push(&mut self, name: String, value: f64) {
        self.0.push((name, value));
    }

    /// Adds the figures of a link, a pool or the totals.
    pub(crate) fn link(&mut self, name: &str, table: &Value) {
        for (key, value) in table.as_object().into_iter().flatten() {
            if let Value::Object(inner) = value {
                for (below, value) in inner {
                    self.figure(name, &[key.as_str(), ".", below.as_str()].concat(), value);
                }
            } else {
                self.figure(name, key, value);
            }
        }
    }

    fn figure(&mut self, name: &str, key: &str, value: &Value) {
        if let (Some(number), false) = (number(value), ECHOES.contains(&key)) {
            self.push([name, ".", key].concat(), number);
        }
    }

    fn group(&mut self, name: &str, members: &[&Value]) {
        let Some(first) = members.first().and_then(|flow| flow.as_object()) else {
            return;
        };
        for (key, value) in first {
            if number(value).is_none() {
                continue;
            }
            self.column(name, key, &samples(members, key));
        }
    }

    /// Adds one figure of a group's flows.
    pub(crate) fn column(&mut self, name: &str, key: &str, samples: &[f64]) {
        self.push([name, ".", key].concat(), Sums::from_values(samples).mean());
        if key == GOODPUT {
            let fold = |of: fn(f64, f64) -> f64| samples.iter().copied().fold(f64::NAN, of);
            self.push(format!("{name}.{key}.sum"), samples.iter().sum());
            self.push(format!("{name}.{key}.min"), fold(f64::min));
            self.push(format!("{name}.{key}.max"), fold(f64::max));
            self.push(format!("{name}.{key}.jain"), jain(samples));
        }
    }

    /// Adds the figures of a group whose flows have one entry together.
    fn large_group(&mut self, name: &str, group: &Value) {
        for (key, figure) in group.as_object().into_iter().flatten() {
            let Some(mean) = figure.get("mean").and_then(number) else {
                continue;
            };
            self.push(format!("{name}.{key}"), mean);
            if key == GOODPUT {
                for (suffix, of) in [
                    ("sum", "sum"),
                    ("min", "min"),
                    ("max", "max"),
                    ("jain", "jain_index"),
                ] {
                    let value = number(&figure[of]).unwrap_or(f64::NAN);
                    self.push(format!("{name}.{key}.{suffix}"), value);
                }
            }
        }
    }

    /// Adds figures of all flows. `sums` returns the sums of the values of a key.
    pub(crate) fn all_flows(&mut self, keys: &[&str], sums: impl Fn(&str) -> Sums) {
        for key in keys {
            self.push(format!("flows.{key}.sum"), sums(key).sum);
        }
        let goodput = sums(GOODPUT);
        self.push("flows.goodput_bps.mean".to_owned(), goodput.mean());
        self.push("flows.goodput_bps.jain".to_owned(), goodput.jain());
    }
}

/// The number of values, their sum and the sum of their squares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Sums {
    pub(crate) fn from_values(values: &[f64]) -> Self {
        Self {
            count: values.len() as f64,
            sum: values.iter().sum(),
            squares: values.iter().map(|value| value * value).sum(),
        }
    }

    /// Returns the sums of a figure of a large group from its entry. The squares follow from Jain's
    /// index, which only goodput has.
    fn of_group(figure: &Value) -> Self {
        let of = |key: &str| figure[key].as_f64().unwrap_or(0.0);
        let (count, sum) = (of("flows"), of("sum"));
        let jain = figure["jain_index"].as_f64();
        Self {
            count,
            sum,
            squares: jain.map_or(0.0, |jain| sum * sum / (count * jain)),
        }
    }

    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// Returns the mean. Without values this is 0 / 0, NaN, which represents a missing sample.
    fn mean(&self) -> f64 {
        self.sum / self.count
    }

    /// Returns Jain's index: 1 if all have the same, 1/n if one has all (Jain, Chiu and Hawe,
    /// DEC-TR-301).
    fn jain(&self) -> f64 {
        self.sum * self.sum / (self.count * self.squares)
    }
}

/// Returns a figure, NaN if it had no sample; `None` if it is not a figure.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Null => Some(f64::NAN),
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        other => other.as_f64(),
    }
}

fn samples(flows: &[&Value], key: &str) -> Vec<f64> {
    flows.iter().filter_map(|flow| flow[key].as_f64()).collect()
}

/// Returns Jain's index; NaN without values or if all are zero.
pub(crate) fn jain(values: &[f64]) -> f64 {
    Sums::from_values(values).jain()
}

#[cfg(test)]
mod tests {
    use super::jain;

    #[test]
    fn fairness_is_one_for_equals_and_one_nth_for_one_of_n() {
        assert!(jain(&[3.0, 3.0, 3.0]).total_cmp(&1.0).is_eq());
        assert!(jain(&[0.0, 5.0, 0.0, 0.0]).total_cmp(&0.25).is_eq());
    }
}
