//! Packets by value, and the packet events that probes receive.

use crate::{AccEcnOption, Bytes, FastOpenOption, SenderMetrics, Span, Time};

/// Index of a flow in the network, in scenario order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// Index of a unidirectional link in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

/// Direction of a packet on its flow's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Packets from the flow's client (the opener, the sender of a bulk flow) to its server.
    Forward = 0,
    /// Packets from the server back to the client.
    Reverse = 1,
}

impl Direction {
    /// Returns the other direction.
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
    /// Returns true if a queue may mark the packet instead of dropping it.
    pub fn is_capable(self) -> bool {
        self != Self::NotCapable
    }
}

/// Hosts of a flow, as a router distinguishes them: their addresses, shortened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Hosts {
    /// Address of the client.
    pub client: u16,
    /// Address of the server.
    pub server: u16,
}

/// Reason for which a packet was lost or marked. Every count is kept by reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The queue's limit was reached (tail drop).
    Overlimit,
    /// An active queue manager chose the packet at random, before its limits (RED, PIE).
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
    /// Number of reasons.
    pub const COUNT: usize = 5;
    /// All reasons, each at the index `reason as usize`.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Overlimit,
        Self::Early,
        Self::Forced,
        Self::TargetExceeded,
        Self::LinkLoss,
    ];

    /// Returns true if a queue may mark for this reason. It may not for a link's own loss or a full
    /// buffer.
    pub fn can_mark(self) -> bool {
        !matches!(self, Self::Overlimit | Self::LinkLoss)
    }

    /// Returns the name in results (`drops_early`, `marks_early`).
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

/// Up to four SACK blocks (RFC 2018 section 3), the most recently received one first.
///
/// A block takes eight bytes: the first byte minus the acknowledgement number (negative in a DSACK),
/// and the length, each in 32 bits. The bytes need no alignment. The fourth block and the AccECN
/// option of the segment share their room, and so do the first block and the unit of a
/// super-segment, so that a packet takes two cache lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SackBlocks {
    blocks: [[u8; 8]; 3],
    /// The AccECN option, or the fourth block if there are four.
    last: AccEcnOption,
    count: Count,
}

/// Number of SACK blocks, or that there are none but a unit.
///
/// A type with unused values leaves room for the discriminant of [`Body`]. An integer would make
/// every packet eight bytes longer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
enum Count {
    #[default]
    None,
    One,
    Two,
    Three,
    Four,
    Unit,
}

impl Count {
    /// Returns the next number, or none after four.
    fn next(self) -> Option<Self> {
        match self {
            Self::None => Some(Self::One),
            Self::One => Some(Self::Two),
            Self::Two => Some(Self::Three),
            Self::Three => Some(Self::Four),
            Self::Four | Self::Unit => None,
        }
    }
}

impl SackBlocks {
    /// Appends the block `start..end` of a segment that acknowledges `ack`. Returns false if there
    /// are four already, or three beside an AccECN option.
    pub fn push(&mut self, ack: u64, start: u64, end: u64) -> bool {
        let Some(count) = self.count.next() else {
            return false;
        };
        let offset = start as i64 - ack as i64;
        debug_assert!(end > start && i32::try_from(offset).is_ok());
        let length = (end - start) as u32;
        let block = (u64::from(offset as u32) << 32 | u64::from(length)).to_ne_bytes();
        if let Some(place) = self.blocks.get_mut(self.count as usize) {
            *place = block;
        } else if self.accecn().is_present() {
            return false;
        } else {
            self.last = AccEcnOption::holding(block);
        }
        self.count = count;
        true
    }

    /// Returns the blocks as half-open byte ranges `(start, end)`, given the acknowledgement
    /// number.
    pub fn ranges(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let fourth = (self.count == Count::Four).then(|| self.last.held());
        let first = self.blocks.iter().take(self.len()).copied();
        first.chain(fourth).map(move |block| {
            let block = u64::from_ne_bytes(block);
            let start = ack.wrapping_add_signed(i64::from((block >> 32) as i32));
            (start, start + (block & 0xFFFF_FFFF))
        })
    }

    /// Removes the last block, if there is one.
    pub fn pop(&mut self) {
        self.count = match self.count {
            Count::None | Count::Unit => return,
            Count::One => Count::None,
            Count::Two => Count::One,
            Count::Three => Count::Two,
            Count::Four => Count::Three,
        };
        if let Some(place) = self.blocks.get_mut(self.count as usize) {
            *place = [0; 8];
        } else {
            self.last = AccEcnOption::default();
        }
    }

    /// Returns true if the segment is a super-segment.
    #[inline]
    pub(crate) fn has_unit(&self) -> bool {
        self.count == Count::Unit
    }

    /// Returns the unit of a super-segment, or 0.
    #[inline]
    pub(crate) fn unit(&self) -> u16 {
        let [[low, high, ..], ..] = self.blocks;
        match self.count {
            Count::Unit => u16::from_le_bytes([low, high]),
            _ => 0,
        }
    }

    /// Sets the unit, or removes it with 0. Has no effect beside blocks.
    pub(crate) fn set_unit(&mut self, unit: u16) {
        if self.is_empty() {
            let [low, high] = unit.to_le_bytes();
            self.blocks = Default::default();
            (self.blocks[0][0], self.blocks[0][1]) = (low, high);
            self.count = if unit > 0 { Count::Unit } else { Count::None };
        }
    }

    /// Returns the AccECN option of the segment.
    fn accecn(&self) -> AccEcnOption {
        if self.count == Count::Four {
            AccEcnOption::default()
        } else {
            self.last
        }
    }

    /// Returns the number of blocks.
    pub fn len(&self) -> usize {
        match self.count {
            Count::Unit => 0,
            blocks => blocks as usize,
        }
    }

    /// Returns true if there are no blocks.
    pub fn is_empty(&self) -> bool {
        matches!(self.count, Count::None | Count::Unit)
    }
}

/// The timestamps option (RFC 7323 section 3). No clock has the value 0, so a `value` of 0 means
/// that the segment has no such option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Timestamps {
    /// `TSval`: the sender's clock, in ticks of its own.
    pub value: u32,
    /// `TSecr`: the last timestamp received from the other end.
    pub echo: u32,
}

impl Timestamps {
    /// Returns true if the segment has the option.
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

    /// Returns true if all flags of `other` are set.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the union of both sets of flags.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A TCP segment. Sequence numbers count bytes from an initial sequence number of 0 in each
/// direction. SYN and FIN take one each. Sequence numbers have 64 bits here and wrap only in trace
/// files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Segment {
    /// Sequence number of the first payload byte (or of the SYN or FIN).
    pub seq: u64,
    /// Acknowledgement number, valid with the ACK flag.
    pub ack: u64,
    /// Advertised receive window in bytes, already scaled (and rounded as the scale requires).
    pub window: u32,
    /// Payload bytes.
    pub payload: u32,
    /// IP and TCP headers with options of each segment on the wire, in bytes.
    pub header: u16,
    /// Header flags.
    pub flags: SegmentFlags,
    /// Selective acknowledgements, the [AccECN option](Self::accecn), and the
    /// [unit](Self::unit) of a super-segment.
    pub sack: SackBlocks,
    /// Fast Open option of a SYN or SYN-ACK.
    pub fast_open: FastOpenOption,
    /// Timestamps.
    pub timestamps: Timestamps,
}

impl Segment {
    /// Returns the AccECN option, with counters of payload bytes by ECN field.
    #[inline]
    pub fn accecn(&self) -> AccEcnOption {
        self.sack.accecn()
    }

    /// Sets the AccECN option. Beside four SACK blocks a segment has none.
    pub fn set_accecn(&mut self, option: AccEcnOption) {
        if self.sack.count != Count::Four {
            self.sack.last = option;
        }
    }

    /// Returns the segment with this AccECN option.
    #[must_use]
    pub fn with_accecn(mut self, option: AccEcnOption) -> Self {
        self.set_accecn(option);
        self
    }

    /// Returns the size of the IP packet that carries this segment, or of all packets that carry
    /// the segments of a super-segment.
    pub fn ip_bytes(&self) -> u32 {
        u32::from(self.header) * self.segments() + self.payload
    }

    /// Returns the sequence number after this segment, with payload, SYN and FIN counted.
    pub fn end_seq(&self) -> u64 {
        let syn = u64::from(self.flags.contains(SegmentFlags::SYN));
        let fin = u64::from(self.flags.contains(SegmentFlags::FIN));
        self.seq + u64::from(self.payload) + syn + fin
    }
}

/// Content of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Body {
    /// A TCP segment.
    Tcp(Segment),
    /// A datagram that is not answered.
    Datagram,
    /// A ping request. The host answers with a reply of the same size.
    EchoRequest,
    /// A ping reply, with the time of its request.
    EchoReply {
        /// Time at which the request left its sender.
        requested: Time,
    },
}

/// An IP packet, moved by value and never boxed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Packet {
    /// Flow of the packet.
    pub flow: FlowId,
    /// Direction of the packet.
    pub direction: Direction,
    /// ECN field.
    pub ecn: Ecn,
    /// Differentiated services code point (RFC 2474), 0 to 63.
    pub dscp: u8,
    /// Number of segments of a super-segment beyond the first, or 0.
    pub more_segments: u8,
    /// Hosts at the flow's two ends.
    pub hosts: Hosts,
    /// Number of the connection among those of the flow. It represents the ports.
    pub connection: u32,
    /// Size of the IP packet in bytes, or of all packets on the wire of a super-segment. A link
    /// adds its own framing.
    pub size: u32,
    /// Number of packets on the wire that the flow sent in this direction before this one.
    pub number: u64,
    /// Time at which its host sent it.
    pub sent: Time,
    /// Time at which it reached the queue in which it waits.
    pub arrived: Time,
    /// Content of the packet.
    pub body: Body,
}

impl Default for Packet {
    /// Returns an empty segment of flow 0, in whose place a packet can be written.
    fn default() -> Self {
        Self {
            flow: FlowId(0),
            direction: Direction::Forward,
            ecn: Ecn::NotCapable,
            dscp: 0,
            more_segments: 0,
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
    /// Returns the size of the IP packet.
    pub fn bytes(&self) -> Bytes {
        Bytes(u64::from(self.size))
    }
}

/// Kind of an event of a packet at a link or a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PacketEventKind {
    /// The packet's host handed it to its first link.
    Sent,
    /// The packet arrived at a link, before the decision to queue or drop it.
    Arrived(LinkId),
    /// The link lost the packet for this reason.
    Dropped(LinkId, DropReason),
    /// The link's queue marked the packet for this reason.
    Marked(LinkId, DropReason),
    /// The packet's transmission began after this queueing delay.
    ServiceStarted(LinkId, Span),
    /// The packet reached the host at the other end.
    Delivered,
}

/// Packet event that probes and trace writers receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PacketEvent {
    /// Time of the event. Events of one link or host come in order of time. Events of different
    /// ones may not, because the engine works ahead if nothing can interfere.
    pub time: Time,
    /// Kind of the event.
    pub kind: PacketEventKind,
    /// Packet of the event.
    pub packet: Packet,
}

/// Receiver of the packet events of a run in order of time, as they happen.
pub trait PacketSink {
    /// Returns true if the sink needs an event. It does not receive others.
    fn wants(&self, _event: &PacketEvent) -> bool {
        true
    }

    /// Receives the next event.
    fn packet(&mut self, event: &PacketEvent);

    /// Returns true if the sink needs backlogs and windows. Those of one link or flow come in order
    /// of time.
    fn wants_series(&self) -> bool {
        false
    }

    /// Receives a link's new backlog in packets, which holds from `_time` on.
    fn backlog(&mut self, _link: LinkId, _time: Time, _packets: u64) {}

    /// Receives a flow's new congestion window in bytes, which holds from `_time` on.
    fn window(&mut self, _flow: FlowId, _time: Time, _cwnd: u64) {}

    /// Returns true if the sink needs the variables of senders.
    fn wants_metrics(&self) -> bool {
        false
    }

    /// Receives the variables of the TCP sender of a flow's client after it received a packet or its
    /// timer fired. They come in order of time with the packet events.
    fn metrics(&mut self, _flow: FlowId, _time: Time, _metrics: &SenderMetrics) {}
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
        sack.pop();
        assert_eq!(sack.ranges(0).last(), Some((1, 2)));
    }

    #[test]
    fn the_accecn_option_takes_the_room_of_the_fourth_sack_block() {
        let option = AccEcnOption::new(crate::AccEcnOrder::Capable1First, &[1, 2, 3]);
        let mut segment = Segment::default().with_accecn(option);
        let mut pushed = 0;
        while segment.sack.push(0, 2 * pushed, 2 * pushed + 1) {
            pushed += 1;
        }
        assert_eq!((pushed, segment.sack.ranges(0).count()), (3, 3));
        assert_eq!(segment.accecn(), option);
        segment.sack = SackBlocks::default();
        assert!((0..4).all(|n| segment.sack.push(0, 2 * n, 2 * n + 1)));
        segment.set_accecn(option);
        assert!(!segment.accecn().is_present());
        assert_eq!(segment.sack.ranges(0).last(), Some((6, 7)));
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
            ..Segment::default()
        };
        assert_eq!((segment.end_seq(), segment.ip_bytes()), (17, 45));
    }
}
