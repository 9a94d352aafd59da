//! The round trip that is being measured, and the timestamps that the peer echoes.

use goodqueue_types::{Segment, Span, Time};

use crate::config::TcpConfig;

/// Value of `Timing::seq` while no round-trip measurement runs.
const UNTIMED: u64 = u64::MAX;

/// Effect of an ACK on a running round-trip measurement that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The ACK completes the measurement.
    Sample,
    /// The ACK ends the measurement without a sample.
    Stop,
    /// The measurement continues until recovery ends.
    Keep,
}

/// The round trip that is being measured, and the newest result.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed)]
pub(crate) struct Timing {
    /// Segment that is timed, or [`UNTIMED`], and the time when it left.
    seq: u64,
    since: Time,
    /// Newest sample that has not been taken, or [`Span::MAX`].
    sample: Span,
    /// Our timestamp that the newest acceptable segment echoed, or 0 if none did.
    echo: u32,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            seq: UNTIMED,
            since: Time::ZERO,
            sample: Span::MAX,
            echo: 0,
        }
    }
}

impl Timing {
    /// Begins to time a segment, unless one is timed already.
    #[inline]
    pub fn begin(&mut self, seq: u64, now: Time) {
        if self.seq == UNTIMED {
            self.seq = seq;
            self.since = now;
        }
    }

    /// Returns true if a round-trip measurement runs.
    pub fn is_running(&self) -> bool {
        self.seq != UNTIMED
    }

    /// Stops the round-trip measurement (Karn's rule).
    pub fn stop(&mut self) {
        self.seq = UNTIMED;
    }

    /// Ends the measurement if an ACK covers the segment. Returns the time at which the segment was
    /// sent if the ACK gives a sample.
    #[inline]
    pub fn end(&mut self, ack: u64, clock: Clock) -> Option<Time> {
        if self.seq >= ack || clock == Clock::Keep {
            return None;
        }
        self.seq = UNTIMED;
        (clock == Clock::Sample).then_some(self.since)
    }

    /// Records a sample.
    #[inline]
    pub fn note(&mut self, sample: Span) {
        self.sample = sample;
    }

    /// Returns the newest sample since the last call.
    #[inline]
    pub fn take(&mut self) -> Option<Span> {
        let sample = self.sample;
        self.sample = Span::MAX;
        (sample != Span::MAX).then_some(sample)
    }

    /// Records the timestamp that a segment echoes.
    #[inline]
    pub fn note_echo(&mut self, echo: u32) {
        self.echo = echo;
    }

    /// Returns true if the segment whose timestamp is echoed was sent before our clock had
    /// `timestamp`.
    pub fn echo_before(&self, timestamp: u32) -> bool {
        self.echo != 0 && (self.echo.wrapping_sub(timestamp) as i32) < 0
    }

    /// Returns the round-trip time of the echoed timestamp, at least one tick.
    pub fn echoed_round_trip(&self, now: Time, config: &TcpConfig) -> Option<Span> {
        let tick = config.timestamps.filter(|_| self.echo != 0)?;
        let ticks = config.timestamp(now).wrapping_sub(self.echo);
        Some(tick.saturating_mul(u64::from(ticks.max(1))))
    }

    /// Returns the one-way delay of our data in seconds, with an unknown offset: the peer's clock
    /// when it answered less ours when we sent.
    pub fn one_way_delay(&self, segment: &Segment, config: &TcpConfig) -> Option<f64> {
        let tick = config.timestamps.filter(|_| self.echo != 0)?;
        let ticks = segment.timestamps.value.wrapping_sub(self.echo) as i32;
        Some(f64::from(ticks) * tick.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Karn's rule: an ACK of a segment that was sent again ends the measurement without a sample.
    #[test]
    fn one_segment_is_timed_at_a_time() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut timing = Timing::default();
        timing.begin(1001, at(5));
        timing.begin(2001, at(9));
        assert_eq!(timing.end(1001, Clock::Sample), None, "not covered yet");
        assert_eq!(timing.end(3001, Clock::Keep), None);
        assert!(timing.is_running());
        assert_eq!(timing.end(3001, Clock::Sample), Some(at(5)));
        assert!(!timing.is_running());
        timing.begin(3001, at(20));
        assert_eq!(timing.end(4001, Clock::Stop), None);
        timing.begin(4001, at(30));
        timing.stop();
        assert_eq!(timing.end(5001, Clock::Sample), None);
        timing.note(Span::from_millis(40));
        assert_eq!(
            (timing.take(), timing.take()),
            (Some(Span::from_millis(40)), None)
        );
    }
}
