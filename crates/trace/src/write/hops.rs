//! The events of ns-2's traces: at each link, packets are enqueued, dequeued, received or dropped.

use crate::write::way_of;
use goodqueue_types::{
    Body, Direction, DropReason, Ecn, FlowId, LinkId, Packet, PacketEvent, PacketEventKind,
    SegmentFlags, Time,
};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A network with the numbers that ns-2 would give to nodes, links and flows.
#[derive(Clone, Debug, Default)]
pub struct Wiring {
    /// Links of the network.
    pub links: Vec<Wire>,
    /// Flows.
    pub flows: Vec<Terminals>,
    /// Links that packets of each flow and direction cross ([`way_of`]).
    pub routes: Vec<Vec<LinkId>>,
}

/// A unidirectional link.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wire {
    /// Number of the node at the start of the link.
    pub from: u32,
    /// Number of the node at the end of the link.
    pub to: u32,
    /// Rate, in bits per second.
    pub rate: u64,
    /// Propagation delay, in seconds.
    pub delay: f64,
}

/// The ends of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Terminals {
    /// Number of the client's node.
    pub client: u32,
    /// Number of the server's node.
    pub server: u32,
    /// Index of the flow among those between these nodes.
    pub port: u32,
    /// ns-2's name of the flow's packets, unless this is a TCP flow.
    pub kind: &'static str,
    /// Largest payload of a segment, in bytes, because ns-2 counts segments; 0 without TCP.
    pub mss: u64,
}

/// Event of a packet at a link, named by ns-2's letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `+`: the packet arrives at the queue.
    Enqueued,
    /// `-`: transmission of the packet begins.
    Dequeued,
    /// `r`: the packet arrives at the end of the link.
    Received,
    /// `d`: the packet is lost.
    Dropped,
}

impl Step {
    /// Returns ns-2's letter for the event.
    pub fn letter(self) -> char {
        match self {
            Self::Enqueued => '+',
            Self::Dequeued => '-',
            Self::Received => 'r',
            Self::Dropped => 'd',
        }
    }
}

/// One line of ns-2's trace.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// Event of the packet.
    pub step: Step,
    /// Time of the event.
    pub time: Seconds,
    /// Link of the event.
    pub wire: Wire,
    /// Type of the packet: `tcp`, `ack`, `cbr`, …
    pub kind: &'static str,
    /// Length of the IP packet, in bytes.
    pub size: u32,
    /// Flags column, of seven letters.
    pub flags: [u8; 7],
    /// Flow id, which is one more than the flow's number.
    pub flow: u32,
    /// Node and port of the source.
    pub from: (u32, u32),
    /// Node and port of the destination.
    pub to: (u32, u32),
    /// Number of the segment that is sent or acknowledged, or of the datagram.
    pub number: u64,
    /// Number of the packet in the run.
    pub uid: u64,
}

/// A time as ns-2 prints it: in seconds, rounded to microseconds, without trailing zeros.
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

/// Translates packet events, which must come in order of time.
#[derive(Debug)]
pub struct Hops {
    wiring: Arc<Wiring>,
    /// Numbers of the packets that are in flight.
    uids: BTreeMap<(FlowId, Direction, u64), u64>,
    sent: u64,
    /// An arrival that is written later, because it may turn out to be a loss before the queue:
    /// ns-2 writes no `+` for such a loss.
    arrived: Option<Hop>,
}

impl Hops {
    /// Creates a translator for a run that is about to begin.
    pub fn new(wiring: Arc<Wiring>) -> Self {
        Self {
            wiring,
            uids: BTreeMap::new(),
            sent: 0,
            arrived: None,
        }
    }

    /// Translates an event into at most two lines.
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

    /// Returns the line that is still held back at the end of the run.
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

    /// Returns the number of a packet, counted from 0 in the order of sending. A copy that outlives
    /// its original counts as a new packet.
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

/// Returns the type and the number of a packet. ns-2's segment k, counted from 1, has the bytes
/// from 1 + (k - 1)·MSS; segment 0 is the SYN. ns-2's ACK contains the number of the segment that
/// it acknowledges, whereas TCP's contains the number of the next byte.
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

/// Returns the flags column: `C` for ECN echo, `A` for congestion window reduced, `E` for
/// congestion experienced, `N` for ECN-capable.
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
