//! The exponential law.

use super::{ChanceLaw, quantity};
use goodqueue_types::parameters::Role;
use goodqueue_types::{RandomStream, parameters};

parameters! {
    /// Exponential, as in a memoryless source.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Exponential("exponential") {
        /// Mean.
        mean: f64 = 1.0 => quantity(Role::Middle);
    }
}

impl ChanceLaw for Exponential {
    fn draw(&self, random: &mut RandomStream) -> f64 {
        random.exponential(self.mean)
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn share_up_to(&self, value: f64) -> f64 {
        1.0 - libm::exp(-value.max(0.0) / self.mean)
    }
}
