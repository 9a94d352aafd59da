//! The phase of recovery, and the sequence numbers that bound it.

use crate::connection::stats::Phase;

/// The phase, the recovery point, and the last timeout.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed)]
pub(crate) struct Course {
    phase: Phase,
    /// Highest sequence number sent when the last recovery or timeout began, or 0 if recovery may
    /// begin anywhere.
    point: u64,
    /// Oldest sequence number outstanding at the last timeout.
    timed_out_at: u64,
    partial_ack_seen: bool,
}

impl Default for Course {
    fn default() -> Self {
        Self {
            phase: Phase::Open,
            point: 0,
            timed_out_at: u64::MAX,
            partial_ack_seen: false,
        }
    }
}

impl Course {
    #[inline]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    #[inline]
    pub fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    #[inline]
    pub fn is_in_fast_recovery(&self) -> bool {
        self.phase == Phase::FastRecovery
    }

    #[inline]
    pub fn goes_back(&self) -> bool {
        self.phase == Phase::GoBackN
    }

    pub fn enter(&mut self, phase: Phase) {
        self.phase = phase;
    }

    /// Returns the recovery point: `recover` of RFC 6582 and `RecoveryPoint` of RFC 6675.
    pub fn point(&self) -> u64 {
        self.point
    }

    /// Sets the recovery point: duplicate ACKs of data below it start no other recovery.
    pub fn set_point(&mut self, max_sent: u64) {
        self.point = max_sent;
    }

    /// Lets recovery begin anywhere.
    #[inline]
    pub fn forget_point(&mut self) {
        self.point = 0;
    }

    /// Begins to count the partial ACKs of a recovery.
    pub fn forget_partial_acks(&mut self) {
        self.partial_ack_seen = false;
    }

    /// Records a partial ACK. Returns true if it is the first of this recovery.
    pub fn note_partial_ack(&mut self) -> bool {
        !std::mem::replace(&mut self.partial_ack_seen, true)
    }

    /// Records a timeout of the segment at `una`.
    pub fn note_timeout(&mut self, una: u64) {
        self.timed_out_at = una;
    }

    /// Returns true if the last timeout was that of the segment at `una`.
    pub fn has_timed_out_at(&self, una: u64) -> bool {
        self.timed_out_at == una
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recovery_has_one_first_partial_ack() {
        let mut course = Course::default();
        assert!(course.is_open() && course.point() == 0);
        course.enter(Phase::FastRecovery);
        course.set_point(9001);
        course.forget_partial_acks();
        assert!(course.note_partial_ack() && !course.note_partial_ack());
        course.forget_partial_acks();
        assert!(course.note_partial_ack());
        assert!(course.is_in_fast_recovery() && !course.goes_back());
        course.forget_point();
        assert_eq!(course.point(), 0);
    }

    #[test]
    fn a_timeout_is_repeated_if_nothing_was_acknowledged_since() {
        let mut course = Course::default();
        assert!(!course.has_timed_out_at(0), "none yet");
        course.note_timeout(1);
        assert!(course.has_timed_out_at(1) && !course.has_timed_out_at(1001));
    }
}
