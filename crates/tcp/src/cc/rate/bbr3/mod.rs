//! BBR, version 3 (draft-ietf-ccwg-bbr-06). It differs from version 1 in two respects: losses of more
//! than two per cent bound the bytes in flight, and phases of probing for bandwidth alternate with
//! phases that leave room for other flows.
//!
//! Section numbers and names in backticks are those of the draft.

mod cycle;
mod losses;
mod marks;
mod model;
mod probe_rtt;
#[cfg(test)]
mod tests;

use goodqueue_types::parameters::{Key, TIMER, flag};
use goodqueue_types::{Rate, Span, Time, parameters};

use super::{AckEpoch, MIN_WINDOW, MaxFilter, PACING_MARGIN, serve_by_pace};
use crate::cc::{
    AckSample, CongestionControl, CongestionEvent, CongestionSignal, LostSegment, MarkSample,
    Needs, SEED, SHARE,
};
use crate::config::TcpConfig;
use losses::Undo;
use marks::Marks;

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
        probe_rtt_interval: Span = Span::from_secs(5) => Key::new(TIMER).example("5s");
        /// Duration of that measurement.
        ///
        /// `BBR.ProbeRTTDuration`.
        probe_rtt_duration: Span = Span::from_millis(200) => Key::new(TIMER).example("200ms");
        /// Reduce the bytes in flight in proportion to the share of marks, as Google's Linux tree
        /// does on routes with `ecn_low`. Without it marks are ignored, as there on other routes.
        ecn_response: bool = false => flag().example("true");
        /// Longest round trip at which marks count by their share. With a longer one they are ignored.
        ///
        /// `bbr_ecn_max_rtt_us` of Google's Linux tree.
        ecn_max_rtt: Span = Span::from_millis(5) => Key::new(TIMER).example("25ms");
        /// Seed of the random waiting times between probes.
        seed: u64 = 1 => SEED;
    }
}

/// Pacing gain in Startup, 4 ln 2 (`BBR.StartupPacingGain`).
const STARTUP_GAIN: f64 = 2.77;
/// Largest number of doublings of the slope at which the long-term bound grows.
const MAX_DOUBLINGS: u32 = 30;
/// Longest burst, in bytes (section 5.6.3).
const LONGEST_BURST: f64 = 65_536.0;

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
    /// Returns the pacing gain of the state (section 5.6.1).
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

    /// Returns true if losses lower the long-term bound in this state, false if the short-term
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
    /// Totals of delivered bytes between which packets left while `ProbeRtt` kept the pipe empty.
    emptied: Option<(u64, u64)>,

    /// Largest delivery rates of this probing cycle and of the last.
    max_bandwidth: MaxFilter<2>,
    cycle: u64,
    /// Bandwidth that the model allowed after the last ACK (`BBR.bw`).
    bandwidth: f64,
    /// Short-term bounds on bandwidth and flight. They are infinite unless losses set them.
    bandwidth_shortterm: f64,
    inflight_shortterm: f64,
    /// Long-term bound on the flight.
    inflight_longterm: f64,
    bandwidth_latest: f64,
    inflight_latest: f64,
    loss_round_ends_at: u64,
    loss_round_start: bool,
    loss_in_round: bool,
    loss_in_cycle: bool,
    /// None if marks are ignored.
    marks: Option<Box<Marks>>,
    /// Separate ranges of sequence numbers lost in this round, and the end of the last.
    ranges_in_round: u32,
    range_ends_at: u64,
    aggregation: MaxFilter<10>,
    epoch: AckEpoch,

    min_rtt: Option<Span>,
    min_rtt_at: Time,
    probe_rtt_delay: Option<Span>,
    probe_rtt_at: Time,
    probe_rtt_expired: bool,
    probe_rtt_until: Option<Time>,
    probe_rtt_round_done: bool,

    full_bandwidth: f64,
    full_rounds: u32,
    /// True if the bandwidth stopped growing in the present attempt. `pipe_is_full` is true if it
    /// ever did.
    is_full_now: bool,
    pipe_is_full: bool,
    drain_started_in: u64,

    down_since: Time,
    probe_wait: Span,
    rounds_since_probe: u64,
    /// True while samples of a probe arrive. `is_probe_stopping` is true if they end with the next
    /// round (`ACKS_PROBE_STOPPING`).
    has_probe_samples: bool,
    is_probe_stopping: bool,
    /// True if the last probe lost too much (`BBR.prev_probe_too_high`).
    probe_went_too_high: bool,
    /// True if the last probe ended as soon as it reached the long-term bound
    /// (`BBR.prev_probe_precautionary`).
    probe_was_cautious: bool,
    up_acked: f64,
    up_rounds: u32,
    /// Acknowledged bytes for which the long-term bound grows by one segment.
    up_cost: f64,

    is_repairing: bool,
    prior_cwnd: f64,
    undo: Undo,
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
            emptied: None,
            max_bandwidth: MaxFilter::default(),
            cycle: 0,
            bandwidth: 0.0,
            bandwidth_shortterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            bandwidth_latest: 0.0,
            inflight_latest: 0.0,
            loss_round_ends_at: 0,
            loss_round_start: false,
            loss_in_round: false,
            loss_in_cycle: false,
            marks: bbr.ecn_response.then(Box::default),
            ranges_in_round: 0,
            range_ends_at: u64::MAX,
            aggregation: MaxFilter::default(),
            epoch: AckEpoch::default(),
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            probe_rtt_delay: None,
            probe_rtt_at: Time::ZERO,
            probe_rtt_expired: false,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            full_bandwidth: 0.0,
            full_rounds: 0,
            is_full_now: false,
            pipe_is_full: false,
            drain_started_in: 0,
            down_since: Time::ZERO,
            probe_wait: Span::ZERO,
            rounds_since_probe: 0,
            has_probe_samples: false,
            is_probe_stopping: false,
            probe_went_too_high: false,
            probe_was_cautious: false,
            up_acked: 0.0,
            up_rounds: 0,
            up_cost: f64::INFINITY,
            is_repairing: false,
            prior_cwnd: 0.0,
            undo: Undo::default(),
        }
    }

    /// Updates the pacing rate (section 5.6.2).
    fn update_pace(&mut self, rtt: Option<Span>) {
        if !self.has_rtt
            && let Some(rtt) = rtt
        {
            self.has_rtt = true;
            self.pace = Some(STARTUP_GAIN * self.initial_window / rtt.as_secs_f64().max(1e-6));
        }
        let pace = self.bandwidth * self.mode.pacing_gain() * PACING_MARGIN;
        if pace > 0.0 && (self.pipe_is_full || self.pace.is_none_or(|now| pace > now)) {
            self.pace = Some(pace);
        }
    }

    /// Updates the window (section 5.6.4).
    fn update_window(&mut self, acked: f64) {
        if acked > 0.0 {
            let most = self.quantise(self.bdp(self.mode.cwnd_gain()) + self.aggregation.max());
            if self.pipe_is_full {
                self.cwnd = (self.cwnd + acked).min(most);
            } else if self.cwnd < most || (self.delivered as f64) < self.initial_window {
                self.cwnd += acked;
            }
            self.cwnd = self.cwnd.max(MIN_WINDOW * self.mss);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_window());
        }
        self.bound_by_model();
    }

    /// Bounds the window by the model (`BoundCwndForModel`).
    fn bound_by_model(&mut self) {
        let longterm = match self.mode {
            Mode::Cruise | Mode::ProbeRtt => self.inflight_with_headroom(),
            Mode::Down | Mode::Refill | Mode::Up => self.inflight_longterm,
            Mode::Startup | Mode::Drain => f64::INFINITY,
        };
        let bound = longterm.min(self.inflight_shortterm);
        self.cwnd = self.cwnd.min(bound.max(MIN_WINDOW * self.mss));
    }

    /// Restores the window when the losses are repaired (section 5.6.4.4).
    fn follow_recovery(&mut self, sample: &AckSample) {
        let is_repairing = sample.in_recovery || sample.after_timeout;
        if std::mem::replace(&mut self.is_repairing, is_repairing) && !is_repairing {
            self.restore_window();
        }
        self.undo.is_open = is_repairing;
    }

    fn save_window(&mut self) {
        self.prior_cwnd = if self.is_repairing || self.mode == Mode::ProbeRtt {
            self.prior_cwnd.max(self.cwnd)
        } else {
            self.cwnd
        };
    }

    fn restore_window(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }
}

impl CongestionControl for Bbr3 {
    fn on_ack(&mut self, sample: &AckSample) {
        let measured = sample.measured();
        let acked = measured.delivered as f64;
        self.round_start = false;
        self.follow_recovery(sample);
        if let Some(rate) = &measured.rate {
            self.update_model(sample, rate, acked);
            self.update_cycle(sample, rate, acked);
        }
        self.update_min_rtt(sample);
        self.check_probe_rtt(sample);
        if let Some(rate) = &measured.rate {
            self.advance_latest_delivery(rate);
        }
        self.bandwidth = self.max_bandwidth.max().min(self.bandwidth_shortterm);
        self.update_pace(measured.rtt);
        self.update_window(acked);
    }

    fn on_marks(&mut self, sample: &MarkSample) {
        self.take_marks(sample);
    }

    fn on_feedback(&mut self, counts_marks: bool) {
        self.marks = self.marks.take().filter(|_| counts_marks);
    }

    fn on_lost(&mut self, segment: &LostSegment) {
        self.take_loss(segment);
    }

    /// Saves what recovery restores. The losses of segments count one by one, and marks by their
    /// share.
    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        if event.signal == CongestionSignal::Loss {
            self.save_before_losses();
        }
    }

    fn on_retransmission_timeout(&mut self, _event: Option<&CongestionEvent>) {
        self.save_before_losses();
        self.is_repairing = true;
        // Otherwise the short-term bound would follow from the window of one segment. The draft does
        // not say which window it follows from, and Google's code takes the one before the timeout.
        if !self.mode.is_probing() && self.inflight_shortterm.is_infinite() {
            self.inflight_shortterm = self.cwnd.max(self.prior_cwnd);
        }
        self.cwnd = self.mss;
    }

    serve_by_pace!();

    fn on_undo(&mut self, _now: Time) {
        self.undo_losses();
    }

    /// Restarts after an idle time without a burst (section 5.4.1).
    fn on_send(&mut self, now: Time, idle: bool) {
        if !idle {
            return;
        }
        self.restarting = true;
        self.epoch.restart(now);
        if self.mode.is_probe_bandwidth() {
            let pace = self.bandwidth * PACING_MARGIN;
            self.pace = Some(pace).filter(|pace| *pace > 0.0);
        } else if self.mode == Mode::ProbeRtt {
            self.end_probe_rtt_when_due(now);
        }
    }
}
