//! Rates that follow a Markov chain.

use super::{INTERVAL, ServiceLaw, ServiceState, Stretch, per_second};
use goodqueue_types::parameters::{Key, Kind, Refusal, fraction};
use goodqueue_types::{RandomStream, Rate, Span, Time, parameters};
use std::sync::Arc;

parameters! {
    /// A Markov chain of rates. The rate stays with probability `stay`. Otherwise it becomes one of
    /// the other rates, which are equally likely. At the start all rates are equally likely.
    #[derive(Clone, Debug, PartialEq)]
    pub struct MarkovRates("chain of rates") {
        /// Duration of each rate.
        interval: Span = Span::from_secs(1) => INTERVAL;
        /// Two rates or more, each equally frequent; `0bps` is an outage.
        rates: Arc<[Rate]> = Arc::new([]) => Key::new(Kind::ListOf(&Kind::RateOrZero)).required()
            .example("[\"0bps\", \"10Mbps\"]");
        /// Probability that a rate stays for another interval; else any of the others follows.
        stay: f64 = 0.0 => fraction().required().example("90%");
    }
}

impl ServiceLaw for MarkovRates {
    fn start(&self, random: RandomStream) -> Box<dyn ServiceState> {
        Box::new(Chain {
            config: self.clone(),
            state: 0,
            random,
        })
    }

    fn changes_in(&self, run: Span) -> u128 {
        super::changes(1, self.interval, run)
    }

    fn mean_rate(&self, _run: Span) -> Rate {
        let sum: u128 = self.rates.iter().map(|rate| u128::from(rate.0)).sum();
        per_second(sum, Span(self.rates.len() as u64))
    }

    fn check(&self) -> Result<(), Refusal> {
        if self.rates.len() >= 2 {
            return Ok(());
        }
        let message = "a chain of one rate";
        Err(Refusal::new("rates", message, "write two rates or more"))
    }
}

#[derive(Debug)]
struct Chain {
    config: MarkovRates,
    /// Index of the present rate.
    state: usize,
    random: RandomStream,
}

impl ServiceState for Chain {
    fn next(&mut self, at: Time) -> Stretch {
        let MarkovRates {
            interval,
            rates,
            stay,
        } = &self.config;
        let count = rates.len() as u64;
        if at == Time::ZERO {
            self.state = self.random.span_below(Span(count)).0 as usize;
        } else if self.random.unit() >= *stay {
            // The draw is among the other rates, so indices from the present one on move up by one.
            let other = self.random.span_below(Span(count - 1)).0 as usize;
            self.state = other + usize::from(other >= self.state);
        }
        Stretch {
            until: at.saturating_add(*interval),
            rate: rates[self.state],
        }
    }
}
