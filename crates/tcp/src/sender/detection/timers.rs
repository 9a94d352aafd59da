//! The sender's timers: round-trip measurement, idle times, the persist timer, and the handling of
//! expired timers.

use goodqueue_types::{Span, Time};

use crate::cc::CongestionControl;
use crate::config::{IdleRestart, TcpConfig};
use crate::connection::stats::TcpStats;
use crate::sender::stream::FIRST;
use crate::sender::{Chunk, Sender};

/// The times at which the sender has to be called again.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed)]
pub(crate) struct Timers {
    /// Time at which the retransmission or persist timer expires, or `Time::MAX` if neither runs.
    deadline: Time,
    /// Time at which a sender that pacing holds back has to be polled again, or `Time::MAX`.
    release: Time,
    persist_interval: Span,
    /// True if the running timer is the persist timer.
    persisting: bool,
    /// True if a probe of the peer's window is due.
    probe: bool,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            deadline: Time::MAX,
            release: Time::MAX,
            persist_interval: Span::ZERO,
            persisting: false,
            probe: false,
        }
    }
}

impl Timers {
    /// Returns the time at which the retransmission or persist timer expires, or `Time::MAX`.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Returns the time of the next call, or `Time::MAX`.
    #[inline]
    pub fn next(&self) -> Time {
        self.deadline().min(self.release)
    }

    /// Returns true if the retransmission or persist timer runs.
    #[inline]
    pub fn runs(&self) -> bool {
        self.deadline() != Time::MAX
    }

    /// Sets the time at which the running timer expires. It stays the timer that it is.
    #[inline]
    pub fn set(&mut self, deadline: Time) {
        self.deadline = deadline;
    }

    /// Starts the retransmission timer in place of any other. `Time::MAX` only ends the other.
    #[inline]
    pub fn start(&mut self, deadline: Time) {
        self.persisting = false;
        self.deadline = deadline;
    }

    /// Stops the retransmission or persist timer.
    pub fn stop(&mut self) {
        self.deadline = Time::MAX;
    }

    /// Stops all timers, because the connection ends.
    pub fn stop_all(&mut self) {
        self.deadline = Time::MAX;
        self.release = Time::MAX;
    }

    /// Holds the sender back until a time, or not at all if it is `Time::MAX`.
    #[inline]
    pub fn hold_until(&mut self, release: Time) {
        self.release = release;
    }

    /// Returns true if the sender was held back until `now`, and holds it back no longer.
    #[inline]
    pub fn end_hold(&mut self, now: Time) -> bool {
        let release = self.release;
        let ends = release <= now;
        if ends {
            self.release = Time::MAX;
        }
        ends
    }

    /// Returns true if the persist timer runs (RFC 9293 section 3.8.6.1).
    #[inline]
    pub fn is_persisting(&self) -> bool {
        self.persisting
    }

    /// Starts the persist timer.
    pub fn persist(&mut self, now: Time, interval: Span) {
        self.persisting = true;
        self.persist_interval = interval;
        self.deadline = now.saturating_add(interval);
    }

    /// Makes a probe due, and the next one after twice the interval, but at most after `maximum`.
    pub fn probe_again(&mut self, now: Time, maximum: Span) {
        self.probe = true;
        let longest = maximum.max(self.persist_interval);
        let interval = self.persist_interval.saturating_mul(2).min(longest);
        self.persist(now, interval);
    }

    /// Goes on with the persist timer that a probe has stopped.
    pub fn keep_persisting(&mut self, deadline: Time) {
        self.deadline = deadline;
        self.persisting = true;
    }

    /// Stops the persist timer if it runs, because the peer's window has changed.
    #[inline]
    pub fn end_persisting(&mut self) {
        if self.persisting {
            self.persisting = false;
            self.probe = false;
            self.deadline = Time::MAX;
        }
    }

    /// Returns true if a probe of the peer's window was due.
    #[inline]
    pub fn take_probe(&mut self) -> bool {
        std::mem::take(&mut self.probe)
    }
}

impl Sender {
    /// Reduces the window after an idle time.
    #[inline]
    pub fn restart_after_idle(&mut self, now: Time, config: &TcpConfig) {
        let idle = self.stream.is_idle() && self.stream.max_sent() > FIRST;
        let rto = self.rtt.rto();
        let mss = f64::from(config.mss);
        match config.details.idle_restart {
            // RFC 5681 section 4.1 has this rule.
            IdleRestart::InitialWindow | IdleRestart::Halved
                if idle && self.activity.since_sending(now) > rto =>
            {
                let initial = config.initial_window.bytes(config.mss) as f64;
                self.restart_with(self.controller.window().min(initial));
            }
            IdleRestart::OneSegment if idle && self.activity.since_acknowledgement(now) >= rto => {
                self.restart_with(mss);
                self.course.set_point(self.stream.max_sent());
            }
            IdleRestart::OneSegmentSinceSending
                if self.activity.take_request() && self.activity.since_sending(now) > rto =>
            {
                // The whole window is reset, because INET inflates cwnd itself in fast recovery.
                self.restart_with(mss);
                self.accounting.add_extra(-self.inflation());
            }
            _ => {}
        }
    }

    /// Sets the window after an idle time, unless the control does so itself.
    #[cold]
    fn restart_with(&mut self, window: f64) {
        if !self.controller.sets_window_in_recovery() {
            self.controller.set_window(window);
        }
    }

    /// Takes a sample from the echoed timestamp (RFC 7323 section 4).
    #[cold]
    pub fn sample_echo(&mut self, now: Time, config: &TcpConfig) -> Option<Span> {
        let rtt = self.timing.echoed_round_trip(now, config)?;
        self.rtt
            .sample(&config.rto, Time(now.0.saturating_sub(rtt.0)), now);
        self.timing.note(rtt);
        Some(rtt)
    }

    pub fn start_persisting(&mut self, now: Time, config: &TcpConfig) {
        let interval = config.details.persist_initial.unwrap_or(self.rtt.rto());
        self.timers.persist(now, interval);
    }

    /// Sends one byte beyond a closed window. It does not count as sent until it is acknowledged.
    pub fn send_probe(&mut self, now: Time, bytes: u64, stats: &mut TcpStats) -> Chunk {
        let (seq, deadline) = (self.stream.next(), self.timers.deadline());
        self.sent(now, seq, bytes, false, stats);
        self.stream.return_to(seq);
        self.timers.keep_persisting(deadline);
        Chunk {
            seq,
            len: bytes as u32,
            fin: false,
        }
    }

    /// Handles an expired retransmission or persist timer.
    pub fn handle_timeout(&mut self, now: Time, config: &TcpConfig, stats: &mut TcpStats) {
        if self.ledger.is_some() {
            self.handle_timeout_by_records(now, config, stats);
            if !self.timers.is_persisting() {
                return;
            }
        }
        if self.timers.end_hold(now) {
            self.allowance.unblock();
        }
        if self.timers.deadline() > now {
            return;
        }
        self.allowance.unblock();
        if self.timers.is_persisting() {
            self.timers.probe_again(now, config.rto.maximum);
            self.allowance.allow_all();
        } else {
            self.on_retransmission_timeout(now, config, stats);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9293 section 3.8.6.1: the interval between probes of a closed window doubles, and an open
    /// window ends them.
    #[test]
    fn a_closed_window_is_probed_ever_more_rarely_until_it_opens() {
        let at = |seconds| Time::ZERO + Span::from_secs(seconds);
        let mut timers = Timers::default();
        timers.persist(at(0), Span::from_secs(1));
        for (now, next) in [(1, 3), (3, 7), (7, 12)] {
            assert_eq!(timers.deadline(), at(now));
            timers.probe_again(at(now), Span::from_secs(5));
            assert!(timers.take_probe() && !timers.take_probe());
            assert_eq!(timers.deadline(), at(next));
        }
        timers.end_persisting();
        assert!(!timers.runs() && !timers.is_persisting());
        timers.start(at(20));
        timers.end_persisting();
        assert_eq!(
            timers.deadline(),
            at(20),
            "the retransmission timer runs on"
        );
    }

    #[test]
    fn a_paced_sender_is_called_when_it_may_send_or_a_timer_expires() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut timers = Timers::default();
        timers.start(at(300));
        timers.hold_until(at(20));
        assert_eq!(timers.next(), at(20));
        assert!(!timers.end_hold(at(19)));
        assert!(timers.end_hold(at(20)));
        assert_eq!(timers.next(), at(300));
        timers.stop_all();
        assert_eq!(timers.next(), Time::MAX);
    }
}
