//! The event for which the timer of a sender with records waits.

/// Event for which the sender's one timer waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Timer {
    /// The retransmission timeout, or no event.
    #[default]
    Retransmit,
    /// The tail loss probe.
    Probe,
    /// The end of the reordering window.
    Reorder,
}

/// The event for which the timer waits, and the timeouts so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expiry {
    /// Number of consecutive timeouts.
    backoff: u32,
    timer: Timer,
}

impl Expiry {
    #[inline]
    pub fn timer(&self) -> Timer {
        self.timer
    }

    /// Sets the event for which the timer waits.
    #[inline]
    pub fn wait_for(&mut self, timer: Timer) {
        self.timer = timer;
    }

    /// Returns the number of consecutive timeouts.
    pub fn backoff(&self) -> u32 {
        self.backoff
    }

    /// Counts a timeout, after which the timer waits for the next one.
    pub fn back_off(&mut self) {
        self.backoff += 1;
        self.timer = Timer::Retransmit;
    }

    /// Ends the series of timeouts, because data sent after the last one are acknowledged.
    #[inline]
    pub fn end_backoff(&mut self) {
        self.backoff = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_starts_the_retransmission_timer_in_place_of_any_other() {
        let mut expiry = Expiry::default();
        expiry.wait_for(Timer::Reorder);
        expiry.back_off();
        expiry.back_off();
        assert_eq!((expiry.timer(), expiry.backoff()), (Timer::Retransmit, 2));
        expiry.wait_for(Timer::Probe);
        expiry.end_backoff();
        assert_eq!((expiry.timer(), expiry.backoff()), (Timer::Probe, 0));
    }
}
