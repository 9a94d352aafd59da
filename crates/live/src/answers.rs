//! Delays of acknowledgements within hosts, which show how late programs read.
//!
//! A TCP receiver acknowledges at once when more than one full segment waits for it (RFC 5681 section
//! 4.2). Linux does so only if the receive window has room, and otherwise when the program has read. The
//! time from the delivery of the segment that makes an acknowledgement due to this acknowledgement is
//! thus one of the host and its program, and no part of the emulated network.

use goodqueue_types::{Body, Direction, FlowId, Packet, Span, Time};
use std::collections::{HashMap, VecDeque};

/// Largest number of connections and directions that are followed. Further ones are left out.
const MAX_FOLLOWED: usize = 1024;

/// Largest number of segments of one connection that wait for their acknowledgement. Further ones are
/// left out.
const MAX_WAITING: usize = 4096;

/// Delays of the acknowledgements of all hosts.
#[derive(Debug, Default)]
pub struct Answers {
    /// Receivers of data by flow, connection and the data's direction.
    receivers: HashMap<(FlowId, u32, Direction), Receiver>,
}

impl Answers {
    /// Records that a packet reached its host.
    pub fn delivered(&mut self, now: Time, packet: &Packet) {
        let Body::Tcp(segment) = packet.body else {
            return;
        };
        if segment.payload == 0 {
            return;
        }
        let key = (packet.flow, packet.connection, packet.direction);
        let is_full = self.receivers.len() >= MAX_FOLLOWED;
        if is_full && !self.receivers.contains_key(&key) {
            return;
        }
        let receiver = self.receivers.entry(key).or_default();
        receiver.take(now, segment.seq as u32, segment.payload);
    }

    /// Records that a host sent a packet. Returns the time for which it was due if it acknowledges more
    /// than one full segment.
    pub fn sent(&mut self, now: Time, packet: &Packet) -> Option<Span> {
        let Body::Tcp(segment) = packet.body else {
            return None;
        };
        let key = (packet.flow, packet.connection, packet.direction.opposite());
        let receiver = self.receivers.get_mut(&key)?;
        let due = receiver.acknowledged(segment.ack as u32)?;
        Some(now.saturating_since(due))
    }
}

/// The receiver of one direction of a connection.
///
/// Acknowledgements of segments behind a gap do not cover them until the gap is filled, which takes a
/// round trip. Nothing is recorded until everything that was delivered has been acknowledged.
#[derive(Debug, Default)]
struct Receiver {
    /// End of the segments that were delivered; none before the first one.
    end: Option<u32>,
    /// Largest payload of a segment, in bytes.
    full: u32,
    /// End of the segments that were acknowledged.
    acknowledged: u32,
    /// True since a segment did not follow the one before it.
    has_gap: bool,
    /// End and time of delivery of the segments without an acknowledgement, in order.
    waiting: VecDeque<(u32, Time)>,
}

impl Receiver {
    fn take(&mut self, now: Time, seq: u32, payload: u32) {
        let end = seq.wrapping_add(payload);
        self.full = self.full.max(payload);
        if self.end.is_none() {
            self.acknowledged = seq;
        }
        if self.end.is_some_and(|expected| expected != seq) {
            self.has_gap = true;
            self.waiting.clear();
        }
        if self.end.is_none_or(|before| is_after(end, before)) {
            self.end = Some(end);
        }
        if !self.has_gap && self.waiting.len() < MAX_WAITING {
            self.waiting.push_back((end, now));
        }
    }

    /// Returns the time since which this acknowledgement was due, none if it was not.
    fn acknowledged(&mut self, ack: u32) -> Option<Time> {
        if self.end.is_some_and(|end| !is_after(end, ack)) {
            self.has_gap = false;
        }
        let covered = self.waiting.iter();
        let covered = covered.take_while(|(end, _)| !is_after(*end, ack)).count();
        let (before, full) = (self.acknowledged, self.full);
        if is_after(ack, before) {
            self.acknowledged = ack;
        }
        let mut covered = self.waiting.drain(..covered);
        let due = covered.find(|(end, _)| end.wrapping_sub(before) > full);
        due.map(|(_, time)| time)
    }
}

/// Returns true if the first sequence number comes after the second one (RFC 9293 section 3.4).
fn is_after(first: u32, second: u32) -> bool {
    first.wrapping_sub(second) as i32 > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: u32 = u32::MAX;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn an_acknowledgement_is_due_at_the_second_full_segment() {
        let mut receiver = Receiver::default();
        // Sequence numbers pass their largest value.
        receiver.take(at(1), LAST - 9, 10);
        assert_eq!(receiver.acknowledged(0), None, "the program has read it");
        receiver.take(at(2), 0, 10);
        receiver.take(at(3), 10, 10);
        receiver.take(at(4), 20, 10);
        assert_eq!(receiver.acknowledged(0), None, "again");
        assert_eq!(receiver.acknowledged(30), Some(at(3)));
        assert_eq!(receiver.acknowledged(30), None);
    }

    #[test]
    fn small_segments_wait_until_they_are_more_than_a_full_one() {
        let mut receiver = Receiver::default();
        receiver.take(at(1), 0, 10);
        assert_eq!(receiver.acknowledged(10), None);
        for (ms, seq) in [(2, 10), (3, 14), (4, 18), (5, 22)] {
            receiver.take(at(ms), seq, 4);
        }
        assert_eq!(receiver.acknowledged(26), Some(at(4)));
    }

    #[test]
    fn nothing_is_due_while_a_segment_is_missing() {
        let mut receiver = Receiver::default();
        receiver.take(at(1), 0, 10);
        receiver.take(at(2), 20, 10);
        assert_eq!(receiver.acknowledged(10), None);
        receiver.take(at(40), 10, 10);
        receiver.take(at(41), 30, 10);
        assert_eq!(receiver.acknowledged(30), None);
        assert_eq!(receiver.acknowledged(40), None);
        receiver.take(at(50), 40, 10);
        receiver.take(at(51), 50, 10);
        assert_eq!(receiver.acknowledged(60), Some(at(51)));
    }

    #[test]
    fn the_number_of_segments_that_wait_is_bounded() {
        let mut receiver = Receiver::default();
        for segment in 0..2 * MAX_WAITING as u32 {
            receiver.take(at(1), segment, 1);
        }
        assert_eq!(receiver.waiting.len(), MAX_WAITING);
    }

    #[test]
    fn an_acknowledgement_belongs_to_the_other_direction_of_its_connection() {
        let packet = |direction, connection, payload| Packet {
            direction,
            connection,
            body: Body::Tcp(goodqueue_types::Segment {
                payload,
                seq: if payload == 60 { 40 } else { 0 },
                ack: u64::from(payload == 0) * 100,
                ..goodqueue_types::Segment::default()
            }),
            ..Packet::default()
        };
        let mut answers = Answers::default();
        for payload in [40, 60] {
            answers.delivered(at(1), &packet(Direction::Forward, 7, payload));
        }
        let mut sent = |direction, connection| {
            let answer = packet(direction, connection, 0);
            answers.sent(at(4), &answer)
        };
        assert_eq!(sent(Direction::Forward, 7), None);
        assert_eq!(sent(Direction::Reverse, 8), None);
        assert_eq!(sent(Direction::Reverse, 7), Some(Span::from_millis(3)));
        assert_eq!(sent(Direction::Reverse, 7), None);
    }
}
