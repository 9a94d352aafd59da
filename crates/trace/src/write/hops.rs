//! What ns-2 tells of packets: at each link they are enqueued, dequeued, received or dropped.

use crate::write::way_of;
use goodqueue_types::{
    Body, Direction, DropReason, Ecn, FlowId, LinkId, Packet, PacketEvent, PacketEventKind,
    SegmentFlags, Time,
};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A network as ns-2 would number it.
#[derive(Clone, Debug, Default)]
pub struct Wiring {
    /// Numbers of nodes at the beginning and the end of each link.
    pub links: Vec<Wire>,
    /// Flows.
    pub flows: Vec<Terminals>,
    /// The links that packets of each flow and direction cross ([`way_of`]).
    pub routes: Vec<Vec<LinkId>>,
}

/// A unidirectional link.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wire {
    /// The node that it comes from.
    pub from: u32,
    /// The node that it leads to.
    pub to: u32,
    /// Bits per second.
    pub rate: u64,
    /// Seconds.
    pub delay: f64,
}

/// The ends of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Terminals {
    /// The client's node.
    pub client: u32,
    /// The server's node.
    pub server: u32,
    /// Among the flows between these nodes.
    pub port: u32,
    /// ns-2's name of its packets, unless they are of TCP.
    pub kind: &'static str,
    /// Largest payload of a segment, 0 without TCP: ns-2 counts segments.
    pub mss: u64,
}

/// What happens to a packet at a link, by ns-2's letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `+`: it arrives at the queue.
    Enqueued,
    /// `-`: its transmission begins.
    Dequeued,
    /// `r`: it arrives at the far end.
    Received,
    /// `d`: it is lost.
    Dropped,
}

impl Step {
    /// ns-2's letter.
    pub fn letter(self) -> char {
        match self {
            Self::Enqueued => '+',
            Self::Dequeued => '-',
            Self::Received => 'r',
            Self::Dropped => 'd',
        }
    }
}

/// One line of ns-2.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// What happens.
    pub step: Step,
    /// When.
    pub time: Seconds,
    /// At which link.
    pub wire: Wire,
    /// `tcp`, `ack`, `cbr`…
    pub kind: &'static str,
    /// IP bytes.
    pub size: u32,
    /// Seven letters.
    pub flags: [u8; 7],
    /// One more than the flow's number.
    pub flow: u32,
    /// Node and port.
    pub from: (u32, u32),
    /// Node and port.
    pub to: (u32, u32),
    /// Number of the segment that is sent or acknowledged, or of the datagram.
    pub number: u64,
    /// Number of the packet in the run.
    pub uid: u64,
}

/// A time as ns-2 prints it: in seconds, rounded to microseconds, without zeros at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seconds(pub Time);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = (self.0.0 + 500_000) / 1_000_000;
        let (whole, part) = (micros / 1_000_000, micros % 1_000_000);
        if part == 0 {
            return write!(f, "{whole}");
        }
        let digits = format!("{part:06}");
        write!(f, "{whole}.{}", digits.trim_end_matches('0'))
    }
}

/// Translates packet events, which come in order of time.
#[derive(Debug)]
pub struct Hops {
    wiring: Arc<Wiring>,
    /// Of packets on their way.
    uids: BTreeMap<(FlowId, Direction, u64), u64>,
    sent: u64,
    /// An arrival that may turn out to be a loss before the queue, of which ns-2 tells no `+`.
    arrived: Option<Hop>,
}

impl Hops {
    /// Of a run about to begin.
    pub fn new(wiring: Arc<Wiring>) -> Self {
        Self {
            wiring,
            uids: BTreeMap::new(),
            sent: 0,
            arrived: None,
        }
    }

    /// What an event means; at most two lines.
    pub fn translate(&mut self, event: &PacketEvent) -> impl Iterator<Item = Hop> + use<> {
        let packet = &event.packet;
        let uid = self.uid(packet);
        let hop = |step, link| self.hop(event, step, link, uid);
        let earlier = self.arrived;
        let (mut lines, mut arrived) = ([earlier, None], None);
        match event.kind {
            PacketEventKind::Sent | PacketEventKind::Marked(..) => {
                return self.keep([None, None], self.arrived);
            }
            PacketEventKind::Arrived(link) => {
                let before = self.link_before(packet, link);
                lines[1] = before.map(|before| hop(Step::Received, before));
                arrived = Some(hop(Step::Enqueued, link));
            }
            PacketEventKind::ServiceStarted(link, _) => {
                lines[1] = Some(hop(Step::Dequeued, link));
            }
            PacketEventKind::Dropped(link, reason) => {
                let at_once = earlier.is_some_and(|earlier| {
                    earlier.uid == uid && earlier.time == Seconds(event.time)
                });
                if reason == DropReason::LinkLoss && at_once {
                    lines[0] = None;
                }
                lines[1] = Some(hop(Step::Dropped, link));
            }
            PacketEventKind::Delivered => {
                let last = self.wiring.routes[way_of(packet)].last();
                lines[1] = last.map(|link| hop(Step::Received, *link));
            }
        }
        if let PacketEventKind::Dropped(..) | PacketEventKind::Delivered = event.kind {
            self.uids.remove(&id(packet));
        }
        self.keep(lines, arrived)
    }

    /// What is left at the end.
    pub fn finish(&mut self) -> Option<Hop> {
        self.arrived.take()
    }

    fn keep(
        &mut self,
        lines: [Option<Hop>; 2],
        arrived: Option<Hop>,
    ) -> impl Iterator<Item = Hop> + use<> {
        self.arrived = arrived;
        lines.into_iter().flatten()
    }

    /// Counted from 0 in the order of sending. A copy that outlives what it was made of is a new packet.
    fn uid(&mut self, packet: &Packet) -> u64 {
        let next = self.sent;
        let uid = *self.uids.entry(id(packet)).or_insert(next);
        self.sent += u64::from(uid == next);
        uid
    }

    fn link_before(&self, packet: &Packet, link: LinkId) -> Option<LinkId> {
        let route = &self.wiring.routes[way_of(packet)];
        let here = route.iter().position(|other| *other == link)?;
        Some(route[here.checked_sub(1)?])
    }

    fn hop(&self, event: &PacketEvent, step: Step, link: LinkId, uid: u64) -> Hop {
        let packet = &event.packet;
        let flow = &self.wiring.flows[packet.flow.0 as usize];
        let (kind, number) = kind_and_number(packet, flow);
        let ends = [
            (flow.client, flow.port + packet.connection),
            (flow.server, flow.port),
        ];
        let sender = packet.direction as usize;
        Hop {
            step,
            time: Seconds(event.time),
            wire: self.wiring.links[link.0 as usize],
            kind,
            size: packet.size,
            flags: flags(packet),
            flow: packet.flow.0 + 1,
            from: ends[sender],
            to: ends[1 - sender],
            number,
            uid,
        }
    }
}

fn id(packet: &Packet) -> (FlowId, Direction, u64) {
    (packet.flow, packet.direction, packet.number)
}

/// Segment k of ns-2, from 1, is our bytes 1 + (k - 1)·MSS onward; 0 is the SYN. An ACK there names the
/// segment that it acknowledges, here it names the byte that comes next.
fn kind_and_number(packet: &Packet, flow: &Terminals) -> (&'static str, u64) {
    let Body::Tcp(segment) = &packet.body else {
        return (flow.kind, packet.number);
    };
    let mss = flow.mss.max(1);
    let opens = segment.flags.contains(SegmentFlags::SYN);
    let closes = segment.flags.contains(SegmentFlags::FIN);
    if opens {
        ("tcp", 0)
    } else if segment.payload > 0 || closes {
        ("tcp", segment.seq.saturating_sub(1) / mss + 1)
    } else {
        ("ack", segment.ack.saturating_sub(1).div_ceil(mss))
    }
}

/// `C`: ECN echo; `A`: congestion window reduced; `E`: congestion experienced; `N`: ECN-capable.
fn flags(packet: &Packet) -> [u8; 7] {
    let mut flags = *b"-------";
    let has = |flag| match &packet.body {
        Body::Tcp(segment) => segment.flags.contains(flag),
        _ => false,
    };
    let letters = [
        (0, b'C', has(SegmentFlags::ECE)),
        (3, b'A', has(SegmentFlags::CWR)),
        (4, b'E', packet.ecn == Ecn::Experienced),
        (6, b'N', packet.ecn.is_capable()),
    ];
    for (place, letter, is_set) in letters {
        if is_set {
            flags[place] = letter;
        }
    }
    flags
}
