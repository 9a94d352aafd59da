//! Pacing: bursts of two or more segments leave at a rate, as in Linux's internal pacing.

use goodqueue_types::{Rate, Span, Time};

use crate::cc::CongestionControl;
use crate::sender::ledger::{Ledger, Turn};

/// Number of segments that leave unpaced at the start (Linux).
const UNPACED: u64 = 10;

/// State that decides when the next segment may leave. A sender without pacing has no clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pacer {
    clock: Option<Box<Clock>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    /// Time at which the data sent would have left at the pace.
    next: Time,
    sent: u64,
    /// Number of segments that may still leave together with the last, and the time when it left.
    together: u32,
    burst_at: Time,
}

impl Pacer {
    /// Returns the time until which pacing holds the next segment back, or `Time::MAX` if it does
    /// not.
    #[inline]
    pub fn held_until(&self, now: Time) -> Time {
        match self.clock.as_deref() {
            Some(clock) if clock.holds(now) => clock.next,
            _ => Time::MAX,
        }
    }

    /// Returns by how much the clock of the pace is ahead.
    pub fn ahead(&self, now: Time) -> Span {
        self.clock
            .as_deref()
            .map_or(Span::ZERO, |clock| clock.next.saturating_since(now))
    }

    /// Records that a segment has left. The next burst waits for the duration of this one at the
    /// pace, less at most half of it if this one left late. `burst` segments leave back to back.
    pub fn on_sent(&mut self, now: Time, rate: Rate, burst: u32, payload: u32) {
        let clock = self.clock.get_or_insert_default();
        clock.on_sent(now, rate, burst, payload);
    }
}

impl Clock {
    fn holds(&self, now: Time) -> bool {
        self.next > now && (self.together == 0 || self.burst_at != now)
    }

    fn on_sent(&mut self, now: Time, rate: Rate, burst: u32, payload: u32) {
        self.sent += 1;
        if self.sent <= UNPACED || rate.0 == 0 {
            return;
        }
        let mut wait = rate.transmission_time(goodqueue_types::Bytes(u64::from(payload)));
        if self.together > 0 && self.burst_at == now {
            self.together -= 1;
            self.next = self.next.saturating_add(wait);
            return;
        }
        let late = now.saturating_since(self.next);
        wait = wait.saturating_sub(late.min(wait / 2));
        self.next = now.saturating_add(wait);
        self.burst_at = now;
        self.together = burst - 1;
    }
}

/// Returns the segments that leave back to back: those that the control asks for, or as many as
/// Linux hands to the device at once: about a millisecond of sending, and at least the control's
/// smallest number.
pub(crate) fn burst(control: &impl CongestionControl, rate: Rate, payload: u32) -> u32 {
    control.burst().unwrap_or_else(|| {
        let bytes = (rate.0 / 8 / 1024).min(65_216);
        ((bytes / u64::from(payload.max(1))) as u32).max(control.least_burst())
    })
}

impl Ledger {
    /// Returns the control's rate, or cwnd per round trip with Linux's gains: twice in slow start,
    /// 1.2 times near and above ssthresh, so that pacing never holds back the growth of the window.
    pub fn pacing_rate(&self, turn: &Turn<'_>) -> Rate {
        let sender = &*turn.sender;
        if let Some(rate) = sender.controller.pacing_rate() {
            return rate;
        }
        let rtt = sender.rtt.srtt(&turn.config.rto).unwrap_or(Span::ZERO);
        if rtt == Span::ZERO {
            return Rate(0);
        }
        let window = self.window_segments(sender);
        // The window is below half of the threshold in segments, both rounded down.
        let doubled = 2 * (u64::from(window) + 1) * self.rules.mss;
        let slow_start = sender.controller.ssthresh() >= doubled;
        let gain = if slow_start { 2.0 } else { 1.2 };
        let segments = f64::from(window.max(self.records.out()));
        let bits = 8.0 * segments * self.rules.mss as f64;
        Rate((gain * bits / rtt.as_secs_f64()) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of 1448 bytes at 10 Mbit/s leave two by two, every 2 · 1158.4 µs. At 1 Mbit/s they
    /// do too, but one by one if the control requires it.
    #[test]
    fn segments_leave_in_bursts_at_the_pace() {
        for (rate, together) in [(10_000_000, 2), (1_000_000, 2), (1_000_000, 1)] {
            let clock = Clock {
                sent: UNPACED,
                ..Clock::default()
            };
            let mut pacer = Pacer {
                clock: Some(Box::new(clock)),
            };
            let mut now = Time::ZERO + Span::from_secs(1);
            let start = now;
            for _ in 0..10 {
                for _ in 0..together {
                    assert_eq!(pacer.held_until(now), Time::MAX);
                    pacer.on_sent(now, Rate(rate), together, 1448);
                }
                now = pacer.held_until(now);
                assert!(now < Time::MAX);
            }
            let each = Rate(rate).transmission_time(goodqueue_types::Bytes(1448));
            // The first burst is late and waits for half of its duration.
            assert_eq!(now - start + each / 2, each * u64::from(10 * together));
        }
    }
}
