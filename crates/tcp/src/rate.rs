//! Delivery-rate samples (draft-ietf-ccwg-bbr section 4.1), for the controls that ask for them.

use goodqueue_types::{Span, Time};

use crate::cc::RateSample;

/// The state of delivery when a segment was sent. Counts are of segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Snapshot {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost: u64,
    in_flight: u32,
    app_limited: bool,
}

impl Snapshot {
    /// What is known where nobody asks for rates.
    pub fn of_delivered(delivered: u64) -> Self {
        Self {
            delivered,
            ..Self::default()
        }
    }

    /// Segments delivered.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
}

/// What is kept of the delivery to turn ACKs into rates.
#[derive(Clone, Debug)]
pub(crate) struct DeliveryRate {
    /// Segments delivered, in order or selectively.
    pub delivered: u64,
    /// Of the newest segment delivered, by this ACK if there are rate samples: the delivered segments
    /// and the time when it was sent, and its end.
    newest: Option<(u64, Time, u64)>,
    /// What rates need beyond that, if somebody asks for them.
    sampling: Option<Box<Sampling>>,
}

#[derive(Clone, Debug, Default)]
struct Sampling {
    delivered_at: Time,
    /// When the segment most recently delivered was sent.
    first_sent: Time,
    /// Delivery up to this count was limited by the application.
    app_limited_until: u64,
    /// The newest segment delivered by this ACK.
    newest: Snapshot,
}

impl DeliveryRate {
    /// Nothing is delivered yet; `rate_samples` if somebody asks for rates.
    pub fn new(rate_samples: bool) -> Self {
        Self {
            delivered: 0,
            newest: None,
            sampling: rate_samples.then(Box::default),
        }
    }

    /// What to remember with a segment that leaves now.
    pub fn snapshot(&mut self, now: Time, in_flight: u32, lost: u64, idle: bool) -> Snapshot {
        let Some(sampling) = self.sampling.as_deref_mut() else {
            return Snapshot::of_delivered(self.delivered);
        };
        if idle {
            sampling.first_sent = now;
            sampling.delivered_at = now;
        }
        Snapshot {
            delivered: self.delivered,
            delivered_at: sampling.delivered_at,
            first_sent: sampling.first_sent,
            lost,
            in_flight,
            app_limited: sampling.app_limited_until > 0,
        }
    }

    /// Nothing more to send while the window has room: what is delivered next says nothing about
    /// the path.
    pub fn limit_by_application(&mut self, in_flight: u32) {
        if let Some(sampling) = self.sampling.as_deref_mut() {
            sampling.app_limited_until = (self.delivered + u64::from(in_flight)).max(1);
        }
    }

    /// A segment was delivered.
    pub fn on_delivered(&mut self, snapshot: Snapshot, sent: Time, end: u64) {
        self.delivered += 1;
        let newer = |(_, time, last): &(u64, Time, u64)| (*time, *last) < (sent, end);
        if self.newest.as_ref().is_none_or(newer) {
            self.newest = Some((snapshot.delivered, sent, end));
            if let Some(sampling) = self.sampling.as_deref_mut() {
                sampling.newest = snapshot;
            }
        }
    }

    /// The sample of an ACK that delivered something; none if the path cannot have been that fast.
    pub fn sample(&mut self, now: Time, min_rtt: Span, lost: u64, mss: u64) -> Option<RateSample> {
        let sampling = self.sampling.as_deref_mut()?;
        if self.delivered > sampling.app_limited_until {
            sampling.app_limited_until = 0;
        }
        let (_, sent, _) = self.newest.take()?;
        let snapshot = sampling.newest;
        sampling.delivered_at = now;
        sampling.first_sent = sent;
        let sending = sent.saturating_since(snapshot.first_sent);
        let interval = sending.max(now.saturating_since(snapshot.delivered_at));
        // ACKs compressed into less than a round trip say nothing.
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

    /// The delivery count when the newest segment delivered by this ACK was sent.
    pub fn prior_delivered(&self) -> Option<u64> {
        self.newest.as_ref().map(|newest| newest.0)
    }
}
