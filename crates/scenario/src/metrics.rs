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
const SUMS: [&str; 6] = [
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
    let flows = table("flows");
    for group in scenario.flows.iter() {
        let members = (0..group.count).filter_map(|index| flows.get(&group.flow_name(index)));
        let members: Vec<&Value> = members.collect();
        list.group(
            &stem(&group.name, [table("links"), table("pools")]),
            &members,
        );
    }
    let flows: Vec<&Value> = flows.values().collect();
    list.all_flows(&SUMS, |key| samples(&flows, key));
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
        self.push([name, ".", key].concat(), mean(samples));
        if key == GOODPUT {
            let fold = |of: fn(f64, f64) -> f64| samples.iter().copied().fold(f64::NAN, of);
            self.push(format!("{name}.{key}.sum"), samples.iter().sum());
            self.push(format!("{name}.{key}.min"), fold(f64::min));
            self.push(format!("{name}.{key}.max"), fold(f64::max));
            self.push(format!("{name}.{key}.jain"), jain(samples));
        }
    }

    /// Adds figures of all flows: sums of these keys, of which `samples` returns the values.
    pub(crate) fn all_flows(&mut self, sums: &[&str], samples: impl Fn(&str) -> Vec<f64>) {
        for key in sums {
            self.push(format!("flows.{key}.sum"), samples(key).iter().sum());
        }
        let goodputs = samples(GOODPUT);
        self.push("flows.goodput_bps.mean".to_owned(), mean(&goodputs));
        self.push("flows.goodput_bps.jain".to_owned(), jain(&goodputs));
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

fn mean(values: &[f64]) -> f64 {
    // Without values this is 0 / 0, NaN, which represents a missing sample.
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns Jain's index: 1 if all have the same, 1/n if one has all (Jain, Chiu and Hawe,
/// DEC-TR-301).
fn jain(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    sum * sum / (values.len() as f64 * squares)
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
