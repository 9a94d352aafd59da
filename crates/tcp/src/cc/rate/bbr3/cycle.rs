//! The state machine: Startup, Drain, and the four phases of probing for bandwidth.

use goodqueue_types::{RandomStream, Span, Time};

use super::{Bbr3, MAX_DOUBLINGS, Mode};
use crate::cc::{AckSample, RateSample};

/// Largest number of rounds between probes: Reno would have grown by as many segments (section
/// 5.3.3.8).
const MAX_ROUNDS: f64 = 63.0;
/// Number of rounds after which Drain ends in any case.
const DRAIN_ROUNDS: u64 = 3;

impl Bbr3 {
    /// Makes the changes of state that an ACK causes (section 5.3).
    pub(super) fn update_cycle(&mut self, sample: &AckSample, rate: &RateSample, acked: f64) {
        self.check_startup_losses(sample, rate);
        self.check_drain(sample);
        if !self.pipe_is_full {
            return;
        }
        if self.adapt_long_term(sample, rate, acked) {
            return;
        }
        match self.mode {
            Mode::Down => {
                if !self.refill_if_due(sample.now) && self.is_time_to_cruise(sample) {
                    self.mode = Mode::Cruise;
                }
            }
            Mode::Cruise => {
                self.refill_if_due(sample.now);
            }
            Mode::Refill if self.round_start => {
                self.has_probe_samples = true;
                self.start_up(rate);
            }
            Mode::Up => {
                if self.is_time_to_go_down(sample, rate) {
                    self.probe_went_too_high = false;
                    self.start_down(sample.now);
                }
            }
            Mode::Startup | Mode::Drain | Mode::Refill | Mode::ProbeRtt => {}
        }
    }

    /// Starts Drain when the pipe is full, and ends it when the queue should be empty, or after three
    /// rounds (section 5.3.2).
    fn check_drain(&mut self, sample: &AckSample) {
        if self.mode == Mode::Startup && self.pipe_is_full {
            self.mode = Mode::Drain;
            self.drain_started_in = self.rounds;
            self.ssthresh = self.inflight(1.0) as u64;
        }
        let is_late = self.rounds > self.drain_started_in + DRAIN_ROUNDS;
        let is_drained = sample.measured().in_flight as f64 <= self.inflight(1.0);
        if self.mode == Mode::Drain && (is_drained || is_late) {
            self.start_down(sample.now);
        }
    }

    /// Adapts the long-term bound upward, and ends the samples of a probe (`AdaptLongTermModel`).
    /// Returns true if the next probe starts at once, because the last was only cautious.
    fn adapt_long_term(&mut self, sample: &AckSample, rate: &RateSample, acked: f64) -> bool {
        if self.is_probe_stopping && self.round_start {
            self.is_probe_stopping = false;
            self.has_probe_samples = false;
            let is_probe_bandwidth = self.mode.is_probe_bandwidth();
            if is_probe_bandwidth && !self.is_limited(rate) {
                self.cycle += 1;
                self.max_bandwidth.advance(self.cycle);
            }
            if is_probe_bandwidth && self.probe_was_cautious && !self.probe_went_too_high {
                self.start_refill();
                return true;
            }
        }
        let too_high = self.is_too_high(rate.lost, rate.in_flight_at_send)
            || self.judge_marks(sample.now, rate);
        if !too_high && self.inflight_longterm.is_finite() {
            self.inflight_longterm = self.inflight_longterm.max(rate.in_flight_at_send as f64);
            if self.mode == Mode::Up {
                self.raise_long_term(sample, acked);
            }
        }
        false
    }

    /// Raises the long-term bound exponentially faster while nothing is lost
    /// (`ProbeInflightLongtermUpward`).
    fn raise_long_term(&mut self, sample: &AckSample, acked: f64) {
        if !self.is_bound(sample) {
            return;
        }
        self.up_acked += acked;
        if self.up_acked >= self.up_cost {
            let steps = libm::floor(self.up_acked / self.up_cost);
            self.up_acked -= steps * self.up_cost;
            self.inflight_longterm += steps * self.mss;
        }
        if self.round_start {
            self.raise_slope();
        }
    }

    /// Returns true if the window, at the long-term bound, limits sending.
    fn is_bound(&self, sample: &AckSample) -> bool {
        sample.is_window_limited && self.cwnd >= self.inflight_longterm
    }

    fn raise_slope(&mut self) {
        let growth = f64::from(1u32 << self.up_rounds);
        self.up_rounds = (self.up_rounds + 1).min(MAX_DOUBLINGS);
        self.up_cost = (self.cwnd / growth).max(self.mss);
    }

    /// Starts a probe after two to three seconds, or when Reno would have grown as much
    /// (`IsTimeToProbeBW`). Returns true if it did.
    fn refill_if_due(&mut self, now: Time) -> bool {
        let reno_rounds = (self.target_inflight() / self.mss).min(MAX_ROUNDS);
        let has_waited = now.saturating_since(self.down_since) > self.probe_wait;
        let is_due = has_waited || self.rounds_since_probe as f64 >= reno_rounds;
        if self.refill_after_marks() {
            return true;
        }
        if is_due {
            self.start_refill();
        }
        is_due
    }

    fn is_time_to_cruise(&self, sample: &AckSample) -> bool {
        let in_flight = sample.measured().in_flight as f64;
        in_flight <= self.inflight_with_headroom().min(self.inflight_at_most())
    }

    /// Returns true if the probe is over: the bandwidth stopped growing, although the long-term bound
    /// did not hold it back, or the flight reached the bound at which the last probe lost too much
    /// (`IsTimeToGoDown`).
    fn is_time_to_go_down(&mut self, sample: &AckSample, rate: &RateSample) -> bool {
        // An ACK has made room already, so the flight before it counts, as in Google's code. The
        // flight reaches the bound when no other segment fits below it.
        let reached = sample.measured().prior_in_flight as f64 + self.mss;
        if self.probe_went_too_high && reached > self.inflight_longterm {
            self.probe_was_cautious = true;
            return true;
        }
        if self.is_bound(sample) {
            self.reset_full_bandwidth(rate.bandwidth());
            return false;
        }
        self.is_full_now
    }

    pub(super) fn start_refill(&mut self) {
        self.reset_short_term();
        self.up_rounds = 0;
        self.up_acked = 0.0;
        self.probe_was_cautious = false;
        self.is_probe_stopping = false;
        self.start_round();
        self.mode = Mode::Refill;
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
        let mut draw = RandomStream::new(self.config.seed, "bbr3 wait", now.0);
        self.rounds_since_probe = draw.bits() & 1;
        self.probe_wait = Span::from_secs(2) + draw.span_below(Span::from_secs(1));
        self.down_since = now;
        self.is_probe_stopping = true;
        self.start_round();
        self.mode = Mode::Down;
    }
}
