//! What came of a stream of datagrams, as its receiver sees it.

use crate::Distribution;
use goodqueue_types::{CompactHistogram, Packet, Time};

/// Packets that arrived in time, late, or not at all. They count from the first that arrived to the
/// last (RFC 3550 appendix A.3): the receiver does not know of others.
#[derive(Debug)]
pub struct Receipts {
    measured_from: Time,
    /// Numbers of the first and the last packet of those measured.
    numbers: Option<(u64, u64)>,
    late: u64,
    heard: Heard,
    /// One-way delays in nanoseconds.
    delay_ns: CompactHistogram,
}

/// Which of the latest packets came already; links can copy packets.
#[derive(Debug, Default)]
struct Heard {
    last: u64,
    /// Bit k: the packet k before the last one.
    recent: u128,
}

impl Heard {
    /// Notes a packet. Those further back than there are bits, which come too late, pass for new.
    fn is_new(&mut self, number: u64) -> bool {
        let ahead = number.saturating_sub(self.last).min(127) as u32;
        let far_ahead = number > self.last + 127;
        self.recent = if far_ahead { 0 } else { self.recent << ahead };
        self.last = self.last.max(number);
        let back = self.last - number;
        let bit = if back < 128 { 1_u128 << back } else { 0 };
        let is_new = self.recent & bit == 0;
        self.recent |= bit;
        is_new
    }
}

impl Receipts {
    /// What arrives before this time does not count.
    pub fn new(measured_from: Time) -> Self {
        Self {
            measured_from,
            numbers: None,
            late: 0,
            heard: Heard::default(),
            delay_ns: CompactHistogram::default(),
        }
    }

    /// A packet arrives, too late to be of use or not.
    pub fn record(&mut self, now: Time, packet: &Packet, late: bool) {
        let (number, delay) = (packet.number, now - packet.sent);
        if !self.heard.is_new(number) || now < self.measured_from {
            return;
        }
        let (first, last) = self.numbers.unwrap_or((number, number));
        self.numbers = Some((first.min(number), last.max(number)));
        self.late += u64::from(late);
        if self.delay_ns.total() == 0 {
            // Room for delays up to 64 times the first, so that the loop does not allocate.
            self.delay_ns.reserve_octaves(7);
        }
        self.delay_ns.record(delay.0 / 1_000);
    }

    /// How many should have come.
    pub fn expected(&self) -> u64 {
        self.numbers.map_or(0, |(first, last)| last - first + 1)
    }

    /// How many came too late.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// The share that did not come, or came too late.
    pub fn loss(&self) -> Option<f64> {
        let in_time = self.delay_ns.total() - self.late;
        let expected = self.expected();
        (expected > 0).then(|| 1.0 - in_time as f64 / expected as f64)
    }

    /// One-way delays of those that came, late or not.
    pub fn delays(&self) -> Distribution {
        Distribution::of(&(&self.delay_ns).into(), 1e9)
    }
}
