//! Delivery-rate samples (draft-ietf-ccwg-bbr section 4.1), for the controls that need them.

use goodqueue_types::{Span, Time};

use crate::cc::{LostSegment, RateSample};
use crate::sender::in_flight::record::Record;
use crate::sender::in_flight::records::Loss;

/// State of delivery when a segment was sent. Counts are in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Snapshot {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost: u64,
    /// Segments in flight with this one.
    in_flight: u32,
    app_limited: bool,
}

/// State of delivery from which ACKs give rate samples.
#[derive(Clone, Debug)]
pub(crate) struct DeliveryRate {
    /// Number of segments delivered, in order or selectively.
    delivered: u64,
    /// Newest segment delivered: the number of segments delivered when it was sent, the time of its
    /// sending, and its end, which is 0 before the first delivery.
    newest: (u64, Time, u64),
    /// Further state for rate samples, if they are needed.
    sampling: Option<Box<Sampling>>,
}

#[derive(Clone, Debug, Default)]
struct Sampling {
    delivered_at: Time,
    /// Time at which the segment delivered last was sent.
    first_sent: Time,
    /// Number of delivered segments up to which delivery was limited by the application.
    app_limited_until: u64,
    /// Newest segment delivered since the last sample: its snapshot, the time of its sending, and
    /// its end.
    newest: Option<(Snapshot, Time, u64)>,
}

impl DeliveryRate {
    /// Creates the state of a connection without deliveries. `rate_samples` is true if samples are
    /// needed.
    pub fn new(rate_samples: bool) -> Self {
        Self {
            delivered: 0,
            newest: (0, Time::ZERO, 0),
            sampling: rate_samples.then(Box::default),
        }
    }

    /// Returns the number of segments delivered, in order or selectively.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Counts segments as delivered of which only duplicate ACKs tell.
    pub fn count(&mut self, segments: u32) {
        self.delivered += u64::from(segments);
    }

    /// Takes back segments that were counted from duplicate ACKs and are acknowledged now.
    pub fn uncount(&mut self, segments: u32) {
        self.delivered -= u64::from(segments);
    }

    /// Returns the snapshot to record with a segment that leaves now, while `in_flight` others are
    /// in flight, if samples are needed.
    #[inline]
    pub fn snapshot(
        &mut self,
        now: Time,
        in_flight: u32,
        lost: u64,
        idle: bool,
    ) -> Option<Snapshot> {
        let sampling = self.sampling.as_deref_mut()?;
        if idle {
            sampling.first_sent = now;
            sampling.delivered_at = now;
        }
        Some(Snapshot {
            delivered: self.delivered,
            delivered_at: sampling.delivered_at,
            first_sent: sampling.first_sent,
            lost,
            in_flight: in_flight + 1,
            app_limited: sampling.app_limited_until > 0,
        })
    }

    /// Records that the application has no more data while the window has room. The next deliveries
    /// do not show the rate of the path.
    pub fn limit_by_application(&mut self, in_flight: u32) {
        if let Some(sampling) = self.sampling.as_deref_mut() {
            sampling.app_limited_until = (self.delivered + u64::from(in_flight)).max(1);
        }
    }

    /// Records the delivery of a segment. `snapshot` is its snapshot, if samples are needed.
    #[inline]
    pub fn on_delivered(&mut self, record: &Record, snapshot: Option<&Snapshot>) {
        self.delivered += 1;
        let (sent, end) = (record.sent, record.end());
        let newer = |time: Time, last: u64| (time, last) < (sent, end);
        if newer(self.newest.1, self.newest.2) {
            let known = u64::from(record.delivered());
            let delivered = snapshot.map_or(known, |snapshot| snapshot.delivered);
            self.newest = (delivered, sent, end);
        }
        if let (Some(sampling), Some(snapshot)) = (self.sampling.as_deref_mut(), snapshot)
            && sampling
                .newest
                .is_none_or(|(_, time, last)| newer(time, last))
        {
            sampling.newest = Some((*snapshot, sent, end));
        }
    }

    /// Returns the sample of an ACK that delivered something, or none if the interval is shorter
    /// than the path allows.
    pub fn sample(&mut self, now: Time, min_rtt: Span, lost: u64, mss: u64) -> Option<RateSample> {
        let sampling = self.sampling.as_deref_mut()?;
        if self.delivered > sampling.app_limited_until {
            sampling.app_limited_until = 0;
        }
        let (snapshot, sent, _) = sampling.newest.take()?;
        sampling.delivered_at = now;
        sampling.first_sent = sent;
        let sending = sent.saturating_since(snapshot.first_sent);
        let interval = sending.max(now.saturating_since(snapshot.delivered_at));
        // ACKs compressed into less than a round trip do not show a rate.
        if interval < min_rtt || interval == Span::ZERO {
            return None;
        }
        Some(RateSample {
            delivered: (self.delivered - snapshot.delivered) * mss,
            interval,
            prior_delivered: snapshot.delivered * mss,
            total_delivered: self.delivered * mss,
            in_flight_at_send: u64::from(snapshot.in_flight) * mss,
            lost: (lost - snapshot.lost) * mss,
            is_app_limited: snapshot.app_limited,
        })
    }

    /// Returns a lost segment as the control sees it.
    pub fn lost_segment(&self, now: Time, loss: &Loss, mss: u64) -> LostSegment {
        LostSegment {
            now,
            seq: loss.seq,
            end: loss.end,
            bytes: mss,
            in_flight_at_send: u64::from(loss.snapshot.in_flight) * mss,
            lost: (loss.lost - loss.snapshot.lost) * mss,
            total_delivered: self.delivered * mss,
            is_app_limited: loss.snapshot.app_limited,
        }
    }

    /// Returns the number of segments delivered when the newest delivered segment was sent.
    pub fn prior_delivered(&self) -> Option<u64> {
        (self.newest.2 > 0).then_some(self.newest.0)
    }
}
