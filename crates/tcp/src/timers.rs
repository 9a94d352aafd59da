//! The sender's clocks: what is timed, what silence does, the persist timer, and which timer has
//! expired.

use goodqueue_types::Time;

use crate::cc::CongestionControl;
use crate::config::{IdleRestart, TcpConfig};
use crate::sender::{Chunk, FIRST, Sender, UNTIMED};
use crate::stats::TcpStats;

impl Sender {
    /// What silence does to the window.
    #[inline]
    pub fn restart_after_idle(&mut self, now: Time, config: &TcpConfig) {
        let idle = self.una == self.max_sent && self.max_sent > FIRST;
        let rto = self.rtt.rto();
        let mss = f64::from(config.mss);
        match config.details.idle_restart {
            // RFC 5681 section 4.1
            IdleRestart::InitialWindow if idle && now.saturating_since(self.last_sent) > rto => {
                let initial = config.initial_window.bytes(config.mss) as f64;
                self.controller
                    .set_window(self.controller.window().min(initial));
            }
            IdleRestart::OneSegment if idle && now.saturating_since(self.last_acked) >= rto => {
                self.controller.set_window(mss);
                self.recover = self.max_sent;
            }
            IdleRestart::OneSegmentSinceSending if self.asked_to_send => {
                self.asked_to_send = false;
                if now.saturating_since(self.last_sent) > rto {
                    self.controller.set_window(mss);
                }
            }
            _ => {}
        }
    }

    /// Stops the clock of the segment being timed (Karn's rule).
    pub fn stop_timing(&mut self) {
        self.timed_seq = UNTIMED;
    }

    /// Whether a segment is being timed.
    pub fn is_timing(&self) -> bool {
        self.timed_seq != UNTIMED
    }

    pub fn start_persisting(&mut self, now: Time, config: &TcpConfig) {
        self.persisting = true;
        self.persist_interval = config.details.persist_initial.unwrap_or(self.rtt.rto());
        self.deadline = now.saturating_add(self.persist_interval);
    }

    /// One byte beyond a closed window, not counted as sent until it is acknowledged.
    pub fn send_probe(&mut self, now: Time, bytes: u64, stats: &mut TcpStats) -> Chunk {
        let (seq, deadline) = (self.next, self.deadline);
        self.sent(now, seq, bytes, false, stats);
        self.next = seq;
        self.deadline = deadline;
        self.persisting = true;
        Chunk {
            seq,
            len: bytes as u32,
            fin: false,
        }
    }

    /// The retransmission or persist timer.
    pub fn handle_timeout(&mut self, now: Time, config: &TcpConfig, stats: &mut TcpStats) {
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
