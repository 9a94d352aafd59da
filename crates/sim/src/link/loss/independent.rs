//! Independent losses.

use super::{LossLaw, LossScope, LossState};
use goodqueue_types::parameters;
use goodqueue_types::parameters::fraction;

parameters! {
    /// Each packet or byte is lost independently.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct IndependentLoss("independent loss") {
        /// Share of the packets, or bytes, that is lost.
        probability: f64 = 0.0 => fraction().required().example("1%");
        scope: LossScope = LossScope::default();
    }
}

impl LossLaw for IndependentLoss {
    fn scope(&self) -> LossScope {
        self.scope
    }

    fn start(&self) -> Box<dyn LossState> {
        Box::new(*self)
    }
}

impl LossState for IndependentLoss {
    fn loses(&mut self, units: u64, random: f64) -> bool {
        random < loss_of_frame(self.probability, units)
    }
}

/// Returns 1 - (1 - p)^n, without loss of digits for very small p.
fn loss_of_frame(probability: f64, count: u64) -> f64 {
    if count == 1 {
        return probability;
    }
    -libm::expm1(count as f64 * libm::log1p(-probability))
}
