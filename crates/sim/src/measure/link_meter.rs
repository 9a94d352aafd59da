//! Statistics of one link. Both engines use them.

#![expect(
    clippy::inline_always,
    reason = "part of the engine's two loops, see `engine::core`"
)]

mod backlog;

use crate::measure::fairness::Fairness;
use crate::measure::loss_bursts::LossBursts;
use crate::measure::outcome::{AutorateOutcome, BusyPeriods, PauseOutcome};
use crate::{AverageQueue, Distribution, LinkOutcome};
use backlog::BacklogMeter;
use goodqueue_queue::Backlog;
use goodqueue_types::{DropReason, Histogram, Packet, Span, Time};
use std::sync::Arc;

/// Measured part of a run, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Start of the measurements.
    pub from: Time,
    /// End of the run.
    pub to: Time,
}

impl Window {
    /// Returns true if the instant lies in the window.
    #[inline]
    pub fn contains(self, time: Time) -> bool {
        self.from <= time && time <= self.to
    }

    /// Returns the length of the part of `start..end` that lies in the window.
    #[inline]
    pub fn overlap(self, start: Time, end: Time) -> Span {
        end.min(self.to).saturating_since(start.max(self.from))
    }

    /// Returns the length of the window in seconds.
    pub fn seconds(self) -> f64 {
        self.to.saturating_since(self.from).as_secs_f64()
    }
}

/// Counts and distributions of one link over the measured window.
///
/// The backlog excludes the frame in transmission. A packet's queueing delay is the time from its
/// arrival to the start of its transmission. Losses and marks count the packets that arrived in the
/// window, whether their loss or mark came at once or later. A packet that still waits at the end
/// of the run has arrived and is not lost.
#[derive(Clone, Debug)]
pub struct LinkMeter {
    window: Window,
    arrivals: u64,
    departures: u64,
    /// IP bytes sent in the window. A transmission that lies partly in the window counts in
    /// proportion.
    sent_ip_bytes: u64,
    drops: [u64; DropReason::COUNT],
    marks: [u64; DropReason::COUNT],
    duplicates: u64,
    reordered: u64,
    busy: Span,
    /// Start of the present busy period. `busy_until` is its end so far. Busy periods are cut at
    /// the edges of the window.
    busy_from: Time,
    busy_until: Time,
    busy_periods: u64,
    longest_busy: Span,
    utilization: Option<f64>,
    pause: Option<PauseOutcome>,
    autorate: Option<AutorateOutcome>,
    shares: Shares,
    /// Losses grouped into bursts, if the scenario defines how far apart losses of a burst may be.
    pub(crate) bursts: Option<LossBursts>,
    backlog: BacklogMeter,
    backlog_changes: u64,
    backlog_change_sum: u64,
    /// Number of packets that did not wait. `waits_ns` gets them at the end.
    without_wait: u64,
    waits_ns: Histogram,
    average: Moments,
}

/// Bytes that each group of flows sent over the link.
#[derive(Clone, Debug)]
struct Shares {
    /// First flow of each consecutive run of flows of one group, with the group.
    groups: Arc<[(u32, u32)]>,
    /// The only group that crosses the link, if there is only one.
    only: Option<u32>,
    /// IP bytes sent in the window, by group. Empty if only one group crosses the link.
    sent: Vec<u64>,
}

impl Shares {
    fn crossed_by(&mut self, group: u32) {
        if self.sent.is_empty() && self.only.replace(group).is_some_and(|only| only != group) {
            let most = self.groups.iter().map(|(_, group)| *group as usize).max();
            let most = most.unwrap_or(0);
            self.sent = vec![0; most + 1];
            self.only = None;
        }
    }

    #[inline]
    fn sent(&mut self, packet: &Packet, ip_bytes: u32) {
        if !self.sent.is_empty() {
            let next = self
                .groups
                .partition_point(|(first, _)| *first <= packet.flow.0);
            let (_, group) = self.groups[next - 1];
            self.sent[group as usize] += u64::from(ip_bytes);
        }
    }

    /// Returns the groups that sent data, with their shares of `total` bytes.
    fn outcome(&self, total: u64) -> Vec<(u32, f64)> {
        if total == 0 {
            return Vec::new();
        }
        let share = |bytes| bytes as f64 / total as f64;
        let several = self.sent.iter().enumerate();
        let several = several.filter(|(_, bytes)| **bytes > 0);
        let several = several.map(|(group, bytes)| (group as u32, share(*bytes)));
        self.only
            .map(|only| (only, 1.0))
            .into_iter()
            .chain(several)
            .collect()
    }
}

/// Mean and variance, updated sample by sample (Welford 1962).
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
    /// Largest values for which the histograms reserve room, so that the loop does not allocate:
    /// backlogs of 2²⁴ packets and of 2³² bytes, waits of 100 s in nanoseconds. A larger value
    /// makes a histogram grow once.
    pub(crate) const HISTOGRAM_VALUES: [u64; 3] = [1 << 24, 1 << 32, 100_000_000_000];

    /// Bytes of the table of backlogs.
    pub(crate) const TABLE_BYTES: usize = BacklogMeter::PLACES * size_of::<u64>();

    /// Creates a meter for a window and for flows in these groups.
    pub(crate) fn new(
        window: Window,
        bursts: Option<LossBursts>,
        groups: Arc<[(u32, u32)]>,
    ) -> Self {
        let [packets, bytes, waits] = Self::HISTOGRAM_VALUES;
        let mut waits_ns = Histogram::default();
        waits_ns.reserve(waits);
        Self {
            window,
            arrivals: 0,
            departures: 0,
            sent_ip_bytes: 0,
            drops: [0; DropReason::COUNT],
            marks: [0; DropReason::COUNT],
            duplicates: 0,
            reordered: 0,
            busy: Span::ZERO,
            busy_from: Time::ZERO,
            busy_until: Time::ZERO,
            busy_periods: 0,
            longest_busy: Span::ZERO,
            utilization: None,
            pause: None,
            autorate: None,
            shares: Shares {
                groups,
                only: None,
                sent: Vec::new(),
            },
            bursts,
            backlog: BacklogMeter::new(packets, bytes),
            backlog_changes: 0,
            backlog_change_sum: 0,
            without_wait: 0,
            waits_ns,
            average: Moments::default(),
        }
    }

    /// Records that a flow of this group crosses the link.
    pub(crate) fn crossed_by(&mut self, group: u32) {
        self.shares.crossed_by(group);
    }

    /// Counts the arrival of a packet.
    #[inline]
    pub fn arrival(&mut self, now: Time) {
        self.arrivals_by_split(now, 1);
    }

    /// Counts the packets that the queue made of a super-segment, beyond the one that arrived.
    #[inline]
    pub fn arrivals_by_split(&mut self, now: Time, count: u64) {
        if now >= self.window.from {
            self.arrivals += count;
        }
    }

    /// Counts the loss of a packet that had arrived at `arrival`.
    pub fn loss(&mut self, arrival: Time, now: Time, packet: &Packet, reason: DropReason) {
        if !self.follows(arrival, now) {
            return;
        }
        self.drops[reason as usize] += 1;
        if let Some(bursts) = &mut self.bursts {
            bursts.loss(now, packet, self.backlog.current().bytes);
        }
    }

    /// Records the discipline's own average after an arrival.
    pub fn average(&mut self, now: Time, average: f64) {
        if self.window.contains(now) {
            self.average.add(average);
        }
    }

    /// Counts the mark of a packet that had arrived at `arrival`.
    pub fn mark(&mut self, arrival: Time, now: Time, reason: DropReason) {
        self.marks[reason as usize] += u64::from(self.follows(arrival, now));
    }

    /// Returns true if a packet that arrived at `arrival` and was lost or marked at `now` is
    /// counted.
    fn follows(&self, arrival: Time, now: Time) -> bool {
        self.window.from <= arrival && now <= self.window.to
    }

    /// Counts a copy of a packet that the link made.
    pub fn duplicate(&mut self, now: Time) {
        self.duplicates += u64::from(self.window.contains(now));
    }

    /// Counts a packet that reached the far end after one that was sent later.
    pub fn reordering(&mut self, now: Time) {
        self.reordered += u64::from(self.window.contains(now));
    }

    /// Records a new backlog from `now` on.
    #[inline]
    pub fn backlog(&mut self, now: Time, backlog: Backlog) {
        let since = self.backlog.since();
        if self.window.from <= since && now <= self.window.to {
            self.backlog.change(now, now - since, backlog);
            self.backlog_changes += 1;
            self.backlog_change_sum += backlog.packets;
        } else {
            self.backlog_at_the_edge(now, backlog);
        }
    }

    /// Records a change of the backlog before or after the window, or the first one in it.
    #[cold]
    fn backlog_at_the_edge(&mut self, now: Time, backlog: Backlog) {
        let dwell = self.window.overlap(self.backlog.since(), now);
        self.backlog.change(now, dwell, backlog);
        if self.window.contains(now) {
            self.backlog_changes += 1;
            self.backlog_change_sum += backlog.packets;
        }
    }

    /// Records a packet that arrived at `arrival` and is in transmission from `start` to `end`.
    #[inline(always)]
    pub fn service(&mut self, arrival: Time, start: Time, end: Time, packet: &Packet) {
        if start != self.busy_until {
            self.begin_busy_period(start);
        }
        self.busy_until = end;
        if self.window.from <= start && end <= self.window.to {
            self.wait(start - arrival);
            self.departures += 1;
            self.sent(packet, packet.size);
            self.busy += end - start;
        } else {
            self.service_at_the_edge(arrival, start, end, packet);
        }
    }

    /// Records a wait, rounded up to a nanosecond, so that a packet which waited at all did not
    /// wait zero.
    #[inline]
    fn wait(&mut self, wait: Span) {
        const NANOSECOND: u64 = 1000;
        const LESS_THAN_ONE: u64 = NANOSECOND - 1;
        if wait == Span::ZERO {
            self.without_wait += 1;
        } else {
            // `div_ceil` takes twice as many instructions. No wait is near 2⁶⁴ ps.
            let nanoseconds = (wait.0 + LESS_THAN_ONE) / NANOSECOND;
            self.waits_ns.record(nanoseconds, 1);
        }
    }

    /// Counts a packet that passed a link that has neither a queue nor a transmitter.
    pub fn pass(&mut self, now: Time, packet: &Packet) {
        if self.window.contains(now) {
            self.arrivals += 1;
            self.departures += 1;
            self.sent(packet, packet.size);
            self.without_wait += 1;
        }
    }

    /// Ends the last busy period and begins one at `start`.
    fn begin_busy_period(&mut self, start: Time) {
        let length = self.window.overlap(self.busy_from, self.busy_until);
        self.busy_periods += u64::from(length > Span::ZERO);
        self.longest_busy = self.longest_busy.max(length);
        self.busy_from = start;
    }

    /// Counts a transmission that lies only partly in the window.
    #[cold]
    fn service_at_the_edge(&mut self, arrival: Time, start: Time, end: Time, packet: &Packet) {
        if self.window.contains(start) {
            self.wait(start - arrival);
        }
        self.departures += u64::from(self.window.contains(end));
        let inside = self.window.overlap(start, end);
        self.busy += inside;
        let bytes = u128::from(packet.size) * u128::from(inside.0) / u128::from((end - start).0);
        self.sent(packet, bytes as u32);
    }

    /// Counts IP bytes of a packet that were sent in the window.
    #[inline]
    fn sent(&mut self, packet: &Packet, ip_bytes: u32) {
        self.sent_ip_bytes += u64::from(ip_bytes);
        self.shares.sent(packet, ip_bytes);
    }

    /// Ends the measured time at `end` if the run ends earlier than planned. Only the end of the
    /// present transmission may have been recorded beyond `end`.
    pub fn end_at(&mut self, end: Time) {
        self.busy = self
            .busy
            .saturating_sub(self.window.overlap(end, self.busy_until));
        self.window.to = self.window.to.min(end).max(self.window.from);
    }

    /// Sets the utilisation of a link whose rate changes: the share of the bits that it could have
    /// sent. The share of busy time would be misleading for such a link.
    pub fn set_utilization(&mut self, utilization: f64) {
        self.utilization = Some(utilization);
    }

    /// Sets the pauses of a link with flow control.
    pub fn set_pause(&mut self, pause: PauseOutcome) {
        self.pause = Some(pause);
    }

    /// Sets the rates of a shaper that a program sets.
    pub fn set_autorate(&mut self, autorate: AutorateOutcome) {
        self.autorate = Some(autorate);
    }

    /// Returns the results at the end of the run.
    pub fn finish(mut self, name: &str) -> LinkOutcome {
        let last = self.window.overlap(self.backlog.since(), self.window.to);
        let [backlog_packets, backlog_bytes] = self.backlog.finish(last);
        if self.without_wait > 0 {
            self.waits_ns.record(0, self.without_wait);
        }
        // Beginning another period closes the last one.
        self.begin_busy_period(Time::MAX);
        let seconds = self.window.seconds();
        let drops = self.drops.iter().sum();
        LinkOutcome {
            name: name.to_owned(),
            utilization: self
                .utilization
                .unwrap_or_else(|| self.busy.as_secs_f64() / seconds),
            throughput_bps: self.sent_ip_bytes as f64 * 8.0 / seconds,
            shares: self.shares.outcome(self.sent_ip_bytes),
            busy_periods: BusyPeriods {
                count: self.busy_periods,
                mean_s: (self.busy_periods > 0)
                    .then(|| self.busy.as_secs_f64() / self.busy_periods as f64),
                max_s: (self.busy_periods > 0).then(|| self.longest_busy.as_secs_f64()),
            },
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
            fairness: Fairness::default(),
            loss_bursts: self.bursts.map(LossBursts::finish),
            duplicates: self.duplicates,
            reordered: self.reordered,
            backlog_packets,
            backlog_bytes,
            event_mean_backlog_packets: (self.backlog_changes > 0)
                .then(|| self.backlog_change_sum as f64 / self.backlog_changes as f64),
            average_queue: self.average.outcome(),
            pause: self.pause,
            autorate: self.autorate,
            queueing_delay_s: Distribution::from_histogram(&self.waits_ns, 1e9),
            queueing_delay_histogram: self.waits_ns,
        }
    }
}

impl Distribution {
    /// Returns mean, quantiles (within 1.6 %) and maximum of a histogram, divided by `scale`. It
    /// divides because a factor such as 10⁻⁹ is not exact in binary, which the results would show.
    pub fn from_histogram(histogram: &Histogram, scale: f64) -> Self {
        let quantile = |q| histogram.quantile(q).map(|value| value as f64 / scale);
        Self {
            mean: histogram.mean().map(|mean| mean / scale),
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            max: histogram.max().map(|max| max as f64 / scale),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_types::FlowId;

    #[test]
    fn quantiles_are_those_of_a_hundred_values() {
        let mut values = Histogram::default();
        for value in 1..=100 {
            values.record(value * 1_000, 1);
        }
        let found = Distribution::from_histogram(&values, 1_000.0);
        for (quantile, value) in [
            (found.mean, 50.5),
            (found.p50, 50.0),
            (found.p95, 95.0),
            (found.p99, 99.0),
            (found.max, 100.0),
        ] {
            let quantile = quantile.unwrap_or_default();
            assert!((quantile / value - 1.0).abs() < 1.0 / 64.0, "{quantile}");
        }
    }

    fn second(s: u64) -> Time {
        Time::ZERO + Span::from_secs(s)
    }

    /// Returns a meter of two flows, the first of group 0 and the second of group 1.
    fn meter(from: Time, to: Time) -> LinkMeter {
        LinkMeter::new(Window { from, to }, None, [(0, 0), (1, 1)].into())
    }

    fn sized(flow: u32, size: u32) -> Packet {
        Packet {
            flow: FlowId(flow),
            size,
            ..Packet::default()
        }
    }

    #[test]
    fn busy_periods_end_where_the_transmitter_pauses() {
        let mut meter = meter(second(10), second(20));
        let packet = sized(0, 1000);
        // The first transmission ends before the window. The second has 1 s inside and, with the
        // third, 2 s. The fourth has 1 s, the fifth 1 s inside, and the last comes after the
        // window.
        for (start, end) in [(7, 8), (9, 11), (11, 12), (14, 15), (19, 21), (22, 23)] {
            meter.service(second(start), second(start), second(end), &packet);
        }
        let busy = meter.finish("link").busy_periods;
        assert_eq!(busy.count, 3);
        assert_eq!((busy.mean_s, busy.max_s), (Some(4.0 / 3.0), Some(2.0)));
    }

    #[test]
    fn shares_are_those_of_bytes_sent_in_the_window() {
        let mut shared = meter(second(10), second(20));
        for group in [0, 1, 0] {
            shared.crossed_by(group);
        }
        for (flow, size, at) in [(0, 500, 5), (0, 300, 11), (1, 100, 12), (1, 600, 15)] {
            shared.service(second(at), second(at), second(at + 1), &sized(flow, size));
        }
        assert_eq!(shared.finish("link").shares, [(0, 0.3), (1, 0.7)]);
        let mut alone = meter(second(10), second(20));
        alone.crossed_by(1);
        alone.service(second(11), second(11), second(12), &sized(1, 100));
        assert_eq!(alone.finish("link").shares, [(1, 1.0)]);
        assert_eq!(meter(second(10), second(20)).finish("link").shares, []);
    }

    #[test]
    fn only_the_measured_window_counts() {
        let mut meter = meter(second(10), second(20));
        let packet = sized(0, 1000);
        meter.arrival(second(9));
        meter.arrival(second(10));
        meter.average(second(9), 100.0);
        for value in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0] {
            meter.average(second(11), value);
        }
        meter.loss(second(9), second(9), &packet, DropReason::Overlimit);
        // The packet arrived before the window, so it is counted neither as an arrival nor as a
        // loss.
        meter.loss(second(9), second(11), &packet, DropReason::TargetExceeded);
        meter.mark(second(9), second(11), DropReason::TargetExceeded);
        meter.loss(second(10), second(15), &packet, DropReason::LinkLoss);
        meter.mark(second(10), second(15), DropReason::Early);
        // The transmission from 8 to 12 s has 2 s inside. Its packet waited for 0 s.
        meter.service(second(8), second(8), second(12), &packet);
        // The transmission from 19 to 21 s has 1 s inside and does not end inside.
        meter.service(second(17), second(19), second(21), &packet);
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
        assert_eq!((link.marks, link.marks_by), (1, [0, 1, 0, 0, 0]));
        assert!((link.utilization - 0.3).abs() < 1e-12);
        // Half of the bytes of each of the two transmissions lies inside.
        assert!((link.throughput_bps - 800.0).abs() < 1e-9);
        assert!((link.backlog_packets.mean.unwrap() - 0.6).abs() < 1e-12);
        let (mean, variance) = (5.0, 4.0);
        assert_eq!(link.average_queue, Some(AverageQueue { mean, variance }));
        assert_eq!(link.event_mean_backlog_packets, Some(0.0));
        assert_eq!(link.queueing_delay_s.max, Some(2.0));
    }
}
