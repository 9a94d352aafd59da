//! Evaluation of the fitted corrections at one buffer.

use crate::calibrated::link::{GROUPS, IDLE_FLOOR, LOGARITHMS, LOSS_FLOOR, Link};
use crate::calibrated::table::TABLE;

/// Share of a group's range by which a link may leave it and still count as inside.
const SLACK: f64 = 0.03;
/// Share of a group's range from which on only the published forms count.
const FAR: f64 = 0.25;

/// Prediction for one buffer.
#[derive(Clone, Debug)]
pub struct Predicted {
    /// The buffer in packets.
    pub packets: f64,
    /// Logarithms of the idle share, of the loss, and of the delay over a full buffer's time.
    means: [f64; 3],
    errors: [f64; 3],
    /// Seconds to send the full buffer and the packet in transmission.
    full_s: f64,
}

impl Predicted {
    /// Returns the prediction for a link with a buffer.
    pub fn at(link: &Link, packets: f64) -> Self {
        let table = &*TABLE;
        let groups = link.groups(packets);
        let held = groups.iter().zip(&table.ranges);
        let held = held.map(|(value, (low, high))| value.clamp(*low, *high));
        let scaled = held.zip(table.centre.iter().zip(&table.scale));
        let inputs: Vec<f64> = scaled
            .map(|(value, (centre, scale))| (value - centre) / scale)
            .collect();
        let outputs: Vec<Vec<f64>> = table
            .members
            .iter()
            .map(|member| member.values(&inputs))
            .collect();
        let spread = table.spread.values(&inputs);
        let furthest = beyond(&groups).into_iter().fold(0.0, f64::max);
        let mut share = ((furthest - SLACK) / (FAR - SLACK)).clamp(0.0, 1.0);
        if is_unlike_the_study(link) {
            share = 1.0;
        }
        let forms = [
            libm::log(link.idle_form(packets)),
            libm::log(link.loss_form(packets)),
            0.0,
        ];
        let count = outputs.len() as f64;
        let (mut means, mut errors) = ([0.0; 3], [0.0; 3]);
        for figure in 0..3 {
            let values = outputs.iter().map(|output| output[figure]);
            let mean = values.clone().sum::<f64>() / count;
            let variance = values
                .map(|value| (value - mean) * (value - mean))
                .sum::<f64>()
                / count;
            let stretch = table.stretch[figure];
            means[figure] = forms[figure] + mean * stretch + table.offset[figure];
            let disagreement = variance.sqrt() * stretch;
            let error = libm::hypot(libm::exp(spread[figure]), disagreement) * table.widths[figure];
            errors[figure] = error + share * (table.theory_errors[figure] - error).max(0.0);
        }
        means[2] = means[2].min(0.0);
        Self {
            packets,
            means,
            errors,
            full_s: (packets + 1.0) * link.packet_time_s(),
        }
    }

    fn shifted(&self, figure: usize, shift: f64) -> f64 {
        self.means[figure] + shift * self.errors[figure]
    }

    /// Returns the utilisation for an idle share that is too high by standard errors.
    pub fn utilization(&self, shift: f64) -> f64 {
        1.0 - (libm::exp(self.shifted(0, shift)) - IDLE_FLOOR).clamp(0.0, 1.0)
    }

    /// Returns the loss, shifted by standard errors.
    pub fn loss_rate(&self, shift: f64) -> f64 {
        (libm::exp(self.shifted(1, shift)) - LOSS_FLOOR).clamp(0.0, 1.0)
    }

    /// Returns the shifted 99th percentile of the queueing delay in seconds.
    pub fn p99_delay_s(&self, shift: f64) -> f64 {
        self.full_s * libm::exp(self.shifted(2, shift).min(0.0))
    }
}

/// Returns true if no run of the study had such a congestion control.
fn is_unlike_the_study(link: &Link) -> bool {
    !matches!(link.control.as_str(), "reno" | "cubic")
}

/// Returns the distance of each group from its range, over the range.
fn beyond(groups: &[f64; 18]) -> Vec<f64> {
    let groups = groups.iter().zip(&TABLE.ranges);
    groups
        .map(|(value, (low, high))| {
            let width = (high - low).max(1e-9);
            ((low - value).max(value - high) / width).max(0.0)
        })
        .collect()
}

/// Returns the differences of a link from those of the study, a few words each.
pub fn outside(link: &Link, packets: f64) -> Vec<String> {
    let mut found = Vec::new();
    if is_unlike_the_study(link) {
        found.push(format!("congestion control {}", link.control));
    }
    let groups = link.groups(packets);
    for (place, beyond) in beyond(&groups).into_iter().enumerate() {
        if beyond > SLACK {
            let text = |value: f64| {
                let value = if place < LOGARITHMS {
                    libm::exp(value)
                } else {
                    value
                };
                three_digits(value)
            };
            let (low, high) = TABLE.ranges[place];
            found.push(format!(
                "{} {} (runs had {} to {})",
                GROUPS[place],
                text(groups[place]),
                text(low),
                text(high)
            ));
        }
    }
    found
}

/// Formats a number with three significant digits, without zeros at its end.
fn three_digits(value: f64) -> String {
    let scientific = format!("{value:.2e}");
    let (digits, exponent) = scientific.split_once('e').expect("an exponent");
    let exponent: i32 = exponent.parse().expect("a number");
    let trimmed = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if (-4..3).contains(&exponent) {
        return trimmed(&format!("{value:.*}", (2 - exponent) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(digits), exponent.abs())
}
