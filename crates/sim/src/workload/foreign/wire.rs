//! The bytes of the datagrams that travel in one direction of a flow.

use goodqueue_types::{Span, Time};
use std::collections::{BTreeMap, VecDeque};

/// Most datagrams that were overtaken and whose bytes are kept.
const MAX_OVERTAKEN: usize = 1 << 16;
/// Time for which the bytes of a datagram are kept after a later one has arrived, measured between
/// the times of sending. No path holds one packet of a flow for so long and lets others pass.
const KEPT_FOR: Span = Span::from_secs(5);
/// Most buffers that are kept for later datagrams.
const MAX_SPARE: usize = 1 << 10;

/// The bytes of the datagrams under way in one direction, by the number of their packet.
///
/// Packets are values without payload, so that queues handle them fast. A packet that was lost leaves
/// its bytes here, which are discarded some time after a later packet has arrived.
#[derive(Debug)]
pub struct Wire {
    /// Number of the first datagram in `ahead`.
    first: u64,
    /// Datagrams sent after all that have arrived.
    ahead: VecDeque<Sent>,
    /// Datagrams sent before one that has arrived, by number.
    overtaken: BTreeMap<u64, Sent>,
    /// Buffers without use.
    spare: Vec<Vec<u8>>,
    /// True if a datagram may arrive more than once.
    copies: bool,
}

#[derive(Debug)]
struct Sent {
    at: Time,
    bytes: Vec<u8>,
}

impl Wire {
    /// Creates an empty wire.
    pub fn new(copies: bool) -> Self {
        Self {
            first: 0,
            ahead: VecDeque::new(),
            overtaken: BTreeMap::new(),
            spare: Vec::new(),
            copies,
        }
    }

    /// Takes the next datagram. The first one has number 0.
    pub fn send(&mut self, at: Time, datagram: &[u8]) {
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(datagram);
        self.ahead.push_back(Sent { at, bytes });
    }

    /// Writes the bytes of the datagram of this number, which arrives. Returns false if they are not
    /// kept any longer.
    pub fn arrive(&mut self, number: u64, datagram: &mut Vec<u8>) -> bool {
        if number < self.first {
            return self.arrive_late(number, datagram);
        }
        while self.first < number {
            let Some(lost) = self.ahead.pop_front() else {
                return false;
            };
            self.overtaken.insert(self.first, lost);
            self.first += 1;
        }
        let Some(sent) = self.ahead.pop_front() else {
            return false;
        };
        self.first += 1;
        self.discard(sent.at);
        if self.copies {
            datagram.clone_from(&sent.bytes);
            self.overtaken.insert(number, sent);
        } else {
            let unused = std::mem::replace(datagram, sent.bytes);
            self.reuse(unused);
        }
        true
    }

    #[cold]
    fn arrive_late(&mut self, number: u64, datagram: &mut Vec<u8>) -> bool {
        if self.copies {
            let sent = self.overtaken.get(&number);
            return sent
                .inspect(|sent| datagram.clone_from(&sent.bytes))
                .is_some();
        }
        let sent = self.overtaken.remove(&number);
        sent.map(|sent| *datagram = sent.bytes).is_some()
    }

    /// Discards overtaken datagrams that no longer arrive, after one that was sent at `at` has arrived.
    fn discard(&mut self, at: Time) {
        while let Some(oldest) = self.overtaken.first_entry() {
            let is_late = at.saturating_since(oldest.get().at) > KEPT_FOR;
            if !is_late && self.overtaken.len() <= MAX_OVERTAKEN {
                return;
            }
            if let Some((_, sent)) = self.overtaken.pop_first() {
                self.reuse(sent.bytes);
            }
        }
    }

    fn reuse(&mut self, buffer: Vec<u8>) {
        if self.spare.len() < MAX_SPARE && buffer.capacity() > 0 {
            self.spare.push(buffer);
        }
    }

    /// Estimates the bytes of memory.
    pub fn bytes(&self) -> usize {
        let kept = self.ahead.iter().chain(self.overtaken.values());
        let kept: usize = kept.map(|sent| size_of::<Sent>() + sent.bytes.len()).sum();
        kept + self.spare.iter().map(Vec::capacity).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(s: u64) -> Time {
        Time::ZERO + Span::from_secs(s)
    }

    fn arrives(wire: &mut Wire, number: u64) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        wire.arrive(number, &mut bytes).then_some(bytes)
    }

    #[test]
    fn datagrams_arrive_whole_in_any_order() {
        let mut wire = Wire::new(false);
        for number in 0..4_u8 {
            wire.send(second(0), &[number; 3]);
        }
        assert_eq!(arrives(&mut wire, 2), Some(vec![2; 3]));
        assert_eq!(arrives(&mut wire, 0), Some(vec![0; 3]));
        assert_eq!(arrives(&mut wire, 3), Some(vec![3; 3]));
        assert_eq!(arrives(&mut wire, 1), Some(vec![1; 3]));
        // Nothing was sent with this number, and no link makes copies.
        assert_eq!(arrives(&mut wire, 4), None);
        assert_eq!(arrives(&mut wire, 1), None);
    }

    #[test]
    fn a_copy_arrives_like_the_original() {
        let mut wire = Wire::new(true);
        wire.send(second(0), &[7]);
        wire.send(second(0), &[8]);
        for number in [0, 1, 0, 1] {
            assert_eq!(arrives(&mut wire, number), Some(vec![7 + number as u8]));
        }
    }

    #[test]
    fn the_bytes_of_lost_datagrams_are_discarded() {
        for copies in [false, true] {
            let mut wire = Wire::new(copies);
            let mut most = 0;
            // Every other datagram is lost, 100 are sent in a second.
            for number in 0..60_000 {
                wire.send(second(number / 100), &[0; 100]);
                if number % 2 == 1 {
                    assert!(arrives(&mut wire, number).is_some());
                }
                most = most.max(wire.bytes());
            }
            // Those of five seconds are kept, and buffers for as many as are spare.
            let kept = 6 * if copies { 100 } else { 50 };
            let kept = (100 + size_of::<Sent>()) * kept + 100 * MAX_SPARE;
            assert!(most <= kept, "{most} of {kept}");
        }
    }

    #[test]
    fn the_number_of_kept_datagrams_is_bounded() {
        let mut wire = Wire::new(false);
        for number in 0..3 * MAX_OVERTAKEN as u64 {
            wire.send(second(0), &[number as u8]);
        }
        let last = 3 * MAX_OVERTAKEN as u64 - 1;
        assert!(arrives(&mut wire, last).is_some());
        assert_eq!(arrives(&mut wire, 0), None);
        assert!(arrives(&mut wire, last - 1).is_some());
    }
}
