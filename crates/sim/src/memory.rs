//! What flows take in memory: figures for estimates before a run. `testkit/tests/memory.rs` holds
//! them against a counting allocator.

use crate::engine::Host;
use crate::line::OnTheWay;
use crate::routing::Hop;
use crate::{FlowConfig, LinkConfig, WorkloadConfig};
use goodqueue_tcp::LossDetection;
use goodqueue_types::LinkId;

/// Bytes that a packet takes from its sending until it, or the ACK for it, has arrived. A flow of
/// rate R has R·T of data on their way, T being its round-trip time with queueing.
pub const BYTES_PER_PACKET: usize = size_of::<OnTheWay>();

/// Bytes that the description of a link takes, its name included. Behind access links a flow has
/// four of its own.
pub const BYTES_PER_LINK: usize = size_of::<LinkConfig>() + 32;

/// Places of a flow in lists of the engine: events, lines, order of arrivals, drops.
const PLACES: usize = 112;
/// What a long flow measures (round-trip times, bytes by interval), and what both ends remember of
/// data that are missing.
const MEASURED: usize = 1_350;
/// State of a sender that keeps records of transmissions and runs CUBIC, and of Linux's receiver.
const RECORDS: usize = 1_200;
/// Records themselves, of a window of about ten segments.
const RECORDED: usize = 650;
/// Connections of a session, of which a few live at once.
const CONNECTIONS: usize = 8_000;

/// Bytes that a flow takes in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowMemory {
    /// Its description, without the links that it crosses ([`BYTES_PER_LINK`]).
    pub description: usize,
    /// The engine's, from the beginning of the run on.
    pub at_rest: usize,
    /// The engine's once the flow is active, those at rest included, but not packets on their way
    /// ([`BYTES_PER_PACKET`] each).
    pub active: usize,
}

/// Estimates what a flow takes in memory. The sizes of hosts and hops are the compiler's; the rest is
/// as measured for flows of 0.5 Mb/s. A window of N segments adds about 70·N bytes where the sender
/// keeps records of transmissions.
pub fn memory_per_flow(flow: &FlowConfig) -> FlowMemory {
    let hops = flow.forward.len() + flow.reverse.len();
    let description = size_of::<FlowConfig>() + flow.name.len() + hops * size_of::<LinkId>();
    let at_rest = 2 * size_of::<Host>() + hops * size_of::<Hop>() + PLACES;
    let (boxes, grown) = match &flow.workload {
        WorkloadConfig::Bulk { tcp, .. } | WorkloadConfig::Echo { tcp, .. } => {
            if tcp.loss_detection == LossDetection::Rack {
                (RECORDS, MEASURED + RECORDED)
            } else {
                (0, MEASURED)
            }
        }
        WorkloadConfig::Session { .. } => (0, CONNECTIONS),
        _ => (0, MEASURED),
    };
    FlowMemory {
        description,
        at_rest: at_rest + boxes,
        active: at_rest + boxes + grown,
    }
}
