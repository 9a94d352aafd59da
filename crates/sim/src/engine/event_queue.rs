//! The event queue: two 4-ary heaps of (time, key) pairs, one for arrivals and one for the others.
//!
//! Packets never enter the queue: it holds one entry per waiting line, per timer and per link that
//! transmits from a queue discipline. A network has many more timers than lines, and they change much
//! more rarely. The lines therefore have a heap of their own, which is small. The end of a
//! transmission lies with the timers, because it comes before nearly all of them: it stays the
//! earliest event of its heap when it is replaced, where it would sink among the arrivals.

use goodqueue_types::Time;

/// Kind of an event, in the order in which events of one instant take effect. Causes come before
/// effects: a delivery can set a timer, and both can send. Nothing that arrives at a link leaves it
/// at the same instant, because every frame takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A link has sent the last bit of a frame, or its queue may release a packet that it held
    /// back.
    Service = 0,
    /// A packet leaves a link with impairments and may reach its host.
    Emergence = 1,
    /// A timer of an agent or of its application fires.
    Wake = 2,
    /// The packet at the head of a line arrives at the line's link.
    Arrival = 3,
}

/// Time of an event and its place among simultaneous events: kind, then rank (a keyed hash of flow
/// and packet, so that no flow is always first), then the index of the line, link or agent. Arrivals
/// that differ in nothing but their lines belong to one flow. At links that share a buffer the
/// engine puts them in the order of the packets' numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event(u128);

impl Event {
    /// Key that represents no event. It comes after all events, at [`Time::MAX`].
    pub const NONE: Self = Self(u128::MAX);

    /// Creates an event at `time` for the line, link or agent `index`.
    #[inline]
    pub fn new(time: Time, kind: Kind, rank: u32, index: u32) -> Self {
        debug_assert!(rank < 1 << 30);
        let key = (kind as u64) << 62 | u64::from(rank) << 32 | u64::from(index);
        Self(u128::from(time.0) << 64 | u128::from(key))
    }

    /// Returns the time of the event.
    #[inline]
    pub fn time(self) -> Time {
        Time((self.0 >> 64) as u64)
    }

    /// Returns the kind of the event.
    #[inline]
    pub fn kind(self) -> Kind {
        match (self.0 as u64) >> 62 {
            0 => Kind::Service,
            1 => Kind::Emergence,
            2 => Kind::Wake,
            _ => Kind::Arrival,
        }
    }

    /// Returns true if only the indices of the two events can differ.
    #[inline]
    pub fn ties_with(self, other: Self) -> bool {
        self.0 >> 32 == other.0 >> 32
    }

    /// Returns the index of the line, link or agent.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as u32 as usize
    }
}

/// Pending events, ordered so that the earliest can be taken.
#[derive(Debug, Default)]
pub struct EventQueue {
    arrivals: Heap,
    others: Heap,
}

impl EventQueue {
    /// Returns the earliest event, or [`Event::NONE`].
    #[inline]
    pub fn peek(&self) -> Event {
        if self.others.first < self.arrivals.first {
            self.others.first
        } else {
            self.arrivals.first
        }
    }

    /// Adds an event.
    #[inline]
    pub fn push(&mut self, event: Event) {
        self.heap(event.kind()).push(event);
    }

    /// Removes the earliest event, which is of this kind.
    #[inline]
    pub fn pop(&mut self, kind: Kind) {
        debug_assert_eq!(self.peek().kind(), kind);
        self.heap(kind).pop();
    }

    /// Replaces the earliest event by another, both of this kind. This takes one pass, not two.
    #[inline]
    pub fn replace(&mut self, kind: Kind, event: Event) {
        debug_assert!(self.peek().kind() == kind && event.kind() == kind);
        self.heap(kind).sift_down(event);
    }

    #[inline]
    fn heap(&mut self, kind: Kind) -> &mut Heap {
        match kind {
            Kind::Arrival => &mut self.arrivals,
            _ => &mut self.others,
        }
    }
}

/// A 4-ary heap. Four children share a cache line, so it touches half as many lines as a binary
/// heap.
#[derive(Debug)]
struct Heap {
    /// The earliest event, the root of the tree.
    first: Event,
    /// The other events. `groups[0]` has the children of the root. The event in place `p` of
    /// `groups[g]` has the number `4 g + p`, and `groups[4 g + p + 1]` has its children.
    groups: Vec<Group>,
    /// Number of events in groups.
    length: usize,
}

impl Default for Heap {
    fn default() -> Self {
        Self {
            first: Event::NONE,
            groups: Vec::new(),
            length: 0,
        }
    }
}

/// The children of one event, which fill a cache line. Places without an event have
/// [`Event::NONE`]. Times and keys are apart, because the times alone decide nearly always.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Group {
    times: [u64; 4],
    keys: [u64; 4],
}

impl Group {
    const EMPTY: Self = Self {
        times: [u64::MAX; 4],
        keys: [u64::MAX; 4],
    };

    #[inline]
    fn get(&self, place: usize) -> Event {
        Event(u128::from(self.times[place]) << 64 | u128::from(self.keys[place]))
    }

    #[inline]
    fn set(&mut self, place: usize, event: Event) {
        self.times[place] = (event.0 >> 64) as u64;
        self.keys[place] = event.0 as u64;
    }

    /// Returns the time of the earliest event.
    #[inline]
    fn least_time(&self) -> u64 {
        let [a, b, c, d] = self.times;
        a.min(b).min(c.min(d))
    }

    /// Returns the place of the earliest event, whose time is `least`. A branch to it would be
    /// unpredictable, so the place is computed.
    #[inline]
    fn place_of(&self, least: u64) -> usize {
        let [a, b, c, d] = self.times.map(|time| u32::from(time == least));
        let places = a | b << 1 | c << 2 | d << 3;
        if places.is_power_of_two() {
            places.trailing_zeros() as usize
        } else {
            self.place_among_equals()
        }
    }

    #[cold]
    fn place_among_equals(&self) -> usize {
        let places = (0..4).map(|place| (self.get(place), place));
        places.min().map_or(0, |(_, place)| place)
    }
}

impl Heap {
    #[inline]
    fn push(&mut self, event: Event) {
        if self.first == Event::NONE {
            self.first = event;
            return;
        }
        if self.length.is_multiple_of(4) {
            self.groups.push(Group::EMPTY);
        }
        self.length += 1;
        self.sift_up(self.length - 1, event);
    }

    #[inline]
    fn pop(&mut self) {
        if self.length == 0 {
            self.first = Event::NONE;
            return;
        }
        self.length -= 1;
        let last = self.get(self.length);
        if self.length.is_multiple_of(4) {
            self.groups.pop();
        } else {
            self.set(self.length, Event::NONE);
        }
        self.sift_down(last);
    }

    /// Returns the event with this number.
    #[inline]
    fn get(&self, number: usize) -> Event {
        self.groups[number / 4].get(number % 4)
    }

    #[inline]
    fn set(&mut self, number: usize, event: Event) {
        self.groups[number / 4].set(number % 4, event);
    }

    fn sift_up(&mut self, mut hole: usize, event: Event) {
        while let Some(parent) = (hole / 4).checked_sub(1) {
            let above = self.get(parent);
            if above <= event {
                self.set(hole, event);
                return;
            }
            self.set(hole, above);
            hole = parent;
        }
        self.set(hole, event.max(self.first));
        self.first = event.min(self.first);
    }

    /// Puts `event` in place of the root and moves it down to its place.
    fn sift_down(&mut self, event: Event) {
        let Some((child, mut hole)) = self.earlier_child(0, event) else {
            self.first = event;
            return;
        };
        self.first = child;
        while let Some((child, number)) = self.earlier_child(hole + 1, event) {
            self.set(hole, child);
            hole = number;
        }
        self.set(hole, event);
    }

    /// Returns the earliest event of a group with its number, if it comes before `event`.
    #[inline]
    fn earlier_child(&self, group: usize, event: Event) -> Option<(Event, usize)> {
        let children = self.groups.get(group)?;
        let least = children.least_time();
        if event.time().0 < least {
            return None;
        }
        let place = children.place_of(least);
        let child = children.get(place);
        (child < event).then_some((child, 4 * group + place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_types::RandomStream;

    #[test]
    fn events_come_in_order_of_time_kind_and_rank() {
        let at = |time, kind, rank, index| Event::new(Time(time), kind, rank, index);
        let expected = [
            at(1, Kind::Arrival, 9, 0),
            at(2, Kind::Wake, 5, 3),
            at(2, Kind::Arrival, 1, 7),
            at(2, Kind::Arrival, 2, 1),
            at(3, Kind::Wake, 0, 0),
        ];
        let mut queue = EventQueue::default();
        for index in [3, 0, 4, 1, 2] {
            queue.push(expected[index]);
        }
        for event in expected {
            assert_eq!(queue.peek(), event);
            queue.pop(event.kind());
        }
        assert_eq!(queue.peek(), Event::NONE);
        assert_eq!(
            (expected[2].kind(), expected[2].index()),
            (Kind::Arrival, 7)
        );
    }

    #[test]
    fn random_pushes_pops_and_replacements_match_a_sorted_list() {
        let mut random = RandomStream::new(3, "heap", 0);
        let mut queue = EventQueue::default();
        let mut sorted: Vec<Event> = Vec::new();
        let insert = |sorted: &mut Vec<Event>, event| {
            sorted.insert(sorted.partition_point(|other| *other < event), event);
        };
        for index in 0..20_000 {
            let kind = [Kind::Service, Kind::Wake, Kind::Arrival][random.bits() as usize % 3];
            let event = Event::new(Time(random.bits() % 1000), kind, 0, index);
            let first = sorted.first().map(|event| event.kind());
            match (random.bits() % 3, first) {
                (0, Some(first)) => {
                    sorted.remove(0);
                    queue.pop(first);
                }
                (1, Some(first)) if first == kind => {
                    sorted.remove(0);
                    queue.replace(kind, event);
                    insert(&mut sorted, event);
                }
                _ => {
                    queue.push(event);
                    insert(&mut sorted, event);
                }
            }
            let expected = sorted.first().copied().unwrap_or(Event::NONE);
            assert_eq!(queue.peek(), expected);
        }
    }
}
