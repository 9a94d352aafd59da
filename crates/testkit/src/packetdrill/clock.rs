//! Times of a script, in microseconds, and of the simulation.

use goodqueue_types::{Span, Time};

/// The limits within which an event must happen, in microseconds.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub start: u64,
    pub end: u64,
    pub tolerance: u64,
}

impl Window {
    /// The earliest time that is still right.
    pub fn earliest(self) -> u64 {
        self.start.saturating_sub(self.tolerance)
    }

    /// The latest time that is still right.
    pub fn latest(self) -> u64 {
        self.end.saturating_add(self.tolerance)
    }
}

/// A time of the script.
pub fn time(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(1).saturating_mul(micros)
}

/// A time as a clock of microseconds shows it.
pub fn micros(time: Time) -> u64 {
    time.0 / Span::from_micros(1).0
}

/// For messages.
pub fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}
