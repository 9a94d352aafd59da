//! The model of the path: bandwidth, shortest round-trip time, aggregation of ACKs, and the amount of
//! data in flight that follows from them.

use goodqueue_types::Time;

use super::policer::Turn;
use super::{AGGREGATION_ROUNDS, AckSample, Bbr, MAX_AGGREGATION, Mode, RateSample, least_burst};

impl Bbr {
    pub(super) fn update_bandwidth(&mut self, sample: &AckSample, rate: &RateSample) {
        self.delivered = rate.total_delivered;
        let bandwidth = rate.bandwidth();
        if bandwidth <= 0.0 {
            return;
        }
        if rate.prior_delivered >= self.round_ends_at {
            self.round_ends_at = rate.total_delivered;
            self.rounds += 1;
            self.round_start = true;
            self.conserving = false;
        }
        let limited = rate.is_app_limited || rate.prior_delivered < self.app_limited_until;
        self.look_for_policer(sample, limited);
        self.bandwidth.advance(self.rounds);
        if !limited || bandwidth >= self.bandwidth.max() {
            self.bandwidth.update(self.rounds, bandwidth);
        }
        if self.round_start && !limited {
            self.check_full_pipe();
        }
    }

    pub(super) fn look_for_policer(&mut self, sample: &AckSample, is_app_limited: bool) {
        let is_over = self.policer.on_ack(&Turn {
            now: sample.now,
            delivered: self.delivered,
            lost: sample.measured().lost,
            round_start: self.round_start,
            is_app_limited,
            cruising: matches!(self.mode, Mode::ProbeBandwidth(_)),
        });
        if is_over {
            self.probe_bandwidth(sample.now);
        }
    }

    /// Returns the bandwidth at which to send, in bytes per second.
    pub(super) fn bandwidth(&self) -> f64 {
        self.policer.rate().unwrap_or_else(|| self.bandwidth.max())
    }

    /// Measures by how much ACKs run ahead of the bandwidth, so that the window can bridge the
    /// pauses between aggregated ACKs.
    pub(super) fn update_aggregation(&mut self, now: Time, acked: f64) {
        let bandwidth = self.bandwidth();
        let state = &mut self.aggregation;
        if self.round_start {
            state.rounds += 1;
            if state.rounds >= AGGREGATION_ROUNDS {
                state.rounds = 0;
                state.half ^= 1;
                state.extra[state.half] = 0.0;
            }
        }
        let extra = state.epoch.ahead(now, bandwidth, acked).min(self.cwnd);
        state.extra[state.half] = state.extra[state.half].max(extra);
    }

    pub(super) fn aggregation(&self) -> f64 {
        if !self.pipe_is_full {
            return 0.0;
        }
        let [one, other] = self.aggregation.extra;
        one.max(other).min(self.bandwidth() * MAX_AGGREGATION)
    }

    /// Returns the bandwidth-delay product times `gain`, in bytes, or the initial window while the
    /// product is unknown.
    pub(super) fn bdp(&self, gain: f64) -> f64 {
        match self.min_rtt {
            Some(rtt) if self.bandwidth() > 0.0 => gain * self.bandwidth() * rtt.as_secs_f64(),
            _ => self.initial_window,
        }
    }

    /// Rounds up to an even number of whole segments, with room for three bursts and, while
    /// probing, for two more segments.
    pub(super) fn quantise(&self, bytes: f64) -> f64 {
        let segments = libm::ceil(bytes / self.mss) + 3.0 * self.burst();
        let mut segments = 2.0 * libm::ceil(segments / 2.0);
        if self.mode == Mode::ProbeBandwidth(0) {
            segments += 2.0;
        }
        segments * self.mss
    }

    /// Returns the segments that Linux hands to the device at once: about a millisecond of sending.
    pub(super) fn burst(&self) -> f64 {
        let pace = self.pace.unwrap_or(0.0);
        let bytes = (pace / 1024.0).min(65_216.0);
        libm::floor(bytes / self.mss).clamp(f64::from(least_burst(pace)), 127.0)
    }

    pub(super) fn target(&self, gain: f64) -> f64 {
        self.quantise(self.bdp(gain))
    }

    /// Returns the bytes in flight when the pace lets the next burst leave (Linux:
    /// `bbr_packets_in_net_at_edt`). The bytes that are delivered until then are subtracted. The
    /// burst is added if the gain is above 1.
    pub(super) fn in_flight_at_departure(&self, sample: &AckSample, in_flight: u64) -> f64 {
        let mut bytes = in_flight as f64;
        if self.pacing_gain() > 1.0 {
            bytes += self.burst() * self.mss;
        }
        let delivered = self.bandwidth() * sample.pace_ahead.as_secs_f64();
        (bytes - libm::floor(delivered / self.mss) * self.mss).max(0.0)
    }
}
