//! Ratio of core to access speed: above a limit, flows alone cannot congest the link.

use crate::format::{general, percent};
use crate::link::Link;
use crate::rules::{Advice, Bound, Kind, Rule, Trial};
use statrs::function::gamma::checked_gamma_lr;

/// Ratio from which on the flows in progress seldom exceed the link's rate at a load of 80 %.
const LARGE_RATIO: f64 = 50.0;

/// Packets of the O(1) buffer: the order of magnitude in the paper's figures.
const CONSTANT_PACKETS: f64 = 20.0;

/// Largest load that is assumed, because a full link has no equilibrium.
const MAX_LOAD: f64 = 0.99;

/// Load above which flows find no capacity.
const FULL_LOAD: f64 = 0.9;

/// O(1) packets if a flow's access link is slow beside this one; otherwise no number.
fn advise(link: &Link) -> Advice {
    let Some(access) = link.access_rate_bps else {
        let unknown = "the rate of the access links is not known (--access-rate)";
        return Advice {
            broken: vec![unknown.to_owned()],
            ..Advice::default()
        };
    };
    let ratio = link.rate_bps / access;
    let load = link.min_utilization.min(MAX_LOAD);
    let overload = overload_probability(ratio, load);
    let slow = (ratio < LARGE_RATIO).then(|| {
        format!(
            "the link is only {} times as fast as an access link, so a few flows fill it, and a \
             larger buffer improves their completion times",
            general(ratio, 3)
        )
    });
    let full = (load > FULL_LOAD).then(|| {
        format!(
            "a load of {} leaves no capacity for arrivals and departures of flows",
            percent(load, 0)
        )
    });
    Advice {
        packets: (ratio >= LARGE_RATIO).then_some(CONSTANT_PACKETS),
        broken: slow.into_iter().chain(full).collect(),
        notes: vec![format!(
            "flows at full access rate exceed the link with probability {overload:.3} at a load of {}",
            percent(load, 0)
        )],
    }
}

/// Returns P(N c > C) for N flows at access rate c, where N is Poisson with mean rho C/c.
fn overload_probability(ratio: f64, load: f64) -> f64 {
    // A Poisson variable exceeds n with the regularised lower incomplete gamma function of n + 1.
    checked_gamma_lr(ratio.floor() + 1.0, load * ratio).unwrap_or(f64::NAN)
}

/// The rule.
pub const RULE: Rule = Rule {
    name: "core_to_access",
    title: "core over access speed",
    equation: "B = O(1) where C / c is large",
    source: "Lakshmikantha, Beck and Srikant, Impact of file arrivals and departures on buffer sizing \
             in core routers, INFOCOM 2008",
    assumptions: &["flows come and go; each is limited by an access link much slower than this"],
    kind: Kind::Rule,
    bound: Bound::AtLeast,
    trial: Trial::Classic,
    advise,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_give_the_published_probabilities() {
        for (ratio, probability) in [(2.0, 0.217), (5.0, 0.215), (10.0, 0.184), (50.0, 0.053)] {
            assert!((overload_probability(ratio, 0.8) - probability).abs() < 6e-4);
        }
    }

    /// The complement is the sum of the terms up to C / c.
    #[test]
    fn a_probability_is_one_less_the_terms_below() {
        for (ratio, load) in [(1.0, 0.3), (7.0, 0.8), (50.0, 0.99), (50.5, 0.5)] {
            let (mut term, mut below) = (libm::exp(-load * ratio), 0.0);
            for count in 0..=(ratio as u32) {
                below += term;
                term *= load * ratio / f64::from(count + 1);
            }
            assert!((overload_probability(ratio, load) - (1.0 - below)).abs() < 1e-12);
        }
    }

    /// Chernoff: P(N >= x) <= e^(x - m) (m/x)^x, and the first term beyond is a lower bound.
    #[test]
    fn a_small_probability_lies_between_its_bounds() {
        let (mean, most) = (800.0, 1_001.0);
        let first = libm::exp(most * libm::log(mean) - mean - libm::lgamma(most + 1.0));
        let bound = libm::exp(most - mean + most * libm::log(mean / most));
        let overload = overload_probability(1_000.0, 0.8);
        assert!(first <= overload && overload <= bound);
    }
}
