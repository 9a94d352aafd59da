//! Statistics of one link, fed by either engine.

use crate::{AverageQueue, Distribution, LinkOutcome};
use goodqueue_queue::Backlog;
use goodqueue_types::{DropReason, Histogram, Span, Time};

/// The part of a run that is measured, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Measurements begin.
    pub from: Time,
    /// The run ends.
    pub to: Time,
}

impl Window {
    /// Whether something at this instant counts.
    #[inline]
    pub fn contains(self, time: Time) -> bool {
        self.from <= time && time <= self.to
    }

    /// How much of `start..end` lies inside.
    #[inline]
    pub fn overlap(self, start: Time, end: Time) -> Span {
        end.min(self.to).saturating_since(start.max(self.from))
    }

    /// Its length in seconds.
    pub fn seconds(self) -> f64 {
        self.to.saturating_since(self.from).as_secs_f64()
    }
}

/// Counts and distributions of one link over the measured window.
///
/// Backlog is what waits, without the frame in transmission. A packet's queueing delay is the
/// time from its arrival to the start of its transmission.
#[derive(Clone, Debug)]
pub struct LinkMeter {
    window: Window,
    arrivals: u64,
    departures: u64,
    departed_ip_bytes: u64,
    drops: [u64; DropReason::COUNT],
    marks: [u64; DropReason::COUNT],
    busy: Span,
    utilization: Option<f64>,
    backlog: Backlog,
    backlog_since: Time,
    backlog_packets: Histogram,
    backlog_bytes: Histogram,
    backlog_changes: u64,
    backlog_change_sum: u64,
    waits_ns: Histogram,
    average: Moments,
}

/// A mean and a variance that grow sample by sample (Welford 1962).
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    samples: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.samples += 1;
        let from_old = value - self.mean;
        self.mean += from_old / self.samples as f64;
        self.squares += from_old * (value - self.mean);
    }

    fn outcome(self) -> Option<AverageQueue> {
        (self.samples > 0).then(|| AverageQueue {
            mean: self.mean,
            variance: self.squares / self.samples as f64,
        })
    }
}

impl LinkMeter {
    /// A meter for this window.
    pub fn new(window: Window) -> Self {
        // Room for what a busy link sees, so that the loop does not allocate: 2³² bytes of
        // backlog, 2²⁴ packets, waits of 100 s. Beyond, the histograms grow once.
        let reserved = |largest| {
            let mut histogram = Histogram::default();
            histogram.reserve(largest);
            histogram
        };
        Self {
            window,
            arrivals: 0,
            departures: 0,
            departed_ip_bytes: 0,
            drops: [0; DropReason::COUNT],
            marks: [0; DropReason::COUNT],
            busy: Span::ZERO,
            utilization: None,
            backlog: Backlog::default(),
            backlog_since: Time::ZERO,
            backlog_packets: reserved(1 << 24),
            backlog_bytes: reserved(1 << 32),
            backlog_changes: 0,
            backlog_change_sum: 0,
            waits_ns: reserved(100_000_000_000),
            average: Moments::default(),
        }
    }

    /// A packet arrived.
    #[inline]
    pub fn arrival(&mut self, now: Time) {
        self.arrivals += u64::from(now >= self.window.from);
    }

    /// A packet was lost.
    #[inline]
    pub fn loss(&mut self, now: Time, reason: DropReason) {
        self.drops[reason as usize] += u64::from(self.window.contains(now));
    }

    /// An arrival moved the discipline's own average to this.
    pub fn average(&mut self, now: Time, average: f64) {
        if self.window.contains(now) {
            self.average.add(average);
        }
    }

    /// The queue marked a packet.
    pub fn mark(&mut self, now: Time, reason: DropReason) {
        self.marks[reason as usize] += u64::from(self.window.contains(now));
    }

    /// What waits is now `backlog`.
    #[inline]
    pub fn backlog(&mut self, now: Time, backlog: Backlog) {
        if self.window.from <= self.backlog_since && now <= self.window.to {
            self.close_backlog(now, now - self.backlog_since);
            self.backlog_changes += 1;
            self.backlog_change_sum += backlog.packets;
        } else {
            self.backlog_at_the_edge(now, backlog);
        }
        self.backlog = backlog;
    }

    /// A change of backlog before or after the window, or the first in it.
    #[cold]
    fn backlog_at_the_edge(&mut self, now: Time, backlog: Backlog) {
        self.close_backlog(now, self.window.overlap(self.backlog_since, now));
        if self.window.contains(now) {
            self.backlog_changes += 1;
            self.backlog_change_sum += backlog.packets;
        }
    }

    /// A packet of `ip_bytes` that arrived at `arrival` is in transmission from `start` to `end`.
    #[inline]
    pub fn service(&mut self, arrival: Time, start: Time, end: Time, ip_bytes: u32) {
        let begins = self.window.contains(start);
        if begins {
            // Round up: a packet that waited at all did not wait zero.
            self.waits_ns.record((start - arrival).0.div_ceil(1000), 1);
        }
        if begins && end <= self.window.to {
            self.departures += 1;
            self.departed_ip_bytes += u64::from(ip_bytes);
            self.busy += end - start;
        } else {
            self.service_at_the_edge(start, end, ip_bytes);
        }
    }

    /// A transmission that does not lie in the window from beginning to end.
    #[cold]
    fn service_at_the_edge(&mut self, start: Time, end: Time, ip_bytes: u32) {
        if self.window.contains(end) {
            self.departures += 1;
            self.departed_ip_bytes += u64::from(ip_bytes);
        }
        self.busy += self.window.overlap(start, end);
    }

    /// The backlog held until now, for `dwell` of the window.
    #[inline]
    fn close_backlog(&mut self, now: Time, dwell: Span) {
        if dwell > Span::ZERO {
            self.backlog_packets.record(self.backlog.packets, dwell.0);
            self.backlog_bytes.record(self.backlog.bytes, dwell.0);
        }
        self.backlog_since = now;
    }

    /// Says what share of its rate a link used whose rate changes: the share of the time would
    /// say nothing.
    pub fn set_utilization(&mut self, utilization: f64) {
        self.utilization = Some(utilization);
    }

    /// The results, at the end of the run.
    pub fn finish(mut self, name: &str) -> LinkOutcome {
        self.close_backlog(
            self.window.to,
            self.window.overlap(self.backlog_since, self.window.to),
        );
        let seconds = self.window.seconds();
        let drops = self.drops.iter().sum();
        LinkOutcome {
            name: name.to_owned(),
            utilization: self
                .utilization
                .unwrap_or_else(|| self.busy.as_secs_f64() / seconds),
            throughput_bps: self.departed_ip_bytes as f64 * 8.0 / seconds,
            arrivals: self.arrivals,
            departures: self.departures,
            drops,
            drops_by: self.drops,
            marks: self.marks.iter().sum(),
            marks_by: self.marks,
            loss_rate: if self.arrivals == 0 {
                0.0
            } else {
                drops as f64 / self.arrivals as f64
            },
            backlog_packets: Distribution::of(&self.backlog_packets, 1.0),
            backlog_bytes: Distribution::of(&self.backlog_bytes, 1.0),
            event_mean_backlog_packets: (self.backlog_changes > 0)
                .then(|| self.backlog_change_sum as f64 / self.backlog_changes as f64),
            average_queue: self.average.outcome(),
            queueing_delay_s: Distribution::of(&self.waits_ns, 1e9),
            queueing_delay_histogram: self.waits_ns,
        }
    }
}

impl Distribution {
    /// Mean, quantiles (within 1.6 %) and maximum of a histogram, `scale` of whose units make one
    /// here. A division, because 10⁻⁹ is no exact number and its multiples would show it.
    pub fn of(histogram: &Histogram, scale: f64) -> Self {
        let quantile = |q| histogram.quantile(q).map(|value| value as f64 / scale);
        Self {
            mean: histogram.mean().map(|mean| mean / scale),
            p50: quantile(0.5),
            p99: quantile(0.99),
            max: histogram.max().map(|max| max as f64 / scale),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_in_the_window_counts() {
        let second = |s: u64| Time(s * 1_000_000_000_000);
        let mut meter = LinkMeter::new(Window {
            from: second(10),
            to: second(20),
        });
        meter.arrival(second(9));
        meter.arrival(second(10));
        meter.average(second(9), 100.0);
        for value in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0] {
            meter.average(second(11), value);
        }
        meter.loss(second(9), DropReason::Overlimit);
        meter.loss(second(15), DropReason::LinkLoss);
        // Transmission from 8 to 12 s: 2 s of it inside; waited 0.
        meter.service(second(8), second(8), second(12), 1000);
        // From 19 to 21 s: 1 s inside, and it does not end inside.
        meter.service(second(17), second(19), second(21), 1000);
        // Three packets wait from 5 to 12 s, then none.
        meter.backlog(
            second(5),
            Backlog {
                packets: 3,
                bytes: 300,
            },
        );
        meter.backlog(second(12), Backlog::default());
        let link = meter.finish("link");
        assert_eq!((link.arrivals, link.departures), (1, 1));
        assert_eq!((link.drops, link.drops_by), (1, [0, 0, 0, 0, 1]));
        assert!((link.utilization - 0.3).abs() < 1e-12);
        assert!((link.throughput_bps - 800.0).abs() < 1e-9);
        assert!((link.backlog_packets.mean.unwrap() - 0.6).abs() < 1e-12);
        let (mean, variance) = (5.0, 4.0);
        assert_eq!(link.average_queue, Some(AverageQueue { mean, variance }));
        assert_eq!(link.event_mean_backlog_packets, Some(0.0));
        assert_eq!(link.queueing_delay_s.max, Some(2.0));
    }
}
