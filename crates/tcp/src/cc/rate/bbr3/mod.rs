//! BBR, version 3 (draft-ietf-ccwg-bbr). It differs from version 1 in two respects: losses of more
//! than two per cent bound the bytes in flight, and phases of probing for bandwidth alternate with
//! phases that leave room for other flows.
//!
//! ECN is not implemented; the draft leaves it out too. Section numbers are those of draft 02.

mod cycle;
mod model;
#[cfg(test)]
mod tests;

use goodqueue_types::parameters::{Key, TIMER};
use goodqueue_types::{Rate, Span, Time, parameters};

use super::{AckEpoch, LEAST_WINDOW, MaxFilter, PACING_MARGIN, least_burst, serve_by_pace};
use crate::cc::{AckSample, CongestionControl, CongestionEvent, Needs, SEED, SHARE};
use crate::config::TcpConfig;

parameters! {
    /// Parameters of BBR version 3.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Bbr3Config("bbr3") {
        /// Share of a flight that may be lost while probing.
        ///
        /// `BBR.LossThresh`.
        loss_threshold: f64 = 0.02 => SHARE.example("0.02");
        /// Share of the bounds kept in a round with losses.
        ///
        /// `BBR.Beta`.
        beta: f64 = 0.7 => SHARE.example("0.7");
        /// Share of the longest flight that is left to other flows while cruising.
        ///
        /// `BBR.Headroom`.
        headroom: f64 = 0.15 => SHARE.example("0.15");
        /// Age at which the round trip is measured again.
        ///
        /// `BBR.ProbeRTTInterval`.
        probe_rtt_interval: Span = Span::from_secs(5) => Key::of(TIMER).example("5s");
        /// Duration of that measurement.
        ///
        /// `BBR.ProbeRTTDuration`.
        probe_rtt_duration: Span = Span::from_millis(200) => Key::of(TIMER).example("200ms");
        /// Seed of the random waiting times between probes.
        seed: u64 = 1 => SEED;
    }
}

/// Pacing gain in Startup, 4 ln 2 (`BBR.StartupPacingGain`).
const STARTUP_GAIN: f64 = 2.77;
/// Age after which the shortest round-trip time is replaced (`BBR.MinRTTFilterLen`).
const MIN_RTT_AGE: Span = Span::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl Mode {
    /// Returns the pacing gain of the state (section 5.1).
    fn pacing_gain(self) -> f64 {
        match self {
            Self::Startup => STARTUP_GAIN,
            Self::Drain => 0.5,
            Self::Down => 0.9,
            Self::Cruise | Self::Refill | Self::ProbeRtt => 1.0,
            Self::Up => 1.25,
        }
    }

    fn cwnd_gain(self) -> f64 {
        match self {
            Self::Up => 2.25,
            Self::ProbeRtt => 0.5,
            _ => 2.0,
        }
    }

    /// Returns true if losses lower the long-term bounds in this state, false if the short-term
    /// ones.
    fn is_probing(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }

    fn is_probe_bandwidth(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }
}

/// State of BBR version 3. Rates are in bytes per second, windows in bytes.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "orthogonal states, each named"
)]
pub struct Bbr3 {
    config: Bbr3Config,
    mss: f64,
    initial_window: f64,
    cwnd: f64,
    ssthresh: u64,
    pace: Option<f64>,
    has_rtt: bool,
    mode: Mode,
    restarting: bool,

    rounds: u64,
    round_ends_at: u64,
    round_start: bool,
    delivered: u64,
    app_limited_until: u64,

    /// Largest delivery rates of this probing cycle and of the last.
    max_bandwidth: MaxFilter<2>,
    cycle: u64,
    /// Short-term bounds on bandwidth and flight. They are infinite unless losses set them.
    bandwidth_lo: f64,
    inflight_lo: f64,
    /// Long-term bound on the flight.
    inflight_hi: f64,
    bandwidth_latest: f64,
    inflight_latest: f64,
    loss_round_ends_at: u64,
    loss_in_round: bool,
    losses_in_round: u32,
    lost_in_round: u64,
    aggregation: MaxFilter<10>,
    epoch: AckEpoch,

    min_rtt: Option<Span>,
    min_rtt_at: Time,
    probe_rtt_delay: Option<Span>,
    probe_rtt_at: Time,
    probe_rtt_until: Option<Time>,
    probe_rtt_round_done: bool,

    full_bandwidth: f64,
    full_rounds: u32,
    /// True if the bandwidth stopped growing in the present attempt. `pipe_is_full` is true if it
    /// ever did.
    is_full_now: bool,
    pipe_is_full: bool,

    down_since: Time,
    probe_wait: Span,
    rounds_since_probe: u64,
    /// True while samples of a probe arrive. `is_probe_stopping` is true if the cycle's filter
    /// advances at the next round.
    has_probe_samples: bool,
    is_probe_stopping: bool,
    up_acked: f64,
    up_rounds: u32,
    /// Acknowledged bytes for which the long-term bound grows by one segment.
    up_cost: f64,

    was_repairing: bool,
    conserving: bool,
    prior_cwnd: f64,
}

impl Bbr3 {
    /// Creates the state for a connection with `config`.
    pub fn new(config: &TcpConfig, bbr: Bbr3Config) -> Self {
        let initial_window = config.initial_window.bytes(config.mss) as f64;
        Self {
            config: bbr,
            mss: f64::from(config.mss),
            initial_window,
            cwnd: initial_window,
            ssthresh: u64::MAX,
            pace: None,
            has_rtt: false,
            mode: Mode::Startup,
            restarting: false,
            rounds: 0,
            round_ends_at: 0,
            round_start: false,
            delivered: 0,
            app_limited_until: 0,
            max_bandwidth: MaxFilter::default(),
            cycle: 0,
            bandwidth_lo: f64::INFINITY,
            inflight_lo: f64::INFINITY,
            inflight_hi: f64::INFINITY,
            bandwidth_latest: 0.0,
            inflight_latest: 0.0,
            loss_round_ends_at: 0,
            loss_in_round: false,
            losses_in_round: 0,
            lost_in_round: 0,
            aggregation: MaxFilter::default(),
            epoch: AckEpoch::default(),
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            probe_rtt_delay: None,
            probe_rtt_at: Time::ZERO,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            full_bandwidth: 0.0,
            full_rounds: 0,
            is_full_now: false,
            pipe_is_full: false,
            down_since: Time::ZERO,
            probe_wait: Span::ZERO,
            rounds_since_probe: 0,
            has_probe_samples: false,
            is_probe_stopping: false,
            up_acked: 0.0,
            up_rounds: 0,
            up_cost: f64::INFINITY,
            was_repairing: false,
            conserving: false,
            prior_cwnd: 0.0,
        }
    }

    /// Updates the pacing rate (section 5.6.2).
    fn update_pace(&mut self, rtt: Option<Span>) {
        if !self.has_rtt
            && let Some(rtt) = rtt
        {
            self.has_rtt = true;
            self.pace = Some(STARTUP_GAIN * self.cwnd / rtt.as_secs_f64().max(1e-6));
        }
        let pace = self.bandwidth() * self.mode.pacing_gain() * PACING_MARGIN;
        if pace > 0.0 && (self.pipe_is_full || self.pace.is_none_or(|now| pace > now)) {
            self.pace = Some(pace);
        }
    }

    /// Updates the window (section 5.6.4).
    fn update_window(&mut self, sample: &AckSample, acked: f64) {
        self.modulate_for_recovery(sample, acked);
        if acked > 0.0 && !self.conserving {
            let most = self.quantise(self.bdp(self.mode.cwnd_gain()) + self.aggregation.max());
            if self.pipe_is_full {
                self.cwnd = (self.cwnd + acked).min(most);
            } else if self.cwnd < most || (self.delivered as f64) < self.initial_window {
                self.cwnd += acked;
            }
            self.cwnd = self.cwnd.max(LEAST_WINDOW * self.mss);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_window());
        }
        self.bound_by_model();
    }

    /// Adjusts the window in recovery: its first round sends only as much as is delivered, and its
    /// end restores the window.
    fn modulate_for_recovery(&mut self, sample: &AckSample, acked: f64) {
        if sample.measured().lost > 0 {
            self.cwnd = (self.cwnd - sample.measured().lost as f64).max(self.mss);
        }
        let conserved = (sample.measured().in_flight as f64 + acked).max(self.mss);
        let repairing = sample.in_recovery || sample.after_timeout;
        let was_repairing = std::mem::replace(&mut self.was_repairing, repairing);
        if sample.in_recovery && !was_repairing {
            self.conserving = true;
            self.start_round();
            self.cwnd = conserved;
        } else if was_repairing && !repairing {
            self.conserving = false;
            self.cwnd = self.cwnd.max(self.prior_cwnd);
        }
        if self.conserving {
            self.cwnd = self.cwnd.max(conserved);
        }
    }

    /// Bounds the window by the model (`BBRBoundCwndForModel`).
    fn bound_by_model(&mut self) {
        let hi = match self.mode {
            Mode::Cruise | Mode::ProbeRtt => self.inflight_with_headroom(),
            Mode::Down | Mode::Refill | Mode::Up => self.inflight_hi,
            Mode::Startup | Mode::Drain => f64::INFINITY,
        };
        let bound = hi.min(self.inflight_lo).max(LEAST_WINDOW * self.mss);
        self.cwnd = self.cwnd.min(bound);
    }

    fn save_window(&mut self) {
        self.prior_cwnd = if self.was_repairing || self.mode == Mode::ProbeRtt {
            self.prior_cwnd.max(self.cwnd)
        } else {
            self.cwnd
        };
    }
}

impl CongestionControl for Bbr3 {
    fn on_ack(&mut self, sample: &AckSample) {
        let acked = sample.measured().delivered as f64;
        self.round_start = false;
        if let Some(rate) = &sample.measured().rate {
            self.update_model(sample, rate, acked);
            self.update_cycle(sample, rate, acked);
        }
        self.update_min_rtt(sample);
        self.check_probe_rtt(sample);
        self.update_pace(sample.measured().rtt);
        self.update_window(sample, acked);
    }

    /// Saves the window. A single loss changes nothing else, because the model responds to the
    /// share of the flight that is lost.
    fn on_congestion_event(&mut self, _event: &CongestionEvent) {
        self.save_window();
    }

    fn on_retransmission_timeout(&mut self, _event: Option<&CongestionEvent>) {
        self.save_window();
        self.was_repairing = true;
        self.conserving = false;
        // A timeout treats all packets in flight as lost, so the short-term bound that rests on
        // them is reset.
        self.inflight_lo = f64::INFINITY;
        self.cwnd = self.mss;
    }

    serve_by_pace!();

    /// Lifts the bounds that a spurious loss set (in the spirit of section 5.5.10.3).
    fn on_undo(&mut self, _now: Time) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.loss_in_round = false;
        self.reset_lower_bounds();
        self.reset_full_bandwidth(0.0);
    }

    fn on_send(&mut self, now: Time, idle: bool) {
        if !idle {
            return;
        }
        // The restart has no burst (section 5.4.1).
        self.restarting = true;
        self.epoch.restart(now);
        if self.mode.is_probe_bandwidth() {
            let pace = self.bandwidth() * PACING_MARGIN;
            self.pace = Some(pace).filter(|pace| *pace > 0.0);
        } else if self.mode == Mode::ProbeRtt {
            self.end_probe_rtt_when_due(now);
        }
    }
}
