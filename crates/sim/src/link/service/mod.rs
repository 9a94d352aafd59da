//! Links whose rate changes.
//!
//! Every law yields stretches of time with one rate each, which may be zero. A transmission uses the
//! capacity of the stretches from its start on, one bit after the other. A link at rate zero begins
//! no transmission, so its packets wait in the queue.

mod markov;
mod opportunities;
mod trace;
mod transmitter;
mod uniform;

use goodqueue_types::parameters::{Key, Kind, LONGEST, REQUIRED, Refusal, key, span};
use goodqueue_types::{RandomStream, Rate, Span, Time, variants};
use std::fmt;

pub use markov::MarkovRates;
pub use opportunities::{BYTES_PER_OPPORTUNITY, DeliveryTrace, MAX_OPPORTUNITIES};
pub use trace::{RateFile, RateStep, RateTrace};
pub use transmitter::VaryingRate;
pub use uniform::UniformRates;

const KIND: Key = key(
    "kind",
    Kind::Choice(ServiceConfig::WORDS),
    REQUIRED,
    "\"steps\"",
    ServiceConfig::MEANINGS,
);

/// Key of the time for which a drawn rate lasts.
const INTERVAL: Key = span(Span(1_000_000), LONGEST)
    .required()
    .example("100ms")
    .doc("How long a rate lasts.");

/// Key of a file with a trace.
const FILE: Key = Key::new(Kind::Text)
    .required()
    .example("lte.trace")
    .doc("The trace, seen from the folder of the scenario file.");

variants! {
    /// Changes of a link's rate.
    #[derive(Clone, Debug, PartialEq)]
    pub enum ServiceConfig(KIND) as dyn ServiceLaw {
        /// Rates by a table.
        Trace(trace: RateTrace) = "steps"("rates in steps", "rates with their times, here"),
        /// Rates by a table in a file.
        File(trace: RateFile) = "csv"("table of rates", "in a file"),
        /// Opportunities to deliver a number of bytes at an instant.
        Opportunities(trace: DeliveryTrace)
            = "mahimahi"("delivery trace", "a file of delivery opportunities"),
        /// Rates that are drawn independently.
        Uniform(rates: UniformRates)
            = "uniform"("uniform rates", "a rate drawn anew each interval, between two bounds"),
        /// Rates that follow a Markov chain.
        Markov(rates: MarkovRates)
            = "markov"("chain of rates", "one of several rates, which changes with a probability each interval"),
    }
}

/// Law of the changes of a rate.
pub trait ServiceLaw {
    /// Returns the state of the law at the start of a run.
    fn start(&self, random: RandomStream) -> Box<dyn ServiceState>;

    /// Returns the approximate number of changes of the rate in a run.
    fn changes_in(&self, run: Span) -> u128;

    /// Returns the mean rate, rounded to the nearest bit per second: over one repetition of a trace
    /// that repeats, over the run for a trace that does not, and the expected value of a random
    /// rate.
    fn mean_rate(&self, run: Span) -> Rate;

    /// Checks that the parameters work together.
    ///
    /// # Errors
    /// Returns the parameter at fault, the reason, and what to write instead.
    fn check(&self) -> Result<(), Refusal> {
        Ok(())
    }
}

/// The state is not printed: otherwise the code that prints all of them would be a part of every
/// program.
impl fmt::Debug for dyn ServiceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a law of a rate")
    }
}

/// State of a law.
pub trait ServiceState: Send {
    /// Returns the stretch that begins at `at`, the end of the previous one.
    fn next(&mut self, at: Time) -> Stretch;
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
    /// Returns the rates from the start of a run, in stretches without gaps. The stretches are
    /// endless, unless the last rate stays for ever. `link` is the link's index in its network.
    pub fn stretches(&self, seed: u64, link: usize) -> Stretches {
        Stretches {
            state: (self.law()).start(RandomStream::new(seed, "service", link as u64)),
            at: Time::ZERO,
        }
    }
}

/// Iterator over the stretches of a link's rate, in order.
#[derive(Debug)]
pub struct Stretches {
    state: Box<dyn ServiceState>,
    /// End of the last stretch.
    at: Time,
}

impl Iterator for Stretches {
    type Item = Stretch;

    fn next(&mut self) -> Option<Stretch> {
        if self.at == Time::MAX {
            return None;
        }
        let stretch = self.state.next(self.at);
        self.at = stretch.until;
        Some(stretch)
    }
}

/// Work of one bit. Work is rate × time in bit/s × ps, so that integers add up exactly.
const WORK_PER_BIT: u128 = 1_000_000_000_000;

/// Returns the rate that does this work in this time, rounded to the nearest bit per second.
fn per_second(work: u128, time: Span) -> Rate {
    let time = u128::from(time.0.max(1));
    Rate(((work + time / 2) / time) as u64)
}

/// Returns the approximate number of changes in a run that has this number of changes in `time`.
fn changes(count: usize, time: Span, run: Span) -> u128 {
    count as u128 * u128::from(run.0.div_ceil(time.0.max(1)))
}

#[cfg(test)]
mod tests;
