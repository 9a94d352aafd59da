//! Links whose rate changes by a trace of rates, by a trace of delivery opportunities, or at
//! random.
//!
//! All three are stretches of time with one rate each, which may be zero. A transmission uses the
//! capacity of the stretches from its start on, one bit after the other. A link at rate zero begins
//! no transmission, so its packets wait in the queue.

use crate::measure::link_meter::Window;
use goodqueue_types::{RandomStream, Rate, Span, Time};
use std::sync::Arc;

/// Changes of a link's rate.
#[derive(Clone, Debug, PartialEq)]
pub enum ServiceConfig {
    /// Rates by a table.
    Trace(RateTrace),
    /// Opportunities to deliver a number of bytes at an instant.
    Opportunities(DeliveryTrace),
    /// Random rates.
    Random(RandomRate),
}

/// Rates with the times at which they begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateTrace {
    /// Times in ascending order, from zero on, and rates, which may be zero.
    pub steps: Arc<[(Span, Rate)]>,
    /// Time after which the trace repeats, which is later than its last step. Without it the last
    /// rate stays.
    pub repeat: Option<Span>,
}

/// Times at which a link can deliver [`BYTES_PER_OPPORTUNITY`] bytes, as in the traces of Mahimahi
/// (Netravali et al., USENIX ATC 2015). They repeat after the last one. A packet may take several
/// opportunities, and several packets may share one. Capacity that no packet uses is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryTrace {
    /// Milliseconds in ascending order, repeated for several opportunities at once. The last is
    /// above zero.
    pub milliseconds: Arc<[u32]>,
}

/// Bytes of an opportunity: Mahimahi's packet of 1500 bytes with the 4 bytes of its tunnel.
pub const BYTES_PER_OPPORTUNITY: u64 = 1_504;
/// Largest number of opportunities in one millisecond. They deliver a byte each picosecond and must
/// be over when the next ones come.
pub const MOST_OPPORTUNITIES: u64 = 500_000;
/// Rate of an opportunity, a byte each picosecond, in bits per second. 1504 bytes take 1.5 ns.
const AT_ONCE: u64 = 8_000_000_000_000;

/// Rate that is drawn anew in each interval.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomRate {
    /// Duration of each rate.
    pub interval: Span,
    /// Law by which rates are drawn.
    pub draw: RateDraw,
}

/// Law of the next rate.
#[derive(Clone, Debug, PartialEq)]
pub enum RateDraw {
    /// Uniform from the first rate to the second, independent of the rate before.
    Uniform(Rate, Rate),
    /// A Markov chain. The rate stays with probability `stay` and otherwise becomes one of the
    /// others, which are equally likely. So are all rates at the start.
    Markov {
        /// Two or more rates, which may be zero.
        rates: Arc<[Rate]>,
        /// Probability that a rate stays for another interval.
        stay: f64,
    },
}

/// A stretch of time with one rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// End of the stretch.
    pub until: Time,
    /// Rate of the stretch, which may be zero.
    pub rate: Rate,
}

impl ServiceConfig {
    /// Returns the rates from the start of a run, in stretches without gaps. They are endless
    /// unless a last rate stays. `link` is the link's index in its network.
    pub fn stretches(&self, seed: u64, link: usize) -> Stretches {
        Stretches {
            config: self.clone(),
            random: RandomStream::new(seed, "service", link as u64),
            index: 0,
            round: Time::ZERO,
            at: Time::ZERO,
        }
    }

    /// Returns the approximate number of changes of the rate in a run.
    pub fn changes_in(&self, run: Span) -> u128 {
        let (changes, time) = match self {
            Self::Trace(trace) => (trace.steps.len(), trace.repeat.unwrap_or(run)),
            Self::Opportunities(trace) => {
                let round = trace.milliseconds.last().copied().unwrap_or(0);
                (
                    2 * trace.milliseconds.len(),
                    Span::from_millis(round.into()),
                )
            }
            Self::Random(random) => (1, random.interval),
        };
        changes as u128 * u128::from(run.0.div_ceil(time.0.max(1)))
    }

    /// Returns the mean rate, rounded to the nearest bit per second: over one repetition of a trace
    /// that repeats, over the run for a trace that does not, and the expected value of a random
    /// rate.
    pub fn mean_rate(&self, run: Span) -> Rate {
        let per_second = |work: u128, time: Span| {
            let time = u128::from(time.0.max(1));
            Rate(((work + time / 2) / time) as u64)
        };
        match self {
            Self::Trace(trace) => {
                let time = trace.repeat.unwrap_or(run);
                let rates = self.stretches(0, 0);
                let work = Work::from_start(rates).offered_by(Time::ZERO + time);
                per_second(work, time)
            }
            Self::Opportunities(trace) => {
                let millis = trace.milliseconds.last().copied().unwrap_or(0);
                let bits = trace.milliseconds.len() as u128 * u128::from(8 * BYTES_PER_OPPORTUNITY);
                let time = Span::from_millis(millis.into());
                per_second(bits * WORK_PER_BIT, time)
            }
            Self::Random(random) => match &random.draw {
                RateDraw::Uniform(from, to) => Rate(from.0.midpoint(to.0)),
                RateDraw::Markov { rates, .. } => {
                    let sum: u128 = rates.iter().map(|rate| u128::from(rate.0)).sum();
                    per_second(sum, Span(rates.len() as u64))
                }
            },
        }
    }
}

/// Iterator over the stretches of a link's rate, in order.
#[derive(Clone, Debug)]
pub struct Stretches {
    config: ServiceConfig,
    random: RandomStream,
    /// Index of the trace's next step or opportunity, or of the chain's state.
    index: usize,
    /// Start of the present repetition of a trace.
    round: Time,
    /// End of the last stretch.
    at: Time,
}

impl Iterator for Stretches {
    type Item = Stretch;

    fn next(&mut self) -> Option<Stretch> {
        if self.at == Time::MAX {
            return None;
        }
        let begins = self.at == Time::ZERO;
        let stretch = match &self.config {
            ServiceConfig::Trace(trace) => {
                let (_, rate) = trace.steps[self.index];
                let (offset, last) = match (trace.steps.get(self.index + 1), trace.repeat) {
                    (Some((offset, _)), _) => (*offset, false),
                    (None, Some(repeat)) => (repeat, true),
                    (None, None) => (Span::MAX, false),
                };
                let until = self.round.saturating_add(offset);
                if last {
                    (self.round, self.index) = (until, 0);
                } else {
                    self.index += 1;
                }
                Stretch { until, rate }
            }
            ServiceConfig::Opportunities(trace) => {
                let due = opportunity(trace, self.round, self.index);
                if due > self.at {
                    let rate = Rate(0);
                    Stretch { until: due, rate }
                } else {
                    let mut count = 0;
                    while opportunity(trace, self.round, self.index) == due && due < Time::MAX {
                        count += 1;
                        self.index += 1;
                        if self.index == trace.milliseconds.len() {
                            (self.round, self.index) = (due, 0);
                        }
                    }
                    Stretch {
                        until: due.saturating_add(Span(count * BYTES_PER_OPPORTUNITY)),
                        rate: Rate(AT_ONCE),
                    }
                }
            }
            ServiceConfig::Random(config) => {
                let rate = draw(&mut self.random, &config.draw, &mut self.index, begins);
                let until = self.at.saturating_add(config.interval);
                Stretch { until, rate }
            }
        };
        self.at = stretch.until;
        Some(stretch)
    }
}

fn opportunity(trace: &DeliveryTrace, round: Time, index: usize) -> Time {
    round.saturating_add(Span::from_millis(trace.milliseconds[index].into()))
}

/// Draws the next rate and updates the chain's state.
fn draw(random: &mut RandomStream, draw: &RateDraw, state: &mut usize, begins: bool) -> Rate {
    let mut below = |limit: u64| random.span_below(Span(limit)).0;
    match draw {
        RateDraw::Uniform(from, to) => Rate(from.0 + below(to.0 - from.0 + 1)),
        RateDraw::Markov { rates, stay } => {
            let count = rates.len() as u64;
            if begins {
                *state = below(count) as usize;
            } else if random.unit() >= *stay {
                // The draw is among the others, so indices from the present one on move up by one.
                let other = random.span_below(Span(count - 1)).0 as usize;
                *state = other + usize::from(other >= *state);
            }
            rates[*state]
        }
    }
}

/// Work of one bit. Work is rate × time in bit/s × ps, so that integers add up exactly.
const WORK_PER_BIT: u128 = 1_000_000_000_000;

/// Capacity that a link offers over time, computed in ascending order.
#[derive(Clone, Debug)]
struct Work {
    stretches: Stretches,
    from: Time,
    current: Stretch,
    /// Work offered before `from`.
    before: u128,
}

impl Work {
    fn from_start(mut stretches: Stretches) -> Self {
        let nothing = Stretch {
            until: Time::MAX,
            rate: Rate(0),
        };
        Self {
            current: stretches.next().unwrap_or(nothing),
            stretches,
            from: Time::ZERO,
            before: 0,
        }
    }

    /// Advances to the next stretch. Returns false if the present one is the last.
    fn advance(&mut self) -> bool {
        let Some(next) = self.stretches.next() else {
            return false;
        };
        self.before = self.offered(self.current.until);
        self.from = self.current.until;
        self.current = next;
        true
    }

    /// Returns the work offered until `time`, which lies in the present stretch.
    fn offered(&self, time: Time) -> u128 {
        self.before + u128::from(self.current.rate.0) * u128::from((time - self.from).0)
    }

    /// Returns the work offered until `time`, which is never before that of the last call.
    fn offered_by(&mut self, time: Time) -> u128 {
        while self.current.until < time && self.advance() {}
        self.offered(time)
    }
}

/// A transmitter whose rate changes.
#[derive(Clone, Debug)]
pub struct VaryingRate {
    work: Work,
    /// Work offered before the measured window begins, and before it ends.
    window: (u128, u128),
    used: u128,
}

impl VaryingRate {
    /// Creates an idle transmitter whose utilisation is measured in `window`.
    pub fn new(stretches: Stretches, window: Window) -> Self {
        let work = Work::from_start(stretches);
        let mut ahead = work.clone();
        Self {
            window: (ahead.offered_by(window.from), ahead.offered_by(window.to)),
            work,
            used: 0,
        }
    }

    /// Returns the first instant from `now` on at which a transmission can begin. `now` is never
    /// before that of the last call, nor before the end of the last transmission.
    pub fn opens(&mut self, now: Time) -> Time {
        while self.work.current.until <= now || self.work.current.rate.0 == 0 {
            if !self.work.advance() {
                return Time::MAX;
            }
        }
        now.max(self.work.from)
    }

    /// Returns the end of a transmission of `bytes` bytes that begins at `start`, when the rate is
    /// not zero.
    pub fn transmit(&mut self, start: Time, bytes: u64) -> Time {
        let begun = self.work.offered(start);
        let done = begun + u128::from(bytes) * 8 * WORK_PER_BIT;
        let mut ends = true;
        while ends && self.work.offered(self.work.current.until) < done {
            ends = self.work.advance();
        }
        let end = if ends {
            let left = done.saturating_sub(self.work.before);
            let time = left.div_ceil(u128::from(self.work.current.rate.0.max(1)));
            self.work.from.saturating_add(Span(time as u64))
        } else {
            Time::MAX
        };
        let used = self.work.offered(end).min(self.window.1);
        self.used += used.saturating_sub(begun.max(self.window.0));
        end
    }

    /// Returns the share of the work offered in the measured window that transmissions used.
    pub fn utilization(&self) -> f64 {
        let offered = self.window.1 - self.window.0;
        if offered == 0 {
            return 0.0;
        }
        self.used as f64 / offered as f64
    }
}

#[cfg(test)]
mod tests;
