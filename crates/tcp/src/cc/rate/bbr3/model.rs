//! BBR's model of the path: bandwidth, round-trip time, and bounds on the bytes in flight.

use goodqueue_types::Time;

use super::{Bbr3, LEAST_WINDOW, MIN_RTT_AGE, Mode};
use crate::cc::rate::{FULL_GROWTH, FULL_ROUNDS, least_burst};
use crate::cc::{AckSample, RateSample};

/// Number of ACKs with losses in a round from which the loss rate can end Startup
/// (`BBRStartupFullLossCnt`).
const STARTUP_LOSSES: u32 = 6;

impl Bbr3 {
    /// Returns the bandwidth that the model allows.
    pub(super) fn bandwidth(&self) -> f64 {
        self.max_bandwidth.max().min(self.bandwidth_lo)
    }

    /// Returns the bandwidth-delay product times `gain`, in bytes. The initial window replaces the
    /// product while it is unknown.
    pub(super) fn bdp(&self, gain: f64) -> f64 {
        match self.min_rtt {
            Some(rtt) if self.max_bandwidth.max() > 0.0 => {
                gain * self.bandwidth() * rtt.as_secs_f64()
            }
            _ => gain * self.initial_window,
        }
    }

    /// Rounds up to at least three bursts and four segments, with two more segments while probing
    /// (section 5.6.4.2).
    pub(super) fn quantise(&self, bytes: f64) -> f64 {
        let pace = self.pace.unwrap_or(0.0);
        let least = f64::from(least_burst(pace));
        let burst = (pace * 0.001).min(65_536.0).max(least * self.mss);
        let mut inflight = bytes.max(3.0 * burst).max(LEAST_WINDOW * self.mss);
        if self.mode == Mode::Up {
            inflight += 2.0 * self.mss;
        }
        inflight
    }

    pub(super) fn inflight(&self, gain: f64) -> f64 {
        self.quantise(self.bdp(gain))
    }

    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let headroom = (self.config.headroom * self.inflight_hi).max(self.mss);
        if self.inflight_hi.is_finite() {
            (self.inflight_hi - headroom).max(LEAST_WINDOW * self.mss)
        } else {
            f64::INFINITY
        }
    }

    pub(super) fn start_round(&mut self) {
        self.round_ends_at = self.delivered;
    }

    /// Updates rounds, bandwidth, congestion signals and aggregation, and checks for a full pipe
    /// (section 5.5).
    pub(super) fn update_model(&mut self, sample: &AckSample, rate: &RateSample, acked: f64) {
        self.delivered = rate.total_delivered;
        if rate.prior_delivered >= self.round_ends_at {
            self.start_round();
            self.rounds += 1;
            self.rounds_since_probe += 1;
            self.round_start = true;
            self.conserving = false;
        }
        let bandwidth = rate.bandwidth();
        if bandwidth <= 0.0 {
            return;
        }
        let limited = rate.is_app_limited || rate.prior_delivered < self.app_limited_until;
        self.bandwidth_latest = self.bandwidth_latest.max(bandwidth);
        self.inflight_latest = self.inflight_latest.max(rate.delivered as f64);
        if !limited || bandwidth >= self.max_bandwidth.max() {
            self.max_bandwidth.update(self.cycle, bandwidth);
        }
        self.update_congestion_signals(sample, rate);
        self.update_aggregation(sample.now, acked);
        if !limited {
            self.check_full_bandwidth(bandwidth);
        }
    }

    /// Lowers the short-term bounds after a round with losses (section 5.5.10.3).
    fn update_congestion_signals(&mut self, sample: &AckSample, rate: &RateSample) {
        if sample.measured().lost > 0 {
            self.loss_in_round = true;
            self.losses_in_round += 1;
            self.lost_in_round += sample.measured().lost;
        }
        if rate.prior_delivered < self.loss_round_ends_at {
            return;
        }
        self.loss_round_ends_at = rate.total_delivered;
        if self.mode == Mode::Startup {
            self.check_startup_loss(rate);
        }
        if self.loss_in_round && !self.mode.is_probing() {
            if self.bandwidth_lo.is_infinite() {
                self.bandwidth_lo = self.max_bandwidth.max();
            }
            if self.inflight_lo.is_infinite() {
                self.inflight_lo = self.cwnd;
            }
            let beta = self.config.beta;
            self.bandwidth_lo = self.bandwidth_latest.max(beta * self.bandwidth_lo);
            self.inflight_lo = self.inflight_latest.max(beta * self.inflight_lo);
        }
        self.loss_in_round = false;
        self.losses_in_round = 0;
        self.lost_in_round = 0;
        self.bandwidth_latest = rate.bandwidth();
        self.inflight_latest = rate.delivered as f64;
    }

    /// Concludes from a round with many losses that the pipe is full (section 5.3.1.3).
    fn check_startup_loss(&mut self, rate: &RateSample) {
        let share = self.lost_in_round as f64 / (rate.in_flight_at_send.max(1)) as f64;
        if self.losses_in_round >= STARTUP_LOSSES && share > self.config.loss_threshold {
            self.pipe_is_full = true;
            self.inflight_hi = self.bdp(1.0).max(self.inflight_latest);
        }
    }

    pub(super) fn reset_lower_bounds(&mut self) {
        self.bandwidth_lo = f64::INFINITY;
        self.inflight_lo = f64::INFINITY;
    }

    pub(super) fn reset_congestion_signals(&mut self) {
        self.loss_in_round = false;
        self.losses_in_round = 0;
        self.lost_in_round = 0;
        self.bandwidth_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    /// Measures by how much ACKs run ahead of the bandwidth (section 5.5.9).
    fn update_aggregation(&mut self, now: Time, acked: f64) {
        let bandwidth = self.bandwidth();
        let extra = (self.epoch.ahead(now, bandwidth, acked)).min(self.cwnd);
        // While Startup doubles the rate, the last measured rate lags, so every ACK would seem to
        // be ahead.
        if self.pipe_is_full {
            self.aggregation.update(self.rounds, extra);
        }
    }

    /// Checks for three rounds in which the bandwidth did not grow by a quarter (section 5.3.1.2).
    fn check_full_bandwidth(&mut self, bandwidth: f64) {
        if self.is_full_now {
            return;
        }
        if bandwidth >= FULL_GROWTH * self.full_bandwidth {
            self.reset_full_bandwidth(bandwidth);
        } else if self.round_start {
            self.full_rounds += 1;
            self.is_full_now = self.full_rounds >= FULL_ROUNDS;
            self.pipe_is_full |= self.is_full_now;
        }
    }

    pub(super) fn reset_full_bandwidth(&mut self, bandwidth: f64) {
        self.full_bandwidth = bandwidth;
        self.full_rounds = 0;
        self.is_full_now = false;
    }

    /// Updates the shortest round-trip time (section 5.3.4.3).
    pub(super) fn update_min_rtt(&mut self, sample: &AckSample) {
        let now = sample.now;
        let Some(rtt) = sample.measured().rtt else {
            return;
        };
        let is_due = self.is_probe_rtt_due(now);
        if is_due || self.probe_rtt_delay.is_none_or(|least| rtt < least) {
            // The time of the sample is kept old until ProbeRTT is over, so that ProbeRTT takes
            // place.
            self.probe_rtt_delay = Some(rtt);
            if !is_due {
                self.probe_rtt_at = now;
            }
        }
        let is_old = now.saturating_since(self.min_rtt_at) > MIN_RTT_AGE;
        let delay = self.probe_rtt_delay.unwrap_or(rtt);
        if is_old || self.min_rtt.is_none_or(|least| delay < least) {
            self.min_rtt = Some(delay);
            self.min_rtt_at = self.probe_rtt_at;
        }
    }

    pub(super) fn is_probe_rtt_due(&self, now: Time) -> bool {
        self.probe_rtt_delay.is_some()
            && now.saturating_since(self.probe_rtt_at) > self.config.probe_rtt_interval
    }

    /// Returns the window in `ProbeRTT`: half a bandwidth-delay product (section 5.3.4.2).
    pub(super) fn probe_rtt_window(&self) -> f64 {
        self.bdp(0.5).max(LEAST_WINDOW * self.mss)
    }

    pub(super) fn is_too_high(&self, rate: &RateSample) -> bool {
        rate.lost as f64 > rate.in_flight_at_send as f64 * self.config.loss_threshold
    }
}
