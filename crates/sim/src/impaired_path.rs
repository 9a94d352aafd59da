//! The propagation behind a link with impairments: packets leave it in another order than they
//! came in, and some of them twice.

use crate::impairment::ImpairmentProcess;
use goodqueue_types::{Packet, Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Packets on their way, the next to arrive first.
#[derive(Debug)]
pub struct ImpairedPath {
    process: ImpairmentProcess,
    delay: Span,
    on_the_way: BinaryHeap<Reverse<OnTheWay>>,
    /// When the last one arrives of those that keep their order.
    latest: Time,
    /// The event queue knows of this arrival; events for other times are out of date.
    announced: Time,
    sent: u64,
    /// One more than the greatest count of a packet that has arrived, copies left out.
    next_expected: u64,
}

/// When a packet arrives and its place among simultaneous ones: hash, number, and what was sent
/// before it, which tells copies apart.
type Place = (Time, u32, u64, u64);

#[derive(Clone, Copy, Debug)]
struct OnTheWay {
    place: Place,
    is_copy: bool,
    packet: Packet,
}

impl PartialEq for OnTheWay {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl Eq for OnTheWay {}

impl PartialOrd for OnTheWay {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OnTheWay {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.place.cmp(&other.place)
    }
}

/// A packet that arrives.
#[derive(Debug)]
pub struct Arrived {
    /// Itself.
    pub packet: Packet,
    /// Whether one that was sent later arrived before.
    pub overtaken: bool,
}

impl ImpairedPath {
    /// Room for what is usually on its way, so that the loop does not allocate.
    const ROOM: usize = 256;

    /// An empty path of this propagation delay.
    pub fn new(process: ImpairmentProcess, delay: Span) -> Self {
        Self {
            process,
            delay,
            on_the_way: BinaryHeap::with_capacity(Self::ROOM),
            latest: Time::ZERO,
            announced: Time::MAX,
            sent: 0,
            next_expected: 0,
        }
    }

    /// A packet, whose last bit has left at `end`, and its copy, if there is one, are on their way;
    /// `rank` is their place among simultaneous arrivals. Whether there is a copy.
    pub fn send(&mut self, packet: &Packet, rank: u32, end: Time) -> bool {
        let fate = self.process.decide();
        let held_back = fate.held_back.unwrap_or(Span::ZERO);
        let arrival = self.keep_order(end, fate.jitter);
        self.push(packet, arrival.saturating_add(held_back), rank, false);
        let copy = fate.copy.map(|jitter| self.keep_order(end, jitter));
        if let Some(arrival) = copy {
            self.push(packet, arrival, rank, true);
        }
        self.sent += 1;
        copy.is_some()
    }

    /// Simultaneous arrivals have an order of chance: to keep theirs, packets stay apart.
    fn keep_order(&mut self, end: Time, jitter: Span) -> Time {
        let arrival = end.saturating_add(self.delay).saturating_add(jitter);
        if !self.process.keeps_order() {
            return arrival;
        }
        self.latest = arrival.max(self.latest.saturating_add(Span(1)));
        self.latest
    }

    fn push(&mut self, packet: &Packet, at: Time, rank: u32, is_copy: bool) {
        let sent = 2 * self.sent + u64::from(is_copy);
        self.on_the_way.push(Reverse(OnTheWay {
            place: (at, rank, packet.number, sent),
            is_copy,
            packet: *packet,
        }));
    }

    /// When the next packet arrives, if the event queue does not know.
    pub fn announce(&mut self) -> Option<Time> {
        let Reverse(next) = self.on_the_way.peek()?;
        let at = next.place.0;
        (at < self.announced).then(|| {
            self.announced = at;
            at
        })
    }

    /// The packet that arrives at `now`; none if the event that says so is out of date.
    pub fn arrive(&mut self, now: Time) -> Option<Arrived> {
        if self.announced != now {
            return None;
        }
        self.announced = Time::MAX;
        let Reverse(OnTheWay {
            place: (.., sent),
            is_copy,
            packet,
        }) = self.on_the_way.pop()?;
        // RFC 4737 section 3.3, with the order of transmission as sequence numbers.
        let overtaken = !is_copy && sent < self.next_expected;
        if !is_copy && !overtaken {
            self.next_expected = sent + 1;
        }
        Some(Arrived { packet, overtaken })
    }

    /// Packets on their way.
    pub fn in_flight(&self) -> u64 {
        self.on_the_way.len() as u64
    }
}
