//! The simulated clock as the instants that quinn calculates with.

use goodqueue_types::{Span, Time};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Instant of time zero. Only differences of instants matter, so any one serves.
fn zero() -> Instant {
    static ZERO: OnceLock<Instant> = OnceLock::new();
    *ZERO.get_or_init(Instant::now)
}

/// Returns the instant of a time, in whole nanoseconds.
pub fn instant(time: Time) -> Instant {
    zero() + Duration::from_nanos((time - Time::ZERO).0 / 1_000)
}

/// Returns the time of an instant.
pub fn time(instant: Instant) -> Time {
    Time::ZERO.saturating_add(span(instant.saturating_duration_since(zero())))
}

/// Returns a duration as a span.
pub fn span(duration: Duration) -> Span {
    let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    Span(nanoseconds.saturating_mul(1_000))
}
