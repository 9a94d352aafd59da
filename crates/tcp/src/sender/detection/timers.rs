//! The sender's timers: round-trip measurement, idle times, the persist timer, and the handling of
//! expired timers.

use goodqueue_types::{Span, Time};

use crate::cc::CongestionControl;
use crate::config::{IdleRestart, TcpConfig};
use crate::connection::stats::TcpStats;
use crate::sender::stream::FIRST;
use crate::sender::{Chunk, Sender};

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
                if idle && now.saturating_since(self.last_sent) > rto =>
            {
                let initial = config.initial_window.bytes(config.mss) as f64;
                self.restart_with(self.controller.window().min(initial));
            }
            IdleRestart::OneSegment if idle && now.saturating_since(self.last_acked) >= rto => {
                self.restart_with(mss);
                self.recover = self.stream.max_sent();
            }
            IdleRestart::OneSegmentSinceSending if self.asked_to_send => {
                self.asked_to_send = false;
                if now.saturating_since(self.last_sent) > rto {
                    // The whole window is reset, because INET inflates cwnd itself in fast
                    // recovery.
                    self.restart_with(mss);
                    self.extra -= self.inflation();
                }
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
        self.persisting = true;
        self.persist_interval = config.details.persist_initial.unwrap_or(self.rtt.rto());
        self.deadline = now.saturating_add(self.persist_interval);
    }

    /// Sends one byte beyond a closed window. It does not count as sent until it is acknowledged.
    pub fn send_probe(&mut self, now: Time, bytes: u64, stats: &mut TcpStats) -> Chunk {
        let (seq, deadline) = (self.stream.next(), self.deadline);
        self.sent(now, seq, bytes, false, stats);
        self.stream.return_to(seq);
        self.deadline = deadline;
        self.persisting = true;
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
            if !self.persisting {
                return;
            }
        }
        if self.release <= now {
            self.release = Time::MAX;
            self.blocked = false;
        }
        if self.deadline > now {
            return;
        }
        self.blocked = false;
        if self.persisting {
            self.probe = true;
            self.budget = u32::MAX;
            let longest = config.rto.maximum.max(self.persist_interval);
            self.persist_interval = self.persist_interval.saturating_mul(2).min(longest);
            self.deadline = now.saturating_add(self.persist_interval);
        } else {
            self.on_retransmission_timeout(now, config, stats);
        }
    }
}
