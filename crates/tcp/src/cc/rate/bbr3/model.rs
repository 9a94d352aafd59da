//! BBR's model of the path: bandwidth, bounds on the bytes in flight, and aggregation of ACKs.

use goodqueue_types::Span;

use super::{Bbr3, LONGEST_BURST, MIN_WINDOW, Mode};
use crate::cc::rate::{FULL_GROWTH, FULL_ROUNDS, MaxFilter};
use crate::cc::{AckSample, RateSample};

/// Round-trip time for each of which Google's tree halves the longest burst (`bbr_tso_rtt_shift`).
const SHORT_PATH: Span = Span::from_micros(512);

impl Bbr3 {
    /// Returns `gain` times the product of the present bandwidth and the shortest round-trip time, in
    /// bytes (`BDPMultiple`). The initial window replaces it while the round-trip time is unknown.
    pub(super) fn bdp(&self, gain: f64) -> f64 {
        self.product(self.bandwidth, gain)
    }

    fn product(&self, bandwidth: f64, gain: f64) -> f64 {
        match self.min_rtt {
            Some(rtt) => gain * bandwidth * rtt.as_secs_f64(),
            None => self.initial_window,
        }
    }

    /// Returns the bytes that leave in one burst: a millisecond at the pace (section 5.6.3), and on
    /// short paths as many more as Google's tree allows (`bbr_tso_segs_generic`).
    fn burst(&self) -> f64 {
        let pace = self.pace.unwrap_or(0.0);
        let halvings = self.min_rtt.map_or(63, |rtt| rtt.0 / SHORT_PATH.0);
        let more = (LONGEST_BURST as u64) >> halvings.min(63);
        (pace * 0.001 + more as f64)
            .min(LONGEST_BURST)
            .max(2.0 * self.mss)
    }

    /// Raises to at least three bursts and four segments, with two more segments while probing
    /// (`QuantizationBudget`, section 5.6.4.2).
    pub(super) fn quantise(&self, bytes: f64) -> f64 {
        let inflight = bytes.max(3.0 * self.burst()).max(MIN_WINDOW * self.mss);
        if self.mode == Mode::Up {
            inflight + 2.0 * self.mss
        } else {
            inflight
        }
    }

    pub(super) fn inflight(&self, gain: f64) -> f64 {
        self.quantise(self.bdp(gain))
    }

    /// Returns the bytes that fill the path at the largest bandwidth, whatever losses allow.
    pub(super) fn inflight_at_most(&self) -> f64 {
        self.quantise(self.product(self.max_bandwidth.max(), 1.0))
    }

    /// Returns the bandwidth-delay product, unless congestion cut the window below it
    /// (`TargetInflight`).
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp(1.0).min(self.cwnd)
    }

    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let headroom = (self.config.headroom * self.inflight_longterm).max(self.mss);
        if self.inflight_longterm.is_finite() {
            (self.inflight_longterm - headroom).max(MIN_WINDOW * self.mss)
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
        self.update_latest_delivery(rate);
        self.update_round(rate);
        let bandwidth = rate.bandwidth();
        let limited = self.is_limited(rate);
        if bandwidth > 0.0 && (!limited || bandwidth >= self.max_bandwidth.max()) {
            self.max_bandwidth.update(self.cycle, bandwidth);
        }
        self.update_marks();
        if self.loss_round_start {
            self.adapt_short_term();
        }
        self.update_aggregation(sample, acked);
        if !limited {
            self.check_full_bandwidth(bandwidth);
        }
    }

    /// Returns true if the application or `ProbeRtt` limited the sending that gave this sample.
    pub(super) fn is_limited(&self, rate: &RateSample) -> bool {
        let emptied = |(from, until)| (from..=until).contains(&rate.prior_delivered);
        rate.is_app_limited || self.emptied.is_some_and(emptied)
    }

    fn update_round(&mut self, rate: &RateSample) {
        if rate.prior_delivered >= self.round_ends_at {
            self.start_round();
            self.rounds += 1;
            self.rounds_since_probe += 1;
            self.round_start = true;
        }
    }

    /// Updates the largest rate and volume that this round delivered (`UpdateLatestDeliverySignals`).
    fn update_latest_delivery(&mut self, rate: &RateSample) {
        self.bandwidth_latest = self.bandwidth_latest.max(rate.bandwidth());
        self.inflight_latest = self.inflight_latest.max(rate.delivered as f64);
        self.loss_round_start = rate.prior_delivered >= self.loss_round_ends_at;
        if self.loss_round_start {
            self.loss_round_ends_at = rate.total_delivered;
        }
    }

    /// Restarts those maxima at the start of a round.
    pub(super) fn advance_latest_delivery(&mut self, rate: &RateSample) {
        if self.loss_round_start {
            self.bandwidth_latest = rate.bandwidth();
            self.inflight_latest = rate.delivered as f64;
        }
    }

    /// Lowers the short-term bounds after a round with losses or marks (section 5.5.10.3).
    fn adapt_short_term(&mut self) {
        let after_marks = self.bound_after_marks();
        if self.loss_in_round && !self.mode.is_probing() {
            if self.bandwidth_shortterm.is_infinite() {
                self.bandwidth_shortterm = self.max_bandwidth.max();
            }
            if self.inflight_shortterm.is_infinite() {
                self.inflight_shortterm = self.cwnd;
            }
            let beta = self.config.beta;
            self.bandwidth_shortterm = self.bandwidth_latest.max(beta * self.bandwidth_shortterm);
            self.inflight_shortterm = self.inflight_latest.max(beta * self.inflight_shortterm);
        }
        self.inflight_shortterm = self.inflight_shortterm.min(after_marks);
        self.loss_in_round = false;
    }

    pub(super) fn reset_short_term(&mut self) {
        self.bandwidth_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }

    pub(super) fn reset_congestion_signals(&mut self) {
        self.loss_in_round = false;
        self.loss_in_cycle = false;
        if let Some(marks) = &mut self.marks {
            marks.restart();
        }
        self.bandwidth_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    /// Measures by how much ACKs run ahead of the bandwidth: the maximum of ten rounds, and of the
    /// present one until the pipe is full (section 5.5.9).
    fn update_aggregation(&mut self, sample: &AckSample, acked: f64) {
        if self.round_start && !self.pipe_is_full {
            self.aggregation = MaxFilter::default();
        }
        let ahead = self.epoch.ahead(sample.now, self.bandwidth, acked);
        self.aggregation.update(self.rounds, ahead.min(self.cwnd));
    }

    /// Checks at the start of each round if the bandwidth has grown by a quarter. Three rounds
    /// without such growth show a full pipe (section 5.3.1.2).
    fn check_full_bandwidth(&mut self, bandwidth: f64) {
        if self.is_full_now || !self.round_start {
            return;
        }
        if bandwidth >= FULL_GROWTH * self.full_bandwidth {
            self.reset_full_bandwidth(bandwidth);
            return;
        }
        self.full_rounds += 1;
        self.is_full_now = self.full_rounds >= FULL_ROUNDS;
        self.pipe_is_full |= self.is_full_now;
    }

    pub(super) fn reset_full_bandwidth(&mut self, bandwidth: f64) {
        self.full_bandwidth = bandwidth;
        self.full_rounds = 0;
        self.is_full_now = false;
    }
}
