//! The flows of a summary: an entry for each flow, or for each group of many flows one entry with
//! the distributions of its flows' figures.

use crate::flow::FlowGroup;
use crate::output::metrics::{GOODPUT, SUMS, jain};
use crate::scenario::Scenario;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Number of flows of a group above which its flows have one entry together.
const MAX_LISTED: u64 = 1_000;

/// Figures of flows that count packets by link.
const BY_LINK: [&str; 2] = ["losses_at", "marks_at"];
/// Figures of flows that are words.
const WORDS: [&str; 2] = ["bottleneck", "class"];
/// Figure of flows that has a share for each cause.
const SHARES: &str = "limited_by";

/// Quantiles of a figure between its smallest and its largest value.
const QUANTILES: [(&str, f64); 3] = [("p5", 0.05), ("p50", 0.5), ("p95", 0.95)];

/// The flows of a summary.
pub(crate) struct FlowTables {
    /// An entry for each flow of small groups, by the flow's name.
    pub each: Map<String, Value>,
    /// An entry for each large group, by the group's name.
    pub groups: Map<String, Value>,
}

impl FlowTables {
    /// Returns the tables of a scenario. `figures` returns the figures of a flow from the index of
    /// its group and its index in the network.
    pub fn from_scenario(
        scenario: &Scenario,
        mut figures: impl FnMut(usize, usize) -> Value,
    ) -> Self {
        let (mut each, mut groups) = (Map::new(), Map::new());
        let mut number = 0;
        for (place, group) in scenario.flows.iter().enumerate() {
            let members = number..number + group.count as usize;
            number = members.end;
            let members = members.map(|flow| figures(place, flow));
            if is_listed(scenario, group) {
                let names = (0..group.count).map(|index| group.flow_name(index));
                each.extend(names.zip(members));
            } else {
                let entry = Group::from_members(members).json(&trunk(scenario));
                groups.insert(group.name.clone(), entry);
            }
        }
        Self { each, groups }
    }
}

/// Returns true if the summary has an entry for each flow of the group.
pub(crate) fn is_listed(scenario: &Scenario, group: &FlowGroup) -> bool {
    scenario.record_flows || group.count <= MAX_LISTED
}

/// Returns the names of the links between routers.
fn trunk(scenario: &Scenario) -> BTreeSet<String> {
    let links = scenario.topology.trunk.iter();
    links
        .flat_map(|link| [link.name.clone(), format!("{}.reverse", link.name)])
        .collect()
}

/// Figures of a group's flows.
struct Group {
    flows: u64,
    /// The figures by their names, in the order of a flow's.
    figures: Vec<(String, Figure)>,
}

/// One figure of all flows of a group.
enum Figure {
    Number(Samples),
    /// Numbers of packets by link, or of flows by word.
    Counts(BTreeMap<String, u64>),
    Shares(Vec<(String, Samples)>),
}

/// The values of a figure, of the flows that have one.
#[derive(Default)]
struct Samples {
    values: Vec<f64>,
    /// True if a value is no whole number.
    fractions: bool,
}

impl Group {
    fn from_members(members: impl Iterator<Item = Value>) -> Self {
        let mut group = Self {
            flows: 0,
            figures: Vec::new(),
        };
        for member in members {
            let Value::Object(figures) = member else {
                continue;
            };
            if group.flows == 0 {
                let blank = |(key, value)| (String::clone(key), Figure::blank(key, value));
                group.figures = figures.iter().map(blank).collect();
            }
            group.flows += 1;
            // All flows of a group have the same keys, because they have the same workload.
            for ((_, figure), value) in group.figures.iter_mut().zip(figures.values()) {
                figure.add(value);
            }
        }
        group
    }

    fn json(self, trunk: &BTreeSet<String>) -> Value {
        let mut entry = Map::new();
        entry.insert("flows".to_owned(), json!(self.flows));
        for (key, figure) in self.figures {
            let value = match figure {
                Figure::Number(samples) => samples.json(&key),
                Figure::Counts(mut counts) => {
                    // Links of hosts are as many as flows.
                    counts.retain(|name, _| key == "class" || trunk.contains(name));
                    json!(counts)
                }
                Figure::Shares(shares) => {
                    let shares = shares.into_iter();
                    let shares = shares.map(|(cause, samples)| {
                        let value = samples.json(&cause);
                        (cause, value)
                    });
                    Value::Object(shares.collect())
                }
            };
            entry.insert(key, value);
        }
        Value::Object(entry)
    }
}

impl Figure {
    /// Returns a figure without values that has the form of a flow's value.
    fn blank(key: &str, value: &Value) -> Self {
        if BY_LINK.contains(&key) || WORDS.contains(&key) {
            return Self::Counts(BTreeMap::new());
        }
        match value {
            Value::Object(shares) if key == SHARES => {
                let causes = shares.keys();
                Self::Shares(causes.map(|c| (c.clone(), Samples::default())).collect())
            }
            _ => Self::Number(Samples::default()),
        }
    }

    fn add(&mut self, value: &Value) {
        match (self, value) {
            (Self::Number(samples), value) => samples.add(value),
            (Self::Counts(counts), Value::String(word)) => {
                *counts.entry(word.clone()).or_default() += 1;
            }
            (Self::Counts(counts), Value::Object(links)) => {
                for (link, packets) in links {
                    let packets = packets.as_u64().unwrap_or(0);
                    *counts.entry(link.clone()).or_default() += packets;
                }
            }
            (Self::Counts(_), _) => {}
            (Self::Shares(causes), value) => {
                for (cause, samples) in causes {
                    samples.add(&value[&**cause]);
                }
            }
        }
    }
}

impl Samples {
    fn add(&mut self, value: &Value) {
        if let Some(number) = value.as_f64() {
            self.fractions |= !value.is_u64();
            self.values.push(number);
        }
    }

    /// Returns the distribution. Figures that add up have their sum, and goodput has Jain's index.
    fn json(mut self, key: &str) -> Value {
        let count = self.values.len();
        let sum: f64 = self.values.iter().sum();
        let fairness = jain(&self.values);
        self.values.sort_unstable_by(f64::total_cmp);
        let rank = |share: f64| (libm::ceil(share * count as f64) as usize).saturating_sub(1);
        let at = |rank: usize| self.values.get(rank).map(|value| self.number(*value));
        let mut entry = Map::new();
        entry.insert("flows".to_owned(), json!(count));
        let mean = (count > 0).then(|| sum / count as f64);
        entry.insert("mean".to_owned(), json!(mean));
        entry.insert("min".to_owned(), json!(at(0)));
        for (name, share) in QUANTILES {
            entry.insert(name.to_owned(), json!(at(rank(share))));
        }
        entry.insert("max".to_owned(), json!(at(rank(1.0))));
        if SUMS.contains(&key) {
            entry.insert("sum".to_owned(), self.number(sum));
        }
        if key == GOODPUT {
            entry.insert("jain_index".to_owned(), json!(fairness));
        }
        Value::Object(entry)
    }

    /// Returns a whole number if all values are whole.
    fn number(&self, value: f64) -> Value {
        if self.fractions {
            json!(value)
        } else {
            json!(value as u64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_of_flows() {
        let mut samples = Samples::default();
        for value in (1..=100).rev() {
            samples.add(&json!(value));
        }
        samples.add(&Value::Null);
        let entry = samples.json("timeouts");
        let expected = json!({
            "flows": 100, "mean": 50.5, "min": 1, "p5": 5, "p50": 50, "p95": 95, "max": 100,
            "sum": 5050,
        });
        assert_eq!(entry, expected);
    }

    #[test]
    fn goodput_has_jains_index_and_a_figure_without_values_is_null() {
        let mut samples = Samples::default();
        for value in [7.5, 0.0, 0.0, 0.0] {
            samples.add(&json!(value));
        }
        assert_eq!(samples.json(GOODPUT)["jain_index"], json!(0.25));
        let entry = Samples::default().json(GOODPUT);
        for key in ["mean", "min", "p5", "p50", "p95", "max", "jain_index"] {
            assert_eq!(entry[key], Value::Null, "{key}");
        }
    }
}
