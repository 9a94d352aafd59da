//! Sums over the intervals between two decisions about a flow.

use goodqueue_tcp::cc::AckSample;
use goodqueue_types::{Span, Time};

/// Length of the intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Every {
    /// A constant time.
    Time(Span),
    /// Multiples of the smoothed round-trip time.
    RoundTrips(f64),
}

/// Sums over an interval. Byte counts are of payload, in full segments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Time of the ACK with which the interval began.
    pub from: Time,
    /// Time of the ACK that ended it.
    pub to: Time,
    /// Number of ACKs.
    pub acks: u32,
    /// Bytes that ACKs showed to be delivered.
    pub delivered: u64,
    /// Bytes that the sender considered lost.
    pub lost: u64,
    /// Bytes that were sent, new ones and retransmissions: what was delivered or lost, and the
    /// growth of the bytes in flight.
    pub sent: u64,
    /// Bytes in flight at the end.
    pub in_flight: u64,
    /// Number of round-trip times.
    pub rtts: u32,
    /// Sum of the round-trip times.
    pub rtt_sum: Span,
    /// Smallest round-trip time of the interval.
    pub min_rtt: Option<Span>,
    /// Smallest round-trip time of the connection so far.
    pub base_rtt: Option<Span>,
    /// Smoothed round-trip time, with RFC 6298's gain of 1/8.
    pub smoothed_rtt: Option<Span>,
    /// Change of the round-trip time over time, without unit, from a least-squares line.
    pub rtt_gradient: f64,
    /// Number of loss events.
    pub loss_events: u32,
    /// Number of retransmission timeouts.
    pub timeouts: u32,
}

impl Report {
    /// Returns the length of the interval, in seconds.
    pub fn length_s(&self) -> f64 {
        self.to.saturating_since(self.from).as_secs_f64()
    }

    /// Returns bits per second for a number of bytes in the interval, 0 in an empty interval.
    pub fn per_second(&self, bytes: u64) -> f64 {
        if self.to <= self.from {
            return 0.0;
        }
        8.0 * bytes as f64 / self.length_s()
    }

    /// Returns the mean of the round-trip times, in seconds.
    pub fn mean_rtt_s(&self) -> Option<f64> {
        (self.rtts > 0).then(|| self.rtt_sum.as_secs_f64() / f64::from(self.rtts))
    }
}

/// Sums of a least-squares line through round-trip times over time, in seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    count: f64,
    time: f64,
    rtt: f64,
    time_squared: f64,
    product: f64,
}

impl Line {
    fn add(&mut self, time: f64, rtt: f64) {
        self.count += 1.0;
        self.time += time;
        self.rtt += rtt;
        self.time_squared += time * time;
        self.product += time * rtt;
    }

    fn slope(&self) -> f64 {
        let spread = self.count * self.time_squared - self.time * self.time;
        if spread <= 0.0 {
            return 0.0;
        }
        (self.count * self.product - self.time * self.rtt) / spread
    }
}

/// The interval of a flow that is in progress.
#[derive(Clone, Debug)]
pub struct Monitor {
    every: Every,
    /// End of the interval, or none before the first ACK.
    ends: Option<Time>,
    sums: Report,
    line: Line,
    in_flight_before: u64,
}

impl Monitor {
    /// Creates a monitor whose first interval begins with the first ACK.
    pub fn new(every: Every) -> Self {
        Self {
            every,
            ends: None,
            sums: Report::default(),
            line: Line::default(),
            in_flight_before: 0,
        }
    }

    /// Adds an ACK. Returns the report if it is the first ACK after the end of the interval.
    pub fn note(&mut self, sample: &AckSample) -> Option<Report> {
        let measured = sample.measured();
        if self.ends.is_none() {
            self.in_flight_before = measured.prior_in_flight;
        }
        let sums = &mut self.sums;
        sums.acks += 1;
        sums.delivered += measured.delivered;
        sums.lost += measured.lost;
        sums.in_flight = measured.in_flight;
        if let Some(rtt) = measured.rtt.or(sample.rtt) {
            sums.rtts += 1;
            sums.rtt_sum += rtt;
            sums.min_rtt = Some(sums.min_rtt.map_or(rtt, |least| least.min(rtt)));
            sums.base_rtt = Some(sums.base_rtt.map_or(rtt, |least| least.min(rtt)));
            let smoothed = sums
                .smoothed_rtt
                .map_or(rtt, |old| Span((7 * old.0 + rtt.0) / 8));
            sums.smoothed_rtt = Some(smoothed);
            let begun = if self.ends.is_none() {
                sample.now
            } else {
                sums.from
            };
            self.line.add(
                (sample.now.saturating_since(begun)).as_secs_f64(),
                rtt.as_secs_f64(),
            );
        }
        match self.ends {
            None => {
                self.begin(sample.now);
                None
            }
            Some(end) if sample.now >= end => Some(self.end(sample.now)),
            Some(_) => None,
        }
    }

    /// Counts a loss event.
    pub fn note_loss_event(&mut self) {
        self.sums.loss_events += 1;
    }

    /// Counts a retransmission timeout.
    pub fn note_timeout(&mut self) {
        self.sums.timeouts += 1;
    }

    /// Returns the report of the interval up to now, and begins the next one.
    pub fn end(&mut self, now: Time) -> Report {
        let sums = &mut self.sums;
        sums.to = now;
        let gone = sums.delivered + sums.lost + sums.in_flight;
        sums.sent = gone.saturating_sub(self.in_flight_before);
        sums.rtt_gradient = self.line.slope();
        let report = *sums;
        self.in_flight_before = report.in_flight;
        self.begin(now);
        self.sums = Report {
            from: now,
            in_flight: report.in_flight,
            base_rtt: report.base_rtt,
            smoothed_rtt: report.smoothed_rtt,
            ..Report::default()
        };
        self.line = Line::default();
        report
    }

    fn begin(&mut self, now: Time) {
        if self.ends.is_none() {
            self.sums.from = now;
        }
        let length = match self.every {
            Every::Time(span) => span,
            Every::RoundTrips(count) => {
                let rtt = self.sums.smoothed_rtt.unwrap_or_default();
                Span::from_secs_f64(count * rtt.as_secs_f64())
            }
        };
        self.ends = Some(now.saturating_add(length));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_tcp::cc::SegmentSample;

    fn ack(ms: u64, rtt_ms: u64, delivered: u64, in_flight: u64) -> AckSample {
        let rtt = Some(Span::from_millis(rtt_ms));
        AckSample {
            now: Time::ZERO + Span::from_millis(ms),
            rtt,
            segments: Some(SegmentSample {
                rtt,
                delivered,
                prior_in_flight: in_flight + delivered,
                in_flight,
                ..SegmentSample::default()
            }),
            ..AckSample::default()
        }
    }

    /// The round-trip time grows by 1 ms in each 10 ms, a gradient of 0.1, and every ACK lets out
    /// what it acknowledges. A report comes with the first ACK at or after 100 ms.
    #[test]
    fn an_interval_ends_at_the_first_ack_after_its_length() {
        let mut monitor = Monitor::new(Every::Time(Span::from_millis(95)));
        let mut reports = Vec::new();
        for number in 0..21 {
            let sample = ack(10 * number, 40 + number, 1000, 9_000);
            reports.extend(monitor.note(&sample));
        }
        assert_eq!(reports.len(), 2);
        let [first, second] = [reports[0], reports[1]];
        assert_eq!((first.acks, first.delivered), (11, 11_000));
        assert_eq!((second.acks, second.delivered), (10, 10_000));
        assert_eq!(second.sent, 10_000);
        assert!((second.length_s() - 0.1).abs() < 1e-12);
        assert!((second.per_second(second.delivered) - 800_000.0).abs() < 1e-6);
        assert!((second.rtt_gradient - 0.1).abs() < 1e-9);
        assert_eq!(second.min_rtt, Some(Span::from_millis(51)));
        assert_eq!(second.base_rtt, Some(Span::from_millis(40)));
        assert!((second.mean_rtt_s().unwrap() - 0.0555).abs() < 1e-9);
    }

    #[test]
    fn an_interval_of_round_trips_follows_the_smoothed_time() {
        let mut monitor = Monitor::new(Every::RoundTrips(2.0));
        let ends: Vec<u64> = (0..50)
            .filter(|number| monitor.note(&ack(10 * number, 40, 1000, 0)).is_some())
            .collect();
        assert_eq!(ends, [8, 16, 24, 32, 40, 48]);
    }
}
