//! Statistics of a stream of datagrams at its receiver.

use crate::Distribution;
use goodqueue_types::{CompactHistogram, Packet, Time};

/// Packets that arrived in time, late, or not at all. They count from the first that arrived to the
/// last (RFC 3550 appendix A.3), because the receiver does not know of others.
#[derive(Debug)]
pub struct Receipts {
    measured_from: Time,
    /// Numbers of the first and the last packet measured.
    numbers: Option<(u64, u64)>,
    late: u64,
    heard: Heard,
    /// One-way delays in nanoseconds.
    delay_ns: CompactHistogram,
}

/// Record of the latest packets that arrived. It is needed because links can copy packets.
#[derive(Debug, Default)]
struct Heard {
    last: u64,
    /// Bit k is set if the packet k before the last one has arrived.
    recent: u128,
}

impl Heard {
    /// Records a packet and returns true if it has not arrived before. A packet that is further
    /// back than the record reaches counts as new.
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
    /// Creates statistics that ignore packets which arrive before `measured_from`.
    pub fn new(measured_from: Time) -> Self {
        Self {
            measured_from,
            numbers: None,
            late: 0,
            heard: Heard::default(),
            delay_ns: CompactHistogram::default(),
        }
    }

    /// Records a packet, which may be too late to be used. Returns true if it is no copy.
    pub fn record(&mut self, now: Time, packet: &Packet, late: bool) -> bool {
        let (number, delay) = (packet.number, now - packet.sent);
        let is_new = self.heard.is_new(number);
        if !is_new || now < self.measured_from {
            return is_new;
        }
        let (first, last) = self.numbers.unwrap_or((number, number));
        self.numbers = Some((first.min(number), last.max(number)));
        self.late += u64::from(late);
        if self.delay_ns.is_empty() {
            // The histogram has room for delays up to 64 times the first, so that the loop does not
            // allocate.
            self.delay_ns.reserve_octaves(7);
        }
        self.delay_ns.record(delay.0 / 1_000);
        true
    }

    /// Returns the number of packets that should have arrived.
    pub fn expected(&self) -> u64 {
        self.numbers.map_or(0, |(first, last)| last - first + 1)
    }

    /// Returns the number of packets that arrived too late.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Returns the share of packets that did not arrive or arrived too late.
    pub fn loss(&self) -> Option<f64> {
        let in_time = self.delay_ns.total() - self.late;
        let expected = self.expected();
        (expected > 0).then(|| 1.0 - in_time as f64 / expected as f64)
    }

    /// Returns the one-way delays of the packets that arrived, late or not.
    pub fn delays(&self) -> Distribution {
        Distribution::from_histogram(&(&self.delay_ns).into(), 1e9)
    }
}
