//! The uniform law.

use super::{ChanceLaw, quantity};
use goodqueue_types::parameters::{Refusal, Role};
use goodqueue_types::{RandomStream, parameters};

parameters! {
    /// Uniform between two values.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Uniform("uniform") {
        /// Least.
        from: f64 = 0.0 => quantity(Role::Least);
        /// Greatest.
        to: f64 = 1.0 => quantity(Role::Greatest);
    }
}

impl ChanceLaw for Uniform {
    fn draw(&self, random: &mut RandomStream) -> f64 {
        self.from + (self.to - self.from) * random.unit()
    }

    fn mean(&self) -> f64 {
        f64::midpoint(self.from, self.to)
    }

    fn share_up_to(&self, value: f64) -> f64 {
        ((value - self.from) / (self.to - self.from)).clamp(0.0, 1.0)
    }

    fn check(&self) -> Result<(), Refusal> {
        if self.from <= self.to {
            return Ok(());
        }
        Err(Refusal::new(
            "to",
            "\"to\" is below \"from\"",
            "swap the two",
        ))
    }
}
