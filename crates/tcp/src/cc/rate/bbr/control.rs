//! The control of sending: the pace and the window, which recovery lowers and restores.

use goodqueue_types::Span;

use super::{AckSample, Bbr, HIGH_GAIN, MIN_WINDOW, Mode, PACING_MARGIN, Repair};

impl Bbr {
    pub(super) fn save_window(&mut self) {
        self.prior_cwnd = if self.repair == Repair::None && self.mode != Mode::ProbeRtt {
            self.cwnd
        } else {
            self.prior_cwnd.max(self.cwnd)
        };
    }

    pub(super) fn update_pace(&mut self, rtt: Option<Span>) {
        if !self.has_rtt
            && let Some(rtt) = rtt
        {
            self.has_rtt = true;
            let rtt = rtt.as_secs_f64().max(1e-6);
            self.pace = Some(HIGH_GAIN * PACING_MARGIN * self.cwnd / rtt);
        }
        let pace = self.bandwidth() * self.pacing_gain() * PACING_MARGIN;
        if pace > 0.0 && (self.pipe_is_full || self.pace.is_none_or(|now| pace > now)) {
            self.pace = Some(pace);
        }
    }

    pub(super) fn update_window(&mut self, sample: &AckSample, acked: f64) {
        if acked > 0.0 && !self.recover_window(sample, acked) {
            let target = self.quantise(self.bdp(self.cwnd_gain()) + self.aggregation());
            if self.pipe_is_full {
                self.cwnd = (self.cwnd + acked).min(target);
            } else if self.cwnd < target || (self.delivered as f64) < self.initial_window {
                self.cwnd += acked;
            }
            self.cwnd = self.cwnd.max(MIN_WINDOW * self.mss);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(MIN_WINDOW * self.mss);
        }
    }

    /// Adjusts the window in recovery: its first round sends only as much as is delivered, and its
    /// end restores the window. Returns true if recovery has set the window.
    pub(super) fn recover_window(&mut self, sample: &AckSample, acked: f64) -> bool {
        if sample.measured().lost > 0 {
            self.cwnd = (self.cwnd - sample.measured().lost as f64).max(self.mss);
        }
        let repair = if sample.in_recovery {
            Repair::FastRecovery
        } else if sample.after_timeout {
            Repair::Timeout
        } else {
            Repair::None
        };
        let before = std::mem::replace(&mut self.repair, repair);
        let conserved = (sample.measured().in_flight as f64 + acked).max(self.mss);
        if repair == Repair::FastRecovery && before != Repair::FastRecovery {
            self.conserving = true;
            self.round_ends_at = self.delivered;
            self.cwnd = conserved;
        } else if repair == Repair::None && before != Repair::None {
            self.conserving = false;
            self.cwnd = self.cwnd.max(self.prior_cwnd);
        }
        if self.conserving {
            self.cwnd = self.cwnd.max(conserved);
        }
        self.conserving
    }
}
