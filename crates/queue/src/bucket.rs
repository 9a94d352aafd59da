//! A token bucket: how much may be sent, and how soon.

use goodqueue_types::{Bytes, Rate, Span, Time};

/// Tokens that come at a rate, up to a depth. As in Linux `sch_tbf` they are counted in the time
/// in which they came, so that a frame costs its transmission time at the bucket's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    rate: Rate,
    depth: Span,
    tokens: Span,
    /// When the tokens were counted.
    at: Time,
}

impl TokenBucket {
    /// A full bucket that holds so many bytes.
    pub fn new(rate: Rate, bytes: u64) -> Self {
        let depth = rate.transmission_time(Bytes(bytes));
        Self {
            rate,
            depth,
            tokens: depth,
            at: Time::ZERO,
        }
    }

    /// When it will hold enough for so many bytes, if nothing is taken before; never for more than
    /// its depth.
    pub fn ready_at(&self, bytes: u64) -> Time {
        let cost = self.rate.transmission_time(Bytes(bytes));
        if cost > self.depth {
            return Time::MAX;
        }
        self.at.saturating_add(cost.saturating_sub(self.tokens))
    }

    /// Takes what so many bytes cost; for a caller that has waited until it was there.
    pub fn take(&mut self, now: Time, bytes: u64) {
        let cost = self.rate.transmission_time(Bytes(bytes));
        // A bucket of gigabytes at some bits per second is deeper than time is long.
        let tokens = Span(self.tokens.0.saturating_add((now - self.at).0)).min(self.depth);
        debug_assert!(cost <= tokens, "more was taken than there was");
        self.tokens = tokens.saturating_sub(cost);
        self.at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_fills_at_its_rate_and_no_further_than_its_depth() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        // A byte each millisecond, ten at most.
        let mut bucket = TokenBucket::new(Rate(8_000), 10);
        assert_eq!(bucket.ready_at(10), Time::ZERO);
        assert_eq!(bucket.ready_at(11), Time::MAX);
        bucket.take(Time::ZERO, 8);
        assert_eq!(bucket.ready_at(2), Time::ZERO);
        assert_eq!(bucket.ready_at(5), at(3));
        bucket.take(at(3), 5);
        assert_eq!(bucket.ready_at(1), at(4));
        // After a second it holds ten, not a thousand.
        bucket.take(at(1_003), 10);
        assert_eq!(bucket.ready_at(1), at(1_004));
    }

    #[test]
    fn a_bucket_deeper_than_time_is_long_stays_full() {
        // A terabyte at a bit per second: a quarter of a million years.
        let bytes = 1_000_000_000_000;
        let mut bucket = TokenBucket::new(Rate(1), bytes);
        for day in 0..3 {
            let now = Time::ZERO + Span::from_secs(86_400) * day;
            bucket.take(now, 1);
            assert!(bucket.ready_at(1_000_000) <= now, "day {day}");
        }
    }
}
