//! Laws of chance for the sizes, gaps and times of workloads. Each file has one law.

mod empirical;
mod exponential;
mod lognormal;
mod pareto;
mod uniform;

use goodqueue_types::parameters::{
    AMOUNT, ANY_TIME, Key, Kind, Parameter, Parameters, Quantity, REQUIRED, Refusal, Role, Value,
    key,
};
use goodqueue_types::{RandomStream, Span, variants};
use std::sync::Arc;

pub use empirical::{Empirical, Points};
pub use exponential::Exponential;
pub use lognormal::LogNormal;
pub use pareto::Pareto;
pub use uniform::Uniform;

const KIND: Key = key(
    "law",
    Kind::Choice(Drawn::WORDS),
    REQUIRED,
    "\"exponential\"",
    "The law of chance; `empirical`: measured, by points of its distribution function in a file.",
);

variants! {
    /// Law of a quantity that varies, in the quantity's unit.
    #[derive(Clone, Debug, PartialEq)]
    pub enum Drawn(KIND) as dyn ChanceLaw {
        /// Exponential, as in a memoryless source.
        Exponential(law: Exponential) = "exponential"("exponential"),
        /// Pareto, with few very large values.
        Pareto(law: Pareto) = "pareto"("Pareto"),
        /// Log-normal.
        LogNormal(law: LogNormal) = "lognormal"("log-normal"),
        /// Uniform between two values.
        Uniform(law: Uniform) = "uniform"("uniform"),
        /// Measured from data.
        Empirical(law: Empirical) = "empirical"("empirical"),
    }
}

/// Law of chance.
pub trait ChanceLaw {
    /// Draws a value.
    fn draw(&self, random: &mut RandomStream) -> f64;

    /// Returns the mean.
    fn mean(&self) -> f64;

    /// Returns the share of values up to `value`.
    fn share_up_to(&self, value: f64) -> f64;

    /// Checks that the parameters work together.
    ///
    /// # Errors
    /// Returns the parameter at fault, the reason, and what to write instead.
    fn check(&self) -> Result<(), Refusal> {
        Ok(())
    }
}

/// Law of a quantity, in the quantity's unit.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// Constant value.
    Fixed(f64),
    /// Value that varies.
    Drawn(Arc<Drawn>),
}

impl Law {
    /// Returns the exponential law with this mean.
    pub fn exponential(mean: f64) -> Self {
        Drawn::Exponential(Exponential { mean }).into()
    }

    /// Returns the Pareto law with this mean and shape.
    pub fn pareto(mean: f64, shape: f64) -> Self {
        Drawn::Pareto(Pareto { mean, shape }).into()
    }

    /// Returns the uniform law between two values.
    pub fn uniform(from: f64, to: f64) -> Self {
        Drawn::Uniform(Uniform { from, to }).into()
    }

    /// Returns one law of each kind whose typical values are close to `typical`.
    pub fn examples(typical: f64) -> impl Iterator<Item = Self> {
        Drawn::WORDS.iter().map(move |word| {
            let mut law = Drawn::defaults(word);
            for key in law.keys() {
                if let Kind::Quantity(role) = key.kind {
                    law.set(key.name, Value::Number(typical * role.multiple()));
                }
            }
            law.into()
        })
    }

    /// Draws a value.
    pub fn draw(&self, random: &mut RandomStream) -> f64 {
        match self {
            Self::Fixed(value) => *value,
            Self::Drawn(drawn) => drawn.law().draw(random),
        }
    }

    /// Draws a duration from a law of seconds.
    pub fn draw_span(&self, random: &mut RandomStream) -> Span {
        // The bound of a million seconds fits into a `Span` and exceeds any useful pause.
        Span::from_secs_f64(self.draw(random).clamp(0.0, 1.0e6))
    }

    /// Draws a size from a law of bytes: a whole number of at least 1.
    pub fn draw_bytes(&self, random: &mut RandomStream) -> u64 {
        libm::round(self.draw(random)).clamp(1.0, 1.0e12) as u64
    }

    /// Returns the mean.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Fixed(value) => *value,
            Self::Drawn(drawn) => drawn.law().mean(),
        }
    }

    /// Returns the share of values up to `value`.
    pub fn share_up_to(&self, value: f64) -> f64 {
        match self {
            Self::Fixed(fixed) => f64::from(u8::from(value >= *fixed)),
            Self::Drawn(drawn) => drawn.law().share_up_to(value),
        }
    }

    /// Checks that the parameters work together.
    ///
    /// # Errors
    /// Returns the parameter at fault, the reason, and what to write instead.
    pub fn check(&self) -> Result<(), Refusal> {
        match self {
            Self::Fixed(_) => Ok(()),
            Self::Drawn(drawn) => drawn.law().check(),
        }
    }
}

impl From<Drawn> for Law {
    fn from(drawn: Drawn) -> Self {
        Self::Drawn(Arc::new(drawn))
    }
}

/// A table is a law that varies; a plain value is constant.
impl Parameter for Law {
    fn from_value(value: Value) -> Self {
        match value {
            Value::Table(_) => Drawn::from_value(value).into(),
            plain => Self::Fixed(f64::from_value(plain)),
        }
    }

    fn value(&self) -> Value {
        match self {
            Self::Fixed(value) => value.value(),
            Self::Drawn(drawn) => drawn.value(),
        }
    }
}

/// Bytes, always the same or by a law.
pub const SIZES: Kind = Kind::Either(&[AMOUNT, Kind::Law(Quantity::Size)]);

/// Times, always the same or by a law.
pub const TIMES: Kind = Kind::Either(&[ANY_TIME, Kind::Law(Quantity::Time)]);

/// Creates the key of a value of the quantity that the law is of.
const fn quantity(role: Role) -> Key {
    Key::new(Kind::Quantity(role)).required()
}

/// The test of Kolmogorov and Smirnov, which checks if values follow a law.
#[cfg(test)]
pub(crate) mod fit {
    use super::Law;

    /// Returns the largest distance between the law and the values, and the distance that chance
    /// exceeds once in a thousand times: the 0.1 % point of Kolmogorov's distribution.
    pub(crate) fn distance(law: &Law, mut values: Vec<f64>) -> (f64, f64) {
        values.sort_by(f64::total_cmp);
        let n = values.len() as f64;
        let share = |count: usize| count as f64 / n;
        let distances = values.iter().map(|value| {
            // At a jump of the law several values are equal, so the whole step is compared.
            let up_to = share(values.partition_point(|other| other <= value));
            let below = share(values.partition_point(|other| other < value));
            let (law_up_to, law_below) =
                (law.share_up_to(*value), law.share_up_to(value.next_down()));
            (law_up_to - up_to).abs().max((law_below - below).abs())
        });
        (distances.fold(0.0, f64::max), 1.95 / n.sqrt())
    }

    /// Returns these two distances for counts, which are rounded draws: a count represents all
    /// draws that round to it. For a law with steps the test rejects less often than once in a
    /// thousand times.
    pub(crate) fn distance_of_counts(law: &Law, mut counts: Vec<u64>) -> (f64, f64) {
        counts.sort_unstable();
        let n = counts.len() as f64;
        let distances = counts.iter().map(|count| {
            let up_to = counts.partition_point(|other| other <= count) as f64 / n;
            (law.share_up_to(*count as f64 + 0.5) - up_to).abs()
        });
        (distances.fold(0.0, f64::max), 1.95 / n.sqrt())
    }

    /// Panics if the distance exceeds the critical one.
    pub(crate) fn assert_follows(what: &str, (distance, critical): (f64, f64)) {
        assert!(distance < critical, "{what}: {distance} >= {critical}");
    }
}

#[cfg(test)]
mod tests {
    use super::fit::{assert_follows, distance};
    use super::*;

    fn drawn(law: &Law, seed: u64) -> Vec<f64> {
        let mut random = RandomStream::new(seed, "test", 0);
        (0..20_000).map(|_| law.draw(&mut random)).collect()
    }

    #[test]
    fn draws_follow_their_law() {
        let others = [Law::uniform(3.0, 8.0), Law::pareto(5.0, 3.0)];
        for law in Law::examples(5.0).chain(others) {
            for seed in 1..=4 {
                assert_follows(&format!("{law:?}"), distance(&law, drawn(&law, seed)));
            }
        }
    }

    #[test]
    fn the_test_above_sees_a_wrong_mean() {
        let (distance, critical) =
            distance(&Law::exponential(0.21), drawn(&Law::exponential(0.2), 1));
        assert!(distance > critical);
    }

    #[test]
    fn means_are_those_of_the_draws() {
        // The variance of this law is infinite, so a mean of few draws says little about its own.
        let heavy = |law: &Law| *law == Law::pareto(7.0, 1.5);
        let others = [
            Law::Fixed(7.0),
            Law::uniform(3.0, 8.0),
            Law::pareto(5.0, 4.0),
        ];
        for law in Law::examples(7.0).filter(|law| !heavy(law)).chain(others) {
            let mut random = RandomStream::new(1, "test", 0);
            let n = 200_000;
            let sum: f64 = (0..n).map(|_| law.draw(&mut random)).sum();
            let mean = sum / f64::from(n);
            assert!((mean / law.mean() - 1.0).abs() < 0.02, "{law:?}: {mean}");
        }
    }
}
