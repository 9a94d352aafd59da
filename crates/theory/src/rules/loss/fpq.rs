//! Buffers in proportion to the number of flows.

use crate::format::general;
use crate::link::Link;
use crate::rules::{Advice, Bound, Kind, Rule, Trial};

/// Packets per flow: a window that fast retransmit can repair; loss then stays near 2 %.
const PACKETS_PER_FLOW: f64 = 6.0;

/// Loss that the rule aims at.
const AIMED_LOSS: f64 = 0.02;

/// Number of flows below which halved windows may leave the link idle.
const MIN_FLOWS: u64 = 10;

/// B = 6 N packets.
fn advise(link: &Link) -> Advice {
    let packets = PACKETS_PER_FLOW * link.flows as f64;
    let short = (packets < link.bdp_packets() && link.flows < MIN_FLOWS).then(|| {
        format!(
            "the path holds {} packets, and a few flows that halve leave the link idle with a queue \
             this short",
            general(link.bdp_packets(), 3)
        )
    });
    let strict = link
        .max_loss_rate
        .is_some_and(|most| most < AIMED_LOSS)
        .then(|| "the rule aims at a loss of about 2 %".to_owned());
    Advice {
        packets: Some(packets),
        broken: short.into_iter().chain(strict).collect(),
        notes: Vec::new(),
    }
}

/// The rule.
pub const RULE: Rule = Rule {
    name: "flow_proportional",
    title: "six packets per flow",
    equation: "B = 6 N",
    source: "Morris, TCP behavior with many flows, ICNP 1997; Scalable TCP congestion control, \
             INFOCOM 2000",
    assumptions: &[
        "many flows, each with a small window: the queue has to hold what the path does not",
        "a loss of about 2 % is acceptable",
    ],
    kind: Kind::Rule,
    bound: Bound::AtLeast,
    trial: Trial::Classic,
    advise,
};
