//! Memory of the parts of a run, for an estimate before anything is built.
//!
//! Sizes of types come from the compiler. Memory that grows with a flow's traffic is measured, and
//! `testkit/tests/memory/active_flow.rs` checks it with a counting allocator.

use crate::engine::Host;
use crate::engine::line;
use crate::engine::routing::Hop;
use crate::link::served_link::ServedLink;
use crate::link::{Link, Transmitter};
use crate::measure::link_meter::LinkMeter;
use crate::measure::loss_bursts::LossBursts;
use crate::measure::signals::Signal;
use crate::{Equipment, FlowConfig, FlowOutcome, LinkConfig, LinkOutcome, WorkloadConfig};
use goodqueue_queue::Configuration;
use goodqueue_tcp::{TcpConfig, TcpEndpoint};
use goodqueue_types::{Histogram, LinkId, PacketEvent, Time};

/// Bytes of a name in the network and of its copy in the outcome.
const NAMES: usize = 2 * 32;

/// Bytes that a packet takes from its sending until the packet, or its ACK, has arrived. A flow of
/// rate R has R·T of data in flight, T being its round-trip time with queueing.
pub const BYTES_PER_PACKET: usize = line::BYTES_PER_PACKET;

/// Bytes of a flow's entries in lists of the engine: events, lines, order of arrivals, drops.
const PLACES: usize = 112;
/// Bytes of a long flow's measurements (round-trip times, bytes by interval) and of the records of
/// missing data at both ends.
const MEASURED: usize = 1_000;
/// Bytes of a sender that records transmissions and runs CUBIC.
const RECORDS: usize = 712;
/// Bytes of the transmission records of a window of about ten segments, and of the measurements of
/// Linux's receiver.
const RECORDED: usize = 120;
/// Bytes of a session's connections, of which a few are open at once.
const CONNECTIONS: usize = 8_000;
/// Number of distributions of times that a session measures, and the longest time in nanoseconds.
const SESSION_TIMES: usize = 3;
const LONGEST_NS: u64 = 100_000_000_000;

/// Bytes that a flow takes in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowMemory {
    /// Bytes of its description, without the links that it crosses ([`link`]).
    pub description: usize,
    /// Bytes in the engine from the start of the run.
    pub at_rest: usize,
    /// Bytes in the engine once the flow is active, including those at rest but not its packets in
    /// flight ([`BYTES_PER_PACKET`] each).
    pub active: usize,
}

/// Estimates the memory of a flow. The sizes of hosts and hops come from the compiler. The rest was
/// measured for flows of 0.5 Mb/s. A window of N segments adds about 40·N bytes if the sender
/// records transmissions.
pub fn memory_per_flow(flow: &FlowConfig) -> FlowMemory {
    let hops = flow.forward.len() + flow.reverse.len();
    let at_rest = hosts(&flow.workload) + hops * size_of::<Hop>();
    FlowMemory {
        description: size_of::<FlowConfig>() + flow.name.len() + hops * size_of::<LinkId>(),
        at_rest,
        active: at_rest + grown(&flow.workload),
    }
}

/// Returns the bytes of the hosts at both ends of a flow before it starts.
fn hosts(workload: &WorkloadConfig) -> usize {
    let records = if keeps_records(workload) { RECORDS } else { 0 };
    2 * size_of::<Host>() + PLACES + records
}

/// Returns the bytes that both ends of a flow add once it is active.
fn grown(workload: &WorkloadConfig) -> usize {
    match workload {
        WorkloadConfig::Session { .. } => {
            CONNECTIONS + SESSION_TIMES * Histogram::bytes_up_to(LONGEST_NS)
        }
        _ if keeps_records(workload) => MEASURED + RECORDED,
        _ => MEASURED,
    }
}

/// Returns true if the flow's sender keeps a record of each transmission.
fn keeps_records(workload: &WorkloadConfig) -> bool {
    match workload {
        WorkloadConfig::Stream { tcp, .. } => tcp.records_segments(),
        _ => false,
    }
}

/// Returns the bytes of one end of an open connection of a session.
pub fn connection(tcp: &TcpConfig) -> usize {
    let records = if tcp.records_segments() {
        RECORDS + RECORDED
    } else {
        0
    };
    size_of::<TcpEndpoint>() + records
}

/// Returns the bytes of an active flow without its route and without packets: its description, the
/// hosts at both ends with their measurements, and its results.
pub fn flow(workload: &WorkloadConfig) -> usize {
    size_of::<FlowConfig>() + hosts(workload) + grown(workload) + size_of::<FlowOutcome>() + NAMES
}

/// Returns the bytes of one link on a flow's route in one direction: an entry in the route, the
/// engine's hop, a line to wait in, and the counts of drops and marks of the flow at the link.
pub fn hop() -> usize {
    let line = size_of::<(u32, u32)>();
    size_of::<LinkId>() + size_of::<Hop>() + line + size_of::<Signal>() + LossBursts::FLOW_BYTES
}

/// Returns the bytes of a link in one direction: its description and the state of its queue. A link
/// of a host without a limit has its state in the hop of its only route. An observed link adds its
/// equipment and its distributions, which its results hold once more. Links that are not observed
/// are those of hosts, which share their equipment. `routes` is the number of routes that cross the
/// link.
pub fn link(config: &LinkConfig, routes: u64) -> usize {
    let in_its_hop = routes == 1 && Transmitter::new(config).is_some();
    let queue = if in_its_hop || config.only_delays() && !config.observed {
        0
    } else if config.fifo_limit().is_some() {
        size_of::<Link>()
    } else {
        size_of::<ServedLink>() + config.queue.table_bytes()
    } + size_of_val(config.drop_list.as_slice());
    let meter = size_of::<LinkMeter>()
        + LinkMeter::TABLE_BYTES
        + LinkMeter::HISTOGRAM_VALUES
            .map(Histogram::bytes_up_to)
            .iter()
            .sum::<usize>();
    let outcome = size_of::<LinkOutcome>() + NAMES;
    let alone = size_of::<Equipment>() + meter + outcome;
    let places = size_of::<Option<Box<Link>>>() + size_of::<Option<Box<ServedLink>>>();
    let observed = if config.observed { alone } else { 0 };
    size_of::<LinkConfig>() + NAMES / 2 + places + queue + observed
}

/// Returns the bytes of a packet that waits or is in flight: its entry in a line, which has room
/// for an eighth more, and the sender's record of it.
pub fn packet() -> usize {
    BYTES_PER_PACKET * 9 / 8 + goodqueue_tcp::RECORD_BYTES
}

/// Returns the bytes that recorded time series take for a packet of a TCP flow: the backlog of its
/// bottleneck before and after it, and the sender's windows and round-trip time at its ACK.
pub fn series() -> usize {
    let backlog = size_of::<(u32, Time, u64, u64)>();
    let windows = size_of::<(u32, Time, u64, Option<u64>, u64)>();
    let round_trip = size_of::<(u32, Time, f64)>();
    2 * backlog + windows + round_trip
}

/// Returns the bytes that recorded packet events take for a link or host that a packet crosses: two
/// events for the packet, its arrival and the start of its transmission, and two for its ACK.
pub fn events() -> usize {
    4 * size_of::<PacketEvent>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow of a dumbbell crosses the bottleneck and four access links of its own hosts.
    #[test]
    fn a_flow_with_four_access_links_takes_less_than_700_bytes() {
        let name = "flow-123456.far_access.reverse".len();
        let links = 4 * (size_of::<LinkConfig>() + name);
        let flow = size_of::<FlowConfig>() + name + 6 * size_of::<LinkId>();
        assert!(links + flow < 700, "{links} + {flow}");
    }

    /// Delays that are not measured take no space in the results.
    #[test]
    fn the_results_of_a_flow_take_at_most_304_bytes() {
        assert!(size_of::<FlowOutcome>() <= 304);
    }
}
