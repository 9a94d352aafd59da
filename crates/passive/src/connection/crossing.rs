//! Matching of packets at two tapping points: the time that each took, and those that were lost.
//!
//! Packets are matched by their bytes of the stream, so that super-segments captured before the
//! link match segments captured after it. A link keeps the order within a flow, so a
//! packet counts as dropped as soon as one that was sent after it has arrived.

use crate::Nanos;
use std::collections::VecDeque;

/// Largest number of packets of a flow that are followed between the tapping points.
const MAX_CROSSING: usize = 1 << 16;
/// Largest number of packets followed in a direction that may never cross the link.
const MAX_UNKNOWN: usize = 1 << 12;
/// Largest number of retransmissions followed. Each search compares all of these retransmissions.
const MAX_AGAIN: usize = 1 << 10;

#[derive(Clone, Copy, Debug)]
struct Crossing {
    /// Number of the packet in order of time.
    order: u64,
    start: u64,
    end: u64,
    time: Nanos,
    /// True if a part of the packet has arrived.
    begun: bool,
}

/// Packet that did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    pub start: u64,
    pub end: u64,
    /// Time at which the packet was seen before the link.
    pub time: Nanos,
}

/// Packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub start: u64,
    /// Time at which the packet was seen before the link.
    pub time: Nanos,
    pub took: Nanos,
}

/// Packets of a flow between the tapping points.
#[derive(Debug, Default)]
pub struct Crossings {
    /// Packets sent for the first time, in order of time and of the stream.
    fresh: VecDeque<Crossing>,
    /// Retransmissions, in order of time.
    again: VecDeque<Crossing>,
    pub matched: u32,
    pub unmatched: u32,
    /// End of the data seen behind the link.
    beyond: u64,
}

impl Crossings {
    /// Records a packet seen before the link.
    pub fn enter(&mut self, start: u64, end: u64, time: Nanos, again: bool) {
        let latest = [self.fresh.back(), self.again.back()].into_iter().flatten();
        let order = latest.map(|crossing| crossing.order + 1).max().unwrap_or(0);
        let (queue, room) = match (again, self.matched) {
            (true, _) => (&mut self.again, MAX_AGAIN),
            (false, 0) => (&mut self.fresh, MAX_UNKNOWN),
            (false, _) => (&mut self.fresh, MAX_CROSSING),
        };
        if queue.len() >= room {
            queue.pop_front();
        }
        queue.push_back(Crossing {
            order,
            start,
            end,
            time,
            begun: false,
        });
    }

    /// Matches a packet seen after the link. `usual` is the time that packets take at present.
    /// Calls `lost` for each packet that is found missing.
    pub fn leave(
        &mut self,
        start: u64,
        end: u64,
        time: Nanos,
        usual: Option<Nanos>,
        mut lost: impl FnMut(Missing),
    ) -> Option<Arrival> {
        self.beyond = self.beyond.max(end);
        let Some(came) = self.find(start, end, time, usual) else {
            self.unmatched = self.unmatched.saturating_add(1);
            return None;
        };
        self.matched = self.matched.saturating_add(1);
        while let Some(before) = self.pop_if(|first| first.order < came.order) {
            lost(before.missing());
        }
        if start > came.start {
            lost(Missing {
                end: start,
                ..came.missing()
            });
        }
        self.take_up_to(end);
        (!came.begun).then_some(Arrival {
            start: came.start,
            time: came.time,
            took: time - came.time,
        })
    }

    /// Returns true if data up to `end`, which are new before the link, were seen behind it
    /// earlier. In this case the data travel in the other direction, or the clocks of the tapping
    /// points differ.
    pub fn came_backward(&self, end: u64) -> bool {
        end <= self.beyond
    }

    /// Returns the queue that holds the packet that entered first.
    fn first(&mut self) -> &mut VecDeque<Crossing> {
        let order = |queue: &VecDeque<Crossing>| queue.front().map_or(u64::MAX, |c| c.order);
        if order(&self.again) < order(&self.fresh) {
            &mut self.again
        } else {
            &mut self.fresh
        }
    }

    fn pop_if(&mut self, condition: impl Fn(&Crossing) -> bool) -> Option<Crossing> {
        let queue = self.first();
        queue.front().copied().filter(condition)?;
        queue.pop_front()
    }

    /// Removes the data of a packet up to `end`, which may be several packets seen before the link.
    fn take_up_to(&mut self, end: u64) {
        let mut from = None;
        while let Some(front) = self.first().front_mut() {
            if from.is_some_and(|from| front.start != from) || front.start >= end {
                return;
            }
            if front.end > end {
                front.start = end;
                front.begun = true;
                return;
            }
            from = Some(front.end);
            self.first().pop_front();
        }
    }

    /// Returns the packet that arrived: the first that carries its bytes. Among several copies the
    /// match is the one whose time is closest to the usual time.
    fn find(&self, start: u64, end: u64, time: Nanos, usual: Option<Nanos>) -> Option<Crossing> {
        let carries = |crossing: &&Crossing| {
            crossing.start < end && start < crossing.end && crossing.time <= time
        };
        let place = self.fresh.partition_point(|fresh| fresh.end <= start);
        let fresh = self.fresh.get(place).filter(carries);
        let copies = || fresh.into_iter().chain(self.again.iter().filter(carries));
        let first = *copies().min_by_key(|crossing| crossing.order)?;
        let Some(usual) = usual else {
            return Some(first);
        };
        let is_whole = |copy: &&Crossing| copy.order == first.order || copy.start <= start;
        let unusual = |copy: &&Crossing| ((time - copy.time - usual).abs(), copy.order);
        copies().filter(is_whole).min_by_key(unusual).copied()
    }
}

impl Crossing {
    fn missing(&self) -> Missing {
        Missing {
            start: self.start,
            end: self.end,
            time: self.time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cross(
        crossings: &mut Crossings,
        start: u64,
        end: u64,
        time: Nanos,
    ) -> (Option<Nanos>, Vec<(u64, u64)>) {
        let mut missing = Vec::new();
        let arrival = crossings.leave(start, end, time, Some(10), |lost| {
            missing.push((lost.start, lost.end));
        });
        (arrival.map(|arrival| arrival.took), missing)
    }

    #[test]
    fn a_packet_that_is_overtaken_by_a_later_one_is_lost() {
        let mut crossings = Crossings::default();
        for packet in 0..4 {
            crossings.enter(packet * 100, packet * 100 + 100, packet as Nanos, false);
        }
        assert_eq!(cross(&mut crossings, 0, 100, 10), (Some(10), vec![]));
        assert_eq!(
            cross(&mut crossings, 300, 400, 12),
            (Some(9), vec![(100, 200), (200, 300)])
        );
        assert_eq!(cross(&mut crossings, 300, 400, 13), (None, vec![]));
        assert_eq!((crossings.matched, crossings.unmatched), (2, 1));
    }

    #[test]
    fn super_segments_match_their_segments_in_both_directions() {
        let mut crossings = Crossings::default();
        crossings.enter(0, 400, 0, false);
        crossings.enter(400, 800, 1, false);
        assert_eq!(cross(&mut crossings, 0, 100, 10), (Some(10), vec![]));
        assert_eq!(
            cross(&mut crossings, 200, 300, 11),
            (None, vec![(100, 200)])
        );
        assert_eq!(
            cross(&mut crossings, 400, 500, 12),
            (Some(11), vec![(300, 400)])
        );

        let mut crossings = Crossings::default();
        for packet in 0..4 {
            crossings.enter(packet * 100, packet * 100 + 100, 0, false);
        }
        assert_eq!(cross(&mut crossings, 0, 300, 10), (Some(10), vec![]));
        assert_eq!(cross(&mut crossings, 300, 400, 11), (Some(11), vec![]));
    }

    #[test]
    fn the_copy_with_the_usual_delay_is_matched() {
        let mut crossings = Crossings::default();
        crossings.enter(0, 100, 0, false);
        crossings.enter(0, 100, 500, true);
        assert_eq!(
            cross(&mut crossings, 0, 100, 510),
            (Some(10), vec![(0, 100)])
        );
    }
    /// The time of a match does not grow with the number of retransmissions and of packets in
    /// flight.
    #[test]
    fn an_arrival_is_matched_without_a_search() {
        let mut crossings = Crossings::default();
        crossings.enter(0, 100, 0, false);
        crossings.enter(0, 100, 1, true);
        assert_eq!(cross(&mut crossings, 0, 100, 2), (Some(2), vec![]));
        assert_eq!(cross(&mut crossings, 0, 100, 3), (Some(2), vec![]));
        assert!(crossings.again.is_empty());
        let many = MAX_CROSSING as u64;
        for packet in 1..=many {
            crossings.enter(packet * 100, packet * 100 + 50, 4, false);
        }
        let begun = std::time::Instant::now();
        for packet in 0..many {
            let start = (many - packet / 2) * 100 + 50;
            assert_eq!(cross(&mut crossings, start, start + 50, 5), (None, vec![]));
        }
        // A comparison with all packets in flight would take 50 microseconds or more per packet.
        assert!(begun.elapsed().as_secs_f64() < 1.0);
    }
}
