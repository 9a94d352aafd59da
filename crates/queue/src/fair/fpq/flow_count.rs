//! Estimate of the number of active flows from a bit vector.

use crate::fair::flows::{FlowHash, scale};
use goodqueue_types::{Packet, RandomStream, Span, Time};

/// Counter of flows. Each packet sets the bit that its flow hashes to. A hand goes round the vector
/// and clears one bit after another, so a flow that falls silent is forgotten within a round.
#[derive(Clone, Debug)]
pub struct FlowCount {
    words: Box<[u64]>,
    bits: u64,
    set: u64,
    hash: FlowHash,
    /// Time from bit to bit.
    step: Span,
    hand: u64,
    next_step: Time,
}

impl FlowCount {
    /// Creates a counter without flows, with a vector of `bits` bits (at least one) that is cleared
    /// once in `interval`.
    pub fn new(bits: u32, interval: Span, random: &mut RandomStream) -> Self {
        let bits = u64::from(bits.max(1));
        let step = Span((interval.0 / bits).max(1));
        Self {
            words: vec![0; bits.div_ceil(64) as usize].into(),
            bits,
            set: 0,
            hash: FlowHash::new(random),
            step,
            hand: 0,
            next_step: Time::ZERO + step,
        }
    }

    /// Counts the flow of a packet.
    pub fn see(&mut self, now: Time, packet: &Packet) {
        self.clear_until(now);
        let index = scale(self.hash.flow(packet), self.bits as u32);
        let (word, bit) = place(u64::from(index));
        self.set += u64::from(self.words[word] & bit == 0);
        self.words[word] |= bit;
    }

    /// Returns the number of bits that are set. This is Morris's count, in which two flows on one
    /// bit count as one.
    pub fn bits_set(&self) -> u64 {
        self.set
    }

    /// Returns the estimated number of flows: `n` flows leave a share of e^(-n / bits) of the bits
    /// unset (Whang, Vander-Zanden and Taylor, "A Linear-Time Probabilistic Counting Algorithm",
    /// 1990).
    pub fn flows(&self) -> f64 {
        let bits = self.bits as f64;
        // A full vector only shows that there are many flows. The estimate assumes that half a bit
        // is unset.
        let unset = ((self.bits - self.set) as f64).max(0.5);
        -bits * libm::log(unset / bits)
    }

    /// Moves the hand to its position at `now`. More than one round would clear nothing more.
    fn clear_until(&mut self, now: Time) {
        let steps = (now.saturating_since(self.next_step).0 / self.step.0) + 1;
        if now < self.next_step {
            return;
        }
        let mut left = steps.min(self.bits);
        while left > 0 && self.set > 0 {
            // All bits of a word are cleared at once, because a vector may have a hundred million.
            let (word, bit) = place(self.hand);
            let rest = (64 - self.hand % 64).min(self.bits - self.hand).min(left);
            let mask = (u64::MAX >> (64 - rest)) * bit;
            self.set -= u64::from((self.words[word] & mask).count_ones());
            self.words[word] &= !mask;
            self.hand = (self.hand + rest) % self.bits;
            left -= rest;
        }
        self.hand = (self.hand + left) % self.bits;
        self.next_step = self
            .next_step
            .saturating_add(self.step.saturating_mul(steps));
    }
}

/// Returns the word in which a bit lies, and the bit's mask.
fn place(index: u64) -> (usize, u64) {
    ((index / 64) as usize, 1 << (index % 64))
}
