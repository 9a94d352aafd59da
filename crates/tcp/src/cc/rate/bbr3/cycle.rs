//! The state machine: Startup, Drain, the four phases of probing for bandwidth, and `ProbeRTT`.

use goodqueue_types::{RandomStream, Span, Time};

use super::{Bbr3, Mode};
use crate::cc::{AckSample, RateSample};

/// Largest number of rounds between probes: Reno would have grown by as many segments (section
/// 5.3.3.5.1).
const MOST_ROUNDS: f64 = 63.0;
/// Largest number of doublings of the slope at which the long-term bound grows.
const MOST_DOUBLINGS: u32 = 30;

impl Bbr3 {
    /// Makes the changes of state that an ACK causes (section 5.3).
    pub(super) fn update_cycle(&mut self, sample: &AckSample, rate: &RateSample, acked: f64) {
        let now = sample.now;
        let in_flight = sample.measured().in_flight as f64;
        if self.mode == Mode::Startup && self.pipe_is_full {
            self.mode = Mode::Drain;
            self.ssthresh = self.inflight(1.0) as u64;
        }
        if self.mode == Mode::Drain && in_flight <= self.inflight(1.0) {
            self.start_down(now);
        }
        if !self.pipe_is_full {
            return;
        }
        self.adapt_long_term(sample, rate, acked);
        match self.mode {
            Mode::Down => {
                let room = self.inflight_with_headroom().min(self.inflight(1.0));
                if !self.probe_if_due(now) && in_flight <= room {
                    self.mode = Mode::Cruise;
                }
            }
            Mode::Cruise => {
                self.probe_if_due(now);
            }
            Mode::Refill if self.round_start => {
                self.has_probe_samples = true;
                self.start_up(rate);
            }
            // If the window limits the probe, the bandwidth cannot grow, so its growth is not
            // judged.
            Mode::Up if self.cwnd >= self.inflight_hi => {
                self.reset_full_bandwidth(rate.bandwidth());
            }
            Mode::Up if self.is_full_now => self.start_down(now),
            _ => {}
        }
    }

    /// Adapts the long-term bound (section 5.3.3.6). It follows the bytes that the path has
    /// carried, and falls when more than the threshold of them were lost.
    fn adapt_long_term(&mut self, sample: &AckSample, rate: &RateSample, acked: f64) {
        if self.is_probe_stopping && self.round_start {
            // The probe's last samples have arrived, so its cycle is over.
            self.is_probe_stopping = false;
            self.has_probe_samples = false;
            if self.mode.is_probe_bandwidth() && !rate.is_app_limited {
                self.cycle += 1;
                self.max_bandwidth.advance(self.cycle);
            }
        }
        let was_in_flight = rate.in_flight_at_send as f64;
        if self.is_too_high(rate) {
            if self.has_probe_samples {
                self.has_probe_samples = false;
                let target = self.bdp(1.0).min(self.cwnd);
                if !rate.is_app_limited {
                    self.inflight_hi = was_in_flight.max(target * self.config.beta);
                }
                if self.mode == Mode::Up {
                    self.start_down(sample.now);
                }
            }
            return;
        }
        if self.inflight_hi.is_infinite() {
            return;
        }
        self.inflight_hi = self.inflight_hi.max(was_in_flight);
        if self.mode == Mode::Up {
            self.raise_long_term(sample, acked);
        }
    }

    /// Raises the long-term bound exponentially faster while nothing is lost.
    fn raise_long_term(&mut self, sample: &AckSample, acked: f64) {
        if !sample.is_window_limited || self.cwnd < self.inflight_hi {
            return;
        }
        self.up_acked += acked;
        if self.up_acked >= self.up_cost {
            let steps = libm::floor(self.up_acked / self.up_cost);
            self.up_acked -= steps * self.up_cost;
            self.inflight_hi += steps * self.mss;
        }
        if self.round_start {
            self.raise_slope();
        }
    }

    fn raise_slope(&mut self) {
        let growth = self.mss * f64::from(1u32 << self.up_rounds);
        self.up_rounds = (self.up_rounds + 1).min(MOST_DOUBLINGS);
        self.up_cost = (self.cwnd / growth).max(1.0) * self.mss;
    }

    /// Starts a probe after two to three seconds, or when Reno would have grown as much (section
    /// 5.3.3.5). Returns true if it did.
    fn probe_if_due(&mut self, now: Time) -> bool {
        let reno_rounds = (self.bdp(1.0).min(self.cwnd) / self.mss).min(MOST_ROUNDS);
        let is_due =
            self.has_passed_since_down(now) || self.rounds_since_probe as f64 >= reno_rounds;
        if is_due {
            self.reset_lower_bounds();
            self.up_rounds = 0;
            self.up_acked = 0.0;
            self.is_probe_stopping = false;
            self.start_round();
            self.mode = Mode::Refill;
        }
        is_due
    }

    /// Returns true if the wait for the next probe is over. Down and Cruise share one wait.
    fn has_passed_since_down(&self, now: Time) -> bool {
        now.saturating_since(self.down_since) > self.probe_wait
    }

    fn start_up(&mut self, rate: &RateSample) {
        self.reset_full_bandwidth(rate.bandwidth());
        self.start_round();
        self.mode = Mode::Up;
        self.raise_slope();
    }

    pub(super) fn start_down(&mut self, now: Time) {
        self.reset_congestion_signals();
        self.up_cost = f64::INFINITY;
        let draw = RandomStream::new(self.config.seed, "bbr3 wait", now.0).bits();
        self.rounds_since_probe = draw & 1;
        self.probe_wait = Span::from_millis(2_000 + (draw >> 1) % 1_000);
        self.down_since = now;
        self.is_probe_stopping = true;
        self.start_round();
        self.mode = Mode::Down;
    }

    /// Enters, continues or ends `ProbeRTT` (section 5.3.4).
    pub(super) fn check_probe_rtt(&mut self, sample: &AckSample) {
        let now = sample.now;
        if self.mode != Mode::ProbeRtt && self.is_probe_rtt_due(now) && !self.restarting {
            self.save_window();
            self.probe_rtt_until = None;
            self.is_probe_stopping = true;
            self.start_round();
            self.mode = Mode::ProbeRtt;
        }
        if self.mode == Mode::ProbeRtt {
            self.app_limited_until = self.delivered + sample.measured().in_flight.max(1);
            if self.probe_rtt_until.is_none() {
                if sample.measured().in_flight as f64 <= self.probe_rtt_window() {
                    self.probe_rtt_until = Some(now + self.config.probe_rtt_duration);
                    self.probe_rtt_round_done = false;
                    self.start_round();
                }
            } else {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done {
                    self.end_probe_rtt_when_due(now);
                }
            }
        }
        if sample.measured().delivered > 0 {
            self.restarting = false;
        }
    }

    pub(super) fn end_probe_rtt_when_due(&mut self, now: Time) {
        if self.probe_rtt_until.is_none_or(|until| now <= until) {
            return;
        }
        self.probe_rtt_at = now;
        self.min_rtt_at = now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.reset_lower_bounds();
        if self.pipe_is_full {
            self.start_down(now);
            self.mode = Mode::Cruise;
        } else {
            self.mode = Mode::Startup;
        }
    }
}
