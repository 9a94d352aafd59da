//! Losses in bursts: a chain of two states with a probability of loss in each (Gilbert 1960, Elliott
//! 1963), as in `tc netem loss gemodel`.

use super::{LossLaw, LossScope, LossState};
use goodqueue_types::parameters;
use goodqueue_types::parameters::fraction;

parameters! {
    /// Losses in bursts: a chain of two states with a probability of loss in each.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct GilbertElliott("losses in bursts") {
        /// Probability of a step from the good state to the bad one (`p` of `tc netem loss
        /// gemodel`).
        to_bad: f64 = 0.0 => fraction().required().example("0.5%");
        /// Probability of a step back (netem's `r`). If all is lost in the bad state, bursts
        /// are `1 / to_good` long.
        to_good: f64 = 0.0 => fraction().required().example("25%");
        /// Share lost in the bad state (netem's `1-h`).
        loss_bad: f64 = 1.0 => fraction().default("\"100%\"").example("50%");
        /// Share lost in the good state (netem's `1-k`).
        loss_good: f64 = 0.0 => fraction().default("\"0%\"").example("0.01%");
        scope: LossScope = LossScope::default();
    }
}

impl LossLaw for GilbertElliott {
    fn scope(&self) -> LossScope {
        self.scope
    }

    fn start(&self) -> Box<dyn LossState> {
        Box::new(Chain::new(self))
    }
}

/// Probabilities of changes from a state (first index) to a state: 0 is good, 1 is bad.
type Matrix = [[f64; 2]; 2];

/// The two states of Gilbert and Elliott. The present state decides if a unit is lost. After each
/// unit the state takes a step.
#[derive(Clone, Debug)]
struct Chain {
    bad: bool,
    step: Matrix,
    /// Probabilities of a step without a loss.
    kept: Matrix,
    /// Number of units in the last frame, with both matrices to its power.
    last: (u64, Matrix, Matrix),
}

impl Chain {
    fn new(config: &GilbertElliott) -> Self {
        let GilbertElliott {
            to_bad,
            to_good,
            loss_bad,
            loss_good,
            ..
        } = *config;
        let step = [[1.0 - to_bad, to_bad], [to_good, 1.0 - to_good]];
        let kept = [
            step[0].map(|p| p * (1.0 - loss_good)),
            step[1].map(|p| p * (1.0 - loss_bad)),
        ];
        Self {
            bad: false,
            step,
            kept,
            last: (1, step, kept),
        }
    }
}

impl LossState for Chain {
    /// Decides with one draw on the loss of the frame and the state after it. The range of the draw
    /// is divided: first the part in which all units are kept, then the rest; within each, the good
    /// state first.
    fn loses(&mut self, units: u64, random: f64) -> bool {
        if self.last.0 != units {
            self.last = (units, power(self.step, units), power(self.kept, units));
        }
        let from = usize::from(self.bad);
        let (all, kept) = (self.last.1[from], self.last.2[from]);
        let kept_whole = kept[0] + kept[1];
        let lost = random >= kept_whole;
        self.bad = if lost {
            random >= kept_whole + (all[0] - kept[0])
        } else {
            random >= kept[0]
        };
        lost
    }
}

/// Returns a matrix to the `exponent`th power, by squaring.
fn power(mut base: Matrix, mut exponent: u64) -> Matrix {
    let mut result = [[1.0, 0.0], [0.0, 1.0]];
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = product(&result, &base);
        }
        base = product(&base, &base);
        exponent >>= 1;
    }
    result
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let entry = |row: usize, column: usize| a[row][0] * b[0][column] + a[row][1] * b[1][column];
    [[entry(0, 0), entry(0, 1)], [entry(1, 0), entry(1, 1)]]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One step by a power equals as many single steps of the chain, byte by byte.
    #[test]
    fn a_power_equals_as_many_single_steps() {
        let chain = Chain::new(&GilbertElliott {
            to_bad: 0.01,
            to_good: 0.03,
            loss_bad: 0.2,
            loss_good: 0.001,
            scope: LossScope::default(),
        });
        let mut walked = [[1.0, 0.0], [0.0, 1.0]];
        for _ in 0..93 {
            walked = product(&walked, &chain.kept);
        }
        let powered = power(chain.kept, 93);
        for (a, b) in walked.iter().flatten().zip(powered.iter().flatten()) {
            assert!((a - b).abs() < 1e-14, "{a} {b}");
        }
        let rows = power(chain.step, 93).map(|row| row[0] + row[1]);
        assert!(rows.iter().all(|sum| (sum - 1.0).abs() < 1e-12));
    }
}
