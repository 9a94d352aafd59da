//! Rates by a table of times, in the scenario or in a file.

use super::transmitter::Work;
use super::{FILE, ServiceLaw, ServiceState, Stretch, per_second};
use goodqueue_types::parameters::{
    CHECKSUM, Key, Kind, LONGEST, Refusal, Unkeyed, rate_or_zero, span,
};
use goodqueue_types::{RandomStream, Rate, Span, Time, parameters};
use std::sync::Arc;

const REPEAT: Key = span(Span(1_000_000), LONGEST)
    .default("the last rate stays")
    .example("60s")
    .doc("The trace begins again after this time, which is later than its last step.");

parameters! {
    /// Rate from a time on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RateStep("step of a rate") {
        /// Time at which the rate begins.
        at: Span = Span::ZERO => span(Span::ZERO, LONGEST).required().example("30s");
        /// The rate; `0bps` is an outage.
        rate: Rate = Rate(0) => rate_or_zero().required().example("10Mbps");
    }

    /// Rates with the times at which they begin.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RateTrace("rates in steps") {
        /// Times from 0s on, and the rate from each on.
        ///
        /// Times ascend, and rates may be zero.
        steps: Arc<[RateStep]> = Arc::new([]) => Key::new(Kind::List(RateStep::SPEC)).required()
            .example("[{ at = \"0s\", rate = \"10Mbps\" }, { at = \"30s\", rate = \"1Mbps\" }]");
        /// Time after which the trace repeats. Without it the last rate stays.
        repeat: Option<Span> = None => REPEAT;
    }

    /// Rates of a file.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RateFile("table of rates") {
        /// Path of the file.
        file: String = String::new() => FILE;
        /// Checksum of the file.
        checksum: String = String::new() => CHECKSUM;
        /// Time after which the trace repeats. Without it the last rate stays.
        repeat: Option<Span> = None => REPEAT;
        /// Content of the file.
        steps: Unkeyed<Arc<[RateStep]>> = Unkeyed(Arc::new([]));
    }
}

impl RateFile {
    /// Returns the rates with their times.
    fn trace(&self) -> RateTrace {
        RateTrace {
            steps: self.steps.0.clone(),
            repeat: self.repeat,
        }
    }
}

impl ServiceLaw for RateTrace {
    fn start(&self, _random: RandomStream) -> Box<dyn ServiceState> {
        Box::new(Round {
            trace: self.clone(),
            index: 0,
            from: Time::ZERO,
        })
    }

    fn changes_in(&self, run: Span) -> u128 {
        super::changes(self.steps.len(), self.repeat.unwrap_or(run), run)
    }

    fn mean_rate(&self, run: Span) -> Rate {
        let time = self.repeat.unwrap_or(run);
        let stretches = super::Stretches {
            state: self.start(RandomStream::new(0, "service", 0)),
            at: Time::ZERO,
        };
        let work = Work::from_start(stretches).offered_by(Time::ZERO + time);
        per_second(work, time)
    }

    fn check(&self) -> Result<(), Refusal> {
        let Some(last) = self.steps.last() else {
            return Err(Refusal::missing::<Self>("steps"));
        };
        let late = |index: usize| match index.checked_sub(1) {
            None => self.steps[0].at > Span::ZERO,
            Some(before) => self.steps[before].at >= self.steps[index].at,
        };
        if let Some(index) = (0..self.steps.len()).find(|index| late(*index)) {
            let message = "steps begin at 0s and come one after the other";
            let key = format!("steps.{index}.at");
            return Err(Refusal::new(key, message, "sort them by \"at\""));
        }
        if self.repeat.is_some_and(|repeat| repeat <= last.at) {
            let message = "the trace would begin again before its last step";
            let help = format!("write more than \"{}s\"", last.at.as_secs_f64());
            return Err(Refusal::new("repeat", message, help));
        }
        Ok(())
    }
}

impl ServiceLaw for RateFile {
    fn start(&self, random: RandomStream) -> Box<dyn ServiceState> {
        self.trace().start(random)
    }

    fn changes_in(&self, run: Span) -> u128 {
        self.trace().changes_in(run)
    }

    fn mean_rate(&self, run: Span) -> Rate {
        self.trace().mean_rate(run)
    }

    fn check(&self) -> Result<(), Refusal> {
        self.trace().check()
    }
}

/// Position in a trace.
#[derive(Debug)]
struct Round {
    trace: RateTrace,
    /// Index of the next step.
    index: usize,
    /// Start of the present repetition.
    from: Time,
}

impl ServiceState for Round {
    fn next(&mut self, _at: Time) -> Stretch {
        let steps = &self.trace.steps;
        let rate = steps[self.index].rate;
        let (offset, last) = match (steps.get(self.index + 1), self.trace.repeat) {
            (Some(next), _) => (next.at, false),
            (None, Some(repeat)) => (repeat, true),
            (None, None) => (Span::MAX, false),
        };
        let until = self.from.saturating_add(offset);
        if last {
            (self.from, self.index) = (until, 0);
        } else {
            self.index += 1;
        }
        Stretch { until, rate }
    }
}
