//! One-way delays of a flow's packets, and their variation.

use crate::{Distribution, OneWayDelay};
use goodqueue_types::{CompactHistogram, Histogram, Packet, Span, Time};

/// Octaves from 2^10 ns, a microsecond, to 2^36 ns, a minute, and one for delays without variation.
const OCTAVES: usize = 27;

/// Delays of the packets that reach one host.
#[derive(Clone, Debug)]
pub struct DelayMeter {
    /// Smallest possible delay in nanoseconds. Histograms hold the excess over it, so that their
    /// errors are relative to the varying part.
    floor_ns: u64,
    above_floor_ns: CompactHistogram,
    least_ns: u64,
    /// Time at which the first packet that arrived was sent.
    first_sent: Time,
    /// Time at which the last packet arrived.
    last_arrival: Time,
    variation: Option<Variation>,
}

/// Differences between the delays of packets that were sent one after the other, in nanoseconds.
#[derive(Clone, Debug, Default)]
struct Variation {
    /// Number and delay of the packet that arrived last.
    last: Option<(u64, u64)>,
    ipdv_ns: CompactHistogram,
}

impl DelayMeter {
    /// Creates a meter of packets whose delay is at least `floor`. If `pairs` is true, the delays
    /// of packets sent one after the other are compared.
    pub fn new(floor: Span, pairs: bool) -> Self {
        Self {
            floor_ns: floor.0 / 1_000,
            above_floor_ns: CompactHistogram::default(),
            least_ns: u64::MAX,
            first_sent: Time::ZERO,
            last_arrival: Time::ZERO,
            variation: pairs.then(Variation::default),
        }
    }

    /// Records the arrival of a packet.
    #[inline]
    pub fn arrival(&mut self, now: Time, packet: &Packet) {
        let delay_ns = (now - packet.sent).0 / 1_000;
        let above_ns = delay_ns.saturating_sub(self.floor_ns);
        self.last_arrival = now;
        if above_ns < self.least_ns {
            self.note_least(above_ns, packet.sent);
        }
        self.above_floor_ns.record(above_ns);
        if let Some(variation) = &mut self.variation {
            variation.arrival(packet.number, delay_ns);
        }
    }

    /// Records the first delay or a new smallest one.
    #[cold]
    fn note_least(&mut self, above_ns: u64, sent: Time) {
        if self.least_ns == u64::MAX {
            self.first_sent = sent;
            // The histograms have room for excess delays from a microsecond to a minute, so that
            // the loop does not allocate.
            self.above_floor_ns.reserve_octaves(OCTAVES);
            if let Some(variation) = &mut self.variation {
                variation.ipdv_ns.reserve_octaves(OCTAVES);
            }
        }
        self.least_ns = above_ns;
    }

    /// Returns the results.
    pub fn outcome(&self) -> OneWayDelay {
        let floor = self.floor_ns as f64;
        let seconds = |ns: f64| (floor + ns) / 1e9;
        let histogram = &Histogram::from(&self.above_floor_ns);
        let any = histogram.total() > 0;
        let least = any.then_some(self.least_ns);
        // The middle of a bin may lie below the smallest value in it.
        let quantile = |q| {
            histogram
                .quantile(q)
                .zip(least)
                .map(|(value, least)| value.max(least))
        };
        let variation = |q| {
            let above = quantile(q).zip(least);
            above.map(|(value, least)| (value - least) as f64 / 1e9)
        };
        OneWayDelay {
            min_s: least.map(|ns| seconds(ns as f64)),
            delay_s: Distribution {
                mean: histogram.mean().map(seconds),
                p50: quantile(0.5).map(|ns| seconds(ns as f64)),
                p95: quantile(0.95).map(|ns| seconds(ns as f64)),
                p99: quantile(0.99).map(|ns| seconds(ns as f64)),
                max: histogram.max().map(|ns| seconds(ns as f64)),
            },
            p99_pdv_s: variation(0.99),
            p999_pdv_s: variation(0.999),
            span_s: any.then(|| (self.last_arrival - self.first_sent).as_secs_f64()),
            ipdv_s: self
                .variation
                .as_ref()
                .map_or_else(Distribution::default, |variation| {
                    Distribution::from_histogram(&(&variation.ipdv_ns).into(), 1e9)
                }),
        }
    }
}

impl Variation {
    /// Records a pair as RFC 3393 defines it: packets that were sent one after the other and both
    /// arrive in this order.
    fn arrival(&mut self, number: u64, delay_ns: u64) {
        if let Some((last, last_ns)) = self.last
            && last + 1 == number
        {
            self.ipdv_ns.record(delay_ns.abs_diff(last_ns));
        }
        self.last = Some((number, delay_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variations_are_those_of_the_rfcs() {
        let mut meter = DelayMeter::new(Span::from_millis(10), true);
        let ms = Span::from_millis;
        // Packet 4 is lost, so it forms no pair with 3 or 5.
        for (number, delay) in [(0, 12), (1, 15), (2, 11), (3, 11), (5, 31)] {
            let sent = Time::ZERO + ms(20 * number);
            let packet = Packet {
                number,
                sent,
                ..Packet::default()
            };
            meter.arrival(sent + ms(delay), &packet);
        }
        let outcome = meter.outcome();
        assert_eq!(outcome.min_s, Some(0.011));
        assert_eq!(outcome.delay_s.mean, Some(0.016));
        assert_eq!(outcome.delay_s.max, Some(0.031));
        // RFC 5481 measures the variation above the smallest delay. The largest value is exact.
        assert_eq!(outcome.p999_pdv_s, Some(0.02));
        // The first packet is sent at 0, and the last arrives at 5 × 20 ms + 31 ms.
        assert_eq!(outcome.span_s, Some(0.131));
        // The differences are 3, 4 and 0 ms.
        assert_eq!(outcome.ipdv_s.max, Some(0.004));
        let mean = outcome.ipdv_s.mean.expect("pairs");
        assert!((mean - 0.007 / 3.0).abs() < 1e-15);
        assert_eq!(
            DelayMeter::new(ms(1), true).outcome(),
            OneWayDelay::default()
        );
    }
}
