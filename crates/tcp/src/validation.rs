//! Whether the window was in use: a window that is not says nothing about the path (RFC 2861, RFC
//! 7661; Linux's rule).

use goodqueue_types::{Span, Time};

/// How much of the window was used. Counts are of segments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Validation {
    /// The window kept data back in the round trip that ends with `until`.
    limited: bool,
    /// Otherwise the most that was outstanding.
    most_out: u32,
    until: u64,
    /// The most outstanding since the window was last full, and when that was.
    used: u32,
    full_at: Time,
}

impl Validation {
    /// After sending: `limited` if the window holds back more, or would.
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

    /// The window has shrunk for silence: how much of it is used is counted from now on.
    pub fn restart(&mut self, now: Time) {
        self.used = 0;
        self.full_at = now;
    }

    /// Whether the window may grow: slow start doubles what was acknowledged, no more.
    pub fn is_limited(&self, slow_start: bool, window: u32) -> bool {
        self.limited || (slow_start && window < 2 * self.most_out)
    }

    /// The most that was used if the window has not been full for a whole timeout (RFC 2861
    /// section 3.2).
    pub fn unused_for(&mut self, now: Time, rto: Span) -> Option<u32> {
        if now.saturating_since(self.full_at) < rto {
            return None;
        }
        self.full_at = now;
        Some(std::mem::take(&mut self.used))
    }
}
