//! What an application measures: counts, and how long things took.

use crate::Distribution;
use goodqueue_types::{Histogram, Time};

/// One figure of an application.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// How many.
    Count(u64),
    /// Seconds.
    Seconds(Distribution),
    /// One quantity over another.
    Ratio(Distribution),
    /// A figure without a distribution, in the unit that its name says; none without a sample.
    Number(Option<f64>),
}

/// The figures of an application, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AppOutcome {
    /// Name in results, and figure.
    pub metrics: Vec<(&'static str, Metric)>,
}

/// Durations and counts from the warm-up on: what ends before does not count.
#[derive(Clone, Debug)]
pub struct Measure {
    from: Time,
    durations: Vec<(&'static str, &'static str, Histogram)>,
}

impl Measure {
    /// A measure that begins at this time.
    pub fn new(from: Time) -> Self {
        Self {
            from,
            durations: Vec::new(),
        }
    }

    /// What ends before does not count.
    pub fn from(&self) -> Time {
        self.from
    }

    /// Makes room for a kind of thing: the name of its count and that of its duration.
    #[must_use]
    pub fn of(mut self, count: &'static str, duration: &'static str) -> Self {
        self.durations.push((count, duration, Histogram::default()));
        self
    }

    /// One of the `kind`th has lasted from `start` to `end`.
    pub fn record(&mut self, kind: usize, start: Time, end: Time) {
        if end >= self.from {
            let nanoseconds = (end - start).0.div_ceil(1_000);
            self.durations[kind].2.record(nanoseconds, 1);
        }
    }

    /// What was measured.
    pub fn outcome(&self) -> AppOutcome {
        let metrics = self.durations.iter().flat_map(|(count, duration, times)| {
            [
                (*count, Metric::Count(times.total())),
                (*duration, Metric::Seconds(Distribution::of(times, 1e9))),
            ]
        });
        AppOutcome {
            metrics: metrics.collect(),
        }
    }
}
