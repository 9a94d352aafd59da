//! What travels: packets by value, and the events that probes see.

use crate::{Bytes, Span, Time};

/// Index of a flow in the network, in scenario order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// Index of a unidirectional link in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

/// Which way of its flow a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the flow's client (the opener, the sender of a bulk flow) to its server.
    Forward = 0,
    /// From the server back to the client.
    Reverse = 1,
}

impl Direction {
    /// The other way.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Forward => Self::Reverse,
            Self::Reverse => Self::Forward,
        }
    }
}

/// The ECN field of the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotCapable,
    /// ECT(0).
    Capable0,
    /// ECT(1).
    Capable1,
    /// Congestion experienced.
    Experienced,
}

impl Ecn {
    /// Whether a queue may mark the packet instead of dropping it.
    pub fn is_capable(self) -> bool {
        self != Self::NotCapable
    }
}

/// The hosts of a flow, as a router tells them apart: their addresses, shortened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Hosts {
    /// The client's.
    pub client: u16,
    /// The server's.
    pub server: u16,
}

/// Why a packet was lost or marked. Kept apart in every count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The queue's limit was reached (tail drop).
    Overlimit,
    /// An active queue manager decided at random, before its limits (RED, PIE).
    Early,
    /// An active queue manager's own upper bound was exceeded (RED above its maximum threshold,
    /// a step threshold).
    Forced,
    /// The sojourn time stayed above its target (`CoDel`).
    TargetExceeded,
    /// Lost by the link itself: a loss model or a drop list.
    LinkLoss,
}

impl DropReason {
    /// How many there are.
    pub const COUNT: usize = 5;
    /// All of them, each at the index `reason as usize`.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Overlimit,
        Self::Early,
        Self::Forced,
        Self::TargetExceeded,
        Self::LinkLoss,
    ];

    /// Whether a queue may mark for this reason: a link's own loss and a full buffer cannot.
    pub fn can_mark(self) -> bool {
        !matches!(self, Self::Overlimit | Self::LinkLoss)
    }

    /// Name in results (`drops_early`, `marks_early`).
    pub fn name(self) -> &'static str {
        match self {
            Self::Overlimit => "overlimit",
            Self::Early => "early",
            Self::Forced => "forced",
            Self::TargetExceeded => "target_exceeded",
            Self::LinkLoss => "link_loss",
        }
    }
}

/// One SACK block, as an offset from the segment's acknowledgement number, so that four fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SackBlock {
    /// First byte of the block minus the acknowledgement number (negative in a DSACK).
    pub offset: i32,
    /// Bytes in the block.
    pub length: u32,
}

/// Up to four SACK blocks (RFC 2018 section 3), the first the most recently received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SackBlocks {
    blocks: [SackBlock; 4],
    count: Count,
}

/// How many SACK blocks there are.
///
/// As wide as its padding would make it: a copy then reads just what was written. A number that
/// can be anything would make every packet eight bytes longer: [`Body`] puts what it holds here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u32)]
enum Count {
    #[default]
    None,
    One,
    Two,
    Three,
    Four,
}

impl Count {
    /// One more; none after four.
    fn next(self) -> Option<Self> {
        match self {
            Self::None => Some(Self::One),
            Self::One => Some(Self::Two),
            Self::Two => Some(Self::Three),
            Self::Three => Some(Self::Four),
            Self::Four => None,
        }
    }
}

impl SackBlocks {
    /// Appends the block `start..end` of a segment that acknowledges `ack`; false when full.
    pub fn push(&mut self, ack: u64, start: u64, end: u64) -> bool {
        let Some(count) = self.count.next() else {
            return false;
        };
        let offset = start as i64 - ack as i64;
        debug_assert!(end > start && i32::try_from(offset).is_ok());
        self.blocks[self.count as usize] = SackBlock {
            offset: offset as i32,
            length: (end - start) as u32,
        };
        self.count = count;
        true
    }

    /// The blocks as half-open byte ranges `(start, end)`, given the acknowledgement number.
    pub fn ranges(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.blocks[..self.count as usize].iter().map(move |block| {
            let start = ack.wrapping_add_signed(i64::from(block.offset));
            (start, start + u64::from(block.length))
        })
    }

    /// How many blocks there are.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == Count::None
    }
}

/// The timestamps option (RFC 7323 section 3). A clock never shows 0: with a `value` of 0 the
/// segment carries no such option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Timestamps {
    /// `TSval`: the sender's clock, in ticks of its own.
    pub value: u32,
    /// `TSecr`: the clock of the other end, sent back.
    pub echo: u32,
}

impl Timestamps {
    /// Whether the segment carries the option.
    pub fn is_present(self) -> bool {
        self.value != 0
    }
}

/// TCP header flags, in the order of the wire (RFC 9293 section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SegmentFlags(pub u16);

impl SegmentFlags {
    /// FIN.
    pub const FIN: Self = Self(0x01);
    /// SYN.
    pub const SYN: Self = Self(0x02);
    /// RST.
    pub const RST: Self = Self(0x04);
    /// PSH.
    pub const PSH: Self = Self(0x08);
    /// ACK.
    pub const ACK: Self = Self(0x10);
    /// ECN echo (RFC 3168).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(0x80);
    /// Accurate ECN (RFC 9768): the high bit of its counter, which was the nonce sum.
    pub const AE: Self = Self(0x100);

    /// Whether all flags of `other` are set.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets of flags.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A TCP segment. Sequence numbers count bytes from an initial sequence number of 0 in each
/// direction; SYN and FIN take one each. They are 64 bits wide here and wrap only in trace files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Segment {
    /// Sequence number of the first payload byte (or of the SYN or FIN).
    pub seq: u64,
    /// Acknowledgement number, valid with the ACK flag.
    pub ack: u64,
    /// Advertised receive window in bytes, already scaled (and rounded as the scale demands).
    pub window: u32,
    /// Payload bytes.
    pub payload: u32,
    /// IP and TCP headers with options, in bytes.
    pub header: u16,
    /// Header flags.
    pub flags: SegmentFlags,
    /// Selective acknowledgements.
    pub sack: SackBlocks,
    /// Timestamps.
    pub timestamps: Timestamps,
}

impl Segment {
    /// Size of the IP packet that carries this segment.
    pub fn ip_bytes(&self) -> u32 {
        u32::from(self.header) + self.payload
    }

    /// The sequence number after this segment: payload, SYN and FIN each counted.
    pub fn end_seq(&self) -> u64 {
        let syn = u64::from(self.flags.contains(SegmentFlags::SYN));
        let fin = u64::from(self.flags.contains(SegmentFlags::FIN));
        self.seq + u64::from(self.payload) + syn + fin
    }
}

/// What a packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Body {
    /// A TCP segment.
    Tcp(Segment),
    /// A datagram nobody answers.
    Datagram,
    /// A ping request; the host answers with a reply of the same size.
    EchoRequest,
    /// A ping reply; carries the time at which its request was sent.
    EchoReply {
        /// When the request left its sender.
        requested: Time,
    },
}

/// An IP packet, moved by value and never boxed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Packet {
    /// The flow it belongs to.
    pub flow: FlowId,
    /// Which way it goes.
    pub direction: Direction,
    /// ECN field.
    pub ecn: Ecn,
    /// The differentiated services code point (RFC 2474): 0 to 63.
    pub dscp: u8,
    /// Where the flow's two ends are.
    pub hosts: Hosts,
    /// Which of the flow's connections it belongs to: what tells them apart is their ports.
    pub connection: u32,
    /// Size of the IP packet in bytes; a link adds its own framing.
    pub size: u32,
    /// Count of packets this flow sent in this direction before this one.
    pub number: u64,
    /// When its host sent it.
    pub sent: Time,
    /// When it reached the queue that it waits in.
    pub arrived: Time,
    /// Its content.
    pub body: Body,
}

impl Default for Packet {
    /// An empty segment of flow 0: a place to write a packet in.
    fn default() -> Self {
        Self {
            flow: FlowId(0),
            direction: Direction::Forward,
            ecn: Ecn::NotCapable,
            dscp: 0,
            hosts: Hosts::default(),
            connection: 0,
            size: 0,
            number: 0,
            sent: Time::ZERO,
            arrived: Time::ZERO,
            body: Body::Tcp(Segment::default()),
        }
    }
}

impl Packet {
    /// Size of the IP packet.
    pub fn bytes(&self) -> Bytes {
        Bytes(u64::from(self.size))
    }
}

/// What happened to a packet at a link or a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PacketEventKind {
    /// Its host handed it to its first link.
    Sent,
    /// It arrived at a link, before the decision to queue or drop it.
    Arrived(LinkId),
    /// The link lost it.
    Dropped(LinkId, DropReason),
    /// The link's queue marked it, for this reason.
    Marked(LinkId, DropReason),
    /// Its transmission began after it waited so long.
    ServiceStarted(LinkId, Span),
    /// It reached the host at the other end.
    Delivered,
}

/// What probes and trace writers receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PacketEvent {
    /// When it happened. Events of one link or host come in order of time; events of different
    /// ones may not, because the engine works ahead where nothing can interfere.
    pub time: Time,
    /// What happened.
    pub kind: PacketEventKind,
    /// To which packet.
    pub packet: Packet,
}

/// Takes the packet events of a run in order of time, as they happen.
pub trait PacketSink {
    /// Whether it has a use for an event; others it does not get.
    fn wants(&self, _event: &PacketEvent) -> bool {
        true
    }

    /// The next event.
    fn packet(&mut self, event: &PacketEvent);

    /// Whether it has a use for backlogs and windows. Those of one link or flow come in order of time.
    fn wants_series(&self) -> bool {
        false
    }

    /// What waits at a link from this time on, in packets.
    fn backlog(&mut self, _link: LinkId, _time: Time, _packets: u64) {}

    /// A flow's congestion window from this time on, in bytes.
    fn window(&mut self, _flow: FlowId, _time: Time, _cwnd: u64) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_fits_in_two_cache_lines() {
        assert!(std::mem::size_of::<Packet>() <= 128);
    }

    #[test]
    fn sack_blocks_keep_order_and_may_lie_below_the_acknowledgement() {
        let mut sack = SackBlocks::default();
        assert!(sack.push(1000, 2000, 2500));
        assert!(sack.push(1000, 500, 600));
        assert_eq!(
            sack.ranges(1000).collect::<Vec<_>>(),
            [(2000, 2500), (500, 600)]
        );
        assert!(sack.push(0, 1, 2) && sack.push(0, 3, 4) && !sack.push(0, 5, 6));
        assert_eq!(sack.len(), 4);
    }

    #[test]
    fn syn_and_fin_take_a_sequence_number() {
        let flags = SegmentFlags::SYN.with(SegmentFlags::FIN);
        let segment = Segment {
            seq: 10,
            ack: 0,
            window: 0,
            payload: 5,
            header: 40,
            flags,
            sack: SackBlocks::default(),
            timestamps: Timestamps::default(),
        };
        assert_eq!((segment.end_seq(), segment.ip_bytes()), (17, 45));
    }
}
