//! A simulated packet capture at one point of the network.

use crate::write::frame::{Endpoints, frame};
use crate::write::pcapng::{InterfaceInfo, PcapngWriter, Record, Way};
use crate::write::{TraceWriter, way_of};
use goodqueue_types::{
    Direction, DropReason, FlowId, LinkId, Packet, PacketEvent, PacketEventKind, Time,
};
use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

/// Point of the network where packets are captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Point {
    /// The network interfaces of all clients, or of one flow's clients.
    Sender(Option<FlowId>),
    /// The network interfaces of all servers, or of one flow's servers.
    Receiver(Option<FlowId>),
    /// The router that holds a link's queue, before the queue: the capture includes packets that
    /// the queue then drops.
    Before(Gate),
    /// The same router behind the queue: the capture includes a packet when its transmission
    /// begins.
    After(Gate),
}

/// A link as seen from the router that holds its queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// The link.
    pub link: LinkId,
    /// Name of the link, for packet comments.
    pub name: String,
    /// Place that packets reach when they leave the link, by flow and direction ([`way_of`]).
    pub next: Vec<Option<Next>>,
    /// Place that packets reach when they leave the link of the opposite direction, which ends at
    /// this router.
    pub next_after_opposite: Vec<Option<Next>>,
    /// True if the link may lose packets after it has transmitted them.
    pub loses_after: bool,
}

/// The next place on a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A link.
    Link(LinkId),
    /// The host at the end of the route.
    Host,
}

/// Meaning of an event at a capture point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sight {
    /// A frame passes. If it is held, its fate is not yet known.
    Passes { way: Way, held: bool },
    /// A frame that passed is dropped.
    Dropped(DropReason),
    /// A frame is marked, either after it passed or before.
    Marked(DropReason),
    /// No further event at this point refers to the frame.
    Settled,
}

/// Writes the packets that pass a point into a pcapng file. The record of a frame waits until the
/// link has decided the frame's fate, and so do the records behind it: at most as many as the queue
/// holds.
#[derive(Debug)]
pub struct Capture<W> {
    point: Point,
    endpoints: Arc<[Endpoints]>,
    writer: PcapngWriter<W>,
    waiting: VecDeque<Waiting>,
    /// Number of records that have left `waiting`.
    written: u64,
    /// Held records, by packet and position.
    held: BTreeSet<(Id, u64)>,
    /// Marks of packets that have not passed yet.
    marked: BTreeSet<(Id, &'static str)>,
    comment: String,
}

/// Identity of a packet, which its copies share.
type Id = (FlowId, Direction, u64);

fn id(packet: &Packet) -> Id {
    (packet.flow, packet.direction, packet.number)
}

#[derive(Debug)]
struct Waiting {
    time: Time,
    way: Way,
    packet: Packet,
    held: bool,
    dropped: Option<DropReason>,
    marked: Option<&'static str>,
    /// Frame of a real packet. The frame of a simulated packet is made from the packet.
    frame: Option<Box<[u8]>>,
}

/// Returns the Ethernet frame of a real packet, with addresses of zeros.
fn ethernet(bytes: &[u8]) -> Box<[u8]> {
    let is_ipv6 = bytes.first().is_some_and(|first| first >> 4 == 6);
    let kind: [u8; 2] = if is_ipv6 { [0x86, 0xDD] } else { [0x08, 0x00] };
    [&[0; 12], &kind[..], bytes].concat().into()
}

impl<W: Write> Capture<W> {
    /// Creates a capture. `endpoints` has an entry for each flow.
    ///
    /// # Errors
    /// Returns an error if the header cannot be written.
    pub fn new(
        out: W,
        point: Point,
        interface: &InterfaceInfo,
        endpoints: Arc<[Endpoints]>,
    ) -> io::Result<Self> {
        Ok(Self {
            point,
            endpoints,
            writer: PcapngWriter::new(out, interface)?,
            waiting: VecDeque::new(),
            written: 0,
            held: BTreeSet::new(),
            marked: BTreeSet::new(),
            comment: String::new(),
        })
    }

    fn passes(&mut self, event: &PacketEvent, way: Way, held: bool, bytes: Option<&[u8]>) {
        let id = id(&event.packet);
        let place = self.written + self.waiting.len() as u64;
        if held {
            self.held.insert((id, place));
        }
        let marks = self.marked.range((id, "")..).next().copied();
        let marked = marks.filter(|(of, _)| *of == id && way == Way::Out);
        if let Some(mark) = marked {
            self.marked.remove(&mark);
        }
        self.waiting.push_back(Waiting {
            time: event.time,
            way,
            packet: event.packet,
            held,
            dropped: None,
            marked: marked.map(|(_, reason)| reason),
            frame: bytes.map(ethernet),
        });
    }

    /// Returns the held record of a packet and its position. If there are several copies, it
    /// returns the first one.
    fn held(&mut self, packet: &Packet) -> Option<(u64, &mut Waiting)> {
        let id = id(packet);
        let (_, place) = self.held.range((id, 0)..=(id, u64::MAX)).next().copied()?;
        let index = (place - self.written) as usize;
        Some((place, &mut self.waiting[index]))
    }

    fn settle(&mut self, packet: &Packet, dropped: Option<DropReason>) {
        let Some((place, record)) = self.held(packet) else {
            return;
        };
        record.held = false;
        record.dropped = dropped;
        self.held.remove(&(id(packet), place));
    }

    fn mark(&mut self, packet: &Packet, reason: DropReason) {
        if let Some((_, record)) = self.held(packet) {
            record.marked = Some(reason.name());
        } else if matches!(self.point, Point::After(_)) {
            self.marked.insert((id(packet), reason.name()));
        }
    }

    /// Removes the marks of a packet that never leaves the link.
    fn forget_marks(&mut self, packet: &Packet) {
        let id = id(packet);
        self.marked.retain(|(of, _)| *of != id);
    }

    /// Writes the records at the front that are not held, or all of them if `even_held` is true.
    fn write(&mut self, even_held: bool) -> io::Result<()> {
        while let Some(record) = self.waiting.front().filter(|next| even_held || !next.held) {
            let name = self.point.gate().map_or("", |gate| &gate.name);
            self.comment.clear();
            if let Some(reason) = record.marked {
                let _ = write!(self.comment, "marked by {name}: {reason}");
            }
            if let Some(reason) = record.dropped {
                let and = if self.comment.is_empty() { "" } else { "; " };
                let _ = write!(self.comment, "{and}dropped by {name}: {}", reason.name());
            }
            let mut put = |headers: &[u8], length: usize| {
                self.writer.packet(&Record {
                    time_ns: record.time.0 / 1_000,
                    way: record.way,
                    headers,
                    length,
                    comment: &self.comment,
                })
            };
            if let Some(real) = &record.frame {
                put(real, real.len())?;
            } else {
                let endpoints = &self.endpoints[record.packet.flow.0 as usize];
                let frame = frame(&record.packet, endpoints);
                put(frame.headers(), frame.length)?;
            }
            self.waiting.pop_front();
            self.written += 1;
        }
        Ok(())
    }
}

impl<W: Write> Capture<W> {
    /// Processes an event of a simulated packet, or of a real one with its bytes.
    fn follow(&mut self, event: &PacketEvent, bytes: Option<&[u8]>) -> io::Result<()> {
        match self.point.sight(event) {
            None => return Ok(()),
            Some(Sight::Passes { way, held }) => self.passes(event, way, held, bytes),
            Some(Sight::Marked(reason)) => self.mark(&event.packet, reason),
            Some(Sight::Settled) => self.settle(&event.packet, None),
            Some(Sight::Dropped(reason)) => {
                self.settle(&event.packet, Some(reason));
                self.forget_marks(&event.packet);
            }
        }
        self.write(false)
    }
}

impl<W: Write> TraceWriter for Capture<W> {
    fn wants(&self, event: &PacketEvent) -> bool {
        self.point.sight(event).is_some()
    }

    fn packet(&mut self, event: &PacketEvent) -> io::Result<()> {
        self.follow(event, None)
    }

    fn packet_with(&mut self, event: &PacketEvent, bytes: &[u8]) -> io::Result<()> {
        self.follow(event, Some(bytes))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.write(true)?;
        self.writer.flush()
    }
}

impl Point {
    fn gate(&self) -> Option<&Gate> {
        match self {
            Self::Before(gate) | Self::After(gate) => Some(gate),
            Self::Sender(_) | Self::Receiver(_) => None,
        }
    }

    fn sight(&self, event: &PacketEvent) -> Option<Sight> {
        match self {
            Self::Sender(flow) => at_host(*flow, Direction::Forward, event),
            Self::Receiver(flow) => at_host(*flow, Direction::Reverse, event),
            Self::Before(gate) => gate.before(event),
            Self::After(gate) => gate.after(event),
        }
    }
}

/// Interprets an event at the host that sends packets of direction `outgoing`.
fn at_host(flow: Option<FlowId>, outgoing: Direction, event: &PacketEvent) -> Option<Sight> {
    let packet = &event.packet;
    if flow.is_some_and(|flow| flow != packet.flow) {
        return None;
    }
    let is_out = packet.direction == outgoing;
    let way = match event.kind {
        PacketEventKind::Sent if is_out => Way::Out,
        PacketEventKind::Delivered if !is_out => Way::In,
        _ => return None,
    };
    Some(Sight::Passes { way, held: false })
}

impl Gate {
    fn before(&self, event: &PacketEvent) -> Option<Sight> {
        let link = self.link;
        match event.kind {
            PacketEventKind::Arrived(at) if at == link => Some(Sight::Passes {
                way: Way::Out,
                held: true,
            }),
            PacketEventKind::Dropped(at, reason) if at == link => Some(Sight::Dropped(reason)),
            PacketEventKind::Marked(at, reason) if at == link => Some(Sight::Marked(reason)),
            PacketEventKind::ServiceStarted(at, _) if at == link => Some(Sight::Settled),
            _ => self.comes_in(event),
        }
    }

    fn after(&self, event: &PacketEvent) -> Option<Sight> {
        let link = self.link;
        match event.kind {
            PacketEventKind::ServiceStarted(at, _) if at == link => Some(Sight::Passes {
                way: Way::Out,
                held: self.loses_after,
            }),
            PacketEventKind::Dropped(at, reason) if at == link => Some(Sight::Dropped(reason)),
            PacketEventKind::Marked(at, reason) if at == link => Some(Sight::Marked(reason)),
            _ if self.loses_after && leaves(&self.next, event) => Some(Sight::Settled),
            _ => self.comes_in(event),
        }
    }

    fn comes_in(&self, event: &PacketEvent) -> Option<Sight> {
        leaves(&self.next_after_opposite, event).then_some(Sight::Passes {
            way: Way::In,
            held: false,
        })
    }
}

/// Returns whether a packet reaches the place that follows a certain link on its route.
fn leaves(next: &[Option<Next>], event: &PacketEvent) -> bool {
    let place = match event.kind {
        PacketEventKind::Arrived(link) => Next::Link(link),
        PacketEventKind::Delivered => Next::Host,
        _ => return false,
    };
    next[way_of(&event.packet)] == Some(place)
}
