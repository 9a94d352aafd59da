//! Measurements of an application: counts and durations.

use crate::Distribution;
use goodqueue_types::{Histogram, Time};

/// One figure of an application.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// A count.
    Count(u64),
    /// A distribution of seconds.
    Seconds(Distribution),
    /// A distribution of the ratio of two quantities.
    Ratio(Distribution),
    /// A single figure, in the unit that its name has. None without a sample.
    Number(Option<f64>),
}

/// The figures of an application, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AppOutcome {
    /// Figures with their names in results.
    pub metrics: Vec<(&'static str, Metric)>,
}

/// Durations and counts of what ends after the warm-up.
#[derive(Clone, Debug)]
pub struct Measure {
    from: Time,
    durations: Vec<(&'static str, &'static str, Histogram)>,
}

impl Measure {
    /// Creates a measure that counts from this time on.
    pub fn new(from: Time) -> Self {
        Self {
            from,
            durations: Vec::new(),
        }
    }

    /// Returns the time before which nothing is counted.
    pub fn from(&self) -> Time {
        self.from
    }

    /// Adds a kind of thing with the names of its count and its duration.
    #[must_use]
    pub fn of(mut self, count: &'static str, duration: &'static str) -> Self {
        self.durations.push((count, duration, Histogram::default()));
        self
    }

    /// Records that one thing of the `kind`th kind lasted from `start` to `end`.
    pub fn record(&mut self, kind: usize, start: Time, end: Time) {
        if end >= self.from {
            let nanoseconds = (end - start).0.div_ceil(1_000);
            self.durations[kind].2.record(nanoseconds, 1);
        }
    }

    /// Returns the results.
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
