//! Instants and durations in whole picoseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// Picoseconds in a second.
const PICOS: u64 = 1_000_000_000_000;

/// An instant in picoseconds since the start of the run. The range is 213 days.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub u64);

/// A duration in picoseconds, never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(pub u64);

impl Time {
    /// Start of every run.
    pub const ZERO: Self = Self(0);
    /// Time after every event.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns the seconds since the start, for reports only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PICOS as f64
    }

    /// Returns the time elapsed since `earlier`, or zero if `earlier` is later.
    #[must_use]
    pub fn saturating_since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// Returns this instant plus a span, or [`Time::MAX`] if the sum exceeds it.
    #[must_use]
    pub fn saturating_add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Span {
    /// Span of zero length.
    pub const ZERO: Self = Self(0);
    /// Span longer than any run.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns a span of whole seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * PICOS)
    }

    /// Returns a span of whole milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * (PICOS / 1_000))
    }

    /// Returns a span of whole microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * (PICOS / 1_000_000))
    }

    /// Returns the nearest picosecond to `secs`, which must be finite and not negative. Other
    /// values give zero or [`Span::MAX`].
    pub fn from_secs_f64(secs: f64) -> Self {
        Self((secs * PICOS as f64 + 0.5) as u64)
    }

    /// Returns the seconds, for reports and for the floating-point parts of a control law.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PICOS as f64
    }

    /// Returns the difference to a shorter span, or zero if `other` is longer.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns `times` times the span, or [`Span::MAX`] if the product exceeds it.
    #[must_use]
    pub fn saturating_mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0 + span.0)
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}

impl Sub for Time {
    type Output = Span;
    /// Returns the time from `earlier` to `self`. A negative result is a broken invariant.
    fn sub(self, earlier: Self) -> Span {
        debug_assert!(self >= earlier, "{self:?} is before {earlier:?}");
        Span(self.0 - earlier.0)
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Mul<u64> for Span {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0 * times)
    }
}

impl Div<u64> for Span {
    type Output = Self;
    fn div(self, parts: u64) -> Self {
        Self(self.0 / parts)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:012}s", self.0 / PICOS, self.0 % PICOS)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:012}s", self.0 / PICOS, self.0 % PICOS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_convert_without_loss_of_a_picosecond() {
        assert_eq!(Span::from_millis(10), Span::from_secs_f64(0.01));
        assert!((Span::from_micros(7).as_secs_f64() - 7e-6).abs() < 1e-18);
        assert_eq!(Time(5) - Time(2), Span(3));
        assert_eq!(Time(2).saturating_since(Time(5)), Span::ZERO);
        assert_eq!(format!("{:?}", Span::from_millis(1500)), "1.500000000000s");
    }
}
