//! Marking thresholds of flows that reduce their windows in proportion to marks.

use crate::control::Control;
use crate::format::general;
use crate::link::Link;
use crate::rules::{Advice, Bound, Kind, Rule, Trial};

/// Queueing delay in seconds above which `DualPI2` marks every packet: its default in Linux and RFC
/// 9332.
const STEP_S: f64 = 0.001;

/// Smallest threshold in packets: one that waits alone is no queue.
const MIN_PACKETS: f64 = 2.0;

/// Divisor of C T in the threshold of DCTCP.
const DCTCP_PART: f64 = 7.0;

/// B = 1 ms of the rate, at least two packets.
fn advise_step(link: &Link) -> Advice {
    let is_l4s = link
        .shares()
        .iter()
        .any(|(control, _)| *control == Control::Prague);
    if !is_l4s {
        let other = link.needs_marks().then(|| {
            "DCTCP crosses queues with a threshold of their own, and not the step of L4S".to_owned()
        });
        return Advice {
            broken: other.map_or_else(|| broken(link), |other| vec![other]),
            ..Advice::default()
        };
    }
    let packets = STEP_S / link.packet_time_s();
    let note = (packets < MIN_PACKETS).then(|| {
        format!(
            "1 ms is the time of {} packets here, so the step is two packets",
            general(packets, 2)
        )
    });
    Advice {
        packets: Some(packets.max(MIN_PACKETS)),
        broken: broken(link),
        notes: note.into_iter().collect(),
    }
}

/// K = C T / 7.
fn advise_dctcp(link: &Link) -> Advice {
    Advice {
        packets: link.needs_marks().then(|| link.bdp_packets() / DCTCP_PART),
        broken: broken(link),
        notes: Vec::new(),
    }
}

fn broken(link: &Link) -> Vec<String> {
    let other = (!link.needs_marks()).then(|| {
        format!(
            "{} does not react to every mark, and needs no such threshold",
            link.control_words()
        )
    });
    let mixed = (link.needs_marks() && link.is_mixed()).then(|| {
        "flows that react to losses share the link, and their queue is not this threshold"
            .to_owned()
    });
    other.into_iter().chain(mixed).collect()
}

/// The rule for the step of L4S.
pub const RULE_STEP: Rule = Rule {
    name: "l4s_step",
    title: "step of L4S",
    equation: "B = max(C x 1 ms / 8M, 2)",
    source: "RFC 9332, Dual-Queue Coupled AQMs, and dualpi2 of Linux: step_thresh = 1ms",
    assumptions: &[
        "all flows are scalable (Prague) and cross a queue that marks",
        "the limit must at least hold the packets below the step",
    ],
    kind: Kind::Claim,
    bound: Bound::AtLeast,
    trial: Trial::Modern,
    advise: advise_step,
};

/// The rule for the threshold of DCTCP.
pub const RULE_DCTCP: Rule = Rule {
    name: "dctcp_threshold",
    title: "marking threshold of DCTCP",
    equation: "B = C T / 7 / 8M",
    source: "Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010, equation (13)",
    assumptions: &[
        "flows reduce their windows in proportion to marks, and are in step",
        "the queue marks above this threshold; a smaller one leaves the link idle",
    ],
    kind: Kind::Rule,
    bound: Bound::AtLeast,
    trial: Trial::Modern,
    advise: advise_dctcp,
};
