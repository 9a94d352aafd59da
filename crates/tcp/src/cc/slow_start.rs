//! Rules that end slow start before a loss. All loss-based controls share them.
//!
//! Classic slow start ends at ssthresh. `HyStart` as in Linux (Ha and Rhee, "Taming the elephants",
//! Computer Networks 2011) and HyStart++ (RFC 9406) leave earlier, when ACKs show a queue.

use goodqueue_types::{Span, Time};

use super::AckSample;
use crate::config::SlowStart;

/// Number of samples in a round from which its minimum counts (RFC 9406 `N_RTT_SAMPLE`; Linux: 8).
const SAMPLES: u32 = 8;
/// Bounds of the increase of delay that ends slow start (RFC 9406 `MIN_RTT_THRESH`,
/// `MAX_RTT_THRESH`; Linux has the same).
const MIN_INCREASE: Span = Span::from_millis(4);
const MAX_INCREASE: Span = Span::from_millis(16);

/// Rule in force, with its state.
#[derive(Clone, Debug)]
pub enum ExitRule {
    /// The rule of Linux.
    HyStart(HyStart),
    /// The rule of RFC 9406.
    HyStartPlusPlus(HyStartPlusPlus),
}

/// Decision of the rule on an ACK in slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The window doubles per round trip.
    Grow,
    /// The window grows by a quarter of that (conservative slow start).
    GrowSlowly,
    /// Slow start ends, and ssthresh becomes the window.
    Leave,
}

impl ExitRule {
    /// Returns the configured rule, or none for classic slow start. `fallback` applies if the
    /// configuration leaves the choice to the control.
    pub fn new(choice: SlowStart, fallback: SlowStart) -> Option<Self> {
        match if choice == SlowStart::Auto {
            fallback
        } else {
            choice
        } {
            SlowStart::Auto | SlowStart::Classic => None,
            SlowStart::HyStart => Some(Self::HyStart(HyStart::default())),
            SlowStart::HyStartPaced => Some(Self::HyStart(HyStart::paced())),
            SlowStart::HyStartPlusPlus => Some(Self::HyStartPlusPlus(HyStartPlusPlus::default())),
        }
    }

    /// Decides on an ACK in slow start. `window` is in segments.
    #[inline]
    pub fn on_ack(&mut self, sample: &AckSample, window: f64) -> Verdict {
        match self {
            Self::HyStart(state) => state.on_ack(sample, window),
            Self::HyStartPlusPlus(state) => state.on_ack(sample),
        }
    }

    /// Handles a loss, which ends slow start. Linux applies the rule again after a timeout. RFC
    /// 9406 section 4.2 applies it only in the initial slow start.
    pub fn on_loss(&mut self, timeout: bool) {
        match self {
            Self::HyStart(state) if timeout => *state = state.restarted(),
            Self::HyStart(_) => {}
            Self::HyStartPlusPlus(state) => state.phase = Phase::Done,
        }
    }
}

fn increase_allowed(rtt: Span) -> Span {
    (rtt / 8).clamp(MIN_INCREASE, MAX_INCREASE)
}

/// `HyStart` as in Linux's CUBIC, by ACK trains and by delay.
#[derive(Clone, Debug)]
pub struct HyStart {
    /// Start of the round, and time of the last ACK of its train.
    round_start: Time,
    last_ack: Time,
    /// Sequence number whose acknowledgement ends the round.
    round_end: Option<u64>,
    least_rtt: Span,
    round_rtt: Span,
    samples: u32,
    found: bool,
    /// True if the sender is paced, which spreads the ACKs of a round.
    paced: bool,
}

impl Default for HyStart {
    fn default() -> Self {
        Self {
            round_start: Time::ZERO,
            last_ack: Time::ZERO,
            round_end: None,
            least_rtt: Span::MAX,
            round_rtt: Span::MAX,
            samples: 0,
            found: false,
            paced: false,
        }
    }
}

impl HyStart {
    /// Window in segments below which the rule does not apply.
    const LOW_WINDOW: f64 = 16.0;
    /// Largest gap between ACKs of one train.
    const TRAIN_GAP: Span = Span::from_millis(2);
    /// Time that Linux adds to the length of a paced train for batches of ACKs: four units of 64 KiB
    /// at the pace, at most 1 ms, which is the value up to 2 Gb/s.
    const BATCH: Span = Span::from_millis(1);

    /// Returns the state of a paced sender.
    fn paced() -> Self {
        Self {
            paced: true,
            ..Self::default()
        }
    }

    /// Returns the state of a new connection under the same rule.
    fn restarted(&self) -> Self {
        Self {
            paced: self.paced,
            ..Self::default()
        }
    }

    fn on_ack(&mut self, sample: &AckSample, window: f64) -> Verdict {
        let Some(rtt) = sample.rtt else {
            return Verdict::Grow;
        };
        self.least_rtt = self.least_rtt.min(rtt);
        // Linux counts rounds only where the rule applies.
        if self.paced && window < Self::LOW_WINDOW {
            return Verdict::Grow;
        }
        if self.round_end.is_none_or(|end| sample.acked_to > end) {
            self.round_start = sample.now;
            self.last_ack = sample.now;
            self.round_end = Some(sample.sent_to);
            self.round_rtt = Span::MAX;
            self.samples = 0;
        }
        if self.found || window < Self::LOW_WINDOW {
            return Verdict::Grow;
        }
        let train = self.is_long_train(sample.now);
        let delay = self.is_delayed(rtt);
        self.found = train || delay;
        if self.found {
            Verdict::Leave
        } else {
            Verdict::Grow
        }
    }

    /// Returns true if a train of closely spaced ACKs lasts half of the shortest round-trip time:
    /// the window then fills the path in one direction. Pacing at twice the window per round trip
    /// spreads any window over that half, so a paced train must last the whole round trip.
    fn is_long_train(&mut self, now: Time) -> bool {
        if now.saturating_since(self.last_ack) > Self::TRAIN_GAP {
            return false;
        }
        self.last_ack = now;
        let longest = if self.paced {
            self.least_rtt + Self::BATCH
        } else {
            self.least_rtt / 2
        };
        now.saturating_since(self.round_start) > longest
    }

    /// Returns true if the round's shortest round-trip time exceeds the connection's by an eighth.
    fn is_delayed(&mut self, rtt: Span) -> bool {
        self.round_rtt = self.round_rtt.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        self.round_rtt > self.least_rtt + increase_allowed(self.least_rtt)
    }
}

/// HyStart++ (RFC 9406 section 4.2).
#[derive(Clone, Debug)]
pub struct HyStartPlusPlus {
    phase: Phase,
    round_end: Option<u64>,
    last_round_rtt: Span,
    round_rtt: Span,
    samples: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    SlowStart,
    /// Conservative slow start, with the rounds left and the round-trip time at its start.
    Conservative {
        rounds: u32,
        baseline: Span,
    },
    Done,
}

impl Default for HyStartPlusPlus {
    fn default() -> Self {
        Self {
            phase: Phase::SlowStart,
            round_end: None,
            last_round_rtt: Span::MAX,
            round_rtt: Span::MAX,
            samples: 0,
        }
    }
}

impl HyStartPlusPlus {
    /// Number of rounds of conservative slow start (`CSS_ROUNDS`).
    const ROUNDS: u32 = 5;

    fn on_ack(&mut self, sample: &AckSample) -> Verdict {
        if self.phase == Phase::Done {
            return Verdict::Grow;
        }
        if self.round_end.is_none_or(|end| sample.acked_to >= end) {
            self.round_end = Some(sample.sent_to);
            self.last_round_rtt = self.round_rtt;
            self.round_rtt = Span::MAX;
            self.samples = 0;
            if let Phase::Conservative { rounds, .. } = &mut self.phase {
                *rounds -= 1;
                if *rounds == 0 {
                    self.phase = Phase::Done;
                    return Verdict::Leave;
                }
            }
        }
        if let Some(rtt) = sample.rtt {
            self.round_rtt = self.round_rtt.min(rtt);
            self.samples += 1;
            self.judge();
        }
        match self.phase {
            Phase::Conservative { .. } => Verdict::GrowSlowly,
            _ => Verdict::Grow,
        }
    }

    /// Enters conservative slow start when the delay has risen, and leaves it when the delay has
    /// fallen again.
    fn judge(&mut self) {
        if self.samples < SAMPLES {
            return;
        }
        match self.phase {
            Phase::SlowStart if self.last_round_rtt < Span::MAX => {
                let limit = self.last_round_rtt + increase_allowed(self.last_round_rtt);
                if self.round_rtt >= limit {
                    self.phase = Phase::Conservative {
                        rounds: Self::ROUNDS,
                        baseline: self.round_rtt,
                    };
                }
            }
            Phase::Conservative { baseline, .. } if self.round_rtt < baseline => {
                self.phase = Phase::SlowStart;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays rounds of ACKs at this gap. `rtt(round)` is in milliseconds. Returns the verdicts.
    fn play(
        rule: &mut ExitRule,
        window: f64,
        rounds: std::ops::Range<u64>,
        gap: Span,
        rtt: impl Fn(u64) -> u64,
    ) -> Vec<Verdict> {
        let mut verdicts = Vec::new();
        for round in rounds {
            for ack in 0..20u64 {
                verdicts.push(rule.on_ack(
                    &AckSample {
                        now: Time::ZERO + Span::from_secs(round) + gap * ack,
                        rtt: Some(Span::from_millis(rtt(round))),
                        acked_to: round * 20 + ack + 1,
                        sent_to: (round + 1) * 20 + ack + 1,
                        ..AckSample::default()
                    },
                    window,
                ));
            }
        }
        verdicts
    }

    const WIDE: Span = Span::from_millis(3);

    /// RFC 9406: η for rounds of 10, 40, 100 and 200 ms is 4, 5, 12.5 and 16 ms.
    #[test]
    fn the_increase_allowed_is_an_eighth_within_bounds() {
        let eta = |ms| increase_allowed(Span::from_millis(ms));
        assert_eq!(eta(10), Span::from_millis(4));
        assert_eq!(eta(40), Span::from_millis(5));
        assert_eq!(eta(100), Span::from_micros(12_500));
        assert_eq!(eta(200), Span::from_millis(16));
    }

    #[test]
    fn hystart_leaves_when_delay_rises_by_an_eighth() {
        for (rtt, leaves) in [(105, false), (112, false), (113, true)] {
            let mut rule = ExitRule::new(SlowStart::HyStart, SlowStart::Classic).expect("a rule");
            let verdicts = play(&mut rule, 20.0, 1..4, WIDE, |round| {
                if round < 3 { 100 } else { rtt }
            });
            assert_eq!(verdicts.contains(&Verdict::Leave), leaves, "{rtt}");
        }
    }

    #[test]
    fn hystart_ignores_windows_below_sixteen() {
        for (window, leaves) in [(15.0, false), (16.0, true)] {
            let mut rule = ExitRule::new(SlowStart::HyStart, SlowStart::Classic).expect("a rule");
            let verdicts = play(&mut rule, window, 1..3, WIDE, |round| 100 * round);
            assert_eq!(verdicts.contains(&Verdict::Leave), leaves, "{window}");
        }
    }

    /// 20 ACKs at gaps of 2 ms last 38 ms, which is more than half of 70 ms but not of 80 ms.
    #[test]
    fn hystart_leaves_after_a_train_of_half_a_round_trip() {
        for (rtt, gap, leaves) in [(70, 2, true), (80, 2, false), (30, 3, false)] {
            let mut rule = ExitRule::new(SlowStart::HyStart, SlowStart::Classic).expect("a rule");
            let verdicts = play(&mut rule, 30.0, 1..2, Span::from_millis(gap), |_| rtt);
            assert_eq!(verdicts.contains(&Verdict::Leave), leaves, "{rtt} {gap}");
        }
    }

    /// `hystart_update` of Linux: a paced train must exceed the shortest round trip and the ACK
    /// delay of 1 ms. 20 ACKs at gaps of 2 ms last 38 ms. The rule holds after a timeout, too.
    #[test]
    fn hystart_of_a_paced_sender_leaves_after_a_train_of_a_round_trip() {
        for (rtt, gap, leaves) in [
            (36, 2, true),
            (37, 2, false),
            (70, 2, false),
            (10, 3, false),
        ] {
            let mut rule =
                ExitRule::new(SlowStart::HyStartPaced, SlowStart::Classic).expect("a rule");
            for timeouts in 0..2 {
                let verdicts = play(&mut rule, 30.0, 1..2, Span::from_millis(gap), |_| rtt);
                assert_eq!(
                    verdicts.contains(&Verdict::Leave),
                    leaves,
                    "{rtt} {gap} {timeouts}"
                );
                rule.on_loss(true);
            }
        }
    }

    /// Linux counts rounds from the first ACK at a window of 16 segments. ACKs come every 2 ms, and
    /// the window has 16 segments from 30 ms on. The train exceeds 36 + 1 ms at 30 + 38 ms.
    #[test]
    fn hystart_of_a_paced_sender_counts_rounds_from_sixteen_segments() {
        let mut rule = ExitRule::new(SlowStart::HyStartPaced, SlowStart::Classic).expect("a rule");
        let left = (0..100u64).map(|ack| 2 * ack).find(|&millis| {
            let sample = AckSample {
                now: Time::ZERO + Span::from_millis(millis),
                rtt: Some(Span::from_millis(36)),
                acked_to: millis / 2 + 1,
                sent_to: 1_000,
                ..AckSample::default()
            };
            let window = if millis < 30 { 15.0 } else { 16.0 };
            rule.on_ack(&sample, window) == Verdict::Leave
        });
        assert_eq!(left, Some(68));
    }

    /// The detection by delay is the same with pacing.
    #[test]
    fn hystart_of_a_paced_sender_leaves_when_delay_rises_by_an_eighth() {
        for (rtt, leaves) in [(112, false), (113, true)] {
            let mut rule =
                ExitRule::new(SlowStart::HyStartPaced, SlowStart::Classic).expect("a rule");
            let verdicts = play(&mut rule, 20.0, 1..4, WIDE, |round| {
                if round < 3 { 100 } else { rtt }
            });
            assert_eq!(verdicts.contains(&Verdict::Leave), leaves, "{rtt}");
        }
    }

    #[test]
    fn hystart_plus_plus_grows_slowly_for_five_rounds_and_leaves() {
        let mut rule =
            ExitRule::new(SlowStart::HyStartPlusPlus, SlowStart::Classic).expect("a rule");
        let verdicts = play(&mut rule, 10.0, 0..9, WIDE, |round| {
            if round < 2 { 100 } else { 113 }
        });
        let slow = verdicts
            .iter()
            .filter(|v| **v == Verdict::GrowSlowly)
            .count();
        let leave = verdicts
            .iter()
            .position(|v| *v == Verdict::Leave)
            .expect("it leaves");
        // Slow growth begins with the eighth ACK of round 2. It lasts until five more rounds have
        // ended.
        assert_eq!(verdicts[47], Verdict::GrowSlowly);
        assert_eq!(verdicts[46], Verdict::Grow);
        assert!((138..=142).contains(&leave), "{leave}");
        assert_eq!(slow, leave - 47);
    }

    #[test]
    fn hystart_plus_plus_resumes_when_the_queue_drains() {
        let mut rule =
            ExitRule::new(SlowStart::HyStartPlusPlus, SlowStart::Classic).expect("a rule");
        let rtt = |round| if round == 2 { 130 } else { 100 };
        let verdicts = play(&mut rule, 10.0, 0..9, WIDE, rtt);
        assert!(!verdicts.contains(&Verdict::Leave));
        assert!(verdicts.contains(&Verdict::GrowSlowly));
        assert_eq!(verdicts.last(), Some(&Verdict::Grow));
    }
}
