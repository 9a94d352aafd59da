//! Pareto's law.

use super::{ChanceLaw, quantity};
use goodqueue_types::parameters::{Role, number};
use goodqueue_types::{RandomStream, parameters};

parameters! {
    /// Pareto: P(X > x) = (least/x)^shape, with least = mean · (shape − 1)/shape. If the shape is
    /// at most 2, the variance is infinite: a few very large values make up most of the sum.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Pareto("Pareto") {
        /// Mean.
        mean: f64 = 1.0 => quantity(Role::Middle);
        /// Exponent of the tail: a larger one makes large values rarer. Up to 2 the variance is infinite.
        shape: f64 = 1.5 => number(1.01, 100.0).example("1.2");
    }
}

impl Pareto {
    fn least(&self) -> f64 {
        self.mean * (self.shape - 1.0) / self.shape
    }
}

impl ChanceLaw for Pareto {
    fn draw(&self, random: &mut RandomStream) -> f64 {
        self.least() * libm::pow(1.0 - random.unit(), -1.0 / self.shape)
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn share_up_to(&self, value: f64) -> f64 {
        1.0 - libm::pow(self.least() / value.max(self.least()), self.shape)
    }
}
