//! The propagation behind a link with impairments. Packets may leave it in another order than they
//! entered, and some leave it twice.

use crate::link::impairment::ImpairmentProcess;
use goodqueue_types::{Packet, Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Packets in flight, ordered by their arrival.
#[derive(Debug)]
pub struct ImpairedPath {
    process: ImpairmentProcess,
    delay: Span,
    on_the_way: BinaryHeap<Reverse<OnTheWay>>,
    /// Time of the latest arrival among the packets that keep their order.
    latest: Time,
    /// Arrival for which the event queue has an event. Events for other times are out of date.
    announced: Time,
    sent: u64,
    /// Largest number of a packet that has arrived, plus one; copies do not count.
    next_expected: u64,
}

/// Arrival of a packet and its place among simultaneous ones: time, hash, the packet's number, and
/// a number by order of sending, which distinguishes copies.
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
    /// The packet.
    pub packet: Packet,
    /// True if a packet that was sent later has arrived before.
    pub overtaken: bool,
}

impl ImpairedPath {
    /// Capacity for the usual number of packets in flight, so that the loop does not allocate.
    const ROOM: usize = 256;

    /// Creates a path of this propagation delay without packets.
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

    /// Sends a packet, whose last bit left at `end`, and its copy, if there is one. `rank` is their
    /// place among simultaneous arrivals. Returns true if there is a copy.
    pub fn send(&mut self, packet: &Packet, rank: u32, end: Time) -> bool {
        let fate = self.process.decide(end);
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

    /// Returns the time of arrival. Simultaneous arrivals are ordered at random, so packets that
    /// must keep their order get different times.
    fn keep_order(&mut self, end: Time, jitter: Span) -> Time {
        let arrival = end.saturating_add(self.delay).saturating_add(jitter);
        if !self.process.keeps_order() {
            return arrival;
        }
        let arrival = self.process.hand_over(arrival);
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

    /// Returns the next arrival if the event queue has no event for it.
    pub fn announce(&mut self) -> Option<Time> {
        let Reverse(next) = self.on_the_way.peek()?;
        let at = next.place.0;
        (at < self.announced).then(|| {
            self.announced = at;
            at
        })
    }

    /// Returns the packet that arrives at `now`, or none if the event is out of date.
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

    /// Returns the number of packets in flight.
    pub fn in_flight(&self) -> u64 {
        self.on_the_way.len() as u64
    }
}
