//! Writers of traces: streaming, from the packet events of a run.

mod capture;
mod columns;
mod files;
mod frame;
mod hops;
mod nam;
mod ns2;
mod pcapng;

pub use capture::{Capture, Gate, Next, Point};
pub use columns::{Columns, Quantity};
pub use files::Traces;
pub use frame::{Addresses, Echo, Endpoints, Frame, TcpFacts, frame, shown_bytes};
pub use hops::{Terminals, Wire, Wiring};
pub use nam::NamTrace;
pub use ns2::Ns2Trace;
pub use pcapng::{InterfaceInfo, PcapngWriter, Record, Way};

use goodqueue_types::{FlowId, LinkId, Packet, PacketEvent, Time};
use std::io;

/// Writes a trace from packet events in order of time.
pub trait TraceWriter {
    /// Whether it has a use for an event; others it need not get.
    fn wants(&self, event: &PacketEvent) -> bool;

    /// The next event.
    ///
    /// # Errors
    /// If the trace cannot be written.
    fn packet(&mut self, event: &PacketEvent) -> io::Result<()>;

    /// Whether it has a use for backlogs and windows.
    fn wants_series(&self) -> bool {
        false
    }

    /// What waits at a link from this time on, in packets.
    ///
    /// # Errors
    /// If the trace cannot be written.
    fn backlog(&mut self, _link: LinkId, _time: Time, _packets: u64) -> io::Result<()> {
        Ok(())
    }

    /// A flow's congestion window from this time on, in bytes.
    ///
    /// # Errors
    /// If the trace cannot be written.
    fn window(&mut self, _flow: FlowId, _time: Time, _cwnd: u64) -> io::Result<()> {
        Ok(())
    }

    /// The run is over: writes what is left.
    ///
    /// # Errors
    /// If the trace cannot be written.
    fn finish(&mut self) -> io::Result<()>;
}

/// Index of a packet's flow and direction.
pub fn way_of(packet: &Packet) -> usize {
    2 * packet.flow.0 as usize + packet.direction as usize
}
