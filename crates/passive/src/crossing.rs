//! The same packets at two tapping points: how long each took, and which never came.
//!
//! Packets are matched by the bytes they carry, so that a capture of super-segments before the link
//! matches segments after it. Within a flow order is kept: what was sent before a packet that came,
//! and did not come, was dropped.

use crate::Nanos;
use std::collections::VecDeque;

/// More packets on their way are not followed.
const MOST_CROSSING: usize = 1 << 16;

#[derive(Clone, Copy, Debug)]
struct Crossing {
    start: u64,
    end: u64,
    time: Nanos,
    /// Some of it came already.
    begun: bool,
}

/// What never came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    pub start: u64,
    pub end: u64,
    /// When it was seen before the link.
    pub time: Nanos,
}

/// What came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub start: u64,
    /// When it was seen before the link.
    pub time: Nanos,
    pub took: Nanos,
}

/// The packets of a flow on their way.
#[derive(Debug, Default)]
pub struct Crossings {
    on_their_way: VecDeque<Crossing>,
    /// Retransmissions among them.
    again: usize,
    pub matched: u64,
    pub unmatched: u64,
    /// The end of what was seen behind the link.
    beyond: u64,
}

impl Crossings {
    /// A packet was seen before the link.
    pub fn enter(&mut self, start: u64, end: u64, time: Nanos, again: bool) {
        if self.on_their_way.len() >= MOST_CROSSING {
            self.on_their_way.pop_front();
        }
        self.again += usize::from(again);
        self.on_their_way.push_back(Crossing {
            start,
            end,
            time,
            begun: false,
        });
    }

    /// A packet was seen after the link; `usual` is how long packets take at present. What is missing
    /// before it is handed to `lost`.
    pub fn leave(
        &mut self,
        start: u64,
        end: u64,
        time: Nanos,
        usual: Option<Nanos>,
        mut lost: impl FnMut(Missing),
    ) -> Option<Arrival> {
        self.beyond = self.beyond.max(end);
        let Some(place) = self.place_of(start, end, time, usual) else {
            self.unmatched += 1;
            return None;
        };
        self.matched += 1;
        for missing in self.on_their_way.drain(..place) {
            lost(missing.missing());
        }
        let first = self.on_their_way[0];
        if start > first.start {
            lost(Missing {
                end: start,
                ..first.missing()
            });
        }
        self.take_up_to(end);
        if self.on_their_way.is_empty() {
            self.again = 0;
        }
        (!first.begun).then_some(Arrival {
            start: first.start,
            time: first.time,
            took: time - first.time,
        })
    }

    /// Whether data up to `end` that are new before the link were seen behind it already: they go the
    /// other way, or the clocks of both points differ.
    pub fn came_backward(&self, end: u64) -> bool {
        end <= self.beyond
    }

    /// Removes what a packet up to `end` carried, which may be several that were seen before.
    fn take_up_to(&mut self, end: u64) {
        let mut from = None;
        while let Some(front) = self.on_their_way.front_mut() {
            if from.is_some_and(|from| front.start != from) || front.start >= end {
                return;
            }
            if front.end > end {
                front.start = end;
                front.begun = true;
                return;
            }
            from = Some(front.end);
            self.on_their_way.pop_front();
        }
    }

    /// Which of those on their way came: the first that carries its bytes; of several copies the one
    /// that took about as long as others do.
    fn place_of(&self, start: u64, end: u64, time: Nanos, usual: Option<Nanos>) -> Option<usize> {
        let mut copies = self
            .on_their_way
            .iter()
            .enumerate()
            .filter(|(_, crossing)| {
                crossing.start < end && start < crossing.end && crossing.time <= time
            });
        let (first, _) = copies.next()?;
        let Some(usual) = usual.filter(|_| self.again > 0) else {
            return Some(first);
        };
        let unusual = |crossing: &Crossing| (time - crossing.time - usual).abs();
        let best = copies.fold(
            (first, unusual(&self.on_their_way[first])),
            |best, (place, crossing)| {
                let other = unusual(crossing);
                let whole = crossing.start <= start;
                if whole && other < best.1 {
                    (place, other)
                } else {
                    best
                }
            },
        );
        Some(best.0)
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
    fn what_does_not_come_before_what_does_is_lost() {
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
    fn super_segments_match_their_segments_and_the_other_way_round() {
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
    fn of_two_copies_the_one_that_fits_came() {
        let mut crossings = Crossings::default();
        crossings.enter(0, 100, 0, false);
        crossings.enter(0, 100, 500, true);
        assert_eq!(
            cross(&mut crossings, 0, 100, 510),
            (Some(10), vec![(0, 100)])
        );
    }
}
