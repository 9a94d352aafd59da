//! Prague (draft-briscoe-iccrg-prague-congestion-control-04), a control for queues with shallow
//! thresholds that mark (L4S, RFC 9331). The window falls in proportion to the share of marked
//! packets, like DCTCP's. Where the draft is silent, Linux's `tcp_prague.c` decides (the L4S team's
//! tree, commit 02573a215581).

mod classic;

use goodqueue_types::parameters::{DELAY, Key, flag, integer, number};
use goodqueue_types::{Rate, Span, Time, parameters};

use self::classic::ClassicQueue;

use crate::cc::{
    AckSample, CongestionControl, CongestionEvent, CongestionSignal, MarkSample, Needs,
};
use crate::config::TcpConfig;

parameters! {
    /// Parameters of Prague.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PragueConfig("prague") {
        /// Round-trip time as which every shorter one counts; `0s`: each counts as it is.
        ///
        /// Section "Reduced RTT-Dependence" of the draft. Linux of August 2020, with which the tests
        /// of heistp/l4s-tests were made, had no such rule (`0s`).
        rtt_target: Span = Span::from_millis(25) => Key::new(DELAY).example("0s");
        /// Number of round trips after slow start from which short ones count as longer ones.
        transition: u64 = 500 => integer(0, u64::MAX >> 1).example("0");
        /// Detect a queue that marks as RFC 3168 says by the variation of the round-trip time, and
        /// reduce the window there by up to 31 % per mark, as a classic control would.
        ///
        /// Linux `prague_ecn_fallback`, which is off by default.
        ecn_fallback: bool = false => flag().example("true");
        /// Smallest window, in segments. Below two segments the pace alone limits the rate.
        ///
        /// Linux until version 0.5 of Prague counted whole segments, at least 2 (`MIN_CWND`).
        min_window: f64 = 1.0 / 64.0 => number(1.0 / 64.0, 2.0).example("2");
    }
}

/// Binary logarithm of the units of α per 1, and of the inverse of the gain g.
const ALPHA_BITS: u32 = 20;
const GAIN_BITS: u32 = 4;
/// Largest α, in units and multiplied by 1/g.
const MAX_ALPHA: u64 = 1 << (ALPHA_BITS + GAIN_BITS);
/// Number of segments that may be in flight even if the window is smaller. The pace then keeps the
/// rate below this number per round trip.
const MIN_IN_FLIGHT: f64 = 2.0;
/// Inverse of the longest burst, in seconds (0.25 ms).
const BURSTS_PER_SECOND: f64 = 4096.0;
/// Gain of the smoothed round-trip time (RFC 6298).
const SRTT_GAIN: f64 = 0.125;

/// State of Prague. Windows are in bytes.
#[derive(Clone, Debug)]
pub struct Prague {
    config: PragueConfig,
    mss: f64,
    /// Size of a packet with a full segment.
    packet: f64,
    /// Window with its fraction of a segment.
    cwnd: f64,
    /// Whole segments that may be in flight. They follow `cwnd` by one segment per ACK.
    allowed: f64,
    ssthresh: u64,
    /// Smoothed share of marked packets in units of 2⁻²⁰, multiplied by 1/g, so that no remainder is
    /// lost.
    alpha: u64,
    alpha_at: Time,
    reduced_at: Option<Time>,
    /// True once a packet was marked.
    has_marks: bool,
    /// Marked bytes that the present ACK reports.
    marked_now: u64,
    /// Bytes delivered, and those of them marked, since the round began.
    delivered: u64,
    marked: u64,
    round_ends_at: u64,
    /// Number of rounds since slow start.
    rounds: u64,
    /// Smoothed round-trip time, in seconds.
    srtt: Option<f64>,
    /// Windows before the last loss.
    before: Option<(f64, u64)>,
    /// False if the peer does not count marks. The control is then Reno.
    counts_marks: bool,
    /// Detection of a classic queue, if it is on.
    classic: Option<ClassicQueue>,
}

impl Prague {
    /// Creates the state for a connection with `config`.
    pub fn new(config: &TcpConfig, prague: PragueConfig) -> Self {
        let mss = f64::from(config.mss);
        let initial = config.initial_window.bytes(config.mss) as f64;
        Self {
            config: prague,
            mss,
            packet: mss + f64::from(config.header_bytes()),
            cwnd: initial,
            allowed: initial,
            ssthresh: config.initial_ssthresh_bytes(),
            alpha: MAX_ALPHA,
            alpha_at: Time::ZERO,
            reduced_at: None,
            has_marks: false,
            marked_now: 0,
            delivered: 0,
            marked: 0,
            round_ends_at: 0,
            rounds: 0,
            srtt: None,
            before: None,
            counts_marks: true,
            classic: prague.ecn_fallback.then(ClassicQueue::default),
        }
    }

    /// Returns α.
    fn share(&self) -> f64 {
        (self.alpha >> GAIN_BITS) as f64 / f64::from(1 << ALPHA_BITS)
    }

    /// Returns the share of marks with which the window is reduced.
    fn share_of_reduction(&self) -> f64 {
        let least = self.classic.as_ref().map_or(0.0, ClassicQueue::least_share);
        self.share().max(least)
    }

    fn in_slow_start(&self) -> bool {
        self.allowed < self.ssthresh as f64
    }

    /// Returns true if short round trips count as longer ones.
    fn is_independent(&self) -> bool {
        self.counts_marks && !self.in_slow_start() && self.rounds >= self.config.transition
    }

    /// Returns true if `since` lies less than a virtual round trip back, and that matters.
    fn is_recent(&self, now: Time, since: Time) -> bool {
        self.is_independent() && now.saturating_since(since) < self.config.rtt_target
    }

    /// Returns the segments by which the window grows per round trip: the square of the round trip over
    /// the virtual one, which gives the rate the growth that it would have at the virtual one.
    fn growth(&self) -> f64 {
        let Some(srtt) = self.srtt.filter(|_| self.is_independent()) else {
            return 1.0;
        };
        let ratio = (srtt / self.config.rtt_target.as_secs_f64()).min(1.0);
        ratio * ratio
    }

    /// Grows by bytes that were delivered without a mark, in slow start or by additive increase. Marked
    /// bytes never count, and unmarked ones count in reductions too.
    fn grow(&mut self, mut unmarked: f64) {
        if self.in_slow_start() {
            let grown = self.allowed + unmarked;
            self.allowed = grown.min(self.ssthresh as f64);
            self.cwnd = self.allowed;
            unmarked = grown - self.allowed;
        }
        self.cwnd += self.growth() * self.mss * unmarked / self.whole();
    }

    /// Returns the window in whole segments, rounded up.
    fn whole(&self) -> f64 {
        (self.cwnd / self.mss).ceil().max(1.0) * self.mss
    }

    /// Moves the bytes that may be in flight one segment towards the window.
    fn follow(&mut self) {
        let target = self.whole();
        let least = MIN_IN_FLIGHT * self.mss;
        if self.allowed > target && self.allowed > least {
            self.allowed = (self.allowed - self.mss).max(least);
            self.lower_ssthresh(self.allowed);
        } else if self.allowed < target {
            self.allowed += self.mss;
        }
    }

    /// Updates α at the end of a round (section "Moving Average of ECN Feedback").
    fn end_round(&mut self, sample: &AckSample) {
        if sample.acked_to < self.round_ends_at || self.is_recent(sample.now, self.alpha_at) {
            return;
        }
        if self.has_marks {
            if let Some(classic) = &mut self.classic {
                classic.end_round();
            }
            let share = (self.marked << ALPHA_BITS) / self.delivered.max(1);
            self.alpha = (self.alpha - (self.alpha >> GAIN_BITS) + share).min(MAX_ALPHA);
            self.alpha_at = sample.now;
        }
        self.round_ends_at = sample.sent_to;
        (self.delivered, self.marked) = (0, 0);
        self.rounds += u64::from(!self.in_slow_start());
    }

    fn reduce_to(&mut self, bytes: f64) {
        self.cwnd = bytes.max(self.config.min_window * self.mss);
    }

    /// Sets ssthresh, to at least two segments (RFC 5681 equation 4).
    fn lower_ssthresh(&mut self, bytes: f64) {
        self.ssthresh = bytes.max(MIN_IN_FLIGHT * self.mss) as u64;
    }

    /// Halves the window and sets ssthresh to it, after a loss.
    fn halve(&mut self) {
        self.before = Some((self.cwnd, self.ssthresh));
        self.lower_ssthresh(self.cwnd / 2.0);
        self.reduce_to(self.cwnd / 2.0);
    }
}

impl CongestionControl for Prague {
    fn on_ack(&mut self, sample: &AckSample) {
        if let Some(rtt) = sample.rtt.map(Span::as_secs_f64) {
            self.srtt = Some(self.srtt.map_or(rtt, |old| old + SRTT_GAIN * (rtt - old)));
        }
        if let (Some(classic), Some(rtt)) = (&mut self.classic, sample.rtt) {
            classic.on_rtt(sample.now, rtt);
        }
        let marked = std::mem::take(&mut self.marked_now);
        self.delivered += sample.acked;
        self.marked += marked;
        // Below two segments the pace holds data back and not the window.
        let is_paced = self.cwnd < MIN_IN_FLIGHT * self.mss && sample.pace_ahead > Span::ZERO;
        let repairs = sample.in_recovery || sample.after_timeout;
        if (sample.is_window_limited || is_paced) && !repairs && sample.acked > marked {
            self.grow((sample.acked - marked) as f64);
        }
        self.follow();
        self.end_round(sample);
    }

    fn on_marks(&mut self, sample: &MarkSample) {
        self.marked_now += sample.marked;
        self.has_marks |= sample.marked > 0;
    }

    fn on_feedback(&mut self, counts_marks: bool) {
        self.counts_marks = counts_marks;
    }

    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        if let Some(classic) = &mut self.classic {
            classic.on_reduction(self.ssthresh / self.mss as u64);
        }
        match event.signal {
            CongestionSignal::EcnEcho => {
                if self
                    .reduced_at
                    .is_some_and(|at| self.is_recent(event.now, at))
                {
                    return;
                }
                self.reduced_at = Some(event.now);
                self.reduce_to(self.cwnd * (1.0 - self.share_of_reduction() / 2.0));
                // The first mark ends slow start.
                if self.in_slow_start() {
                    self.lower_ssthresh(self.allowed);
                }
            }
            CongestionSignal::Loss => self.halve(),
        }
    }

    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>) {
        if event.is_some() {
            self.halve();
        }
        // The bytes in flight grow back to the window as in slow start, by a segment per ACK.
        self.allowed = self.mss;
    }

    fn window(&self) -> f64 {
        self.allowed
    }

    fn set_window(&mut self, bytes: f64) {
        (self.cwnd, self.allowed) = (bytes, bytes);
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn set_ssthresh(&mut self, bytes: u64) {
        self.ssthresh = bytes;
    }

    /// Returns the window per round trip, twice that in the first half of slow start (section "Packet
    /// Pacing").
    fn pacing_rate(&self) -> Option<Rate> {
        let srtt = self.srtt.filter(|srtt| *srtt > 0.0)?;
        let gain = if self.allowed < self.ssthresh as f64 / 2.0 {
            2.0
        } else {
            1.0
        };
        let bits = 8.0 * gain * self.packet * self.cwnd / self.mss;
        Some(Rate((bits / srtt).max(1.0) as u64))
    }

    fn least_burst(&self) -> u32 {
        1
    }

    /// Returns the segments of at most 0.25 ms at the pace, at least one.
    fn burst(&self) -> Option<u32> {
        let rate = self.pacing_rate()?.0 as f64;
        Some(((rate / 8.0 / self.packet / BURSTS_PER_SECOND) as u32).max(1))
    }

    fn on_undo(&mut self, _now: Time) {
        if let Some((cwnd, ssthresh)) = self.before.take() {
            self.cwnd = self.cwnd.max(cwnd);
            self.ssthresh = self.ssthresh.max(ssthresh);
        }
    }

    fn sets_window_in_recovery(&self) -> bool {
        true
    }

    fn needs(&self) -> Needs {
        Needs::Segments
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod udp_prague;
