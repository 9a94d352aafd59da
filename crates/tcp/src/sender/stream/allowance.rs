//! The amount that a sender may send before the next ACK, timer or write.

/// The segments that may leave until the next event.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed)]
pub(crate) struct Allowance {
    /// Number of segments that may still leave before the next ACK.
    segments: u32,
    /// True if the oldest segment is to be sent again whatever the windows allow.
    first_due: bool,
    /// True if there is nothing to send until an ACK, a timer or the application changes that. It
    /// makes polls cheap, because the engine polls after every segment sent.
    blocked: bool,
}

impl Default for Allowance {
    fn default() -> Self {
        Self {
            segments: u32::MAX,
            first_due: false,
            blocked: false,
        }
    }
}

impl Allowance {
    /// Lets as many segments leave as the windows allow.
    #[inline]
    pub fn allow_all(&mut self) {
        self.segments = u32::MAX;
    }

    /// Lets only so many segments leave before the next ACK.
    #[inline]
    pub fn allow(&mut self, segments: u32) {
        self.segments = segments;
    }

    /// Records that one of the segments leaves.
    #[inline]
    pub fn spend(&mut self) {
        self.segments -= 1;
    }

    /// Returns true if no further segment may leave before the next ACK.
    #[inline]
    pub fn is_spent(self) -> bool {
        self.segments == 0
    }

    /// Makes the oldest segment due again.
    pub fn repeat_first(&mut self) {
        self.first_due = true;
    }

    /// Takes back that the oldest segment is due, because everything is acknowledged.
    #[inline]
    pub fn forget_first(&mut self) {
        self.first_due = false;
    }

    /// Returns true if the oldest segment was due again.
    #[inline]
    pub fn take_first(&mut self) -> bool {
        let due = self.first_due;
        // A store at each poll would cost more than this branch.
        if due {
            self.first_due = false;
        }
        due
    }

    /// Sets whether there is nothing to send until the next event.
    #[inline]
    pub fn block(&mut self, blocked: bool) {
        self.blocked = blocked;
    }

    /// Ends the wait for an event, because it has come.
    #[inline]
    pub fn unblock(&mut self) {
        self.blocked = false;
    }

    /// Returns true if there is nothing to send until the next event.
    #[inline]
    pub fn is_blocked(self) -> bool {
        self.blocked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3042: one new segment for each of the first two duplicate ACKs.
    #[test]
    fn an_allowance_is_spent_segment_by_segment() {
        let mut allowance = Allowance::default();
        allowance.spend();
        assert!(!allowance.is_spent(), "the windows limit");
        for _ in 0..2 {
            allowance.allow(1);
            assert!(!allowance.is_spent());
            allowance.spend();
            assert!(allowance.is_spent());
        }
        allowance.allow_all();
        assert!(!allowance.is_spent());
    }

    #[test]
    fn the_oldest_segment_is_due_once() {
        let mut allowance = Allowance::default();
        allowance.repeat_first();
        assert!(allowance.take_first() && !allowance.take_first());
        allowance.repeat_first();
        allowance.forget_first();
        assert!(!allowance.take_first());
    }
}
