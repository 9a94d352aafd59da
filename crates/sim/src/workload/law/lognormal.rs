//! The log-normal law, which sizes of objects on the web follow below their tail (Barford and
//! Crovella, SIGMETRICS 1998).

use super::{ChanceLaw, quantity};
use goodqueue_types::parameters::{Role, number};
use goodqueue_types::{RandomStream, parameters};
use std::f64::consts::{SQRT_2, TAU};

parameters! {
    /// Log-normal: the logarithm of the values is normal.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct LogNormal("log-normal") {
        /// Mean.
        mean: f64 = 1.0 => quantity(Role::Middle);
        /// Standard deviation of the values' natural logarithm.
        sigma: f64 = 1.0 => number(0.01, 5.0).example("1.4");
    }
}

impl LogNormal {
    /// Returns the mean of the logarithm.
    fn mu(&self) -> f64 {
        libm::log(self.mean) - self.sigma * self.sigma / 2.0
    }
}

impl ChanceLaw for LogNormal {
    /// Draws a normal variable by the transform of Box and Muller (1958).
    fn draw(&self, random: &mut RandomStream) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log1p(-random.unit()));
        let normal = radius * libm::cos(TAU * random.unit());
        libm::exp(self.mu() + self.sigma * normal)
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn share_up_to(&self, value: f64) -> f64 {
        if value <= 0.0 {
            return 0.0;
        }
        libm::erfc((self.mu() - libm::log(value)) / (self.sigma * SQRT_2)) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The median is exp(mu), and 84.134 % of the values lie below exp(mu + sigma).
    #[test]
    fn quantiles_are_those_of_the_normal_law() {
        let law = LogNormal {
            mean: 8.0,
            sigma: 0.5,
        };
        let median = 8.0 * libm::exp(-0.125);
        assert!((law.share_up_to(median) - 0.5).abs() < 1e-12);
        let above = law.share_up_to(median * libm::exp(0.5));
        assert!((above - 0.841_344_746_068_543).abs() < 1e-12, "{above}");
    }
}
