//! The event queue: a 4-ary heap of (time, key) pairs.
//!
//! Four children of sixteen bytes share a cache line, so a 4-ary heap touches half as many lines as
//! a binary one. Packets never enter it: it holds one entry per waiting line and per timer.

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
/// and packet, so that no flow is always first), then the index of the line, link or agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event(u128);

impl Event {
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

    /// Returns the index of the line, link or agent.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as u32 as usize
    }
}

/// Pending events, ordered so that the earliest can be taken.
#[derive(Debug, Default)]
pub struct EventQueue {
    heap: Vec<Event>,
}

impl EventQueue {
    /// Returns the earliest event.
    #[inline]
    pub fn peek(&self) -> Option<Event> {
        self.heap.first().copied()
    }

    /// Adds an event.
    #[inline]
    pub fn push(&mut self, event: Event) {
        self.heap.push(event);
        self.sift_up(self.heap.len() - 1, event);
    }

    /// Removes the earliest event.
    #[inline]
    pub fn pop(&mut self) {
        if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sift_down(last);
        }
    }

    /// Replaces the earliest event by another in one pass, not two.
    #[inline]
    pub fn replace(&mut self, event: Event) {
        self.sift_down(event);
    }

    fn sift_up(&mut self, mut hole: usize, event: Event) {
        while hole > 0 {
            let parent = (hole - 1) / 4;
            if self.heap[parent] <= event {
                break;
            }
            self.heap[hole] = self.heap[parent];
            hole = parent;
        }
        self.heap[hole] = event;
    }

    /// Puts `event` in place of the root and moves it down to its place.
    #[inline]
    fn sift_down(&mut self, event: Event) {
        let heap = &mut self.heap[..];
        let mut hole = 0;
        loop {
            let first = 4 * hole + 1;
            let (child, at) = match heap.get(first..first + 4) {
                Some(&[a, b, c, d]) => {
                    // The branch to the least child is unpredictable, so the choice is made without
                    // branches.
                    let (ab, at_ab) = least((a, first), (b, first + 1));
                    let (cd, at_cd) = least((c, first + 2), (d, first + 3));
                    least((ab, at_ab), (cd, at_cd))
                }
                _ => match (first..heap.len()).map(|at| (heap[at], at)).min() {
                    Some(least) => least,
                    None => break,
                },
            };
            if event <= child {
                break;
            }
            heap[hole] = child;
            hole = at;
        }
        heap[hole] = event;
    }
}

/// Returns the lesser of two events with its position.
#[inline]
fn least(a: (Event, usize), b: (Event, usize)) -> (Event, usize) {
    let second = b.0 < a.0;
    (
        std::hint::select_unpredictable(second, b.0, a.0),
        std::hint::select_unpredictable(second, b.1, a.1),
    )
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
            assert_eq!(queue.peek(), Some(event));
            queue.pop();
        }
        assert_eq!(queue.peek(), None);
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
        for index in 0..20_000 {
            let event = Event::new(Time(random.bits() % 1000), Kind::Wake, 0, index);
            match random.bits() % 3 {
                0 if !sorted.is_empty() => {
                    sorted.remove(0);
                    queue.pop();
                }
                1 if !sorted.is_empty() => {
                    sorted.remove(0);
                    queue.replace(event);
                    sorted.insert(sorted.partition_point(|other| *other < event), event);
                }
                _ => {
                    queue.push(event);
                    sorted.insert(sorted.partition_point(|other| *other < event), event);
                }
            }
            assert_eq!(queue.peek(), sorted.first().copied());
        }
    }
}
