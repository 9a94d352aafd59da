//! Writers of traces: streaming, from the packet events of a run.

mod capture;
mod files;
mod frame;
mod pcapng;

pub use capture::{Capture, Gate, Next, Point};
pub use files::Traces;
pub use frame::{Addresses, Echo, Endpoints, Frame, TcpFacts, frame, shown_bytes};
pub use pcapng::{InterfaceInfo, PcapngWriter, Record, Way};

use goodqueue_types::{Packet, PacketEvent};
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
