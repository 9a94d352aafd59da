//! Writers that stream traces from the packet events of a run.

mod capture;
mod columns;
mod files;
mod frame;
mod hops;
mod nam;
mod ns2;
mod pcapng;
mod qlog;
mod table;

pub use capture::{Capture, Gate, Next, Point};
pub use columns::{Columns, Quantity};
pub use files::Traces;
pub use frame::{Addresses, Echo, Endpoints, Frame, TcpFacts, frame, shown_bytes};
pub use hops::{Terminals, Wire, Wiring};
pub use nam::NamTrace;
pub use ns2::Ns2Trace;
pub use pcapng::{InterfaceInfo, PcapngWriter, Record, Way};
pub use qlog::Qlog;
pub use table::PacketTable;

use goodqueue_types::{FlowId, LinkId, Packet, PacketEvent, SenderMetrics, Time};
use std::io;

/// Writes a trace from packet events, which come in order of time.
pub trait TraceWriter {
    /// Returns whether the trace uses this event. Callers need not pass other events on.
    fn wants(&self, event: &PacketEvent) -> bool;

    /// Processes the next event.
    ///
    /// # Errors
    /// Returns an error if the trace cannot be written.
    fn packet(&mut self, event: &PacketEvent) -> io::Result<()>;

    /// Processes the next event of a real packet, which has these bytes from its IP header on.
    ///
    /// # Errors
    /// Returns an error if the trace cannot be written.
    fn packet_with(&mut self, event: &PacketEvent, _bytes: &[u8]) -> io::Result<()> {
        self.packet(event)
    }

    /// Sets the end of a run that ends earlier than planned.
    fn end_at(&mut self, _end: Time) {}

    /// Returns whether the trace uses backlogs and windows.
    fn wants_series(&self) -> bool {
        false
    }

    /// Records a link's backlog from this time on, in packets.
    ///
    /// # Errors
    /// Returns an error if the trace cannot be written.
    fn backlog(&mut self, _link: LinkId, _time: Time, _packets: u64) -> io::Result<()> {
        Ok(())
    }

    /// Records a flow's congestion window from this time on, in bytes.
    ///
    /// # Errors
    /// Returns an error if the trace cannot be written.
    fn window(&mut self, _flow: FlowId, _time: Time, _cwnd: u64) -> io::Result<()> {
        Ok(())
    }

    /// Returns whether the trace uses the variables of senders.
    fn wants_metrics(&self) -> bool {
        false
    }

    /// Records the variables of the TCP sender of a flow's client at this time.
    ///
    /// # Errors
    /// Returns an error if the trace cannot be written.
    fn metrics(&mut self, _flow: FlowId, _time: Time, _metrics: &SenderMetrics) -> io::Result<()> {
        Ok(())
    }

    /// Writes the rest of the trace at the end of the run.
    ///
    /// # Errors
    /// Returns an error if the trace cannot be written.
    fn finish(&mut self) -> io::Result<()>;
}

/// Returns the index of a packet's flow and direction.
pub fn way_of(packet: &Packet) -> usize {
    2 * packet.flow.0 as usize + packet.direction as usize
}
