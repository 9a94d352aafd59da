//! BBR, version 1, as in Linux: Cardwell, Cheng, Gunn, Hassas Yeganeh and Jacobson, "BBR:
//! congestion-based congestion control", ACM Queue 14(5), 2016. It sends at the largest delivery
//! rate of the last ten round trips, with at most twice the bandwidth-delay product in flight.

use goodqueue_types::parameters::{Key, TIMER, number};
use goodqueue_types::{RandomStream, Rate, Span, Time, parameters};

use super::max_filter::MaxFilter;
use super::policer::{Policer, Turn};
use super::{AckSample, CongestionControl, CongestionEvent, Needs, RateSample, SEED};
use crate::config::TcpConfig;

parameters! {
    /// Parameters of BBR.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct BbrConfig("bbr") {
        /// Window in bandwidth-delay products while probing for bandwidth.
        cwnd_gain: f64 = 2.0 => number(1.0, 100.0).example("2");
        /// Age at which the shortest round trip is measured again.
        probe_rtt_interval: Span = Span::from_secs(10) => Key::of(TIMER).example("10s");
        /// Duration of that measurement.
        probe_rtt_duration: Span = Span::from_millis(200) => Key::of(TIMER).example("200ms");
        /// Chooses, with the time, where a gain cycle begins.
        seed: u64 = 1 => SEED;
    }
}

/// Gain 2 / ln 2, which doubles the sending rate every round trip.
pub(super) const HIGH_GAIN: f64 = 2.885;
/// Pacing gains of the cycle: one round trip of probing, one of draining, and six of cruising.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Growth of the bandwidth below which a round does not count as growing, and number of such rounds
/// that show a full pipe.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Ratio of the pacing rate to the bandwidth. It is below 1, so that queues drain.
pub(super) const PACING_MARGIN: f64 = 0.99;
/// Smallest window, in segments.
const LEAST_WINDOW: f64 = 4.0;
/// Longest period of ACK aggregation for which the window compensates, in seconds.
const MOST_AGGREGATION: f64 = 0.1;
/// Number of rounds that each half of the aggregation filter covers.
const AGGREGATION_ROUNDS: u32 = 5;

/// Returns the segments that leave back to back. Below 1.2 Mbit/s, here in bytes per second,
/// segments leave one by one (draft-ietf-ccwg-bbr section 5.6.3; Linux's `bbr_min_tso_rate`).
pub(super) fn least_burst(pace: f64) -> u32 {
    if pace < 150_000.0 { 1 } else { 2 }
}

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
    epoch_start: Time,
    epoch_acked: f64,
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

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => 1.0 / HIGH_GAIN,
            Mode::ProbeBandwidth(_) if self.policer.rate().is_some() => 1.0,
            Mode::ProbeBandwidth(phase) => CYCLE[phase],
            Mode::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBandwidth(_) => self.config.cwnd_gain,
            Mode::ProbeRtt => 1.0,
        }
    }

    fn update_bandwidth(&mut self, sample: &AckSample, rate: &RateSample) {
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

    fn look_for_policer(&mut self, sample: &AckSample, is_app_limited: bool) {
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
    fn bandwidth(&self) -> f64 {
        self.policer.rate().unwrap_or_else(|| self.bandwidth.max())
    }

    /// Sets `pipe_is_full` after three rounds in which the bandwidth did not grow by a quarter.
    fn check_full_pipe(&mut self) {
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

    /// Measures by how much ACKs run ahead of the bandwidth, so that the window can bridge the
    /// pauses between aggregated ACKs.
    fn update_aggregation(&mut self, now: Time, acked: f64) {
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
        let mut expected = bandwidth * now.saturating_since(state.epoch_start).as_secs_f64();
        if state.epoch_acked <= expected {
            state.epoch_acked = 0.0;
            state.epoch_start = now;
            expected = 0.0;
        }
        state.epoch_acked += acked;
        let extra = (state.epoch_acked - expected).min(self.cwnd);
        state.extra[state.half] = state.extra[state.half].max(extra);
    }

    fn aggregation(&self) -> f64 {
        if !self.pipe_is_full {
            return 0.0;
        }
        let [one, other] = self.aggregation.extra;
        one.max(other).min(self.bandwidth() * MOST_AGGREGATION)
    }

    /// Returns the bandwidth-delay product times `gain`, in bytes, or the initial window while the
    /// product is unknown.
    fn bdp(&self, gain: f64) -> f64 {
        match self.min_rtt {
            Some(rtt) if self.bandwidth() > 0.0 => gain * self.bandwidth() * rtt.as_secs_f64(),
            _ => self.initial_window,
        }
    }

    /// Rounds up to an even number of whole segments, with room for three bursts and, while
    /// probing, for two more segments.
    fn quantise(&self, bytes: f64) -> f64 {
        let segments = libm::ceil(bytes / self.mss) + 3.0 * self.burst();
        let mut segments = 2.0 * libm::ceil(segments / 2.0);
        if self.mode == Mode::ProbeBandwidth(0) {
            segments += 2.0;
        }
        segments * self.mss
    }

    /// Returns the segments that Linux hands to the device at once: about a millisecond of sending.
    fn burst(&self) -> f64 {
        let pace = self.pace.unwrap_or(0.0);
        let bytes = (pace / 1024.0).min(65_216.0);
        libm::floor(bytes / self.mss).clamp(f64::from(least_burst(pace)), 127.0)
    }

    fn target(&self, gain: f64) -> f64 {
        self.quantise(self.bdp(gain))
    }

    fn update_cycle(&mut self, sample: &AckSample) {
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

    /// Returns the bytes in flight when the pace lets the next burst leave (Linux:
    /// `bbr_packets_in_net_at_edt`). The bytes that are delivered until then are subtracted. The
    /// burst is added if the gain is above 1.
    fn in_flight_at_departure(&self, sample: &AckSample, in_flight: u64) -> f64 {
        let mut bytes = in_flight as f64;
        if self.pacing_gain() > 1.0 {
            bytes += self.burst() * self.mss;
        }
        let delivered = self.bandwidth() * sample.pace_ahead.as_secs_f64();
        (bytes - libm::floor(delivered / self.mss) * self.mss).max(0.0)
    }

    /// Enters the gain cycle in any phase except the draining one. The phase is drawn from the seed
    /// and the time, so that flows differ and runs repeat.
    fn probe_bandwidth(&mut self, now: Time) {
        let draw = RandomStream::new(self.config.seed, "bbr cycle", now.0).bits();
        let phase = (CYCLE.len() - (draw % 7) as usize) % CYCLE.len();
        self.mode = Mode::ProbeBandwidth(phase);
        self.cycle_start = now;
    }

    fn check_drain(&mut self, sample: &AckSample) {
        if self.mode == Mode::Startup && self.pipe_is_full {
            self.mode = Mode::Drain;
            self.ssthresh = self.target(1.0) as u64;
        }
        let in_flight = self.in_flight_at_departure(sample, sample.measured().in_flight);
        if self.mode == Mode::Drain && in_flight <= self.target(1.0) {
            self.probe_bandwidth(sample.now);
        }
    }

    fn update_min_rtt(&mut self, sample: &AckSample) {
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

    fn measure_rtt(&mut self, sample: &AckSample) {
        self.app_limited_until = self.delivered + sample.measured().in_flight.max(1);
        match self.probe_rtt_until {
            None if sample.measured().in_flight as f64 <= LEAST_WINDOW * self.mss => {
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

    fn end_probe_rtt(&mut self, now: Time) {
        self.min_rtt_at = now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.pipe_is_full {
            self.probe_bandwidth(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn save_window(&mut self) {
        self.prior_cwnd = if self.repair == Repair::None && self.mode != Mode::ProbeRtt {
            self.cwnd
        } else {
            self.prior_cwnd.max(self.cwnd)
        };
    }

    fn update_pace(&mut self, rtt: Option<Span>) {
        if !self.has_rtt
            && let Some(rtt) = rtt
        {
            self.has_rtt = true;
            let rtt = rtt.as_secs_f64().max(1e-6);
            self.pace = Some(HIGH_GAIN * PACING_MARGIN * self.cwnd / rtt);
        }
        let pace = self.bandwidth() * self.pacing_gain() * PACING_MARGIN;
        if pace > 0.0 && (self.pipe_is_full || self.pace.is_none_or(|now| pace > now)) {
            self.pace = Some(pace);
        }
    }

    fn update_window(&mut self, sample: &AckSample, acked: f64) {
        if acked > 0.0 && !self.recover_window(sample, acked) {
            let target = self.quantise(self.bdp(self.cwnd_gain()) + self.aggregation());
            if self.pipe_is_full {
                self.cwnd = (self.cwnd + acked).min(target);
            } else if self.cwnd < target || (self.delivered as f64) < self.initial_window {
                self.cwnd += acked;
            }
            self.cwnd = self.cwnd.max(LEAST_WINDOW * self.mss);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(LEAST_WINDOW * self.mss);
        }
    }

    /// Adjusts the window in recovery: its first round sends only as much as is delivered, and its
    /// end restores the window. Returns true if recovery has set the window.
    fn recover_window(&mut self, sample: &AckSample, acked: f64) -> bool {
        if sample.measured().lost > 0 {
            self.cwnd = (self.cwnd - sample.measured().lost as f64).max(self.mss);
        }
        let repair = if sample.in_recovery {
            Repair::FastRecovery
        } else if sample.after_timeout {
            Repair::Timeout
        } else {
            Repair::None
        };
        let before = std::mem::replace(&mut self.repair, repair);
        let conserved = (sample.measured().in_flight as f64 + acked).max(self.mss);
        if repair == Repair::FastRecovery && before != Repair::FastRecovery {
            self.conserving = true;
            self.round_ends_at = self.delivered;
            self.cwnd = conserved;
        } else if repair == Repair::None && before != Repair::None {
            self.conserving = false;
            self.cwnd = self.cwnd.max(self.prior_cwnd);
        }
        if self.conserving {
            self.cwnd = self.cwnd.max(conserved);
        }
        self.conserving
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

    fn window(&self) -> f64 {
        self.cwnd
    }

    fn set_window(&mut self, bytes: f64) {
        // An unlimited threshold at the end of recovery does not set the window.
        if bytes < u64::MAX as f64 {
            self.cwnd = bytes;
        }
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn set_ssthresh(&mut self, bytes: u64) {
        self.ssthresh = bytes;
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pace.map(|pace| Rate((8.0 * pace).max(1.0) as u64))
    }

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
        self.aggregation.epoch_start = now;
        self.aggregation.epoch_acked = 0.0;
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

    fn sets_window_in_recovery(&self) -> bool {
        true
    }

    fn needs(&self) -> Needs {
        Needs::Rates
    }
}

#[cfg(test)]
mod tests;
