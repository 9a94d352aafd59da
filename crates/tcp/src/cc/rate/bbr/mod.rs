//! BBR, version 1, as in Linux: Cardwell, Cheng, Gunn, Hassas Yeganeh and Jacobson, "BBR:
//! congestion-based congestion control", ACM Queue 14(5), 2016. It sends at the largest delivery
//! rate of the last ten round trips, with at most twice the bandwidth-delay product in flight.

mod control;
mod model;
mod phases;
mod policer;

use goodqueue_types::parameters::{Key, TIMER, number};
use goodqueue_types::{Rate, Span, Time, parameters};

use super::{
    AckEpoch, FULL_GROWTH, FULL_ROUNDS, MIN_WINDOW, MaxFilter, PACING_MARGIN, least_burst,
    serve_by_pace,
};
use crate::cc::{AckSample, CongestionControl, CongestionEvent, Needs, RateSample, SEED};
use crate::config::TcpConfig;
use policer::Policer;

parameters! {
    /// Parameters of BBR.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct BbrConfig("bbr") {
        /// Window in bandwidth-delay products while probing for bandwidth.
        cwnd_gain: f64 = 2.0 => number(1.0, 100.0).example("2");
        /// Age of the shortest round trip at which it is measured again.
        probe_rtt_interval: Span = Span::from_secs(10) => Key::new(TIMER).example("10s");
        /// Duration of that measurement.
        probe_rtt_duration: Span = Span::from_millis(200) => Key::new(TIMER).example("200ms");
        /// Seed that chooses, with the time, the phase in which a gain cycle begins.
        seed: u64 = 1 => SEED;
    }
}

/// Gain 2 / ln 2, which doubles the sending rate every round trip.
const HIGH_GAIN: f64 = 2.885;
/// Pacing gains of the cycle: one round trip of probing, one of draining, and six of cruising.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Longest period of ACK aggregation for which the window compensates, in seconds.
const MAX_AGGREGATION: f64 = 0.1;
/// Number of rounds that each half of the aggregation filter covers.
const AGGREGATION_ROUNDS: u32 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    /// The value is the phase of the gain cycle.
    ProbeBandwidth(usize),
    ProbeRtt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    None,
    FastRecovery,
    Timeout,
}

/// State of BBR. Rates are in bytes per second.
#[expect(
    clippy::struct_excessive_bools,
    reason = "orthogonal states, each named"
)]
#[derive(Clone, Debug)]
pub struct Bbr {
    config: BbrConfig,
    mss: f64,
    initial_window: f64,
    cwnd: f64,
    ssthresh: u64,
    pace: Option<f64>,
    mode: Mode,
    /// Maximum over the present round and ten before it, as in Linux's filter.
    bandwidth: MaxFilter<11>,
    rounds: u64,
    /// Total of delivered bytes that ends the round: it ends when a packet sent after this many
    /// bytes were delivered is acknowledged.
    round_ends_at: u64,
    round_start: bool,
    delivered: u64,
    min_rtt: Option<Span>,
    min_rtt_at: Time,
    has_rtt: bool,
    probe_rtt_until: Option<Time>,
    probe_rtt_round_done: bool,
    /// Total of delivered bytes before which samples are application-limited, because the pipe was
    /// kept empty.
    app_limited_until: u64,
    cycle_start: Time,
    full_bandwidth: f64,
    full_rounds: u32,
    pipe_is_full: bool,
    repair: Repair,
    conserving: bool,
    /// Window before recovery or before the measurement of the round-trip time.
    prior_cwnd: f64,
    restarting: bool,
    aggregation: Aggregation,
    policer: Policer,
}

/// Excess of acknowledged bytes over those that the bandwidth would deliver.
#[derive(Clone, Debug, Default)]
struct Aggregation {
    epoch: AckEpoch,
    extra: [f64; 2],
    half: usize,
    rounds: u32,
}

impl Bbr {
    /// Creates the state for a connection with `config`.
    pub fn new(config: &TcpConfig, bbr: BbrConfig) -> Self {
        let initial_window = config.initial_window.bytes(config.mss) as f64;
        Self {
            config: bbr,
            mss: f64::from(config.mss),
            initial_window,
            cwnd: initial_window,
            ssthresh: u64::MAX,
            pace: None,
            mode: Mode::Startup,
            bandwidth: MaxFilter::default(),
            rounds: 0,
            round_ends_at: 0,
            round_start: false,
            delivered: 0,
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            has_rtt: false,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            app_limited_until: 0,
            cycle_start: Time::ZERO,
            full_bandwidth: 0.0,
            full_rounds: 0,
            pipe_is_full: false,
            repair: Repair::None,
            conserving: false,
            prior_cwnd: 0.0,
            restarting: false,
            aggregation: Aggregation::default(),
            policer: Policer::default(),
        }
    }
}

impl CongestionControl for Bbr {
    fn on_ack(&mut self, sample: &AckSample) {
        let acked = sample.measured().delivered as f64;
        self.round_start = false;
        if let Some(rate) = &sample.measured().rate {
            self.update_bandwidth(sample, rate);
            self.update_aggregation(sample.now, acked);
        }
        self.update_cycle(sample);
        self.check_drain(sample);
        self.update_min_rtt(sample);
        self.update_pace(sample.measured().rtt);
        self.update_window(sample, acked);
    }

    /// Saves the window, which recovery restores. A loss alone is no reason for BBR to slow down.
    fn on_congestion_event(&mut self, _event: &CongestionEvent) {
        self.save_window();
    }

    fn on_retransmission_timeout(&mut self, _event: Option<&CongestionEvent>) {
        self.save_window();
        self.repair = Repair::Timeout;
        self.full_bandwidth = 0.0;
        self.round_start = true;
        self.conserving = false;
        self.cwnd = self.mss;
    }

    serve_by_pace!();

    fn least_burst(&self) -> u32 {
        least_burst(self.pace.unwrap_or(0.0))
    }

    fn on_undo(&mut self, _now: Time) {
        self.full_bandwidth = 0.0;
        self.full_rounds = 0;
        self.policer.reset();
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    fn on_send(&mut self, now: Time, idle: bool) {
        if !idle {
            return;
        }
        self.restarting = true;
        self.aggregation.epoch.restart(now);
        match self.mode {
            Mode::ProbeBandwidth(_) => {
                self.pace = Some(self.bandwidth() * PACING_MARGIN).filter(|pace| *pace > 0.0);
            }
            Mode::ProbeRtt if self.probe_rtt_until.is_some_and(|until| now > until) => {
                self.end_probe_rtt(now);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
