//! The controller of PIE (RFC 8033), apart from any queue: a drop probability that follows the
//! queueing delay.
//!
//! [`PieVars`] is the state of one queue; FQ-PIE has one for each flow and one [`PieParams`].

use crate::{Backlog, Refusal};
use goodqueue_types::{RandomStream, Span, Time};

/// Bytes that must leave for one measurement of the departure rate (RFC 8033 section 5.2, Linux).
const DQ_THRESHOLD: u64 = 16_384;
/// The accumulated probability below which nothing is dropped, and from which everything is
/// (RFC 8033 section 5.4).
const ACCU_LOW: f64 = 0.85;
const ACCU_HIGH: f64 = 8.5;
/// For so long ns-3 waits with low delay until it allows another burst.
const NS3_BURST_RESET: f64 = 1.5;

/// Whose PIE, where they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieFlavour {
    /// RFC 8033: updates from one period after the start; the burst allowance shrinks with each
    /// update and is renewed as soon as the delay is low and the probability zero; an idle queue's
    /// probability decays by 2 % an update; no drop with two mean packets waiting or fewer.
    Rfc8033,
    /// Linux `sch_pie`: the period is rounded up to ticks of 4 ms (250 Hz), the first update comes
    /// after 500 ms; the burst allowance shrinks with the time between departures; 1/64 of decay;
    /// two percent more a step above 250 ms; no drop with less than two MTUs waiting; a mark, too,
    /// empties the accumulated probability.
    Linux,
    /// ns-3's `PieQueueDisc`: updates from the start; no probability during a burst, and a new
    /// allowance only after 1.5 s of low delay; no drop with two packets waiting or fewer.
    Ns3,
}

/// What PIE can be told, apart from its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of tc or of ns-3"
)]
pub struct PieParams {
    /// The queueing delay to hold (`target`, `QDELAY_REF`). Default 15 ms.
    pub target: Span,
    /// Time between updates (`tupdate`, `T_UPDATE`). Default 15 ms.
    pub tupdate: Span,
    /// Gain on the distance to the target, per second (`alpha`; `tc` counts sixteenths: 2).
    /// Default 0.125.
    pub alpha: f64,
    /// Gain on the change of the delay, per second (`beta`; `tc` counts sixteenths: 20). Default
    /// 1.25.
    pub beta: f64,
    /// Whether ECN-capable packets are marked instead of dropped (`ecn`). Default no.
    pub ecn: bool,
    /// Above this probability even ECN-capable packets are dropped (RFC 8033 section 5.1,
    /// `mark_ecnth`). Default 0.1.
    pub ecn_threshold: f64,
    /// Whether small packets have proportionally smaller probabilities (`bytemode`). Default no.
    pub bytemode: bool,
    /// Whether the delay is the backlog over a measured departure rate (`dq_rate_estimator`) and
    /// not the sojourn time of the packet that left last. Default no.
    pub dq_rate_estimator: bool,
    /// Whether drops are spread out by an accumulated probability (RFC 8033 section 5.4). Always in
    /// Linux; ns-3's default is no.
    pub derandomize: bool,
    /// Whether a probability of 0.1 or more grows by at most 0.02 at once (RFC 8033 section 5.5).
    /// Default yes.
    pub cap_adjustment: bool,
    /// How long a queue that was not congested may burst (`MAX_BURST`). Default 150 ms.
    pub max_burst: Span,
    /// Frame bytes of a full packet; with less than two of them waiting nothing is dropped (1514 in
    /// Linux), and in `bytemode` the size that has the full probability.
    pub mtu: u64,
    /// Whose PIE in the rest.
    pub flavour: PieFlavour,
}

impl PieParams {
    /// As `tc qdisc add ... pie` without parameters.
    pub const fn linux() -> Self {
        Self {
            target: Span::from_millis(15),
            tupdate: Span::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            ecn: false,
            ecn_threshold: 0.1,
            bytemode: false,
            dq_rate_estimator: false,
            derandomize: true,
            cap_adjustment: true,
            max_burst: Span::from_millis(150),
            mtu: 1514,
            flavour: PieFlavour::Linux,
        }
    }

    /// RFC 8033 with all its optional parts but ECN.
    pub const fn rfc8033() -> Self {
        Self {
            flavour: PieFlavour::Rfc8033,
            ..Self::linux()
        }
    }

    /// ns-3's `PieQueueDisc` without parameters.
    pub const fn ns3() -> Self {
        Self {
            derandomize: false,
            mtu: 1000,
            flavour: PieFlavour::Ns3,
            ..Self::linux()
        }
    }

    /// Refuses what makes no sense.
    ///
    /// # Errors
    /// The parameter, why, and what to write instead.
    pub fn check(&self) -> Result<(), Refusal> {
        refuse_gains(self.target, self.tupdate, self.alpha, self.beta)?;
        if !(0.0..=1.0).contains(&self.ecn_threshold) {
            return Err(Refusal::new(
                "ecn_threshold",
                format!("{} is no probability", self.ecn_threshold),
                "write a probability from 0 to 1, as in ecn_threshold = 0.1",
            ));
        }
        if self.mtu == 0 {
            return Err(Refusal::new(
                "mtu",
                "a packet of no bytes",
                "write the bytes of a full frame, as in mtu = \"1514B\"",
            ));
        }
        Ok(())
    }

    /// Time between updates as the timers have it.
    pub fn period(&self) -> Span {
        const JIFFY: Span = Span::from_millis(4);
        match self.flavour {
            PieFlavour::Linux => JIFFY * self.tupdate.0.div_ceil(JIFFY.0),
            PieFlavour::Rfc8033 | PieFlavour::Ns3 => self.tupdate,
        }
    }

    /// When the first update comes after the queue was made.
    pub fn first_update(&self) -> Time {
        match self.flavour {
            PieFlavour::Linux => Time::ZERO + Span::from_millis(500),
            PieFlavour::Rfc8033 => Time::ZERO + self.tupdate,
            PieFlavour::Ns3 => Time::ZERO,
        }
    }
}

/// Refuses a proportional-integral controller that cannot work.
///
/// # Errors
/// The parameter, why, and what to write instead.
pub fn refuse_gains(target: Span, tupdate: Span, alpha: f64, beta: f64) -> Result<(), Refusal> {
    for (key, span) in [("target", target), ("tupdate", tupdate)] {
        if span < Span::from_micros(1) || span > Span::from_secs(100) {
            return Err(Refusal::new(
                key,
                format!("{key} must lie between 1 us and 100 s"),
                format!("write a duration of some milliseconds, as in {key} = \"15ms\""),
            ));
        }
    }
    for (key, gain, usual) in [("alpha", alpha, "0.125"), ("beta", beta, "1.25")] {
        if !(gain.is_finite() && gain > 0.0 && gain <= 1e6) {
            return Err(Refusal::new(
                key,
                format!("a gain of {gain}: without a positive one the controller does not act"),
                format!("write a gain per second, as in {key} = {usual}"),
            ));
        }
    }
    Ok(())
}

/// Where ns-3's burst protection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Burst {
    /// The next arrival begins an allowance.
    Ready,
    /// An allowance was given.
    Protecting,
    /// So many updates in a row have seen low delay since.
    Quiet(u32),
}

/// The state of the controller for one queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieVars {
    /// The drop probability.
    prob: f64,
    /// Probabilities added up since the last drop.
    accu_prob: f64,
    /// Queueing delay now, and at the update before.
    delay: Span,
    delay_old: Span,
    burst_allowance: Span,
    burst: Burst,
    /// Departure rate in bytes per second, 0 when unknown.
    dq_rate: f64,
    /// Bytes that left in the measurement under way.
    dq_count: Option<u64>,
    /// When that began; without the estimator, the last departure.
    dq_start: Option<Time>,
}

impl PieVars {
    /// The state of an empty queue.
    pub fn new(params: &PieParams) -> Self {
        Self {
            prob: 0.0,
            accu_prob: 0.0,
            delay: Span::ZERO,
            delay_old: Span::ZERO,
            burst_allowance: match params.flavour {
                PieFlavour::Ns3 => Span::ZERO,
                PieFlavour::Rfc8033 | PieFlavour::Linux => params.max_burst,
            },
            burst: Burst::Ready,
            dq_rate: 0.0,
            dq_count: None,
            dq_start: None,
        }
    }

    /// The drop probability.
    pub fn probability(&self) -> f64 {
        self.prob
    }

    /// An arrival was lost: what was added up for it is paid.
    pub fn dropped(&mut self) {
        self.accu_prob = 0.0;
    }

    /// Whether an ECN-capable packet may be marked and not dropped at this probability.
    pub fn may_mark(&self, params: &PieParams) -> bool {
        params.ecn && self.prob <= params.ecn_threshold
    }

    /// Whether an arrival of so many frame bytes is to be dropped or marked, with this backlog
    /// before it (RFC 8033 section 4.1).
    pub fn drop_early(
        &mut self,
        params: &PieParams,
        random: &mut RandomStream,
        backlog: Backlog,
        frame_bytes: u64,
    ) -> bool {
        self.renew_burst_on_arrival(params);
        if self.burst_allowance > Span::ZERO {
            return false;
        }
        if params.flavour == PieFlavour::Ns3 && self.burst == Burst::Ready {
            self.burst = Burst::Protecting;
            self.burst_allowance = params.max_burst;
        }
        if self.is_calm(params, backlog) {
            return false;
        }
        let prob = if params.bytemode && frame_bytes <= params.mtu {
            self.prob * frame_bytes as f64 / params.mtu as f64
        } else {
            self.prob
        };
        if params.derandomize {
            self.accu_prob = if prob == 0.0 {
                0.0
            } else {
                self.accu_prob + prob
            };
            if self.accu_prob < ACCU_LOW {
                return false;
            }
            if self.accu_prob >= ACCU_HIGH {
                return true;
            }
        }
        let hit = random.unit() < prob;
        if hit && params.flavour == PieFlavour::Linux {
            self.accu_prob = 0.0;
        }
        hit
    }

    /// RFC 8033 section 4.4: what has not been congested may burst.
    fn renew_burst_on_arrival(&mut self, params: &PieParams) {
        if params.flavour == PieFlavour::Rfc8033 && self.prob == 0.0 && self.has_low_delay(params) {
            self.burst_allowance = params.max_burst;
        }
    }

    fn has_low_delay(&self, params: &PieParams) -> bool {
        self.delay < params.target / 2 && self.delay_old < params.target / 2
    }

    /// The safeguards that keep the link busy (RFC 8033 section 4.1).
    fn is_calm(&self, params: &PieParams, backlog: Backlog) -> bool {
        let (delay, short) = match params.flavour {
            PieFlavour::Linux => (self.delay, backlog.bytes < 2 * params.mtu),
            PieFlavour::Rfc8033 => (self.delay_old, backlog.bytes <= 2 * params.mtu),
            PieFlavour::Ns3 => (self.delay_old, backlog.packets <= 2),
        };
        short || (delay < params.target / 2 && self.prob < 0.2)
    }

    /// A packet of so many frame bytes has left after so long; so many bytes still wait.
    pub fn departed(
        &mut self,
        params: &PieParams,
        now: Time,
        sojourn: Span,
        frame_bytes: u64,
        backlog_bytes: u64,
    ) {
        if params.dq_rate_estimator {
            self.measure_rate(params, now, frame_bytes, backlog_bytes);
            return;
        }
        self.delay = if backlog_bytes == 0 {
            Span::ZERO
        } else {
            sojourn
        };
        if let Some(last) = self.dq_start.replace(now) {
            self.shrink_burst_at_departure(params, now - last);
        }
    }

    fn shrink_burst_at_departure(&mut self, params: &PieParams, elapsed: Span) {
        if params.flavour == PieFlavour::Linux {
            self.burst_allowance = self.burst_allowance.saturating_sub(elapsed);
        }
    }

    /// One departure in the measurement of the departure rate (RFC 8033 section 5.2).
    fn measure_rate(
        &mut self,
        params: &PieParams,
        now: Time,
        frame_bytes: u64,
        backlog_bytes: u64,
    ) {
        if self.dq_count.is_none() && backlog_bytes >= DQ_THRESHOLD {
            self.dq_count = Some(0);
            self.dq_start = Some(now);
        }
        let (Some(count), Some(start)) = (&mut self.dq_count, self.dq_start) else {
            return;
        };
        *count += frame_bytes;
        let elapsed = now - start;
        if *count < DQ_THRESHOLD || elapsed == Span::ZERO {
            return;
        }
        let rate = *count as f64 / elapsed.as_secs_f64();
        let weight = match params.flavour {
            PieFlavour::Linux => 0.125,
            PieFlavour::Rfc8033 => 0.25,
            PieFlavour::Ns3 => 0.5,
        };
        self.dq_rate = if self.dq_rate == 0.0 {
            rate
        } else {
            self.dq_rate + weight * (rate - self.dq_rate)
        };
        self.dq_start = Some(now);
        self.dq_count = (backlog_bytes >= DQ_THRESHOLD).then_some(0);
        self.shrink_burst_at_departure(params, elapsed);
    }

    /// The periodic update with so many bytes waiting (RFC 8033 section 4.2).
    pub fn update(&mut self, params: &PieParams, backlog_bytes: u64) {
        if params.dq_rate_estimator {
            self.delay = if self.dq_rate > 0.0 {
                Span::from_secs_f64(backlog_bytes as f64 / self.dq_rate)
            } else {
                Span::ZERO
            };
        }
        let in_ns3_burst = params.flavour == PieFlavour::Ns3 && self.burst_allowance > Span::ZERO;
        let before = if in_ns3_burst { 0.0 } else { self.prob };
        let step = if in_ns3_burst { 0.0 } else { self.step(params) };
        let raised = before + step;
        let idle = self.delay == Span::ZERO && self.delay_old == Span::ZERO;
        self.prob = match params.flavour {
            // A delay of zero with a backlog is one too small to measure.
            PieFlavour::Linux if idle && backlog_bytes == 0 => {
                let bounded = raised.clamp(0.0, 1.0);
                bounded - bounded / 64.0
            }
            PieFlavour::Rfc8033 | PieFlavour::Ns3 if idle => (raised * 0.98).clamp(0.0, 1.0),
            _ => raised.clamp(0.0, 1.0),
        };
        self.update_burst(params);
        self.delay_old = self.delay;
    }

    /// The change of the probability: slower the smaller it is (RFC 8033 section 4.3).
    fn step(&self, params: &PieParams) -> f64 {
        let delay = self.delay.as_secs_f64();
        let step = params.alpha * (delay - params.target.as_secs_f64())
            + params.beta * (delay - self.delay_old.as_secs_f64());
        let mut step = step / scale(self.prob);
        if params.cap_adjustment && self.prob >= 0.1 && step > 0.02 {
            step = 0.02;
        }
        // Linux: very long delays need quick action whatever the gains.
        if params.flavour == PieFlavour::Linux && self.delay > Span::from_millis(250) {
            step += 0.02;
        }
        step
    }

    fn update_burst(&mut self, params: &PieParams) {
        let low = self.prob == 0.0 && self.has_low_delay(params);
        match params.flavour {
            PieFlavour::Rfc8033 => {
                self.burst_allowance = self.burst_allowance.saturating_sub(params.tupdate);
            }
            PieFlavour::Linux => {
                if low && (!params.dq_rate_estimator || self.dq_rate > 0.0) {
                    let Self {
                        delay, delay_old, ..
                    } = *self;
                    *self = Self {
                        delay,
                        delay_old,
                        ..Self::new(params)
                    };
                }
            }
            PieFlavour::Ns3 => {
                self.burst_allowance = self.burst_allowance.saturating_sub(params.tupdate);
                self.wait_for_quiet(params, low && self.burst_allowance == Span::ZERO);
                if low && (!params.dq_rate_estimator || self.dq_rate > 0.0) {
                    self.dq_rate = 0.0;
                    self.dq_count = None;
                }
            }
        }
    }

    fn wait_for_quiet(&mut self, params: &PieParams, low: bool) {
        let limit = (NS3_BURST_RESET / params.tupdate.as_secs_f64()) as u32;
        self.burst = match self.burst {
            Burst::Protecting if low => Burst::Quiet(0),
            Burst::Quiet(updates) if low && updates >= limit => Burst::Ready,
            Burst::Quiet(updates) if low => Burst::Quiet(updates + 1),
            Burst::Quiet(_) => Burst::Quiet(0),
            other => other,
        };
    }
}

/// By what a step is divided at a probability (RFC 8033 section 4.3).
fn scale(prob: f64) -> f64 {
    const STEPS: [(f64, f64); 6] = [
        (0.000_001, 2048.0),
        (0.000_01, 512.0),
        (0.000_1, 128.0),
        (0.001, 32.0),
        (0.01, 8.0),
        (0.1, 2.0),
    ];
    STEPS
        .iter()
        .find(|(below, _)| prob < *below)
        .map_or(1.0, |(_, scale)| *scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(flavour: PieFlavour) -> (PieParams, PieVars) {
        let params = PieParams {
            flavour,
            max_burst: Span::ZERO,
            ..PieParams::rfc8033()
        };
        (params, PieVars::new(&params))
    }

    #[test]
    fn six_updates_of_rfc_8033_by_hand() {
        // Delays of 30, 50, 50, 40, 30 and 20 ms against a target of 15 ms: two steps divided by
        // 2048 and 128, three by 32 and so on as the probability grows and shrinks.
        let expected = [1.9226e-5, 2.48718e-4, 3.85437e-4, 9.2468e-5, 9.460e-6, 0.0];
        for flavour in [PieFlavour::Rfc8033, PieFlavour::Linux] {
            let (params, mut vars) = with(flavour);
            for (delay, expected) in [30, 50, 50, 40, 30, 20].into_iter().zip(expected) {
                vars.delay = Span::from_millis(delay);
                vars.update(&params, 100_000);
                let error = (vars.prob - expected).abs();
                assert!(error <= 5e-10, "{delay} ms: {} {expected}", vars.prob);
            }
        }
    }

    #[test]
    fn steps_are_scaled_by_the_probability() {
        // RFC 8033 section 4.3.
        let at = [1e-7, 5e-6, 5e-5, 5e-4, 5e-3, 0.05, 0.1, 0.5];
        let expected = [2048.0, 512.0, 128.0, 32.0, 8.0, 2.0, 1.0, 1.0];
        assert_eq!(at.map(scale).map(f64::to_bits), expected.map(f64::to_bits));
    }

    #[test]
    fn an_idle_queues_probability_decays_by_two_percent_or_by_a_64th() {
        for (flavour, factor) in [
            (PieFlavour::Rfc8033, 0.98),
            (PieFlavour::Ns3, 0.98),
            (PieFlavour::Linux, 63.0 / 64.0),
        ] {
            let (params, mut vars) = with(flavour);
            vars.prob = 0.5;
            vars.update(&params, 0);
            let expected = (0.5 - 0.125 * 0.015) * factor;
            assert!((vars.prob - expected).abs() < 1e-12, "{flavour:?}");
        }
        let (params, mut vars) = with(PieFlavour::Linux);
        vars.prob = 0.5;
        vars.update(&params, 1000);
        assert!(
            (vars.prob - (0.5 - 0.125 * 0.015)).abs() < 1e-12,
            "too small to measure"
        );
    }

    #[test]
    fn a_high_probability_grows_by_two_percent_at_most_unless_the_delay_is_very_long() {
        for (flavour, cap, delay, expected) in [
            (PieFlavour::Rfc8033, true, 300, 0.02),
            (PieFlavour::Linux, true, 300, 0.04),
            (PieFlavour::Linux, true, 250, 0.02),
            (PieFlavour::Rfc8033, false, 215, 1.25 * 0.215 + 0.125 * 0.2),
        ] {
            let (mut params, mut vars) = with(flavour);
            params.cap_adjustment = cap;
            vars.prob = 0.2;
            vars.delay = Span::from_millis(delay);
            vars.update(&params, 100_000);
            assert!((vars.prob - 0.2 - expected).abs() < 1e-12, "{}", vars.prob);
        }
    }

    #[test]
    fn accumulated_probability_bounds_the_gap_between_drops() {
        // RFC 8033 section 5.4: between 0.85/p and 8.5/p arrivals.
        let (params, mut vars) = with(PieFlavour::Rfc8033);
        (vars.prob, vars.delay_old) = (0.01, params.target);
        vars.delay = params.target;
        let backlog = Backlog {
            packets: 100,
            bytes: 150_000,
        };
        let mut random = RandomStream::new(1, "test", 0);
        let (mut gap, mut gaps) = (0u32, Vec::new());
        for _ in 0..400_000 {
            gap += 1;
            if vars.drop_early(&params, &mut random, backlog, 1500) {
                vars.dropped();
                gaps.push(std::mem::take(&mut gap));
            }
        }
        let (least, most) = (gaps.iter().min(), gaps.iter().max());
        assert!(
            least >= Some(&85) && most <= Some(&851),
            "{least:?} {most:?}"
        );
        // 84 without a drop, then a geometric gap of mean 100, cut at 8.5/p.
        let mean = f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
        assert!((mean - 184.0).abs() < 6.0, "{mean}");
        // As ns-3 tests it: from 8.5 on, every one.
        vars.accu_prob = 8.6;
        assert!(vars.drop_early(&params, &mut random, backlog, 1500));
        vars.accu_prob = -0.16;
        vars.prob = 0.9;
        assert!(!vars.drop_early(&params, &mut random, backlog, 1500));
    }

    #[test]
    fn nothing_is_dropped_in_a_burst_or_while_the_queue_is_calm() {
        let mut random = RandomStream::new(1, "test", 0);
        let backlog = |packets| Backlog {
            packets,
            bytes: packets * 1514,
        };
        for flavour in [PieFlavour::Rfc8033, PieFlavour::Linux, PieFlavour::Ns3] {
            let (mut params, mut vars) = with(flavour);
            params.derandomize = false;
            vars.prob = 1.0;
            let mut drops = |vars: &mut PieVars, packets| {
                vars.drop_early(&params, &mut random, backlog(packets), 1514)
            };
            assert!(drops(&mut vars, 9), "{flavour:?}");
            assert!(!drops(&mut vars, 1), "{flavour:?}: hardly anything waits");
            // Exactly two packets are few for ns-3 and the RFC, and not for Linux.
            assert_eq!(drops(&mut vars, 2), flavour == PieFlavour::Linux);
            vars.prob = 0.19;
            assert!(
                (0..100).all(|_| !drops(&mut vars, 9)),
                "{flavour:?}: low delay"
            );
            (vars.prob, vars.burst_allowance) = (1.0, Span(1));
            assert!(!drops(&mut vars, 9), "{flavour:?}: in a burst");
        }
    }

    #[test]
    fn timers_are_those_of_the_flavour() {
        let timers = |flavour| {
            let (params, _) = with(flavour);
            (params.first_update(), params.period())
        };
        let millis = |first, period| {
            (
                Time::ZERO + Span::from_millis(first),
                Span::from_millis(period),
            )
        };
        assert_eq!(timers(PieFlavour::Linux), millis(500, 16));
        assert_eq!(timers(PieFlavour::Rfc8033), millis(15, 15));
        assert_eq!(timers(PieFlavour::Ns3), millis(0, 15));
    }

    #[test]
    fn the_departure_rate_is_measured_over_16384_bytes() {
        let mut params = PieParams::rfc8033();
        params.dq_rate_estimator = true;
        let mut vars = PieVars::new(&params);
        // 1500 bytes a millisecond.
        for packet in 0..60 {
            let now = Time::ZERO + Span::from_millis(packet);
            vars.departed(&params, now, Span::ZERO, 1500, 100_000);
        }
        // The first measurement counts one departure more than it has intervals.
        assert!(
            (vars.dq_rate / 1.5e6 - 1.0).abs() < 0.08,
            "{}",
            vars.dq_rate
        );
        vars.update(&params, 30_000);
        assert!(
            (vars.delay.as_secs_f64() - 0.02).abs() < 0.002,
            "{:?}",
            vars.delay
        );
    }

    #[test]
    fn senseless_parameters_are_refused() {
        let key = |change: fn(&mut PieParams)| {
            let mut params = PieParams::linux();
            change(&mut params);
            params.check().unwrap_err().key
        };
        assert_eq!(PieParams::linux().check(), Ok(()));
        assert_eq!(key(|params| params.target = Span::ZERO), "target");
        assert_eq!(
            key(|params| params.tupdate = Span::from_secs(101)),
            "tupdate"
        );
        assert_eq!(key(|params| params.alpha = 0.0), "alpha");
        assert_eq!(key(|params| params.beta = f64::NAN), "beta");
        assert_eq!(key(|params| params.ecn_threshold = 1.1), "ecn_threshold");
        assert_eq!(key(|params| params.mtu = 0), "mtu");
    }
}
