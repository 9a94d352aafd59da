//! A queue that is nearly full: the bursts of a slot arrive one after the other.

use crate::engine::Engine;
use crate::whole::floor;

/// Packets that one sender hands to its link at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burst {
    class: u32,
    piece: u32,
    /// Packets that are sent in answer to ACKs of as many packets.
    back: f64,
    /// Packets by which the window grew.
    extra: f64,
}

impl Engine {
    /// Lets the slot's bursts arrive at a queue that is nearly full. The packets for which the
    /// queue has no room are lost. Returns the packets lost.
    ///
    /// If all flows have the same round-trip time, a burst arrives when the packets that it
    /// replaces have left, because the ACKs of consecutive departures trigger it. Each train has a
    /// phase of its own within the time of one burst: an odd packet between trains moves them
    /// against each other. If round-trip times differ, bursts arrive at random times.
    pub(crate) fn overflow(&mut self, before: f64, now_s: f64) -> f64 {
        let mut bursts = std::mem::take(&mut self.bursts);
        self.fill(&mut bursts);
        let together = self.classes.len() == 1;
        let back: f64 = bursts.iter().map(|burst| burst.back).sum();
        let served_each = if back > 0.0 {
            self.per_slot / back
        } else {
            0.0
        };
        let (mut waiting, mut lost, mut gone, mut furthest) = (before, 0.0, 0.0, 0.0_f64);
        let unit = self.classes[0].shape().unit;
        let (mut flow, mut phase) = (u32::MAX, 0.5 * unit);
        for (number, burst) in bursts.iter().enumerate() {
            // Packets that the link sends between the previous burst and this one.
            let gap = if together {
                let old = phase;
                let its = self.classes[0].sent()[burst.piece as usize].flow();
                if its != flow {
                    flow = its;
                    phase = unit * self.noise.unit();
                }
                served_each * burst.back + phase - old
            } else {
                let rest = (bursts.len() - number) as f64;
                (self.per_slot - gone) * (1.0 - libm::pow(self.noise.unit(), 1.0 / rest))
            };
            gone += gap;
            furthest = furthest.max(gone);
            let amount = burst.back + burst.extra;
            waiting = (waiting - gap).max(0.0) + amount;
            let count = excess(waiting - self.buffer, amount);
            if count > 0.0 {
                waiting -= count;
                lost += count;
                self.lose(burst.class as usize, burst.piece as usize, count, now_s);
            }
            if gone > self.per_slot {
                self.late += amount - count;
            }
        }
        self.bursts = bursts;
        self.early = self.early.max(furthest - self.per_slot);
        lost + self.background_overflow(waiting - (self.per_slot - gone))
    }

    /// Fills in the bursts of the slot, in their order of arrival.
    fn fill(&mut self, bursts: &mut Vec<Burst>) {
        bursts.clear();
        for (place, class) in self.classes.iter().enumerate() {
            let unit = class.shape().unit;
            for (piece, sent) in class.sent().iter().enumerate() {
                let (mut left, mut more) = (sent.amount - sent.extra, sent.extra);
                while left + more > 0.0 {
                    let back = left.min(unit);
                    left -= back;
                    // An ACK releases one packet more than it acknowledges.
                    let extra = if left > 0.0 { more.min(1.0) } else { more };
                    more -= extra;
                    bursts.push(Burst {
                        class: place as u32,
                        piece: piece as u32,
                        back,
                        extra,
                    });
                }
            }
        }
        if self.classes.len() > 1 {
            for last in (1..bursts.len()).rev() {
                bursts.swap(last, self.noise.below(last + 1));
            }
        }
    }

    /// Adds the traffic that does not react, as a fluid, to the packets that wait at the end of the
    /// slot. Returns the packets that it loses.
    fn background_overflow(&mut self, waiting: f64) -> f64 {
        let amount = *self.last_batch();
        let count = excess(waiting.max(0.0) + amount - self.buffer, amount);
        *self.last_batch() -= count;
        count
    }
}

/// Packets that an arrival of `amount` loses. With the whole arrival the queue would hold `above`
/// packets more than its buffer.
///
/// Losses are whole packets. An excess of one packet alone is lost only if the arrival has at least half
/// a packet, because a packet may be in transmission.
fn excess(above: f64, amount: f64) -> f64 {
    if above >= 2.0 || (above >= 1.0 && amount >= 0.5) {
        floor(above).min(amount)
    } else {
        0.0
    }
}
