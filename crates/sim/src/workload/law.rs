//! Probability laws for the sizes, gaps and times of workloads.

use goodqueue_types::{RandomStream, Span};
use std::path::PathBuf;
use std::sync::Arc;

/// Probability law of a quantity, in the quantity's unit.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// Constant value.
    Fixed(f64),
    /// Uniform between two values.
    Uniform {
        /// Smallest value.
        from: f64,
        /// Largest value.
        to: f64,
    },
    /// Exponential, as in a memoryless source.
    Exponential {
        /// Mean.
        mean: f64,
    },
    /// Pareto: P(X > x) = (least/x)^shape, with least = mean · (shape − 1)/shape. If the shape is
    /// at most 2, the variance is infinite: a few very large values make up most of the sum.
    Pareto {
        /// Mean.
        mean: f64,
        /// Shape, above 1.
        shape: f64,
    },
    /// Law measured from data.
    Empirical(Arc<Empirical>),
}

/// Law by points of its distribution function, with linear interpolation between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Empirical {
    /// Pairs of a value and the share of all values that do not exceed it. The share of the first
    /// point is the probability of exactly that value.
    points: Box<[(f64, f64)]>,
    mean: f64,
    /// Path and checksum of the file with the points, for output that names its source.
    pub origin: (PathBuf, u64),
}

impl Empirical {
    /// Creates a law from its points. Neither values nor shares may decrease, and the last share is
    /// 1.
    pub fn new(points: Vec<(f64, f64)>, origin: (PathBuf, u64)) -> Self {
        debug_assert!(points.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1));
        debug_assert!(points.last().is_some_and(|last| last.1 >= 1.0));
        let (value, share) = points[0];
        let middle =
            |pair: &[(f64, f64)]| (pair[1].1 - pair[0].1) * f64::midpoint(pair[0].0, pair[1].0);
        let mean = value * share + points.windows(2).map(middle).sum::<f64>();
        Self {
            points: points.into(),
            mean,
            origin,
        }
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

    fn share_up_to(&self, value: f64) -> f64 {
        let above = self.points.partition_point(|point| point.0 <= value);
        let Some(below) = above.checked_sub(1) else {
            return 0.0;
        };
        let (from, share) = self.points[below];
        let Some((to, up_to)) = self.points.get(above) else {
            return 1.0;
        };
        share + (up_to - share) * ((value - from) / (to - from))
    }
}

impl Law {
    /// Draws a value.
    pub fn draw(&self, random: &mut RandomStream) -> f64 {
        match self {
            Self::Fixed(value) => *value,
            Self::Uniform { from, to } => from + (to - from) * random.unit(),
            Self::Exponential { mean } => random.exponential(*mean),
            Self::Pareto { mean, shape } => {
                let least = mean * (shape - 1.0) / shape;
                least * libm::pow(1.0 - random.unit(), -1.0 / shape)
            }
            Self::Empirical(law) => law.quantile(random.unit()),
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
            Self::Uniform { from, to } => (from + to) / 2.0,
            Self::Exponential { mean } | Self::Pareto { mean, .. } => *mean,
            Self::Empirical(law) => law.mean,
        }
    }

    /// Returns the share of values up to `value`.
    pub fn share_up_to(&self, value: f64) -> f64 {
        match self {
            Self::Fixed(fixed) => f64::from(u8::from(value >= *fixed)),
            Self::Uniform { from, to } => ((value - from) / (to - from)).clamp(0.0, 1.0),
            Self::Exponential { mean } => 1.0 - libm::exp(-value.max(0.0) / mean),
            Self::Pareto { mean, shape } => {
                let least = mean * (shape - 1.0) / shape;
                1.0 - libm::pow(least / value.max(least), *shape)
            }
            Self::Empirical(law) => law.share_up_to(value),
        }
    }
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

    /// A fifth of the values is 1, none lies between 3 and 4, and a tenth is 10.
    fn measured() -> Law {
        let points = vec![
            (1.0, 0.2),
            (2.0, 0.5),
            (3.0, 0.6),
            (4.0, 0.6),
            (10.0, 0.9),
            (10.0, 1.0),
        ];
        Law::Empirical(Arc::new(Empirical::new(points, (PathBuf::new(), 0))))
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
        let always = Empirical::new(vec![(7.0, 1.0)], (PathBuf::new(), 0));
        assert!((always.quantile(0.999) - 7.0).abs() < 1e-12);
    }

    fn drawn(law: &Law, seed: u64) -> Vec<f64> {
        let mut random = RandomStream::new(seed, "test", 0);
        (0..20_000).map(|_| law.draw(&mut random)).collect()
    }

    #[test]
    fn draws_follow_their_law() {
        for law in [
            Law::Uniform { from: 3.0, to: 8.0 },
            Law::Exponential { mean: 0.2 },
            Law::Pareto {
                mean: 5.0,
                shape: 1.5,
            },
            Law::Pareto {
                mean: 5.0,
                shape: 3.0,
            },
            measured(),
        ] {
            for seed in 1..=4 {
                assert_follows(&format!("{law:?}"), distance(&law, drawn(&law, seed)));
            }
        }
    }

    #[test]
    fn the_test_above_sees_a_wrong_mean() {
        let exponential = |mean| Law::Exponential { mean };
        let (distance, critical) = distance(&exponential(0.21), drawn(&exponential(0.2), 1));
        assert!(distance > critical);
    }

    #[test]
    fn means_are_those_of_the_draws() {
        for law in [
            Law::Fixed(7.0),
            Law::Uniform { from: 3.0, to: 8.0 },
            Law::Exponential { mean: 0.2 },
            Law::Pareto {
                mean: 5.0,
                shape: 4.0,
            },
            measured(),
        ] {
            let mut random = RandomStream::new(1, "test", 0);
            let n = 200_000;
            let sum: f64 = (0..n).map(|_| law.draw(&mut random)).sum();
            let mean = sum / f64::from(n);
            assert!((mean / law.mean() - 1.0).abs() < 0.02, "{law:?}: {mean}");
        }
    }
}
