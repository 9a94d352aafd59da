//! The times at which the sender was last active, from which idle times follow.

use goodqueue_types::{Span, Time};

/// Times of the last segment and of the last acknowledgement, and the requests to send.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed)]
pub(crate) struct Activity {
    sent: Time,
    acknowledged: Time,
    /// True if an ACK or the application has asked to send since the last check for an idle time.
    asked: bool,
}

impl Default for Activity {
    fn default() -> Self {
        Self {
            sent: Time::ZERO,
            acknowledged: Time::ZERO,
            asked: false,
        }
    }
}

impl Activity {
    /// Records that a segment leaves, or that its timeout counts as sending.
    #[inline]
    pub fn send(&mut self, now: Time) {
        self.sent = now;
    }

    /// Records that new data are acknowledged.
    #[inline]
    pub fn acknowledge(&mut self, now: Time) {
        self.acknowledged = now;
    }

    /// Returns the time since the last segment.
    #[inline]
    pub fn since_sending(&self, now: Time) -> Span {
        now.saturating_since(self.sent)
    }

    /// Returns the time since the last acknowledgement of new data.
    pub fn since_acknowledgement(&self, now: Time) -> Span {
        now.saturating_since(self.acknowledged)
    }

    /// Records a request to send, if `asks` is true.
    #[inline]
    pub fn ask(&mut self, asks: bool) {
        self.asked |= asks;
    }

    /// Returns true if an ACK or the application has asked to send since the last call.
    pub fn take_request(&mut self) -> bool {
        std::mem::take(&mut self.asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_time_is_counted_from_the_last_segment_or_ack() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut activity = Activity::default();
        activity.send(at(10));
        activity.acknowledge(at(50));
        assert_eq!(activity.since_sending(at(100)), Span::from_millis(90));
        assert_eq!(
            activity.since_acknowledgement(at(100)),
            Span::from_millis(50)
        );
        activity.ask(true);
        activity.ask(false);
        assert!(activity.take_request() && !activity.take_request());
    }
}
