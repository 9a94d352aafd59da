//! Packets that a capture has several times: those of all interfaces of a host, of a bridge, of a
//! mirror port, or of merged captures from both sides of a router.
//!
//! A packet is seen again if its addresses, ports, identification, numbers, flags and length are those
//! of a packet shortly before it. VLAN tags, addresses of the link layer and the time to live do not
//! count. A retransmission has another identification, or comes later.

use crate::Nanos;
use crate::connection::Key;
use goodqueue_trace::read::{Datagram, Heading, Transport};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Longest time between copies of a packet.
const COPIED: Nanos = 2_000_000;
/// Longest time between copies at different interfaces, which may be before and behind a queue. It is
/// the smallest retransmission timeout (RFC 6298, section 2.4).
const COPIED_ELSEWHERE: Nanos = 1_000_000_000;
/// Longest time between copies of a packet without identification.
const COPIED_UNNAMED: Nanos = 1_000_000;

/// Number of sets of packets that are remembered, and of packets in each. They hold the packets of
/// several milliseconds at 10 Gb/s.
const SETS: usize = 1 << 12;
const SET: usize = 4;

/// Packet that was seen.
#[derive(Clone, Copy, Debug)]
struct Seen {
    hash: u64,
    time: Nanos,
    point: Point,
    /// True until the packet is seen again.
    single: bool,
}

/// Interface, and direction at it. Copies of a packet that a router or a host forwards differ in one of
/// them, and a retransmission in none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    interface: u32,
    heading: Heading,
}

impl Point {
    /// Returns the place at which a packet was captured.
    pub fn from_datagram(datagram: &Datagram) -> Self {
        Self {
            interface: datagram.interface,
            heading: datagram.heading,
        }
    }
}

/// Facts about the connection of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    /// Shortest time from data to their ACK. No retransmission comes within half of it.
    pub answered: Option<Nanos>,
    /// True if packets of the connection with data were seen again lately.
    pub repeats: bool,
    /// True if the other data of the direction were captured elsewhere.
    pub elsewhere: bool,
}

impl Context {
    /// Returns true if data after this time are a copy. They cannot be a retransmission if the sender
    /// had no answer yet, or if they were captured elsewhere.
    pub fn is_copy_after(&self, time: Nanos) -> bool {
        self.elsewhere && (0..=COPIED_ELSEWHERE).contains(&time) || self.precedes_answer(time)
    }

    fn precedes_answer(&self, time: Nanos) -> bool {
        let half = self.answered.map_or(Nanos::MAX, |answered| answered / 2);
        (0..=COPIED_UNNAMED.min(half)).contains(&time)
    }
}

/// Packets seen lately at one tapping point.
#[derive(Debug)]
pub struct Repeats(Vec<[Option<Seen>; SET]>);

impl Default for Repeats {
    fn default() -> Self {
        Self(vec![[None; SET]; SETS])
    }
}

impl Repeats {
    /// Returns true if this packet was seen before.
    pub fn seen(
        &mut self,
        time: Nanos,
        key: &Key,
        from: usize,
        datagram: &Datagram,
        context: Context,
    ) -> bool {
        let id = datagram.id.filter(|id| *id != 0);
        let mut hasher = DefaultHasher::new();
        (key, from, id, datagram.ip_bytes).hash(&mut hasher);
        let mut data = false;
        match &datagram.transport {
            Transport::Tcp(tcp) => {
                data = tcp.payload > 0 || tcp.flags.contains(goodqueue_types::SegmentFlags::SYN);
                (tcp.seq, tcp.ack, tcp.flags.0, tcp.payload).hash(&mut hasher);
                if id.is_none() {
                    (tcp.window, tcp.timestamps, tcp.sack()).hash(&mut hasher);
                }
            }
            // Nothing distinguishes such packets.
            _ if id.is_none() => return false,
            _ => {}
        }
        let hash = hasher.finish();
        let point = Point::from_datagram(datagram);
        let set = &mut self.0[hash as usize % SETS];
        let found = set.iter_mut().flatten().find(|seen| seen.hash == hash);
        let Some(seen) = found else {
            let oldest = set
                .iter_mut()
                .min_by_key(|seen| seen.map_or(Nanos::MIN, |seen| seen.time));
            if let Some(oldest) = oldest {
                *oldest = Some(Seen::new(hash, time, point));
            }
            return false;
        };
        let passed = time.saturating_sub(seen.time).abs();
        let again = if seen.point != point {
            passed <= COPIED_ELSEWHERE && (data || id.is_some() || seen.single)
        } else if id.is_some() {
            passed <= COPIED
        } else if data {
            context.precedes_answer(passed)
        } else {
            // Duplicate ACKs are equal, too, so each is seen again once at the most.
            context.repeats && seen.single && passed <= COPIED_UNNAMED
        };
        if again {
            seen.single = false;
        } else {
            *seen = Seen::new(hash, time, point);
        }
        again
    }
}

impl Seen {
    fn new(hash: u64, time: Nanos, point: Point) -> Self {
        Self {
            hash,
            time,
            point,
            single: true,
        }
    }
}
