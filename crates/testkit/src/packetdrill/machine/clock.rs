//! Conversion between a script's times, in microseconds, and times of the simulation.

use goodqueue_types::{Span, Time};

/// Interval in which an event must occur, in microseconds.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub start: u64,
    pub end: u64,
    pub tolerance: u64,
}

impl Window {
    /// Returns the earliest accepted time.
    pub fn earliest(self) -> u64 {
        self.start.saturating_sub(self.tolerance)
    }

    /// Returns the latest accepted time.
    pub fn latest(self) -> u64 {
        self.end.saturating_add(self.tolerance)
    }
}

/// Converts a script's time, in microseconds, to a time of the simulation.
pub fn time(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(1).saturating_mul(micros)
}

/// Converts a time of the simulation to microseconds, rounded down.
pub fn micros(time: Time) -> u64 {
    time.0 / Span::from_micros(1).0
}

/// Converts microseconds to seconds, for messages.
pub fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}
