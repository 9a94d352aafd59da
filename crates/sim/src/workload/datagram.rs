//! Sources of datagrams without answers: constant bit rate, Poisson, bursts, on and off.

use super::Outgoing;
use crate::{Law, PacketSize};
use goodqueue_types::{Body, RandomStream, Span, Time};

/// Bytes of the IP and UDP or ICMP headers (RFC 791, 768, 792), which are not payload.
pub const DATAGRAM_HEADER: u64 = 28;

/// Source that sends a packet, or a burst, at each of its times.
#[derive(Debug)]
pub struct Source {
    next: Time,
    /// Number of packets to send now.
    due: u32,
    /// Number of packets at each time.
    burst: u32,
    timing: Timing,
    packet: PacketSize,
    /// Time from which no packet is sent.
    stops_at: Time,
    random: Option<Box<RandomStream>>,
}

#[derive(Debug)]
enum Timing {
    Constant(Span),
    /// Uniform from an interval less a share of it to the interval plus that share.
    Uniform(Span, f64),
    Exponential(Span),
    OnOff(Box<OnOff>),
}

/// Most periods until the next packet. A law whose periods are longer only once in more of them is
/// taken to be silent.
const MAX_PERIODS: u32 = 1_000_000;

/// Alternating on and off periods. A packet is sent whenever the time spent in on periods is a
/// multiple of the interval, so the mean rate is the rate of on periods times their share of the
/// time, even if they are short.
#[derive(Debug)]
struct OnOff {
    interval: Span,
    on: Law,
    off: Law,
    /// Rest of the present on period.
    left: Span,
}

impl OnOff {
    /// Draws the time to the next packet. A packet at the end of a period waits for the next
    /// period.
    fn draw_gap(&mut self, random: &mut RandomStream) -> Span {
        let (mut gap, mut rest) = (Span::ZERO, self.interval);
        let mut periods = 0;
        while self.left <= rest {
            periods += 1;
            if periods > MAX_PERIODS {
                return Span(u64::MAX);
            }
            rest = Span(rest.0 - self.left.0);
            let period = self.left.0 + self.off.draw_span(random).0;
            // The sum of several periods may exceed the range of times.
            gap = Span(gap.0.saturating_add(period));
            self.left = self.on.draw_span(random);
        }
        self.left = Span(self.left.0 - rest.0);
        Span(gap.0.saturating_add(rest.0))
    }
}

impl Source {
    /// Creates a source with a packet of `packet` bytes at `start` and at every `interval` after
    /// it.
    pub fn constant(start: Time, interval: Span, packet: u32) -> Self {
        let packet = PacketSize::Fixed(packet);
        Self {
            next: start,
            due: 0,
            burst: 1,
            timing: Timing::Constant(interval),
            packet,
            stops_at: Time::MAX,
            random: None,
        }
    }

    /// Returns the source with each interval drawn uniformly from the constant one less `spread` of it
    /// to the constant one plus `spread` of it. The first packet still leaves at the start.
    #[must_use]
    pub fn with_spread(self, spread: f64, random: RandomStream) -> Self {
        match self.timing {
            Timing::Constant(interval) if spread > 0.0 => Self {
                timing: Timing::Uniform(interval, spread),
                random: Some(Box::new(random)),
                ..self
            },
            _ => self,
        }
    }

    /// Makes the source send no packet at or after `time`.
    pub fn stop_at(&mut self, time: Time) {
        self.stops_at = time;
    }

    /// Creates a source with packets at exponential intervals. The first packet leaves one such
    /// interval after `start`.
    pub fn poisson(start: Time, mean: Span, packet: PacketSize, random: RandomStream) -> Self {
        let timing = Timing::Exponential(mean);
        let random = Some(Box::new(random));
        let mut source = Self {
            next: start,
            due: 0,
            burst: 1,
            timing,
            packet,
            stops_at: Time::MAX,
            random,
        };
        source.next = start.saturating_add(source.draw_interval());
        source
    }

    /// Creates a source with packets of `packet` bytes at every `interval` of on periods. Both
    /// periods follow laws of seconds. The first packet leaves at `start`.
    pub fn on_off(
        start: Time,
        interval: Span,
        packet: u32,
        (on, off): (Law, Law),
        mut random: RandomStream,
    ) -> Self {
        let left = on.draw_span(&mut random);
        let timing = Timing::OnOff(Box::new(OnOff {
            interval,
            on,
            off,
            left,
        }));
        Self {
            next: start,
            due: 0,
            burst: 1,
            timing,
            packet: PacketSize::Fixed(packet),
            stops_at: Time::MAX,
            random: Some(Box::new(random)),
        }
    }

    /// Returns the source with `burst` packets at each of its times, back to back.
    #[must_use]
    pub fn in_bursts(self, burst: u32) -> Self {
        Self { burst, ..self }
    }

    fn draw_interval(&mut self) -> Span {
        match (&mut self.timing, &mut self.random) {
            (Timing::Uniform(interval, spread), Some(random)) => {
                let least = interval.as_secs_f64() * (1.0 - *spread);
                let range = 2.0 * interval.as_secs_f64() * *spread;
                Span::from_secs_f64(least + range * random.unit())
            }
            (Timing::Exponential(mean), Some(random)) => {
                Span::from_secs_f64(random.exponential(mean.as_secs_f64()))
            }
            (Timing::OnOff(periods), Some(random)) => periods.draw_gap(random),
            (
                Timing::Constant(interval)
                | Timing::Uniform(interval, _)
                | Timing::Exponential(interval),
                _,
            ) => *interval,
            (Timing::OnOff(periods), None) => periods.interval,
        }
    }

    fn draw_size(&mut self) -> u32 {
        match (self.packet, &mut self.random) {
            (PacketSize::Exponential(mean), Some(random)) => {
                libm::round(random.exponential(mean)).clamp(1.0, 65_535.0) as u32
            }
            (PacketSize::Exponential(mean), None) => mean as u32,
            (PacketSize::Fixed(size), _) => size,
        }
    }

    pub(super) fn wake(&mut self, now: Time) {
        if self.wakes_at() <= now {
            self.due += self.burst;
            self.next = self.next.saturating_add(self.draw_interval());
        }
    }

    pub(super) fn wakes_at(&self) -> Time {
        if self.next < self.stops_at {
            self.next
        } else {
            Time::MAX
        }
    }

    pub(super) fn transmit(&mut self) -> Option<Outgoing> {
        self.due = self.due.checked_sub(1)?;
        Some((self.draw_size(), Body::Datagram))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::law::fit::{assert_follows, distance};

    /// Returns the times of the packets before `end`.
    fn times(mut source: Source, end: Time) -> Vec<Time> {
        let mut times = Vec::new();
        while source.wakes_at() < end {
            let now = source.wakes_at();
            source.wake(now);
            while source.transmit().is_some() {
                times.push(now);
            }
        }
        times
    }

    fn on_off(on: Law, off: Law, end: u64, seed: u64) -> Vec<Time> {
        let random = RandomStream::new(seed, "test", 0);
        let source = Source::on_off(Time::ZERO, Span::from_millis(1), 100, (on, off), random);
        times(source, Time::ZERO + Span::from_secs(end))
    }

    #[test]
    fn fixed_periods_send_at_multiples_of_on_time() {
        let ms = |times: Vec<Time>| -> Vec<f64> {
            times.iter().map(|time| time.as_secs_f64() * 1e3).collect()
        };
        let fixed = |on, off| ms(on_off(Law::Fixed(on), Law::Fixed(off), 1, 1));
        // Three packets are sent in the three milliseconds of an on period, and none in the seven
        // of the off period.
        assert_eq!(fixed(0.003, 0.007)[..5], [0.0, 1.0, 2.0, 10.0, 11.0]);
        // Half an interval is left at the end of an on period. The rest of it delays the first
        // packet of the next one.
        assert_eq!(fixed(0.0025, 0.01)[..5], [0.0, 1.0, 2.0, 13.0, 14.0]);
        assert_eq!(fixed(0.001, 0.0).len(), 1_000);
    }

    /// The number of packets in a time T is a renewal reward process. Its mean is T · rate · E(on)
    /// / (E(on) + E(off)), its variance T · rate² · (var(on) E(off)² + var(off) E(on)²) / (E(on) +
    /// E(off))³ (Cox, Renewal Theory, section 8).
    #[test]
    fn the_mean_rate_is_that_of_the_laws() {
        let pareto = |mean| Law::pareto(mean, 3.0);
        let exponential = |mean| Law::exponential(mean);
        // The variance of a Pareto law of shape 3 is a third of its squared mean. So is that of a
        // uniform law from 0.
        let uniform = Law::uniform(0.0, 0.4);
        for (on, on_variance, off, off_variance) in [
            (exponential(0.05), 0.0025, exponential(0.2), 0.04),
            (pareto(0.05), 0.0025 / 3.0, pareto(0.1), 0.01 / 3.0),
            (exponential(0.0007), 0.0007 * 0.0007, Law::Fixed(0.01), 0.0),
            (Law::Fixed(0.1), 0.0, uniform, 0.04 / 3.0),
        ] {
            let (mean_on, mean_off) = (on.mean(), off.mean());
            let cycle = mean_on + mean_off;
            let (seeds, seconds) = (10, 400.0);
            let packets: usize = (0..seeds)
                .map(|seed| on_off(on.clone(), off.clone(), 400, seed).len())
                .sum();
            let time = f64::from(seeds as u32) * seconds;
            let expected = time * 1e3 * mean_on / cycle;
            let spread = on_variance * mean_off * mean_off + off_variance * mean_on * mean_on;
            let deviation = 1e3 * (time * spread / (cycle * cycle * cycle)).sqrt();
            let error = (packets as f64 - expected).abs();
            println!("{on:?} {off:?}: {packets}, expected {expected} +- {deviation}");
            // Each run begins with an on period, which adds one on period at most.
            let start = f64::from(seeds as u32) * mean_on * 1e3;
            assert!(error < 4.0 * deviation + start);
        }
    }

    /// Compares the lengths of unbroken sequences of packets with the law of on periods.
    #[test]
    fn on_periods_follow_their_law() {
        for on in [
            Law::exponential(0.5),
            Law::pareto(0.5, 1.5),
            Law::uniform(0.2, 0.8),
        ] {
            let sent = on_off(on.clone(), Law::Fixed(0.1), 2_000, 3);
            let breaks = sent
                .windows(2)
                .enumerate()
                .filter(|(_, pair)| pair[1] - pair[0] > Span::from_millis(100))
                .map(|(index, _)| index + 1);
            let ends: Vec<usize> = std::iter::once(0).chain(breaks).collect();
            let lengths = ends.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e3);
            let lengths: Vec<f64> = lengths.collect();
            let n = lengths.len() as f64;
            assert!(n > 2_000.0, "{n}");
            for value in [0.205, 0.3, 0.5, 0.75, 1.2] {
                // A period of L milliseconds holds L packets, or one more or less.
                let share = lengths.iter().filter(|length| **length <= value).count() as f64 / n;
                let least = on.share_up_to(value - 0.001);
                let most = on.share_up_to(value + 0.001);
                let error = |share: f64| 4.0 * (share * (1.0 - share) / n).sqrt();
                assert!(
                    share >= least - error(least) && share <= most + error(most),
                    "{on:?}: {share} up to {value}, expected {least} to {most}"
                );
            }
        }
    }

    /// ns-2 adds to each interval of a CBR source with `random_` a uniform share from −0.5 to 0.5 of it.
    #[test]
    fn gaps_of_a_spread_source_are_uniform_around_its_interval() {
        let (start, interval) = (Time::ZERO + Span::from_secs(2), Span::from_millis(20));
        for (spread, law) in [
            (0.5, Law::uniform(0.01, 0.03)),
            (1.0, Law::uniform(0.0, 0.04)),
        ] {
            for seed in 1..=4 {
                let random = RandomStream::new(seed, "test", 0);
                let source = Source::constant(start, interval, 100).with_spread(spread, random);
                let sent = times(source, start + Span::from_secs(400));
                assert_eq!(sent[0], start);
                let gaps = sent
                    .windows(2)
                    .map(|pair| (pair[1] - pair[0]).as_secs_f64());
                assert_follows(&format!("spread {spread}"), distance(&law, gaps.collect()));
            }
        }
        let random = RandomStream::new(1, "test", 0);
        let even = Source::constant(start, interval, 100).with_spread(0.0, random);
        assert_eq!(times(even, start + Span::from_secs(1)).len(), 50);
    }

    #[test]
    fn a_stopped_source_sends_nothing_from_its_end_on() {
        let ms = |ms| Time::ZERO + Span::from_millis(ms);
        let stopped = |mut source: Source| {
            source.stop_at(ms(40));
            times(source, Time::ZERO + Span::from_secs(10))
        };
        let even = Source::constant(Time::ZERO, Span::from_millis(20), 100);
        assert_eq!(stopped(even), [Time::ZERO, ms(20)]);
        let random = RandomStream::new(1, "test", 0);
        let size = PacketSize::Fixed(100);
        let poisson = Source::poisson(Time::ZERO, Span::from_millis(1), size, random);
        assert!(
            stopped(poisson.in_bursts(3))
                .iter()
                .all(|time| *time < ms(40))
        );
    }

    /// The gaps of single packets and of bursts are exponential from the start on.
    #[test]
    fn gaps_of_poisson_sources_and_of_bursts_are_exponential() {
        let (start, mean) = (Time::ZERO + Span::from_secs(2), Span::from_millis(20));
        for (burst, size) in [
            (1, PacketSize::Fixed(100)),
            (1, PacketSize::Exponential(400.0)),
            (7, PacketSize::Fixed(100)),
        ] {
            for seed in 1..=4 {
                let random = RandomStream::new(seed, "test", 0);
                let source = Source::poisson(start, mean, size, random).in_bursts(burst);
                let mut begun = vec![start];
                begun.extend(times(source, start + Span::from_secs(400)));
                begun.dedup();
                let gaps = begun
                    .windows(2)
                    .map(|pair| (pair[1] - pair[0]).as_secs_f64());
                let law = Law::exponential(0.02);
                assert_follows(&format!("{burst} {size:?}"), distance(&law, gaps.collect()));
            }
        }
    }

    #[test]
    fn bursts_are_whole_and_begin_as_a_poisson_process() {
        let (mut gaps, mut squares, mut n) = (0.0, 0.0, 0.0);
        for seed in 0..5 {
            let (start, mean) = (Time::ZERO, Span::from_millis(20));
            let random = RandomStream::new(seed, "test", 0);
            let source = Source::poisson(start, mean, PacketSize::Fixed(100), random).in_bursts(7);
            let sent = times(source, Time::ZERO + Span::from_secs(100));
            let (bursts, rest) = sent.as_chunks::<7>();
            assert!(rest.is_empty());
            let mut last = Time::ZERO;
            for burst in bursts {
                assert!(burst.iter().all(|time| *time == burst[0]));
                let gap = (burst[0] - last).as_secs_f64();
                (gaps, squares, n) = (gaps + gap, squares + gap * gap, n + 1.0);
                last = burst[0];
            }
        }
        // An exponential law's standard deviation equals its mean. Its second moment is twice its
        // squared mean, with a standard deviation of sqrt(20) times that.
        let root = f64::sqrt(n);
        assert!((gaps / n / 0.02 - 1.0).abs() < 4.0 / root);
        assert!((squares / n / 0.0004 - 2.0).abs() < 4.0 * 20.0_f64.sqrt() / root);
        // 500 s hold 25,000 bursts. The standard deviation of a Poisson count is its square root.
        assert!((n - 25_000.0).abs() < 4.0 * 25_000.0_f64.sqrt());
    }
}
