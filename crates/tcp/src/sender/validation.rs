//! Validation of the window: a window that is not fully used does not test the path, so it does not
//! grow (RFC 2861, RFC 7661; Linux's rule).

use goodqueue_types::{Span, Time};

/// Use of the window by a sender without records, in bytes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(Rust, packed)]
pub(crate) struct WindowUse {
    /// Largest flight since data below `until` left.
    peak: u64,
    until: u64,
    /// True if the present ACK must not let the window grow.
    held: bool,
}

impl WindowUse {
    /// Records the bytes outstanding before an ACK that moved the stream on to `una`.
    #[inline]
    pub fn note(&mut self, flight: u64, una: u64, next: u64) {
        if flight > self.peak || una > self.until {
            self.peak = flight;
            self.until = next;
        }
    }

    /// Returns the largest flight of the last round trip.
    #[inline]
    pub fn peak(&self) -> u64 {
        self.peak
    }

    /// Sets whether the present ACK must not let the window grow, because it carries an ECN echo and
    /// does not report that only part of the data was marked (RFC 3168 section 6.1.2).
    pub fn hold(&mut self, held: bool) {
        self.held = held;
    }

    /// Returns true if the present ACK must not let the window grow.
    #[inline]
    pub fn is_held(&self) -> bool {
        self.held
    }
}

/// Use of the window. Counts are in segments.
#[derive(Clone, Copy, Debug, Default)]
#[repr(Rust, packed)]
pub(crate) struct Validation {
    /// True if the window kept data back in the round trip that ends with `until`.
    limited: bool,
    /// Largest number of outstanding segments in that round trip, if `limited` is false.
    most_out: u32,
    until: u64,
    /// Largest number of outstanding segments since the window was last full, and the time when it
    /// was.
    used: u32,
    full_at: Time,
}

impl Validation {
    /// Records the state after sending. `limited` is true if the window holds data back, or would.
    pub fn after_sending(&mut self, now: Time, una: u64, next: u64, out: u32, limited: bool) {
        if una >= self.until || limited || (!self.limited && out > self.most_out) {
            self.limited = limited;
            self.most_out = out;
            self.until = next;
        }
        if limited {
            self.used = 0;
            self.full_at = now;
        } else {
            self.used = self.used.max(out);
        }
    }

    /// Restarts the measurement of use, because the window has shrunk after an idle time.
    pub fn restart(&mut self, now: Time) {
        self.used = 0;
        self.full_at = now;
    }

    /// Returns true if the window kept data back in the last round trip.
    pub fn is_limited(&self) -> bool {
        self.limited
    }

    /// Returns true if more than half of a window of `window` segments was used.
    pub fn is_half_used(&self, window: u32) -> bool {
        window < 2 * self.most_out
    }

    /// Returns the largest number of segments used, if the window has not been full for a whole
    /// timeout (RFC 2861 section 3.2).
    pub fn unused_for(&mut self, now: Time, rto: Span) -> Option<u32> {
        if now.saturating_since(self.full_at) < rto {
            return None;
        }
        self.full_at = now;
        let used = self.used;
        self.used = 0;
        Some(used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A burst of 9000 bytes counts for a round trip, until data that left after it are acknowledged.
    #[test]
    fn the_largest_flight_counts_for_a_round_trip() {
        let mut used = WindowUse::default();
        used.note(9000, 1, 9001);
        used.note(2000, 5001, 9001);
        assert_eq!(used.peak(), 9000);
        used.note(2000, 9001, 11_001);
        assert_eq!(used.peak(), 9000, "the last of the burst");
        used.note(2000, 9002, 11_001);
        assert_eq!(used.peak(), 2000);
    }
}
