//! Plain values shared by every crate of goodqueue: time, rates, packets, random streams.
//!
//! Integers decide, floats advise: instants and durations are whole picoseconds, rates whole
//! bits per second, sizes whole bytes, so that equal seeds give equal bytes on every machine.

mod compact;
mod counts;
mod framing;
mod histogram;
mod packet;
mod random;
mod rate;
mod time;

pub use compact::CompactHistogram;
pub use counts::Counts;
pub use framing::{Cells, Framing};
pub use histogram::Histogram;
pub use packet::{
    Body, Direction, DropReason, Ecn, FlowId, Hosts, LinkId, Packet, PacketEvent, PacketEventKind,
    PacketSink, SackBlock, SackBlocks, Segment, SegmentFlags, Timestamps,
};
pub use random::{RandomStream, mix};
pub use rate::{Bytes, Rate};
pub use time::{Span, Time};
