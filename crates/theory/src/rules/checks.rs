//! Checks of assumptions that several rules share. Each returns the sentences about those that a link
//! breaks.

use crate::format::{general, percent};
use crate::link::Link;
use crate::rules::loss_rate::{loss_rate, loss_words};

/// Packets in flight below which three duplicate ACKs cannot arrive (RFC 5681 section 3.2). Losses
/// then end in timeouts, and windows are not saw-teeth.
const MIN_PACKETS_PER_FLOW: f64 = 4.0;

/// Number of packets that a sender sends at once: pairs, because of delayed ACKs.
const BURST_PACKETS: f64 = 2.0;

/// Largest rate of access links, as a share of the link's rate, that spaces packets like pacing.
const SLOW_ACCESS: f64 = 0.1;

/// Returns a sentence if this buffer leaves windows too small for saw-teeth.
///
/// Losses occur when the buffer is full, so a window at a loss includes its part of the buffer.
pub fn few_in_flight(link: &Link, packets: f64) -> Option<String> {
    let window = link.window_packets() + packets / link.flows as f64;
    (window < MIN_PACKETS_PER_FLOW).then(|| {
        format!(
            "{} packets in flight per flow are too few for fast retransmit, so timeouts and not \
             saw-teeth determine the rate of flows",
            general(window, 2)
        )
    })
}

/// Returns the broken assumptions of every rule that is derived from halved windows.
pub fn saw_tooth(link: &Link, packets: f64) -> impl Iterator<Item = String> + use<> {
    let other = link.no_saw_tooth();
    let other =
        other.map(|control| format!("{} does not halve its window on a loss", control.title()));
    few_in_flight(link, packets).into_iter().chain(other)
}

/// Returns the broken assumptions of rules for windows out of step, which ignore single packets.
pub fn bursts(link: &Link, packets: f64) -> Option<String> {
    let idle = idle_from_bursts(packets);
    (sends_in_bursts(link) && 2.0 * idle > 1.0 - link.min_utilization).then(|| {
        format!(
            "senders do not pace, and their bursts alone leave the link idle for {} of the time, \
             more than half of the allowed share",
            percent(idle, 1)
        )
    })
}

/// Returns the idle share b / (2 B), at most 1, that bursts of b = 2 packets cause by themselves.
///
/// If bursts arrive as a Poisson process at the rate of the link, its queue is a Brownian motion of
/// variance b per packet time, without drift, between barriers at 0 and B (Harrison, Brownian Motion
/// and Stochastic Flow Systems, 1985).
fn idle_from_bursts(packets: f64) -> f64 {
    (BURST_PACKETS / (2.0 * packets)).min(1.0)
}

/// Returns the broken condition on loss of a rule that considers only utilisation.
pub fn loss(link: &Link, packets: f64) -> Option<String> {
    let most = link.max_loss_rate?;
    if let Some(control) = link.no_saw_tooth() {
        return Some(format!(
            "the rule does not bound loss, and there is no formula for the loss of {}",
            control.title()
        ));
    }
    (loss_rate(link, packets) > most).then(|| {
        format!(
            "the rule does not bound loss; with {} flow{} {} would be lost",
            link.flows,
            if link.flows > 1 { "s" } else { "" },
            loss_words(link, packets)
        )
    })
}

/// Returns a sentence if there are so few flows that their losses coincide.
pub fn few_flows(link: &Link, fewest: u64) -> Option<String> {
    (link.flows < fewest).then(|| {
        format!(
            "the number of flows ({}) is too small for them to be out of step",
            link.flows
        )
    })
}

/// Returns a sentence if equal round-trip times keep flows in step.
pub fn equal_rtts(link: &Link) -> Option<String> {
    (!link.has_different_rtts() && link.flows > 1).then(|| {
        "all round-trip times are equal, so flows tend to lose at the same time and stay in step"
            .to_owned()
    })
}

/// Returns true if neither pacing nor slow access links space the packets of a flow.
pub fn sends_in_bursts(link: &Link) -> bool {
    let slow_access = link
        .access_rate_bps
        .is_some_and(|access| access <= SLOW_ACCESS * link.rate_bps);
    !link.paces() && !slow_access
}
