//! The shortest round-trip time and its measurement (section 5.3.4).

use goodqueue_types::{Span, Time};

use super::{Bbr3, MIN_WINDOW, Mode};
use crate::cc::AckSample;

/// Age after which the shortest round-trip time is replaced (`BBR.MinRTTFilterLen`).
const MIN_RTT_AGE: Span = Span::from_secs(10);

impl Bbr3 {
    /// Updates the shortest round-trip times of the last five and ten seconds (`UpdateMinRTT`).
    pub(super) fn update_min_rtt(&mut self, sample: &AckSample) {
        let now = sample.now;
        let age = now.saturating_since(self.probe_rtt_at);
        self.probe_rtt_expired =
            self.probe_rtt_delay.is_some() && age > self.config.probe_rtt_interval;
        if let Some(rtt) = sample.measured().rtt
            && (self.probe_rtt_expired || self.probe_rtt_delay.is_none_or(|least| rtt < least))
        {
            self.probe_rtt_delay = Some(rtt);
            self.probe_rtt_at = now;
        }
        let Some(delay) = self.probe_rtt_delay else {
            return;
        };
        let is_old = now.saturating_since(self.min_rtt_at) > MIN_RTT_AGE;
        if is_old || self.min_rtt.is_none_or(|least| delay < least) {
            self.min_rtt = Some(delay);
            self.min_rtt_at = self.probe_rtt_at;
        }
    }

    /// Enters, continues or ends `ProbeRTT` (`CheckProbeRTT`).
    pub(super) fn check_probe_rtt(&mut self, sample: &AckSample) {
        if self.mode != Mode::ProbeRtt && self.probe_rtt_expired && !self.restarting {
            self.mode = Mode::ProbeRtt;
            self.save_window();
            self.probe_rtt_until = None;
            self.is_probe_stopping = true;
            self.start_round();
        }
        if self.mode == Mode::ProbeRtt {
            self.hold_probe_rtt(sample);
        }
        if sample.measured().delivered > 0 {
            self.restarting = false;
        }
    }

    /// Keeps the flight low for the duration of the measurement and at least a round
    /// (`HandleProbeRTT`).
    fn hold_probe_rtt(&mut self, sample: &AckSample) {
        let in_flight = sample.measured().in_flight;
        let until = self.delivered + in_flight.max(1);
        let from = match self.emptied {
            Some((from, until)) if self.delivered <= until => from,
            _ => self.delivered,
        };
        self.emptied = Some((from, until));
        if self.probe_rtt_until.is_some() {
            self.probe_rtt_round_done |= self.round_start;
            if self.probe_rtt_round_done {
                self.end_probe_rtt_when_due(sample.now);
            }
        } else if in_flight as f64 <= self.probe_rtt_window() {
            self.probe_rtt_until = Some(sample.now + self.config.probe_rtt_duration);
            self.probe_rtt_round_done = false;
            self.start_round();
        }
    }

    pub(super) fn end_probe_rtt_when_due(&mut self, now: Time) {
        if self.probe_rtt_until.is_none_or(|until| now <= until) {
            return;
        }
        self.probe_rtt_at = now;
        self.restore_window();
        self.reset_short_term();
        if self.pipe_is_full {
            self.start_down(now);
            self.mode = Mode::Cruise;
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// Returns the window in `ProbeRTT`: half a bandwidth-delay product (section 5.6.4.5).
    pub(super) fn probe_rtt_window(&self) -> f64 {
        self.bdp(0.5).max(MIN_WINDOW * self.mss)
    }
}
