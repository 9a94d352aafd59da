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

/// Durations of one kind of thing.
#[derive(Clone, Debug)]
struct Durations {
    /// Name of the number of these things, if it is a figure.
    count: Option<&'static str>,
    name: &'static str,
    /// In nanoseconds.
    times: Histogram,
}

/// Durations and counts of what ends after the warm-up.
#[derive(Clone, Debug)]
pub struct Measure {
    from: Time,
    durations: Vec<Durations>,
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
    pub fn named(self, count: &'static str, duration: &'static str) -> Self {
        self.with(Some(count), duration)
    }

    /// Adds a kind of thing with the name of its duration, whose number is no figure.
    #[must_use]
    pub fn times(self, duration: &'static str) -> Self {
        self.with(None, duration)
    }

    fn with(mut self, count: Option<&'static str>, name: &'static str) -> Self {
        let times = Histogram::default();
        self.durations.push(Durations { count, name, times });
        self
    }

    /// Records that one thing of the `kind`th kind lasted from `start` to `end`.
    pub fn record(&mut self, kind: usize, start: Time, end: Time) {
        if end >= self.from {
            let nanoseconds = (end - start).0.div_ceil(1_000);
            self.durations[kind].times.record(nanoseconds, 1);
        }
    }

    /// Returns the results.
    pub fn outcome(&self) -> AppOutcome {
        let metrics = self
            .durations
            .iter()
            .flat_map(|Durations { count, name, times }| {
                let count = count.map(|count| (count, Metric::Count(times.total())));
                let times = (
                    *name,
                    Metric::Seconds(Distribution::from_histogram(times, 1e9)),
                );
                count.into_iter().chain([times])
            });
        AppOutcome {
            metrics: metrics.collect(),
        }
    }
}
