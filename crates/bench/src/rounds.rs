//! Rounds of a case: in each, the builds of goodqueue, the bare loop and the other simulators run
//! in turn, so that a change of the machine's speed affects all of them. Ratios are formed within a
//! round.

use crate::bare;
use crate::cases::Case;
use crate::measure::{self, BareCost, Cost};
use crate::peers::{Peer, PeerCost};
use serde::Serialize;
use std::fmt;

/// Median of a quantity over the rounds, and its range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    median: f64,
    least: f64,
    most: f64,
}

impl Spread {
    /// Returns the spread of the values, or none if there are none.
    fn from_values(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let (least, most) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = if values.len().is_multiple_of(2) {
            f64::midpoint(values[middle - 1], values[middle])
        } else {
            values[middle]
        };
        Some(Self {
            median,
            least,
            most,
        })
    }

    fn text(self, digits: usize) -> String {
        let Self {
            median,
            least,
            most,
        } = self;
        format!("{median:.digits$} ({least:.digits$} to {most:.digits$})")
    }
}

/// Programs that run in turn with the plain build of goodqueue.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// Path of this program, built with a profile.
    pub profiled: Option<String>,
    /// True if ns-2 runs.
    pub ns2: bool,
    /// Path of htsim's program.
    pub htsim: Option<String>,
}

/// Instructions per delivered data packet of a shortened case.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Instructions {
    /// Count of the simulator.
    pub ours: f64,
    /// Count of the bare loop, if it runs the case and was counted.
    pub bare: Option<f64>,
}

/// Costs of a case in all rounds. A list is empty if its program does not run the case.
#[derive(Clone, Debug, Serialize)]
pub struct Rounds {
    #[serde(skip)]
    case: Case,
    name: String,
    plain: Vec<Cost>,
    profiled: Vec<Cost>,
    bare: Vec<BareCost>,
    ns2: Vec<PeerCost>,
    htsim: Vec<PeerCost>,
    instructions: Option<Instructions>,
}

impl Rounds {
    /// Measures a case.
    ///
    /// # Errors
    /// Returns a sentence if a program cannot be started or fails.
    pub fn measure(
        case: &Case,
        rounds: u32,
        beside: &Beside,
        instructions: Option<Instructions>,
    ) -> Result<Self, String> {
        let mut measured = Self {
            case: case.clone(),
            name: case.name.clone(),
            plain: Vec::new(),
            profiled: Vec::new(),
            bare: Vec::new(),
            ns2: Vec::new(),
            htsim: Vec::new(),
            instructions,
        };
        for _ in 0..rounds {
            measured.plain.push(measure::in_child(case)?);
            if let Some(program) = &beside.profiled {
                measured.profiled.push(measure::in_child_of(program, case)?);
            }
            if bare::runs(case) {
                measured.bare.push(measure::bare_in_child(case)?);
            }
            if beside.ns2 {
                measured.ns2.extend(Peer::Ns2.measure(case)?);
            }
            if let Some(program) = &beside.htsim {
                let htsim = Peer::Htsim(program.clone());
                measured.htsim.extend(htsim.measure(case)?);
            }
        }
        Ok(measured)
    }

    /// Returns the rows of the case in the table: one for each build.
    pub fn rows(&self, before: &[Self]) -> Vec<Row> {
        let other = self.case.beside;
        let other = other.and_then(|name| before.iter().find(|rounds| rounds.name == name));
        let of = |name, ours: &[Cost], others: Option<&[Cost]>| {
            let others = others.filter(|others| !others.is_empty());
            (!ours.is_empty()).then(|| self.row(name, ours, others))
        };
        let plain = of(
            self.name.clone(),
            &self.plain,
            other.map(|other| &other.plain[..]),
        );
        let profiled = of(
            format!("{}, profile-guided", self.name),
            &self.profiled,
            other.map(|other| &other.profiled[..]),
        );
        plain.into_iter().chain(profiled).collect()
    }

    fn row(&self, name: String, ours: &[Cost], others: Option<&[Cost]>) -> Row {
        let over = |peers: &[PeerCost]| {
            let pairs = ours.iter().zip(peers);
            Spread::from_values(pairs.map(|(ours, peer)| peer.user_s / ours.user_s))
        };
        let pairs = || ours.iter().zip(&self.ns2);
        let others = others.unwrap_or_default();
        let is_plain = name == self.name;
        Row {
            name,
            packets_per_cpu_s: Spread::from_values(ours.iter().map(|cost| cost.packets_per_cpu_s)),
            memory_bytes: ours.iter().map(|cost| cost.peak_memory_bytes).max(),
            ns2: over(&self.ns2),
            ns2_without_setup: Spread::from_values(
                pairs()
                    .map(|(ours, ns2)| (ns2.user_s - ns2.setup_s) / (ours.user_s - ours.setup_s)),
            ),
            htsim: over(&self.htsim),
            bare: Spread::from_values(
                ours.iter()
                    .zip(&self.bare)
                    .map(|(ours, bare)| bare.packets_per_cpu_s / ours.packets_per_cpu_s),
            ),
            beside: self.case.beside.zip(Spread::from_values(
                others
                    .iter()
                    .zip(ours)
                    .map(|(other, ours)| other.packets_per_cpu_s / ours.packets_per_cpu_s),
            )),
            // The counts are those of the plain build.
            instructions: self.instructions.filter(|_| is_plain),
        }
    }
}

/// A row of the table: a case and a build.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the case, and of the build unless it is the plain one.
    pub name: String,
    packets_per_cpu_s: Option<Spread>,
    memory_bytes: Option<u64>,
    /// ns-2's user CPU time divided by ours, set-up included.
    ns2: Option<Spread>,
    ns2_without_setup: Option<Spread>,
    /// htsim's user CPU time divided by ours, set-up included.
    htsim: Option<Spread>,
    /// Our user CPU time per packet divided by the bare loop's.
    bare: Option<Spread>,
    /// Our user CPU time per packet divided by that of another case.
    beside: Option<(&'static str, Spread)>,
    instructions: Option<Instructions>,
}

impl Row {
    /// ns-2's user CPU time divided by ours, set-up included, in the median.
    pub fn over_ns2(&self) -> Option<f64> {
        self.ns2.map(|ratio| ratio.median)
    }

    /// htsim's user CPU time divided by ours, in the median.
    pub fn over_htsim(&self) -> Option<f64> {
        self.htsim.map(|ratio| ratio.median)
    }

    /// Our user CPU time per packet divided by the bare loop's, in the median.
    pub fn over_bare(&self) -> Option<f64> {
        self.bare.map(|ratio| ratio.median)
    }
}

/// Head of the table, in Markdown.
pub const HEADER: &str = "\
| case | packets per user CPU s, M | ns-2 ÷ ours | without set-up | htsim ÷ ours | ours ÷ bare loop | \
instructions per packet | ÷ bare loop | memory, MiB |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |";

impl fmt::Display for Row {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cell = |spread: Option<Spread>, digits| {
            spread.map_or("–".to_owned(), |spread| spread.text(digits))
        };
        let millions = self.packets_per_cpu_s.map(|spread| Spread {
            median: spread.median / 1e6,
            least: spread.least / 1e6,
            most: spread.most / 1e6,
        });
        let ns2 = match (self.ns2, self.beside) {
            (None, Some((case, ratio))) => format!("{} of {case}'s time", ratio.text(2)),
            (ns2, _) => cell(ns2, 1),
        };
        let counted = self.instructions;
        let number = |value: Option<f64>, digits: usize| {
            value.map_or("–".to_owned(), |value| format!("{value:.digits$}"))
        };
        let over_bare = counted.and_then(|count| Some(count.ours / count.bare?));
        let cells = [
            self.name.clone(),
            cell(millions, 2),
            ns2,
            cell(self.ns2_without_setup, 1),
            cell(self.htsim, 1),
            cell(self.bare, 2),
            number(counted.map(|count| count.ours), 0),
            number(over_bare, 1),
            number(
                self.memory_bytes
                    .map(|bytes| bytes as f64 / f64::from(1 << 20)),
                1,
            ),
        ];
        write!(out, "| {} |", cells.join(" | "))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::cases;

    #[test]
    fn the_spread_has_the_median_and_both_ends() {
        let odd = Spread::from_values([3.0, 1.0, 8.0].into_iter()).expect("three values");
        assert_eq!((odd.median, odd.least, odd.most), (3.0, 1.0, 8.0));
        let even = Spread::from_values([3.0, 1.0, 8.0, 4.0].into_iter()).expect("four values");
        assert_eq!(even.median.to_bits(), 3.5_f64.to_bits());
        let one = Spread::from_values([2.0].into_iter()).expect("one value");
        assert_eq!(one.text(1), "2.0 (2.0 to 2.0)");
        assert_eq!(Spread::from_values(std::iter::empty()), None);
    }

    fn ours(user_s: f64) -> Cost {
        Cost {
            user_s,
            setup_s: 0.0,
            delivered: 1,
            packets_per_cpu_s: 1e6 / user_s,
            events_per_packet: 2.0,
            peak_memory_bytes: 1 << 20,
            utilization: 1.0,
            runs: 1,
        }
    }

    /// Returns made-up rounds of a case.
    pub fn rounds(name: &str) -> Rounds {
        let peer = |user_s: f64| PeerCost {
            user_s,
            setup_s: user_s / 2.0,
        };
        let bare = |user_s: f64| BareCost {
            packets_per_cpu_s: 4e6 / user_s,
        };
        // The machine is half as fast in the second round; the ratios are the same.
        Rounds {
            case: cases::named(name).expect("a known case"),
            name: name.to_owned(),
            plain: vec![ours(1.0), ours(2.0)],
            profiled: vec![ours(0.5), ours(1.0)],
            bare: vec![bare(1.0), bare(2.0)],
            ns2: vec![peer(10.0), peer(20.0)],
            htsim: vec![peer(6.0), peer(12.0)],
            instructions: Some(Instructions {
                ours: 3000.0,
                bare: Some(300.0),
            }),
        }
    }

    #[test]
    fn ratios_are_those_of_the_same_round() {
        let rows = rounds("s1").rows(&[]);
        let text: Vec<String> = rows.iter().map(Row::to_string).collect();
        assert_eq!(
            text,
            [
                "| s1 | 0.75 (0.50 to 1.00) | 10.0 (10.0 to 10.0) | 5.0 (5.0 to 5.0) | \
                 6.0 (6.0 to 6.0) | 4.00 (4.00 to 4.00) | 3000 | 10.0 | 1.0 |",
                "| s1, profile-guided | 1.50 (1.00 to 2.00) | 20.0 (20.0 to 20.0) | \
                 10.0 (10.0 to 10.0) | 12.0 (12.0 to 12.0) | 2.00 (2.00 to 2.00) | – | – | 1.0 |",
            ]
        );
        let columns = |line: &str| line.matches('|').count();
        assert!(
            HEADER
                .lines()
                .all(|line| columns(line) == columns(&text[0]))
        );
    }

    #[test]
    fn a_case_without_peers_is_compared_with_another_case() {
        let before = rounds("s1");
        let mut red = rounds("s5");
        red.plain = vec![ours(1.5), ours(3.0)];
        red.profiled.clear();
        red.ns2.clear();
        red.htsim.clear();
        red.bare.clear();
        let rows = red.rows(&[before]);
        assert_eq!(rows.len(), 1);
        let text = rows[0].to_string();
        assert!(
            text.contains("| 1.50 (1.50 to 1.50) of s1's time | – |"),
            "{text}"
        );
    }
}
