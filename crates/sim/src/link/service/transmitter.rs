//! A transmitter whose rate changes.

use super::{ServiceConfig, Stretch, Stretches, WORK_PER_BIT};
use crate::measure::link_meter::Window;
use goodqueue_types::{Rate, Span, Time};

/// Capacity that a link offers over time, computed in ascending order.
#[derive(Debug)]
pub(super) struct Work {
    stretches: Stretches,
    from: Time,
    current: Stretch,
    /// Work offered before `from`.
    before: u128,
}

impl Work {
    pub(super) fn from_start(mut stretches: Stretches) -> Self {
        let nothing = Stretch {
            until: Time::MAX,
            rate: Rate(0),
        };
        Self {
            current: stretches.next().unwrap_or(nothing),
            stretches,
            from: Time::ZERO,
            before: 0,
        }
    }

    /// Advances to the next stretch. Returns false if the present one is the last.
    fn advance(&mut self) -> bool {
        let Some(next) = self.stretches.next() else {
            return false;
        };
        self.before = self.offered(self.current.until);
        self.from = self.current.until;
        self.current = next;
        true
    }

    /// Returns the work offered until `time`, which lies in the present stretch.
    fn offered(&self, time: Time) -> u128 {
        self.before + u128::from(self.current.rate.0) * u128::from((time - self.from).0)
    }

    /// Returns the work offered until `time`, which is never before that of the last call.
    pub(super) fn offered_by(&mut self, time: Time) -> u128 {
        while self.current.until < time && self.advance() {}
        self.offered(time)
    }
}

/// A transmitter whose rate changes.
#[derive(Debug)]
pub struct VaryingRate {
    work: Work,
    /// Work offered before the measured window begins, and before it ends.
    window: (u128, u128),
    used: u128,
}

impl VaryingRate {
    /// Creates the idle transmitter of the `link`th link, whose utilisation is measured in
    /// `window`.
    pub fn new(config: &ServiceConfig, seed: u64, link: usize, window: Window) -> Self {
        let work = || Work::from_start(config.stretches(seed, link));
        let mut ahead = work();
        Self {
            window: (ahead.offered_by(window.from), ahead.offered_by(window.to)),
            work: work(),
            used: 0,
        }
    }

    /// Returns the first instant from `now` on at which a transmission can begin. `now` must not be
    /// earlier than in the last call, or than the end of the last transmission.
    pub fn opens(&mut self, now: Time) -> Time {
        while self.work.current.until <= now || self.work.current.rate.0 == 0 {
            if !self.work.advance() {
                return Time::MAX;
            }
        }
        now.max(self.work.from)
    }

    /// Returns the end of a transmission of `bytes` bytes that begins at `start`, when the rate is
    /// not zero.
    pub fn transmit(&mut self, start: Time, bytes: u64) -> Time {
        let begun = self.work.offered(start);
        let done = begun + u128::from(bytes) * 8 * WORK_PER_BIT;
        let mut ends = true;
        while ends && self.work.offered(self.work.current.until) < done {
            ends = self.work.advance();
        }
        let end = if ends {
            let left = done.saturating_sub(self.work.before);
            let time = left.div_ceil(u128::from(self.work.current.rate.0.max(1)));
            self.work.from.saturating_add(Span(time as u64))
        } else {
            Time::MAX
        };
        let used = self.work.offered(end).min(self.window.1);
        self.used += used.saturating_sub(begun.max(self.window.0));
        end
    }

    /// Returns the share of the work offered in the measured window that transmissions used.
    pub fn utilization(&self) -> f64 {
        let offered = self.window.1 - self.window.0;
        if offered == 0 {
            return 0.0;
        }
        self.used as f64 / offered as f64
    }
}
