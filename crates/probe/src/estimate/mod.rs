//! Estimates from the recordings of phases.

mod direction;
mod drift;
mod level;
mod load;
mod pause;
mod queue;
mod round_trip;

pub use direction::{Direction, Ecn, Recordings};
pub use drift::Drift;
pub use load::{Load, Throughput, quantile};
pub use pause::Pauses;
pub use queue::{Buffer, Discipline, Evidence, Features, LimitUnit};
pub use round_trip::{base_rtt, cross_share};

use serde::Serialize;

/// An estimate with an interval that contains the true value with 95 % probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Estimate {
    /// Returns an estimate with an interval that is symmetric.
    pub fn around(value: f64, half_width: f64) -> Self {
        Self {
            value,
            low: value - half_width,
            high: value + half_width,
        }
    }

    /// Returns the estimate in another unit.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            low: self.low * factor,
            high: self.high * factor,
        }
    }
}
