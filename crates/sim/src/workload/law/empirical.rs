//! Laws measured from data.

use super::ChanceLaw;
use goodqueue_types::parameters::{CHECKSUM, Declared, Key, Kind, Parameters, Value};
use goodqueue_types::{RandomStream, parameters};
use std::sync::Arc;

const FILE: Key = Key::new(Kind::Text).required().example("\"sizes.csv\"").doc(
    "Seen from the folder of the scenario file: in its first line `size,share` (or `time,share`) for values with \
     units, or `size_B,share`, `time_ms,share` and so on; then values that do not fall, with the share of all that \
     are no larger. The last share is 1; between points the law is straight, and the first value has its share as \
     its own. At most 1 MiB and 100000 points.",
);

parameters! {
    /// Law by points of its distribution function in a file.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Empirical("empirical") {
        /// Path of the file.
        file: String = String::new() => FILE;
        /// Checksum of the file.
        checksum: String = String::new() => CHECKSUM;
        /// Content of the file.
        points: Points = Points::default();
    }
}

/// Points of a distribution function, with linear interpolation between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    /// Pairs of a value and the share of all values that do not exceed it. The share of the first
    /// point is the probability of exactly that value.
    points: Arc<[(f64, f64)]>,
    mean: f64,
}

impl Points {
    /// Key under which a reader of files hands over the points. No file has it.
    pub const KEY: Key = Key::new(Kind::Free).named("points");

    /// Creates a law from its points. Neither values nor shares may decrease, and the last share is
    /// 1.
    pub fn new(points: Arc<[(f64, f64)]>) -> Self {
        debug_assert!(points.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1));
        debug_assert!(points.last().is_some_and(|last| last.1 >= 1.0));
        let (value, share) = points[0];
        let middle =
            |pair: &[(f64, f64)]| (pair[1].1 - pair[0].1) * f64::midpoint(pair[0].0, pair[1].0);
        let mean = value * share + points.windows(2).map(middle).sum::<f64>();
        Self { points, mean }
    }

    /// Returns the quantile for a share from 0 to just below 1.
    fn quantile(&self, share: f64) -> f64 {
        let above = self.points.partition_point(|point| point.1 <= share);
        let (value, up_to) = self.points[above];
        let Some((from, beyond)) = above.checked_sub(1).map(|below| self.points[below]) else {
            return value;
        };
        from + (value - from) * ((share - beyond) / (up_to - beyond))
    }
}

/// The value 1, always.
impl Default for Points {
    fn default() -> Self {
        Self::new([(1.0, 1.0)].into())
    }
}

impl Declared for Points {
    const KEYS: &'static [Key] = &[];
}

impl Parameters for Points {
    fn keys(&self) -> &'static [Key] {
        Self::KEYS
    }

    fn get(&self, _key: &str) -> Option<Value> {
        None
    }

    fn set(&mut self, key: &str, value: Value) {
        if let (true, Value::Points(points)) = (key == Self::KEY.name, value) {
            *self = Self::new(points);
        }
    }
}

impl ChanceLaw for Empirical {
    fn draw(&self, random: &mut RandomStream) -> f64 {
        self.points.quantile(random.unit())
    }

    fn mean(&self) -> f64 {
        self.points.mean
    }

    fn share_up_to(&self, value: f64) -> f64 {
        let points = &self.points.points;
        let above = points.partition_point(|point| point.0 <= value);
        let Some(below) = above.checked_sub(1) else {
            return 0.0;
        };
        let (from, share) = points[below];
        let Some((to, up_to)) = points.get(above) else {
            return 1.0;
        };
        share + (up_to - share) * ((value - from) / (to - from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::law::fit::{assert_follows, distance};
    use crate::workload::law::{Drawn, Law};

    fn law(points: Vec<(f64, f64)>) -> Empirical {
        Empirical {
            points: Points::new(points.into()),
            ..Empirical::default()
        }
    }

    /// A fifth of the values is 1, none lies between 3 and 4, and a tenth is 10.
    fn measured() -> Empirical {
        law(vec![
            (1.0, 0.2),
            (2.0, 0.5),
            (3.0, 0.6),
            (4.0, 0.6),
            (10.0, 0.9),
            (10.0, 1.0),
        ])
    }

    #[test]
    fn a_measured_law_is_straight_between_its_points() {
        let law = measured();
        for (value, share) in [
            (0.9, 0.0),
            (1.0, 0.2),
            (1.5, 0.35),
            (3.0, 0.6),
            (3.9, 0.6),
            (7.0, 0.75),
            (9.999_999, 0.9),
            (10.0, 1.0),
            (99.0, 1.0),
        ] {
            assert!((law.share_up_to(value) - share).abs() < 1e-6, "{value}");
        }
        // The mean is 0.2 · 1 + 0.3 · 1.5 + 0.1 · 2.5 + 0.3 · 7 + 0.1 · 10.
        assert!((law.mean() - 4.0).abs() < 1e-12);
        let always = Points::new([(7.0, 1.0)].into());
        assert!((always.quantile(0.999) - 7.0).abs() < 1e-12);
    }

    #[test]
    fn draws_have_the_measured_law_and_its_mean() {
        let law = Law::from(Drawn::Empirical(measured()));
        for seed in 1..=4 {
            let mut random = RandomStream::new(seed, "test", 0);
            let drawn: Vec<f64> = (0..20_000).map(|_| law.draw(&mut random)).collect();
            let mean = drawn.iter().sum::<f64>() / 20_000.0;
            assert!((mean / 4.0 - 1.0).abs() < 0.03, "{mean}");
            assert_follows("measured", distance(&law, drawn));
        }
    }
}
