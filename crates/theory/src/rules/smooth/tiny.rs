//! Tiny buffers: O(log W) packets if arrivals are smooth.

use crate::format::{general, percent};
use crate::link::Link;
use crate::rules::{Advice, Bound, Kind, Rule, Trial, checks};

/// Largest load for which the formula is evaluated.
const MAX_LOAD: f64 = 0.99;

/// Largest share of the capacity that the rule keeps busy.
const MAX_UTILIZATION: f64 = 0.9;

/// B = log(W^2 / 2(1 - theta)) / log(1/rho), with rho = theta = the requested utilisation.
fn advise(link: &Link) -> Advice {
    let load = link.min_utilization.min(MAX_LOAD);
    let given = link.max_window_packets.filter(|window| *window > 0.0);
    let window = given.unwrap_or_else(|| link.window_packets());
    let bursts = checks::sends_in_bursts(link).then(|| {
        "senders neither pace nor have access links much slower than this one, so their bursts \
         overflow a tiny buffer"
            .to_owned()
    });
    let busy = (link.min_utilization > MAX_UTILIZATION).then(|| {
        format!(
            "the requested utilisation is {}, but the rule gives up 10 % to 30 % of the capacity",
            percent(link.min_utilization, 0)
        )
    });
    Advice {
        packets: Some(buffer_packets(load, window.max(1.0), load)),
        broken: bursts.into_iter().chain(busy).collect(),
        notes: vec![format!("windows of up to {} packets", general(window, 3))],
    }
}

/// Returns B >= log_{1/rho}(W^2 / (2 (1 - theta))) in packets, from rho, arrivals over capacity, the
/// largest window W in packets, and theta, the share of the offered load that is carried.
fn buffer_packets(load: f64, window: f64, carried: f64) -> f64 {
    let ratio = window * window / (2.0 * (1.0 - carried));
    (libm::log(ratio) / libm::log(1.0 / load)).max(0.0)
}

/// The rule.
pub const RULE: Rule = Rule {
    name: "tiny",
    title: "tiny buffers, O(log W)",
    equation: "B = log(W^2 / 2(1 - theta)) / log(1 / rho)",
    source: "Enachescu, Ganjali, Goel, McKeown and Roughgarden, Routers with very small buffers, \
             INFOCOM 2006",
    assumptions: &[
        "arrivals are nearly Poisson: senders pace, or access links are much slower",
        "the link may stay partly idle (over-provisioned by 1/rho)",
        "windows are bounded",
    ],
    kind: Kind::Rule,
    bound: Bound::AtLeast,
    trial: Trial::Classic,
    advise,
};

#[cfg(test)]
mod tests {
    use super::buffer_packets;

    #[test]
    fn buffers_have_the_values_computed_by_hand() {
        assert!((buffer_packets(0.75, 64.0, 0.75) - 31.3).abs() < 0.05);
        assert!((buffer_packets(0.9, 64.0, 0.9) - 94.2).abs() < 0.1);
    }
}
