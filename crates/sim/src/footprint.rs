//! Memory that the parts of a run take, by the sizes of the types that they are made of.
//!
//! A run's owner multiplies these by counts and knows before anything is built whether the run
//! fits in the machine.

use crate::agent::Agent;
use crate::engine::HOST_BYTES;
use crate::line::OnTheWay;
use crate::link::Link;
use crate::link_meter::LinkMeter;
use crate::loss_bursts::LossBursts;
use crate::routing::Hop;
use crate::served_link::ServedLink;
use crate::signals::Signal;
use crate::{FlowConfig, FlowOutcome, LinkConfig, LinkOutcome};
use goodqueue_types::{Histogram, LinkId, PacketEvent, Time};

/// A flow's round-trip times reach a second, for which a histogram of microseconds has this room.
const RTT_US: u64 = 64 * 1_000_000;

/// A name in the network, and again in the outcome.
const NAMES: usize = 2 * 32;

/// Bytes of a flow, without its route and without packets: its description, the hosts at both ends
/// with what they measure once they are active, and its results.
pub fn flow() -> usize {
    let ends = 2 * (HOST_BYTES + Agent::HEAP_BYTES);
    let order_of_ties = 2 * size_of::<u64>();
    let round_trip_times = Histogram::bytes_up_to(RTT_US);
    size_of::<FlowConfig>()
        + ends
        + order_of_ties
        + round_trip_times
        + size_of::<FlowOutcome>()
        + NAMES
}

/// Bytes of one link on a flow's route, there or back: a place in the route, the step that the
/// engine makes of it, a line to wait in, and counts of what the link did to the flow.
pub fn hop() -> usize {
    let line = size_of::<(u32, u32)>();
    size_of::<LinkId>() + size_of::<Hop>() + line + size_of::<Signal>() + LossBursts::FLOW_BYTES
}

/// Bytes of a link in one direction: its description, its queue, and where it is observed its
/// distributions, which its results hold once more.
pub fn link(observed: bool) -> usize {
    let queue = size_of::<Link>().max(size_of::<ServedLink>());
    let meter = size_of::<LinkMeter>()
        + LinkMeter::HISTOGRAM_VALUES
            .map(Histogram::bytes_up_to)
            .iter()
            .sum::<usize>();
    let outcome = size_of::<LinkOutcome>() + NAMES;
    size_of::<LinkConfig>() + queue + if observed { meter + outcome } else { 0 }
}

/// Bytes of a packet that is under way or waits: its place in a line, which has room for up to
/// twice as many, and the sender's record of it.
pub fn packet() -> usize {
    2 * size_of::<OnTheWay>() + goodqueue_tcp::RECORD_BYTES
}

/// Bytes that recorded time series take for a packet of a TCP flow: the backlog of its bottleneck
/// before and after it, and the sender's windows and round-trip time at its ACK.
pub fn series() -> usize {
    let backlog = size_of::<(u32, Time, u64, u64)>();
    let windows = size_of::<(u32, Time, u64, Option<u64>, u64)>();
    let round_trip = size_of::<(u32, Time, f64)>();
    2 * backlog + windows + round_trip
}

/// Bytes that recorded packet events take for a link or host that a packet crosses: it arrives, and
/// it begins to be sent; and its ACK does the same.
pub fn events() -> usize {
    4 * size_of::<PacketEvent>()
}
