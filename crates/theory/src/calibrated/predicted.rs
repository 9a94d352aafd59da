//! Evaluation of the fitted corrections: utilisation, loss and delay with each buffer.

use crate::calibrated::forms::{IDLE_FLOOR, LOSS_FLOOR, forms, full_delay_s};
use crate::calibrated::groups::{COUNT, GROUPS, LOGARITHMS, groups};
use crate::calibrated::table::Table;
use crate::control::Control;
use crate::format::general;
use crate::link::Link;

/// Names of the figures that are predicted.
pub const FIGURES: [&str; 3] = ["utilization", "loss_rate", "p99_delay_s"];

/// Column of the logarithm of the idle share.
pub(super) const IDLE: usize = 0;

/// Column of the logarithm of the loss.
pub(super) const LOSS: usize = 1;

/// Column of the logarithm of the delay over the time of a full buffer.
pub(super) const DELAY: usize = 2;

/// Distance of a group from its range, as a share of the range, up to which a link counts as inside.
const SLACK: f64 = 0.03;

/// Distance of a group from its range, as a share of the range, beyond which only the published forms
/// are used.
const FAR: f64 = 0.25;

/// Smallest range of a group that distances are compared with.
const MIN_RANGE: f64 = 1e-9;

/// Rate of access links over the link's below which no run of the study had them.
const SLOW_ACCESS: f64 = 2.0;

/// Receiver's window over that of an empty queue below which no run of the study had one.
const SMALL_WINDOW: f64 = 4.0;

/// Predictions for a link with several buffers.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    /// Buffers in packets.
    pub packets: Vec<f64>,
    /// Logarithms of idle share, loss, and delay over a full buffer's time, for each buffer.
    pub means: Vec<[f64; 3]>,
    /// Standard errors of the means.
    pub errors: Vec<[f64; 3]>,
    /// Seconds to send each full buffer.
    pub full_s: Vec<f64>,
}

impl Predicted {
    /// Returns the prediction for a link with each buffer in packets.
    ///
    /// A group outside its range counts as at the range's end. There the correction stays constant, and
    /// the published forms alone continue. The error grows with the distance from the range to the
    /// error of the forms alone.
    pub fn at(link: &Link, packets: &[f64], table: &Table) -> Self {
        let is_unlike = !unlike_the_study(link).is_empty();
        let forms = forms(link, packets);
        let (mut means, mut errors) = (Vec::new(), Vec::new());
        for (groups, form) in groups(link, packets).iter().zip(forms) {
            let furthest = beyond(table, groups).into_iter().fold(0.0, f64::max);
            let share = ((furthest - SLACK) / (FAR - SLACK)).clamp(0.0, 1.0);
            let (mean, error) = corrected(table, groups, form, if is_unlike { 1.0 } else { share });
            means.push(mean);
            errors.push(error);
        }
        Self {
            packets: packets.to_vec(),
            means,
            errors,
            full_s: full_delay_s(link, packets),
        }
    }

    /// Returns the number of buffers.
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Returns a figure by its number in [`FIGURES`] with each buffer, for an idle share or loss or
    /// delay `shift` standard errors too high.
    pub fn figure(&self, figure: usize, shift: f64) -> Vec<f64> {
        (0..self.len())
            .map(|place| self.figure_at(figure, place, shift))
            .collect()
    }

    /// Returns a figure with the buffer at a place.
    pub(super) fn figure_at(&self, figure: usize, place: usize, shift: f64) -> f64 {
        let shifted = self.means[place][figure] + shift * self.errors[place][figure];
        match figure {
            IDLE => 1.0 - (libm::exp(shifted) - IDLE_FLOOR).clamp(0.0, 1.0),
            LOSS => (libm::exp(shifted) - LOSS_FLOOR).clamp(0.0, 1.0),
            _ => self.full_s[place] * libm::exp(shifted.min(0.0)),
        }
    }
}

/// Returns the means of the three figures and their errors, for groups that are outside of the study by
/// a share.
fn corrected(
    table: &Table,
    groups: &[f64; COUNT],
    form: [f64; 3],
    outside: f64,
) -> ([f64; 3], [f64; 3]) {
    let mut inputs = [0.0; COUNT];
    for (place, input) in inputs.iter_mut().enumerate() {
        let (low, high) = table.ranges[place];
        let held = groups[place].max(low).min(high);
        *input = (held - table.centre[place]) / table.scale[place];
    }
    let outputs: Vec<Vec<f64>> = table
        .members
        .iter()
        .map(|one| one.values(&inputs))
        .collect();
    let spread = table.spread.values(&inputs);
    let count = outputs.len() as f64;
    let (mut means, mut errors) = ([0.0; 3], [0.0; 3]);
    for figure in 0..3 {
        let values = outputs.iter().map(|output| output[figure]);
        let mean = values.clone().sum::<f64>() / count;
        let variance = values
            .map(|value| (value - mean) * (value - mean))
            .sum::<f64>()
            / count;
        let disagreement = variance.sqrt() * table.stretch[figure];
        let error = libm::hypot(libm::exp(spread[figure]), disagreement) * table.widths[figure];
        means[figure] = form[figure] + mean * table.stretch[figure] + table.offset[figure];
        errors[figure] = error + outside * (table.theory_errors[figure] - error).max(0.0);
    }
    means[DELAY] = means[DELAY].min(0.0);
    (means, errors)
}

/// Returns the distance of each group from its range, over the range.
fn beyond(table: &Table, groups: &[f64; COUNT]) -> [f64; COUNT] {
    let mut found = [0.0; COUNT];
    for (place, distance) in found.iter_mut().enumerate() {
        let (low, high) = table.ranges[place];
        let value = groups[place];
        *distance = ((low - value).max(value - high) / (high - low).max(MIN_RANGE)).max(0.0);
    }
    found
}

/// Returns the differences of a link from those of the study, a few words each, with a buffer in packets
/// near the answer.
pub fn outside(link: &Link, packets: f64, table: &Table) -> Vec<String> {
    let mut found = unlike_the_study(link);
    let groups = groups(link, &[packets])[0];
    for (place, distance) in beyond(table, &groups).into_iter().enumerate() {
        if distance > SLACK {
            let words = |value: f64| {
                general(
                    if place < LOGARITHMS {
                        libm::exp(value)
                    } else {
                        value
                    },
                    3,
                )
            };
            let (low, high) = table.ranges[place];
            found.push(format!(
                "{} {} (runs had {} to {})",
                GROUPS[place],
                words(groups[place]),
                words(low),
                words(high)
            ));
        }
    }
    found
}

/// Returns the properties of a link that no run of the study had, a few words each.
fn unlike_the_study(link: &Link) -> Vec<String> {
    let control = link.congestion_control;
    let other = !matches!(control, Control::Reno | Control::Cubic);
    let slow = |access: f64| access < SLOW_ACCESS * link.rate_bps;
    let small = |window: f64| window < SMALL_WINDOW * link.window_packets();
    let differs = [
        other.then(|| format!("congestion control {}", control.name())),
        link.is_mixed()
            .then(|| "mixed congestion controls".to_owned()),
        link.access_rate_bps
            .is_some_and(slow)
            .then(|| "slow access links".to_owned()),
        link.max_window_packets
            .is_some_and(small)
            .then(|| "windows limited by receivers".to_owned()),
    ];
    differs.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_reach_those_of_the_forms_outside_the_fitted_links() {
        let table = Table::of_package();
        let inside = Link::new(50e6, vec![0.05], 20);
        let mut other = inside.clone();
        other.congestion_control = Control::Abe;
        assert_eq!(outside(&inside, 100.0, table), Vec::<String>::new());
        assert_eq!(outside(&other, 100.0, table), ["congestion control abe"]);
        let errors = |link: &Link| Predicted::at(link, &[100.0], table).errors[0];
        for figure in 0..3 {
            assert!(errors(&inside)[figure] < table.theory_errors[figure]);
            assert!(errors(&other)[figure] >= table.theory_errors[figure]);
        }
        let far = Link::new(1e11, vec![0.1], 100_000);
        assert!(
            outside(&far, 1e3, table)
                .iter()
                .any(|words| words.contains("flows"))
        );
    }
}
