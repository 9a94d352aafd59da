//! Lines: packets on their way to a link where several sources meet, sorted by arrival.

use crate::event_queue::{Event, Kind};
use crate::routing::Hop;
use goodqueue_types::{Packet, Time};
use std::collections::VecDeque;

/// How many packets a newcomer may pass before it must wait elsewhere: few, so that an insertion
/// never moves more than some kilobytes.
const MOST_PASSED: usize = 16;

/// A packet on its way to the link of the line it is in.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnTheWay {
    /// Its arrival: time, and place among simultaneous ones.
    pub event: Event,
    /// The step of its route that the link is.
    pub hop: u32,
    /// The packet.
    pub packet: Packet,
}

/// All lines of a network: first those that flows share, then one for each flow and shared link.
#[derive(Debug)]
pub struct Lines {
    shared: Vec<SharedLine>,
    own: OwnLines,
}

impl Lines {
    /// Empty lines.
    pub fn new(shared: usize, own: usize) -> Self {
        Self { shared: vec![SharedLine::default(); shared], own: OwnLines::new(own) }
    }

    /// Puts a packet in line before `hop`, the `index`th. Returns its arrival if it is the head
    /// of its line: the event queue must know.
    #[inline]
    pub fn place(
        &mut self,
        hop: Hop,
        index: u32,
        now: Time,
        rank: u32,
        packet: &Packet,
    ) -> Option<Event> {
        let event = Event::new(now, Kind::Arrival, rank, hop.line);
        match self.shared[hop.line as usize].place(event, index, packet) {
            Placed::Behind => None,
            Placed::First => Some(event),
            Placed::Refused => {
                let line = self.shared.len() as u32 + hop.own_line;
                let event = Event::new(now, Kind::Arrival, rank, line);
                let entry = OnTheWay { event, hop: index, packet: *packet };
                self.own.push_back(hop.own_line as usize, entry).then_some(event)
            }
        }
    }

    /// Takes the packet that arrives with `event` into `head`, and tells what comes next in its
    /// line.
    #[inline]
    pub fn take(&mut self, event: Event, head: &mut OnTheWay) -> Next {
        match self.shared.get_mut(event.index()) {
            Some(line) => line.take(event, head),
            None => self.own.take(event.index() - self.shared.len(), head),
        }
    }

    /// Whether nothing is on its way.
    pub fn is_empty(&self) -> bool {
        self.shared.iter().all(|line| line.0.is_empty()) && self.own.is_empty()
    }
}

/// What a line holds after its head was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The next arrival.
    Arrival(Event),
    /// Nothing more.
    Nothing,
    /// The head was not taken: the event is out of date, because another packet has come before
    /// the one it announced.
    Stale,
}

/// What became of a packet put in a shared line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placed {
    /// It is the head.
    First,
    /// It waits behind others.
    Behind,
    /// It would have to pass too many: it is not in the line.
    Refused,
}

/// A line of packets. Those of equal time and rank keep the order in which they came.
#[derive(Clone, Debug, Default)]
struct SharedLine(VecDeque<OnTheWay>);

impl SharedLine {
    /// Puts a packet where its arrival belongs.
    #[inline]
    fn place(&mut self, event: Event, hop: u32, packet: &Packet) -> Placed {
        let placed = match self.0.back() {
            Some(last) if last.event > event => {
                return self.insert(OnTheWay { event, hop, packet: *packet });
            }
            Some(_) => Placed::Behind,
            None => Placed::First,
        };
        self.0.push_back(OnTheWay { event, hop, packet: *packet });
        placed
    }

    #[cold]
    fn insert(&mut self, entry: OnTheWay) -> Placed {
        let length = self.0.len();
        let passed = self.0.iter().rev().take_while(|other| other.event > entry.event);
        let passed = passed.take(MOST_PASSED + 1).count();
        if passed > MOST_PASSED {
            return Placed::Refused;
        }
        self.0.insert(length - passed, entry);
        if passed == length { Placed::First } else { Placed::Behind }
    }

    /// Takes the head if its arrival is `event`.
    #[inline]
    fn take(&mut self, event: Event, head: &mut OnTheWay) -> Next {
        match self.0.front() {
            Some(front) if front.event == event => *head = *front,
            _ => return Next::Stale,
        }
        self.0.pop_front();
        self.0.front().map_or(Next::Nothing, |next| Next::Arrival(next.event))
    }
}

/// One line per flow and shared link, for packets that would have to pass many. A flow's packets
/// reach a link in order, so these are plain FIFOs; they are mostly empty, and lists in one pool.
#[derive(Debug)]
struct OwnLines {
    pool: Vec<Node>,
    free: u32,
    /// First and last node of each line; equal to `NONE` where it is empty.
    ends: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    entry: OnTheWay,
    next: u32,
}

const NONE: u32 = u32::MAX;

impl OwnLines {
    fn new(lines: usize) -> Self {
        // Room for what timeouts send, so that the loop does not allocate.
        let pool = Vec::with_capacity(if lines == 0 { 0 } else { 64 });
        Self { pool, free: NONE, ends: vec![(NONE, NONE); lines] }
    }

    /// Adds a packet; whether it is the head.
    fn push_back(&mut self, line: usize, entry: OnTheWay) -> bool {
        let node = Node { entry, next: NONE };
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
            debug_assert!(self.pool[last as usize].entry.event <= entry.event);
            self.pool[last as usize].next = at;
            self.ends[line].1 = at;
        }
        first == NONE
    }

    fn take(&mut self, line: usize, head: &mut OnTheWay) -> Next {
        let (first, last) = self.ends[line];
        let Some(node) = self.pool.get_mut(first as usize) else { return Next::Stale };
        let next = node.next;
        *head = node.entry;
        node.next = self.free;
        self.free = first;
        self.ends[line] = (next, if next == NONE { NONE } else { last });
        self.pool.get(next as usize).map_or(Next::Nothing, |node| Next::Arrival(node.entry.event))
    }

    fn is_empty(&self) -> bool {
        self.ends.iter().all(|(first, _)| *first == NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOP: Hop = Hop { link: 0, line: 0, own_line: 0, last: true };

    fn place(lines: &mut Lines, time: u64, number: u64) -> Option<Event> {
        let packet = Packet { number, ..Packet::default() };
        lines.place(HOP, 0, Time(time), 0, &packet)
    }

    /// Empties one line from an event on and tells the packets' numbers.
    fn drain(lines: &mut Lines, first: Event) -> Vec<u64> {
        let (mut next, mut head) = (Next::Arrival(first), OnTheWay::default());
        std::iter::from_fn(|| {
            let Next::Arrival(event) = next else { return None };
            next = lines.take(event, &mut head);
            Some(head.packet.number)
        })
        .collect()
    }

    #[test]
    fn newcomers_take_their_place_and_equals_keep_their_order() {
        let mut lines = Lines::new(1, 1);
        let heads = [(5, 0), (7, 1), (5, 2), (1, 3), (7, 4)]
            .map(|(time, number)| place(&mut lines, time, number));
        assert_eq!(heads.map(|head| head.is_some()), [true, false, false, true, false]);
        // The head of before is no longer: its event takes nothing.
        let mut head = OnTheWay::default();
        assert_eq!(lines.take(heads[0].unwrap(), &mut head), Next::Stale);
        assert_eq!(drain(&mut lines, heads[3].unwrap()), [3, 0, 2, 1, 4]);
        assert!(lines.is_empty());
    }

    #[test]
    fn a_newcomer_that_would_pass_many_waits_in_its_own_line() {
        let mut lines = Lines::new(1, 1);
        let most = MOST_PASSED as u64;
        for time in 10..=10 + most {
            place(&mut lines, time, time);
        }
        for round in 0..3 {
            let own = place(&mut lines, 5, round).expect("the head of its own line");
            assert_eq!(own.index(), 1);
            assert!(place(&mut lines, 6, round + 100).is_none());
            assert!(place(&mut lines, 10, 1000 + round).is_none(), "it passes few enough");
            assert_eq!(drain(&mut lines, own), [round, round + 100]);
        }
        assert_eq!(lines.own.pool.len(), 2, "places are used again");
        assert!(!lines.is_empty());
    }
}
