//! Rates that are drawn independently.

use super::{INTERVAL, ServiceLaw, ServiceState, Stretch};
use goodqueue_types::parameters::{Refusal, rate_or_zero};
use goodqueue_types::{RandomStream, Rate, Span, Time, parameters};

parameters! {
    /// Rates that are drawn uniformly between two bounds, independently of one another.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct UniformRates("uniform rates") {
        /// Duration of each rate.
        interval: Span = Span::from_secs(1) => INTERVAL;
        /// The lowest rate; it may be `0bps`.
        from: Rate = Rate(0) => rate_or_zero().required().example("1Mbps");
        /// The highest rate.
        to: Rate = Rate(0) => rate_or_zero().required().example("20Mbps");
    }
}

impl ServiceLaw for UniformRates {
    fn start(&self, random: RandomStream) -> Box<dyn ServiceState> {
        Box::new(Draws {
            rates: *self,
            random,
        })
    }

    fn changes_in(&self, run: Span) -> u128 {
        super::changes(1, self.interval, run)
    }

    fn mean_rate(&self, _run: Span) -> Rate {
        Rate(self.from.0.midpoint(self.to.0))
    }

    fn check(&self) -> Result<(), Refusal> {
        if self.from <= self.to {
            return Ok(());
        }
        let help = "write the lower rate first";
        Err(Refusal::new("from", "\"from\" is above \"to\"", help))
    }
}

#[derive(Debug)]
struct Draws {
    rates: UniformRates,
    random: RandomStream,
}

impl ServiceState for Draws {
    fn next(&mut self, at: Time) -> Stretch {
        let UniformRates { interval, from, to } = self.rates;
        let above = self.random.span_below(Span(to.0 - from.0 + 1)).0;
        Stretch {
            until: at.saturating_add(interval),
            rate: Rate(from.0 + above),
        }
    }
}
