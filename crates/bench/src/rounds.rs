//! Rounds of a case: in each, goodqueue and ns-2 run in turn, so that a change of the machine's
//! speed hits both. Ratios are formed within a round.

use crate::cases::Case;
use crate::counts;
use crate::measure::{self, Cost};
use crate::ns2::{self, Ns2Cost};
use serde::Serialize;
use std::fmt;

/// Head of the table of rows.
pub const HEADER: &str = "\
case            packets per user CPU s, M  instructions  events   memory     util \
|       ns-2 ÷ goodqueue    without set-up";

/// Median of a quantity over the rounds, and its range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    median: f64,
    least: f64,
    most: f64,
}

impl Spread {
    /// Returns the spread of at least one value.
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = if values.len().is_multiple_of(2) {
            f64::midpoint(values[middle - 1], values[middle])
        } else {
            values[middle]
        };
        Self {
            median,
            least: values[0],
            most: values[values.len() - 1],
        }
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

/// Cost of a packet relative to that of another case in the same run.
#[derive(Clone, Copy, Debug, Serialize)]
struct Beside {
    case: &'static str,
    /// User CPU time per packet, divided by that of the other case in the same round.
    ratio: Spread,
}

/// ns-2's user CPU time divided by ours, in the same round.
#[derive(Clone, Copy, Debug, Serialize)]
struct Ratios {
    with_setup: Spread,
    without_setup: Spread,
}

/// All rounds of a case.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    case: String,
    ours: Vec<Cost>,
    ns2: Vec<Ns2Cost>,
    packets_per_cpu_s: Spread,
    /// Instructions per packet of the shortened case, as committed.
    instructions_per_packet: Option<f64>,
    ratios: Option<Ratios>,
    beside: Option<Beside>,
}

impl Row {
    /// Measures a case. `before` has the cases that were measured before it.
    pub fn measure(case: &Case, rounds: u32, with_ns2: bool, before: &[Self]) -> Self {
        let (mut ours, mut ns2) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            ours.push(measure::in_child(case));
            ns2.extend(with_ns2.then(|| ns2::measure(case)).flatten());
        }
        let beside = case.beside.and_then(|name| {
            let other = before.iter().find(|row| row.case == name)?;
            let pairs = other.ours.iter().zip(&ours);
            let ratio = pairs.map(|(one, two)| one.packets_per_cpu_s / two.packets_per_cpu_s);
            Some(Beside {
                case: name,
                ratio: Spread::of(ratio),
            })
        });
        Self {
            case: case.name.clone(),
            packets_per_cpu_s: Spread::of(ours.iter().map(|cost| cost.packets_per_cpu_s)),
            instructions_per_packet: counts::committed_per_packet(&case.name),
            ratios: (!ns2.is_empty()).then(|| ratios(&ours, &ns2)),
            beside,
            ours,
            ns2,
        }
    }
}

fn ratios(ours: &[Cost], ns2: &[Ns2Cost]) -> Ratios {
    let pairs = || ours.iter().zip(ns2);
    Ratios {
        with_setup: Spread::of(pairs().map(|(ours, ns2)| ns2.user_s / ours.user_s)),
        without_setup: Spread::of(
            pairs().map(|(ours, ns2)| (ns2.user_s - ns2.setup_s) / (ours.user_s - ours.setup_s)),
        ),
    }
}

impl fmt::Display for Row {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.ours.last().ok_or(fmt::Error)?;
        let millions = self.packets_per_cpu_s;
        let millions = Spread {
            median: millions.median / 1e6,
            least: millions.least / 1e6,
            most: millions.most / 1e6,
        };
        let counted = self.instructions_per_packet;
        write!(
            out,
            "{:<12} {:>28} {:>13} {:>7.2} {:>4.1} MiB {:>8.5} |",
            self.case,
            millions.text(2),
            counted.map_or("-".to_owned(), |count| format!("{count:.0}")),
            last.events_per_packet,
            last.peak_memory_bytes as f64 / f64::from(1 << 20),
            last.utilization
        )?;
        if let Some(ratios) = self.ratios {
            let (with, without) = (ratios.with_setup.text(1), ratios.without_setup.text(1));
            write!(out, " {with:>22} {without:>22}")
        } else if let Some(Beside { case, ratio }) = self.beside {
            write!(out, " {} of {case}'s time per packet", ratio.text(2))
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_has_the_median_and_both_ends() {
        let odd = Spread::of([3.0, 1.0, 8.0].into_iter());
        assert_eq!((odd.median, odd.least, odd.most), (3.0, 1.0, 8.0));
        let even = Spread::of([3.0, 1.0, 8.0, 4.0].into_iter());
        assert_eq!(even.median.to_bits(), 3.5_f64.to_bits());
        assert_eq!(Spread::of([2.0].into_iter()).text(1), "2.0 (2.0 to 2.0)");
    }

    #[test]
    fn ratios_are_those_of_the_same_round() {
        let ours = |user_s: f64| Cost {
            user_s,
            setup_s: 0.0,
            delivered: 1,
            packets_per_cpu_s: 1.0 / user_s,
            events_per_packet: 2.0,
            peak_memory_bytes: 0,
            utilization: 1.0,
            runs: 1,
        };
        let ns2 = |user_s: f64| Ns2Cost {
            user_s,
            setup_s: user_s / 2.0,
        };
        // The machine is half as fast in the second round; the ratio is the same.
        let found = ratios(&[ours(1.0), ours(2.0)], &[ns2(10.0), ns2(20.0)]);
        assert_eq!(found.with_setup.text(1), "10.0 (10.0 to 10.0)");
        assert_eq!(found.without_setup.text(1), "5.0 (5.0 to 5.0)");
    }
}
