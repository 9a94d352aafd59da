//! The buffer that the device has today, beside the rules.

use crate::link::Link;
use crate::rules::{Advice, Bound, Kind, Rule, Trial};

fn advise(link: &Link) -> Advice {
    Advice {
        packets: link.configured_packets.map(|packets| packets as f64),
        ..Advice::default()
    }
}

/// The rule, which is not among [`crate::RULES`].
pub static RULE: Rule = Rule {
    name: "configured",
    title: "The buffer of the device today",
    equation: "B as read from the device",
    source: "the output of tc, or the configuration of SONiC",
    assumptions: &[],
    kind: Kind::Claim,
    bound: Bound::AtLeast,
    trial: Trial::Classic,
    advise,
};
