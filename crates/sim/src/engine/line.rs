//! Lines: packets that travel to a link with several sources, sorted by arrival.

#![expect(
    clippy::inline_always,
    reason = "part of the engine's two loops, see `engine::core`"
)]

use crate::engine::event_queue::{Event, Kind};
use crate::engine::routing::Hop;
use goodqueue_types::{Packet, Time};

/// Largest number of packets that a new packet may pass before it must wait in another line. It is
/// small, so that an insertion never moves more than some kilobytes.
const MAX_PASSED: usize = 16;

/// Capacity above which a ring gives memory back. Below it, little memory can be saved.
const LARGE: usize = 1024;

/// A packet that travels to the link of its line.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnTheWay {
    /// Index of the hop that the link is on the packet's route.
    pub hop: u32,
    /// The packet.
    pub packet: Packet,
}

/// Bytes of a packet in a line, with its arrival.
pub const BYTES_PER_PACKET: usize = size_of::<OnTheWay>() + size_of::<Event>();

/// All lines of a network: first those that flows share, then one for each flow and shared link.
#[derive(Debug)]
pub struct Lines {
    shared: Vec<SharedLine>,
    own: OwnLines,
    /// Place for packets that never wait.
    passing: OnTheWay,
}

impl Lines {
    /// Creates empty lines.
    pub fn new(shared: usize, own: usize) -> Self {
        Self {
            shared: vec![SharedLine::default(); shared],
            own: OwnLines::new(own),
            passing: OnTheWay::default(),
        }
    }

    /// Returns the place in which the next packet for a line is to be written, or any packet if
    /// `line` is [`AT_ONCE`](crate::engine::routing::AT_ONCE). The packet is not in line before
    /// [`join`](Self::join).
    ///
    /// A packet is written directly to the place in which it waits. A copy would read it in wider
    /// words than those in which it was just written, which delays the read.
    #[inline(always)]
    pub fn place(&mut self, line: u32) -> &mut Packet {
        match self.shared.get_mut(line as usize) {
            Some(line) => &mut line.place().packet,
            None => &mut self.passing.packet,
        }
    }

    /// Puts the packet in the [place](Self::place) of the line before `hop`, the `index`th, in
    /// line, with its arrival at `now`. Returns its arrival event if it is the head of its line,
    /// because the event queue needs it.
    #[inline(always)]
    pub fn join(&mut self, hop: &Hop, index: u32, now: Time, rank: u32) -> Option<Event> {
        let event = Event::new(now, Kind::Arrival, rank, hop.line);
        let line = &mut self.shared[hop.line as usize];
        match line.join(event, index) {
            Joined::Behind => None,
            Joined::First => Some(event),
            Joined::Refused => {
                let entry = *line.place();
                let line = self.shared.len() as u32 + hop.own_line;
                let event = Event::new(now, Kind::Arrival, rank, line);
                self.own
                    .push_back(hop.own_line as usize, event, entry)
                    .then_some(event)
            }
        }
    }

    /// Takes the packet that arrives with `event`, and the event of the next packet in its line or
    /// [`Event::NONE`]. Returns none if the event is out of date because another packet has become
    /// the head.
    #[inline(always)]
    pub fn take(&mut self, event: Event) -> Option<(&OnTheWay, Event)> {
        let shared = self.shared.len();
        match self.shared.get_mut(event.index()) {
            Some(line) => line.take(event),
            None => self.own.take(event.index() - shared),
        }
    }

    /// Returns true if no packet is in any line.
    pub fn is_empty(&self) -> bool {
        self.shared.iter().all(|line| line.length == 0) && self.own.is_empty()
    }
}

/// Outcome of putting a packet in a shared line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joined {
    /// The packet is the head.
    First,
    /// The packet waits behind other packets.
    Behind,
    /// The packet would have to pass too many other packets and is not in the line.
    Refused,
}

/// A line of packets in a ring, whose places need not be written before they are handed out.
/// Packets of equal time and rank keep the order in which they joined.
///
/// The arrivals of the packets lie in a ring of their own. The event queue waits for the next
/// arrival in a line, and four of them share a cache line, while a packet takes two.
///
/// Packets in flight are a good part of a large network's memory. A ring therefore grows by an
/// eighth, and a large one gives back what slow start needed once fewer packets are in flight.
#[derive(Clone, Debug, Default)]
struct SharedLine {
    ring: Vec<OnTheWay>,
    /// Time of each packet in `ring`, and its place among simultaneous arrivals.
    arrivals: Vec<Event>,
    head: usize,
    /// Index of the place behind the last packet.
    end: usize,
    length: usize,
}

impl SharedLine {
    /// Returns the index in the ring of the packet that has `before` packets ahead of it.
    #[inline]
    fn at(&self, before: usize) -> usize {
        let at = self.head + before;
        let beyond = at.wrapping_sub(self.ring.len());
        if at < self.ring.len() { at } else { beyond }
    }

    /// Returns the index of the place after another.
    #[inline(always)]
    fn after(&self, at: usize) -> usize {
        if at + 1 == self.ring.len() { 0 } else { at + 1 }
    }

    /// Returns the place behind the last packet.
    #[inline]
    fn place(&mut self) -> &mut OnTheWay {
        if self.length == self.ring.len() {
            self.grow();
        }
        &mut self.ring[self.end]
    }

    #[cold]
    fn grow(&mut self) {
        self.ring.rotate_left(self.head);
        self.arrivals.rotate_left(self.head);
        self.head = 0;
        self.end = self.length;
        let more = (self.length / 8).max(16);
        self.ring.reserve_exact(more);
        self.ring.resize(self.length + more, OnTheWay::default());
        self.arrivals.reserve_exact(more);
        self.arrivals.resize(self.length + more, Event::NONE);
    }

    /// Gives memory back if a quarter of a large ring is empty. Its head must be at index 0, so
    /// that all packets in line lie before the empty places.
    #[cold]
    fn shrink(&mut self) {
        let enough = self.length + self.length / 8 + 16;
        if self.ring.len() > LARGE && self.length < self.ring.len() / 4 * 3 {
            self.end = self.length;
            self.ring.truncate(enough);
            self.ring.shrink_to_fit();
            self.arrivals.truncate(enough);
            self.arrivals.shrink_to_fit();
        }
    }

    /// Puts the packet in the place behind the last one in line, by its arrival.
    #[inline(always)]
    fn join(&mut self, event: Event, hop: u32) -> Joined {
        let at = self.end;
        self.ring[at].hop = hop;
        self.arrivals[at] = event;
        if self.length == 0 {
            self.length = 1;
            self.end = self.after(at);
            return Joined::First;
        }
        let last = if at == 0 { self.ring.len() } else { at } - 1;
        if self.arrivals[last] > event {
            return self.pass(event);
        }
        self.length += 1;
        self.end = self.after(at);
        Joined::Behind
    }

    /// Moves the packet in the place behind the last one before all that arrive later.
    #[cold]
    fn pass(&mut self, event: Event) -> Joined {
        let later = |before: &usize| self.arrivals[self.at(*before)] > event;
        let passed = (0..self.length)
            .rev()
            .take_while(later)
            .take(MAX_PASSED + 1)
            .count();
        if passed > MAX_PASSED {
            return Joined::Refused;
        }
        for before in (self.length - passed..self.length).rev() {
            let (this, next) = (self.at(before), self.at(before + 1));
            self.ring.swap(this, next);
            self.arrivals.swap(this, next);
        }
        self.length += 1;
        self.end = self.after(self.end);
        if passed + 1 == self.length {
            Joined::First
        } else {
            Joined::Behind
        }
    }

    /// Takes the head if its arrival is `event`.
    #[inline]
    fn take(&mut self, event: Event) -> Option<(&OnTheWay, Event)> {
        let at = self.head;
        if self.length == 0 || self.arrivals[at] != event {
            return None;
        }
        if at == 0 {
            self.shrink();
        }
        self.head = self.after(at);
        self.length -= 1;
        let next = if self.length > 0 {
            self.arrivals[self.head]
        } else {
            Event::NONE
        };
        Some((&self.ring[at], next))
    }
}

/// One line per flow and shared link, for packets that would have to pass many other packets. A
/// flow's packets reach a link in order, so these lines are plain FIFOs. Most are empty, so they
/// are lists in one pool.
#[derive(Debug)]
struct OwnLines {
    pool: Vec<Node>,
    free: u32,
    /// First and last node of each line, both `NONE` if it is empty.
    ends: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    arrival: Event,
    entry: OnTheWay,
    next: u32,
}

const NONE: u32 = u32::MAX;

impl OwnLines {
    fn new(lines: usize) -> Self {
        // The capacity suffices for the packets that timeouts send, so that the loop does not
        // allocate.
        let pool = Vec::with_capacity(if lines == 0 { 0 } else { 64 });
        Self {
            pool,
            free: NONE,
            ends: vec![(NONE, NONE); lines],
        }
    }

    /// Appends a packet. Returns true if it is the head.
    fn push_back(&mut self, line: usize, arrival: Event, entry: OnTheWay) -> bool {
        let node = Node {
            arrival,
            entry,
            next: NONE,
        };
        let at = self.free;
        let at = if at == NONE {
            self.pool.push(node);
            self.pool.len() as u32 - 1
        } else {
            self.free = self.pool[at as usize].next;
            self.pool[at as usize] = node;
            at
        };
        let (first, last) = self.ends[line];
        if first == NONE {
            self.ends[line] = (at, at);
        } else {
            debug_assert!(self.pool[last as usize].arrival <= arrival);
            self.pool[last as usize].next = at;
            self.ends[line].1 = at;
        }
        first == NONE
    }

    fn take(&mut self, line: usize) -> Option<(&OnTheWay, Event)> {
        let (first, last) = self.ends[line];
        let node = self.pool.get_mut(first as usize)?;
        let next = node.next;
        node.next = self.free;
        self.free = first;
        self.ends[line] = (next, if next == NONE { NONE } else { last });
        let event = self.pool.get(next as usize);
        let event = event.map_or(Event::NONE, |node| node.arrival);
        Some((&self.pool[first as usize].entry, event))
    }

    fn is_empty(&self) -> bool {
        self.ends.iter().all(|(first, _)| *first == NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOP: Hop = Hop {
        transmitter: None,
        link: 0,
        line: 0,
        own_line: 0,
        last: true,
        before_line: false,
        served: false,
    };

    fn join(lines: &mut Lines, time: u64, number: u64) -> Option<Event> {
        lines.place(0).number = number;
        lines.join(&HOP, 0, Time(time), 0)
    }

    /// Empties a line from an event on and returns the packets' numbers.
    fn drain(lines: &mut Lines, first: Event) -> Vec<u64> {
        let mut next = first;
        std::iter::from_fn(|| {
            if next == Event::NONE {
                return None;
            }
            let (head, event) = lines.take(next).expect("not out of date");
            next = event;
            Some(head.packet.number)
        })
        .collect()
    }

    #[test]
    fn a_packet_takes_as_much_as_two_cache_lines() {
        assert_eq!(size_of::<OnTheWay>(), 128);
    }

    #[test]
    fn newcomers_take_their_place_and_equals_keep_their_order() {
        let mut lines = Lines::new(1, 1);
        let heads = [(5, 0), (7, 1), (5, 2), (1, 3), (7, 4)]
            .map(|(time, number)| join(&mut lines, time, number));
        assert_eq!(
            heads.map(|head| head.is_some()),
            [true, false, false, true, false]
        );
        // The former head has been overtaken, so its event takes nothing.
        assert!(lines.take(heads[0].unwrap()).is_none());
        assert_eq!(drain(&mut lines, heads[3].unwrap()), [3, 0, 2, 1, 4]);
        assert!(lines.is_empty());
    }

    #[test]
    fn a_ring_that_grows_when_it_is_bent_keeps_its_order() {
        let mut lines = Lines::new(1, 1);
        let mut head = join(&mut lines, 0, 0).expect("the head");
        for time in 1..16 {
            assert_eq!(join(&mut lines, time, time), None);
        }
        for expected in 0..10 {
            let (taken, next) = lines.take(head).unwrap();
            assert_eq!(taken.packet.number, expected);
            head = next;
        }
        for time in 16..50 {
            assert_eq!(join(&mut lines, time, time), None);
        }
        assert!(drain(&mut lines, head).into_iter().eq(10..50));
    }

    #[test]
    fn a_large_ring_releases_memory_that_it_does_not_need() {
        let mut lines = Lines::new(1, 1);
        let most = 8 * LARGE as u64;
        let mut next = join(&mut lines, 0, 0).expect("the head");
        for time in 1..most {
            join(&mut lines, time, time);
        }
        let mut last = most;
        let mut expected = 0;
        // One packet joins for every two that leave, until few remain. After that as many join as
        // leave.
        while expected < 4 * most {
            let (taken, event) = lines.take(next).unwrap();
            assert_eq!(taken.packet.number, expected);
            next = event;
            if lines.shared[0].length < 100 || expected % 2 == 0 {
                join(&mut lines, last, last);
                last += 1;
            }
            expected += 1;
        }
        assert!(lines.shared[0].ring.capacity() < 2 * LARGE);
        assert!(drain(&mut lines, next).into_iter().eq(expected..last));
    }

    #[test]
    fn a_newcomer_that_would_pass_many_waits_in_its_own_line() {
        let mut lines = Lines::new(1, 1);
        let most = MAX_PASSED as u64;
        for time in 10..=10 + most {
            join(&mut lines, time, time);
        }
        for round in 0..3 {
            let own = join(&mut lines, 5, round).expect("the head of its own line");
            assert_eq!(own.index(), 1);
            assert!(join(&mut lines, 6, round + 100).is_none());
            assert!(
                join(&mut lines, 10, 1000 + round).is_none(),
                "it passes few enough"
            );
            assert_eq!(drain(&mut lines, own), [round, round + 100]);
        }
        assert_eq!(lines.own.pool.len(), 2, "places are used again");
        assert!(!lines.is_empty());
    }
}
