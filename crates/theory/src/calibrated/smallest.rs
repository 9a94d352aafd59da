//! The smallest buffer by calibrated theory, with its 90 % predictive interval.

use crate::calibrated::forms::{IDLE_FLOOR, LOSS_FLOOR};
use crate::calibrated::limits::limits;
use crate::calibrated::predicted::{DELAY, FIGURES, IDLE, LOSS, Predicted, outside};
use crate::calibrated::table::{Table, kind};
use crate::link::Link;
use std::f64::consts::SQRT_2;

/// Standard errors on both sides that contain 90 % of a normal distribution.
pub const NINETY: f64 = 1.645;

/// Probability from which on some buffer is expected to keep the bounds.
pub const LIKELY: f64 = 0.5;

/// Number of deviations at which the surfaces are inverted, to weight possible answers.
const SHIFTS: u32 = 21;

/// Largest of these deviations in standard errors; the least is its negative.
const FARTHEST: f64 = 2.5;

/// A buffer suffices if all limits up to this factor above it keep the bounds too.
const KEPT_OVER: f64 = 1.4;

/// Bound on the utilisation that every buffer keeps.
const NO_UTILIZATION: f64 = 1e-9;

/// An expected figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Its mean.
    pub mean: f64,
    /// The lower end of its 90 % predictive interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Answer of calibrated theory for one link.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrated {
    /// The smallest buffer in packets that keeps all bounds; None if none is expected to.
    pub packets: Option<u64>,
    /// The lower end of its 90 % predictive interval.
    pub low: u64,
    /// The upper end; None if possibly no buffer suffices.
    pub high: Option<u64>,
    /// Probability that some buffer keeps all bounds.
    pub chance: f64,
    /// The smallest buffer in packets that keeps utilisation and loss, whatever the delay; None if none
    /// is expected to.
    pub least: Option<u64>,
    /// True if the bound on loss needs a larger buffer than that on utilisation.
    pub loss_decides: bool,
    /// The largest buffer in packets that is expected to keep the delay; None if it is not bounded.
    pub most: Option<u64>,
    /// Expected figures at `packets` (or `least`), in the order of [`FIGURES`].
    pub figures: [Figure; 3],
    /// Differences of the link from those of the study; empty inside the fitted range.
    pub outside: Vec<String>,
}

/// Returns true if the surfaces apply to such flows: those whose windows are saw-teeth.
fn knows(link: &Link) -> bool {
    link.flows > 0 && link.decrease().is_some()
}

/// Returns the answer for a link; None if the surfaces do not apply to its flows.
pub fn calibrated(link: &Link, table: &Table) -> Option<Calibrated> {
    if !knows(link) {
        return None;
    }
    let found = curve(link, table);
    let end = found.len() - 1;
    let whole = |place: usize| found.packets[place] as u64;
    let middle = least(link, &found, 0.0);
    let loss_decides = middle != least(&without_loss(link), &found, 0.0);
    let [below, above] = table.tails[kind(link, loss_decides)];
    let low = least(link, &found, -below);
    let chance = chance(link, &found);
    let at = middle.unwrap_or(end);
    Some(Calibrated {
        packets: middle.filter(|_| chance >= LIKELY).map(whole),
        low: whole(low.unwrap_or(end)),
        high: least(link, &found, above).map(whole),
        chance,
        least: middle.map(whole),
        loss_decides,
        most: link.max_delay_s.map(|delay| most(&found, delay)),
        figures: [IDLE, LOSS, DELAY].map(|figure| expected(&found, figure, at)),
        outside: outside(link, found.packets[at], table),
    })
}

/// Returns the smallest buffer in packets for utilisation and loss, both `shift` standard errors worse.
pub fn least_if(link: &Link, table: &Table, shift: f64) -> Option<u64> {
    let found = curve(link, table);
    least(link, &found, shift).map(|place| found.packets[place] as u64)
}

/// Returns the probability that each buffer in packets keeps each bound of a link, with the name of the
/// bound's figure; empty if the surfaces do not apply to its flows.
pub fn chances_kept(link: &Link, packets: &[f64], table: &Table) -> Vec<(&'static str, Vec<f64>)> {
    if !knows(link) {
        return Vec::new();
    }
    let found = Predicted::at(link, packets, table);
    let below = |figure: usize, bound: f64| {
        let each = found.means.iter().zip(&found.errors);
        let each = each.map(|(mean, error)| normal((bound - mean[figure]) / error[figure]));
        (FIGURES[figure], each.collect())
    };
    let mut chances = vec![below(
        IDLE,
        libm::log(1.0 - link.min_utilization + IDLE_FLOOR),
    )];
    chances.extend(
        link.max_loss_rate
            .map(|most| below(LOSS, libm::log(most + LOSS_FLOOR))),
    );
    chances.extend(link.max_delay_s.map(|delay| {
        let each = (0..found.len()).map(|place| keeps_delay(&found, place, delay));
        (FIGURES[DELAY], each.collect())
    }));
    chances
}

/// Returns the smallest buffer in packets without one of the bounds, with the name of the bound's
/// figure.
pub fn without(link: &Link, table: &Table) -> Vec<(&'static str, u64)> {
    let given_up = [
        Link {
            min_utilization: NO_UTILIZATION,
            ..link.clone()
        },
        without_loss(link),
        Link {
            max_delay_s: None,
            ..link.clone()
        },
    ];
    let others = FIGURES
        .into_iter()
        .zip(given_up)
        .filter(|(_, other)| other != link);
    let others =
        others.filter_map(|(name, other)| Some((name, calibrated(&other, table)?.packets?)));
    others.collect()
}

fn without_loss(link: &Link) -> Link {
    Link {
        max_loss_rate: None,
        ..link.clone()
    }
}

/// Returns the smallest loss that is expected with any buffer, and that buffer in packets.
pub fn least_loss(link: &Link, table: &Table) -> (f64, u64) {
    let found = curve(link, table);
    best(&found, &found.figure(LOSS, 0.0), |one, best| one < best)
}

/// Returns the largest utilisation expected with any buffer, and that buffer in packets.
pub fn most_busy(link: &Link, table: &Table) -> (f64, u64) {
    let found = curve(link, table);
    best(&found, &found.figure(IDLE, 0.0), |one, best| one > best)
}

/// Returns the first of the best values, and its buffer in packets.
fn best(found: &Predicted, values: &[f64], is_better: fn(f64, f64) -> bool) -> (f64, u64) {
    let mut at = 0;
    for place in 1..values.len() {
        if is_better(values[place], values[at]) {
            at = place;
        }
    }
    (values[at], found.packets[at] as u64)
}

/// Returns the predictions at the limits of a search.
fn curve(link: &Link, table: &Table) -> Predicted {
    let packets: Vec<f64> = limits(link)
        .into_iter()
        .map(|packets| packets as f64)
        .collect();
    Predicted::at(link, &packets, table)
}

/// Returns the normal distribution function at this number of standard deviations.
fn normal(deviations: f64) -> f64 {
    0.5 * libm::erfc(-deviations / SQRT_2)
}

/// Returns the probability that the buffer at a place keeps the delay in seconds.
fn keeps_delay(found: &Predicted, place: usize, delay_s: f64) -> f64 {
    let share = libm::log(delay_s / found.full_s[place]);
    if share >= 0.0 {
        return 1.0;
    }
    normal((share - found.means[place][DELAY]) / found.errors[place][DELAY])
}

/// Returns the place of the smallest sufficient limit with errors shifted by `shift`.
fn least(link: &Link, found: &Predicted, shift: f64) -> Option<usize> {
    let mut least = None;
    // The smallest limit above that does not suffice.
    let mut broken = f64::INFINITY;
    for place in (0..found.len()).rev() {
        let packets = found.packets[place];
        let loses = |most: f64| found.figure_at(LOSS, place, shift) > most;
        if found.figure_at(IDLE, place, shift) < link.min_utilization
            || link.max_loss_rate.is_some_and(loses)
        {
            broken = packets;
        } else if broken > KEPT_OVER * packets {
            least = Some(place);
        }
    }
    least
}

/// Returns the largest limit that is expected to keep the delay in seconds; at least one packet.
fn most(found: &Predicted, delay_s: f64) -> u64 {
    let kept = (0..found.len()).rfind(|place| found.figure_at(DELAY, *place, 0.0) <= delay_s);
    kept.map_or(1, |place| found.packets[place] as u64)
}

/// Returns the probability that some buffer keeps all bounds, over the surfaces' error.
fn chance(link: &Link, found: &Predicted) -> f64 {
    let step = 2.0 * FARTHEST / f64::from(SHIFTS - 1);
    let (mut kept, mut total) = (0.0, 0.0);
    for place in 0..SHIFTS {
        let shift = step * f64::from(place) - FARTHEST;
        let weight = libm::exp(-0.5 * shift * shift);
        let delay = |place| {
            link.max_delay_s
                .map_or(1.0, |delay| keeps_delay(found, place, delay))
        };
        total += weight;
        kept += weight * least(link, found, shift).map_or(0.0, delay);
    }
    kept / total
}

/// Returns the mean of a figure at a place and the ends of its interval.
fn expected(found: &Predicted, figure: usize, at: usize) -> Figure {
    let [mean, first, last] =
        [0.0, -NINETY, NINETY].map(|shift| found.figure_at(figure, at, shift));
    Figure {
        mean,
        low: first.min(last),
        high: first.max(last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::link::Profile;
    use proptest::prelude::*;

    /// The integral of the saw-tooth gives 21.6 packets. Whole packets may need 27.9.
    #[test]
    fn a_saw_tooth_of_one_flow_lies_in_the_interval() {
        let link = Link {
            congestion_control: Control::Reno,
            profile: Some(Profile::Rfc),
            byte_counting: false,
            min_utilization: 0.95,
            ..Link::new(6e6, vec![0.1], 1)
        };
        let found = calibrated(&link, Table::of_package()).unwrap();
        assert!(found.low <= 27);
        assert!(found.high.is_some_and(|high| high >= 21));
    }

    /// Linux 6.18 loses 2 to 3 % behind 291, 800 and 1,745 packets.
    #[test]
    fn a_loss_that_no_buffer_keeps_is_not_promised() {
        let mut link = Link::new(17e6, vec![0.1], 40);
        link.max_loss_rate = Some(0.01);
        let chances = chances_kept(&link, &[291.0, 800.0, 1_745.0], Table::of_package());
        assert_eq!(chances[1].0, "loss_rate");
        assert!(chances[1].1.iter().all(|chance| *chance < 0.1));
    }

    #[test]
    fn flows_that_ignore_loss_have_no_answer() {
        let mut link = Link::new(50e6, vec![0.05], 20);
        link.congestion_control = Control::Bbr;
        assert_eq!(calibrated(&link, Table::of_package()), None);
        assert!(chances_kept(&link, &[10.0], Table::of_package()).is_empty());
    }

    #[test]
    fn a_bound_that_is_given_up_needs_no_larger_buffer() {
        let link = Link {
            max_loss_rate: Some(0.02),
            ..Link::new(50e6, vec![0.05], 20)
        };
        let table = Table::of_package();
        let whole = calibrated(&link, table).unwrap().packets.unwrap();
        let found = without(&link, table);
        assert_eq!(
            found.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
            ["utilization", "loss_rate"]
        );
        assert!(found.iter().all(|(_, packets)| *packets <= whole));
        assert!(least_loss(&link, table).0 < 0.02 && most_busy(&link, table).0 > 0.98);
    }

    proptest! {
        #[test]
        fn the_answer_lies_in_its_interval_and_a_looser_bound_needs_no_more(
            rate_bps in 1e6..1e9_f64,
            rtt in 0.005..0.3_f64,
            flows in 1_u64..200,
            loss in 0.002..0.05_f64,
            factor in 1.0..3.0_f64,
        ) {
            let table = Table::of_package();
            let mut link = Link::new(rate_bps, vec![rtt], flows);
            link.max_loss_rate = Some(loss);
            let tight = calibrated(&link, table).unwrap();
            link.max_loss_rate = Some(factor * loss);
            let loose = calibrated(&link, table).unwrap();
            prop_assert!((0.0..=1.0).contains(&tight.chance));
            let busy = calibrated(&without_loss(&link), table).unwrap();
            prop_assert!(!busy.loss_decides);
            prop_assert_eq!(loose.loss_decides, loose.least != busy.least);
            if let Some(least) = tight.least {
                prop_assert!(1 <= tight.low && tight.low <= least);
                prop_assert!(tight.high.is_none_or(|high| least <= high));
                prop_assert!(loose.least.is_some_and(|loose| loose <= least));
            }
            for figure in tight.figures {
                prop_assert!(figure.low <= figure.mean && figure.mean <= figure.high);
            }
        }
    }
}
