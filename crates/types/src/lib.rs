//! Plain values shared by every crate of goodqueue: time, rates, packets, random streams.
//!
//! Instants and durations are whole picoseconds, rates whole bits per second and sizes whole bytes,
//! so that equal seeds give equal bytes on every machine. Floating-point numbers never decide the
//! order of events.

mod accecn;
mod compact;
mod counts;
mod fast_open;
mod framing;
mod histogram;
pub mod message;
mod metrics;
mod packet;
pub mod parameters;
mod random;
mod rate;
mod super_segment;
mod time;

pub use accecn::{AccEcnOption, AccEcnOrder};
pub use compact::CompactHistogram;
pub use counts::Counts;
pub use fast_open::FastOpenOption;
pub use framing::{Cells, Framing};
pub use histogram::Histogram;
pub use metrics::SenderMetrics;
pub use packet::{
    Body, Direction, DropReason, Ecn, FlowId, Hosts, LinkId, Packet, PacketEvent, PacketEventKind,
    PacketSink, SackBlocks, Segment, SegmentFlags, Timestamps,
};
pub use random::{RandomStream, mix};
pub use rate::{Bytes, Rate};
pub use super_segment::MAX_PAYLOAD;
pub use time::{Span, Time};
