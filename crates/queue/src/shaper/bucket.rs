//! A token bucket, which says how many bytes may be sent and when.

use crate::Refusal;
use goodqueue_types::{Bytes, Rate, Span, Time};

/// Token bucket that fills at a rate up to a depth. As in Linux `sch_tbf`, tokens are counted as
/// time: a frame costs its transmission time at the bucket's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    rate: Rate,
    depth: Span,
    tokens: Span,
    /// Time at which `tokens` was last brought up to date.
    at: Time,
}

impl TokenBucket {
    /// Checks that the bucket of a shaper (`what`) lets frames of up to `frame_bytes` bytes pass.
    ///
    /// # Errors
    /// Returns the parameter at fault, the reason, and what to write instead.
    pub fn check(what: &str, rate: Rate, burst: u64, frame_bytes: u64) -> Result<(), Refusal> {
        if rate.0 == 0 {
            let message = format!("a {what} that lets nothing pass");
            let help = "write a rate, as in rate = \"10Mbps\"";
            return Err(Refusal::new("rate", message, help));
        }
        if burst < frame_bytes {
            let message =
                format!("a burst of {burst} bytes never holds a frame of {frame_bytes} bytes");
            return Err(Refusal::new(
                "burst",
                message,
                "write at least the largest frame",
            ));
        }
        Ok(())
    }

    /// Creates a full bucket that holds `bytes` bytes.
    pub fn new(rate: Rate, bytes: u64) -> Self {
        let depth = rate.transmission_time(Bytes(bytes));
        Self {
            rate,
            depth,
            tokens: depth,
            at: Time::ZERO,
        }
    }

    /// Returns the time at which the bucket holds the tokens for `bytes` bytes if nothing is taken
    /// before. Returns `Time::MAX` if they exceed its depth.
    pub fn ready_at(&self, bytes: u64) -> Time {
        let cost = self.rate.transmission_time(Bytes(bytes));
        if cost > self.depth {
            return Time::MAX;
        }
        self.at.saturating_add(cost.saturating_sub(self.tokens))
    }

    /// Takes the tokens for `bytes` bytes. The caller has waited until they were available.
    pub fn take(&mut self, now: Time, bytes: u64) {
        let cost = self.rate.transmission_time(Bytes(bytes));
        // The depth of gigabytes at some bits per second is longer than the range of times.
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
        // The bucket gains a byte each millisecond and holds at most ten.
        let mut bucket = TokenBucket::new(Rate(8_000), 10);
        assert_eq!(bucket.ready_at(10), Time::ZERO);
        assert_eq!(bucket.ready_at(11), Time::MAX);
        bucket.take(Time::ZERO, 8);
        assert_eq!(bucket.ready_at(2), Time::ZERO);
        assert_eq!(bucket.ready_at(5), at(3));
        bucket.take(at(3), 5);
        assert_eq!(bucket.ready_at(1), at(4));
        // After a second it holds ten bytes, not a thousand.
        bucket.take(at(1_003), 10);
        assert_eq!(bucket.ready_at(1), at(1_004));
    }

    #[test]
    fn a_bucket_deeper_than_time_is_long_stays_full() {
        // A terabyte at one bit per second takes a quarter of a million years.
        let bytes = 1_000_000_000_000;
        let mut bucket = TokenBucket::new(Rate(1), bytes);
        for day in 0..3 {
            let now = Time::ZERO + Span::from_secs(86_400) * day;
            bucket.take(now, 1);
            assert!(bucket.ready_at(1_000_000) <= now, "day {day}");
        }
    }
}
