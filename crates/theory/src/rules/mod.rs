//! Published rules for buffer sizes, one file each, by what they follow from; [`RULES`] lists them.
//!
//! A rule is a function from a [`Link`] to an [`Advice`]: a number of packets, the assumptions that
//! the link breaks, and what else the rule says. The link has at least one flow.

pub mod advice;
mod checks;
pub mod configured;
pub mod loss;
mod loss_rate;
pub mod modern;
pub mod smooth;
pub mod window;

pub use loss_rate::loss_rate;

use crate::link::Link;
use advice::{claims, vendor};
use loss::{bscl, capacity_ratio, fpq};
use modern::{bbr, marks, variance};
use smooth::{core_to_access, small_queue, tiny};
use window::{bdp, fluid, sqrt_n, window_decrease};

/// Relative error that a formula's floating-point arithmetic may have.
const ROUNDING: f64 = 1e-9;

/// All published rules.
pub static RULES: &[Rule] = &[
    bdp::RULE,
    sqrt_n::RULE,
    window_decrease::RULE,
    bscl::RULE,
    fpq::RULE,
    tiny::RULE,
    capacity_ratio::RULE,
    core_to_access::RULE,
    small_queue::RULE_MM1K,
    small_queue::RULE_MD1K,
    fluid::RULE,
    vendor::RULE_250,
    vendor::RULE_500,
    claims::RULE_UPLINK,
    claims::RULE_KILOBYTES,
    claims::RULE_PACKETS,
    variance::RULE_VARIANCE,
    variance::RULE_PACED,
    bbr::RULE,
    marks::RULE_STEP,
    marks::RULE_DCTCP,
];

/// Returns the published rules, and the buffer of the link's device today if that is known.
pub fn rules_for(link: &Link) -> impl Iterator<Item = &'static Rule> + use<> {
    let own = link.configured_packets.map(|_| &configured::RULE);
    RULES.iter().chain(own)
}

/// Basis of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The rule is derived.
    Rule,
    /// The rule is quoted without a derivation.
    Claim,
}

/// Side on which a rule bounds the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The buffer is a lower bound.
    AtLeast,
    /// The buffer is an upper bound.
    AtMost,
}

/// Study with the measured record of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trial {
    /// The study of loss-based flows.
    Classic,
    /// The study of flows that pace, estimate a rate or follow marks.
    Modern,
}

/// A published rule for the size of a buffer.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Name in tables and files.
    pub name: &'static str,
    /// Name in full.
    pub title: &'static str,
    /// Formula, with C in bits per second, T in seconds, N flows, B in packets.
    pub equation: &'static str,
    /// Publication.
    pub source: &'static str,
    /// Conditions of its derivation.
    pub assumptions: &'static [&'static str],
    /// Basis of the rule.
    pub kind: Kind,
    /// Side on which it bounds the buffer.
    pub bound: Bound,
    /// Study with its measured record.
    pub trial: Trial,
    /// Function that returns its answer for a link.
    pub advise: fn(&Link) -> Advice,
}

/// Advice of a rule for one link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Advice {
    /// Buffer in packets, not rounded; None if the rule has no number here.
    pub packets: Option<f64>,
    /// Assumptions that do not hold on this link, a sentence each.
    pub broken: Vec<String>,
    /// Further remarks of the rule on the link.
    pub notes: Vec<String>,
}

impl Advice {
    /// Returns the buffer rounded down, as the papers' tables do, but at least one packet.
    pub fn whole_packets(&self) -> Option<u64> {
        self.packets.map(whole_packets)
    }
}

/// Returns a buffer rounded down to whole packets, but at least one. A buffer that rounding errors put
/// just below a whole number counts as that number.
pub fn whole_packets(packets: f64) -> u64 {
    ((packets * (1.0 + ROUNDING)).floor() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_rule_answers_every_link(
            rate_bps in 1e5..1e11_f64,
            rtt in 0.001..0.6_f64,
            flows in 1_u64..2_000,
            loss in proptest::option::of(1e-4..0.2_f64),
            min_utilization in 0.5..=1.0_f64,
            control in 0_usize..Control::ALL.len(),
        ) {
            let mut link = Link::new(rate_bps, vec![rtt, 2.0 * rtt], flows);
            link.max_loss_rate = loss;
            link.min_utilization = min_utilization;
            link.congestion_control = Control::ALL[control];
            for rule in RULES {
                let packets = (rule.advise)(&link).packets;
                prop_assert!(packets.is_none_or(|packets| packets.is_finite() && packets >= 0.0), "{}", rule.name);
            }
        }
    }

    #[test]
    fn names_are_unique_and_the_device_of_today_comes_last() {
        let mut link = Link::new(1e7, vec![0.1], 1);
        let names = |link: &Link| rules_for(link).map(|rule| rule.name).collect::<Vec<_>>();
        let mut published = names(&link);
        link.configured_packets = Some(77);
        assert_eq!(names(&link).last(), Some(&"configured"));
        assert_eq!((configured::RULE.advise)(&link).whole_packets(), Some(77));
        published.sort_unstable();
        published.dedup();
        assert_eq!(published.len(), RULES.len());
    }

    #[test]
    fn rounding_errors_cost_no_packet() {
        let cases = [
            (249.999_999_999_999_97, 250),
            (644.999_999_999_999_8, 645),
            (249.999_9, 249),
            (0.2, 1),
        ];
        for (packets, whole) in cases {
            assert_eq!(whole_packets(packets), whole);
        }
    }
}
