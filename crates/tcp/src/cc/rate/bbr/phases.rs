//! The phases: start-up, draining, the gain cycle that probes for bandwidth, and the measurement of
//! the shortest round-trip time.

use goodqueue_types::{RandomStream, Span, Time};

use super::{AckSample, Bbr, CYCLE, FULL_GROWTH, FULL_ROUNDS, HIGH_GAIN, MIN_WINDOW, Mode};

impl Bbr {
    pub(super) fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => 1.0 / HIGH_GAIN,
            Mode::ProbeBandwidth(_) if self.policer.rate().is_some() => 1.0,
            Mode::ProbeBandwidth(phase) => CYCLE[phase],
            Mode::ProbeRtt => 1.0,
        }
    }

    pub(super) fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBandwidth(_) => self.config.cwnd_gain,
            Mode::ProbeRtt => 1.0,
        }
    }

    /// Sets `pipe_is_full` after three rounds in which the bandwidth did not grow by a quarter.
    pub(super) fn check_full_pipe(&mut self) {
        let bandwidth = self.bandwidth.max();
        if self.pipe_is_full {
            return;
        }
        if bandwidth >= FULL_GROWTH * self.full_bandwidth {
            self.full_bandwidth = bandwidth;
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.pipe_is_full = self.full_rounds >= FULL_ROUNDS;
    }

    pub(super) fn update_cycle(&mut self, sample: &AckSample) {
        let Mode::ProbeBandwidth(phase) = self.mode else {
            return;
        };
        let min_rtt = self.min_rtt.unwrap_or(Span::ZERO);
        let is_full_length = sample.now.saturating_since(self.cycle_start) > min_rtt;
        let gain = self.pacing_gain();
        let in_flight = self.in_flight_at_departure(sample, sample.measured().prior_in_flight);
        let is_over = if gain > 1.0 {
            is_full_length && (sample.measured().lost > 0 || in_flight >= self.target(gain))
        } else if gain < 1.0 {
            is_full_length || in_flight <= self.target(1.0)
        } else {
            is_full_length
        };
        if is_over {
            self.mode = Mode::ProbeBandwidth((phase + 1) % CYCLE.len());
            self.cycle_start = sample.now;
        }
    }

    /// Enters the gain cycle in any phase except the draining one. The phase is drawn from the seed
    /// and the time, so that flows differ and runs repeat.
    pub(super) fn probe_bandwidth(&mut self, now: Time) {
        let draw = RandomStream::new(self.config.seed, "bbr cycle", now.0).bits();
        let phase = (CYCLE.len() - (draw % 7) as usize) % CYCLE.len();
        self.mode = Mode::ProbeBandwidth(phase);
        self.cycle_start = now;
    }

    pub(super) fn check_drain(&mut self, sample: &AckSample) {
        if self.mode == Mode::Startup && self.pipe_is_full {
            self.mode = Mode::Drain;
            self.ssthresh = self.target(1.0) as u64;
        }
        let in_flight = self.in_flight_at_departure(sample, sample.measured().in_flight);
        if self.mode == Mode::Drain && in_flight <= self.target(1.0) {
            self.probe_bandwidth(sample.now);
        }
    }

    pub(super) fn update_min_rtt(&mut self, sample: &AckSample) {
        let now = sample.now;
        let is_old = self.min_rtt.is_some()
            && now.saturating_since(self.min_rtt_at) > self.config.probe_rtt_interval;
        if let Some(rtt) = sample.measured().rtt
            && (is_old || self.min_rtt.is_none_or(|least| rtt < least))
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_at = now;
        }
        if is_old && !self.restarting && self.mode != Mode::ProbeRtt {
            self.save_window();
            self.mode = Mode::ProbeRtt;
            self.probe_rtt_until = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.measure_rtt(sample);
        }
        if sample.measured().delivered > 0 {
            self.restarting = false;
        }
    }

    pub(super) fn measure_rtt(&mut self, sample: &AckSample) {
        self.app_limited_until = self.delivered + sample.measured().in_flight.max(1);
        match self.probe_rtt_until {
            None if sample.measured().in_flight as f64 <= MIN_WINDOW * self.mss => {
                self.probe_rtt_until = Some(sample.now + self.config.probe_rtt_duration);
                self.probe_rtt_round_done = false;
                self.round_ends_at = self.delivered;
            }
            None => {}
            Some(until) => {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done && sample.now > until {
                    self.end_probe_rtt(sample.now);
                }
            }
        }
    }

    pub(super) fn end_probe_rtt(&mut self, now: Time) {
        self.min_rtt_at = now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.pipe_is_full {
            self.probe_bandwidth(now);
        } else {
            self.mode = Mode::Startup;
        }
    }
}
