//! Random numbers of a script.

use super::World;
use super::settings::Settings;
use crate::error::{ImportError, unknown};

/// Rule by which random numbers are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// The smallest value of each uniform draw.
    Low,
    /// The largest value of each uniform draw.
    High,
    /// Values of a stream with a fixed seed.
    Seeded,
}

impl World {
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.draws += 1;
        match self.draw {
            Draw::Low => low,
            Draw::High => high,
            Draw::Seeded => low + (high - low) * self.random.unit(),
        }
    }

    pub fn exponential(&mut self, mean: f64) -> f64 {
        self.draws += 1;
        self.unbounded = true;
        self.random.exponential(mean)
    }

    /// Draws a value of a `RandomVariable`.
    pub fn variable(&mut self, settings: &Settings) -> Result<f64, ImportError> {
        match &*settings.class {
            "RandomVariable/Uniform" => {
                let (low, high) = (settings.number("min_")?, settings.number("max_")?);
                Ok(self.uniform(low, high))
            }
            "RandomVariable/Exponential" => Ok(self.exponential(settings.number("avg_")?)),
            "RandomVariable/Constant" => settings.number("val_"),
            other => {
                let known = ["RandomVariable/Uniform", "RandomVariable/Exponential"];
                Err(unknown(settings.line, "the random variable", other, &known))
            }
        }
    }
}
