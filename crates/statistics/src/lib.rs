//! Quantiles of Student's t distribution for confidence intervals.
//!
//! All functions come from `libm`, so an interval has the same bytes on every machine, also in
//! WebAssembly.

use std::f64::consts::SQRT_2;

/// Degrees of freedom above which the quantile is that of the normal distribution with the first
/// two terms of its expansion (Abramowitz and Stegun, 26.7.5).
const MAX_FREEDOM: f64 = 10_000.0;

/// Smallest denominator of a continued fraction.
const TINY: f64 = 1e-300;

/// Returns the quantile of Student's t distribution for a probability between 0 and 1. Its
/// relative error is below 1e-10.
///
/// # Panics
/// Panics if the degrees of freedom are not positive, or if the probability is not between 0
/// and 1.
pub fn t_quantile(freedom: f64, probability: f64) -> f64 {
    assert!(freedom > 0.0, "degrees of freedom are positive");
    assert!(
        probability > 0.0 && probability < 1.0,
        "a probability lies between 0 and 1"
    );
    if probability < 0.5 {
        return -upper_quantile(freedom, probability);
    }
    upper_quantile(freedom, 1.0 - probability)
}

/// Returns the value that Student's t exceeds with a probability of at most a half.
fn upper_quantile(freedom: f64, tail: f64) -> f64 {
    if freedom <= MAX_FREEDOM {
        return falls_to(tail, |t| t_tail(freedom, t));
    }
    let normal = falls_to(tail, |z| libm::erfc(z / SQRT_2) / 2.0);
    let square = normal * normal;
    let first = (square + 1.0) * normal / 4.0;
    let second = ((5.0 * square + 16.0) * square + 3.0) * normal / 96.0;
    normal + (first + second / freedom) / freedom
}

/// Returns the value from 0 on at which a falling function has fallen to `target`, by bisection.
fn falls_to(target: f64, function: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while function(high) > target && high < f64::MAX / 2.0 {
        high *= 2.0;
    }
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return middle;
        }
        if function(middle) > target {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// Returns the probability that Student's t exceeds `t`, which is not negative: half the
/// regularised incomplete beta function I(x; freedom/2, 1/2) at x = freedom / (freedom + t²)
/// (Abramowitz and Stegun, 26.7.1).
fn t_tail(freedom: f64, t: f64) -> f64 {
    let a = freedom / 2.0;
    let square = t * t / freedom;
    // x and 1 - x without cancellation.
    let (x, rest) = (1.0 / (1.0 + square), square / (1.0 + square));
    if x < (a + 1.0) / (a + 2.5) {
        beta_share(a, 0.5, x, rest) / 2.0
    } else {
        0.5 - beta_share(0.5, a, rest, x) / 2.0
    }
}

/// Returns the regularised incomplete beta function I(x; a, b), where `rest` is 1 - x, by its
/// continued fraction (NIST Digital Library of Mathematical Functions, 8.17.22). It converges fast
/// for x < (a + 1) / (a + b + 2).
fn beta_share(a: f64, b: f64, x: f64, rest: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let log_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    let log_x = if x > 0.5 {
        libm::log1p(-rest)
    } else {
        libm::log(x)
    };
    let log_rest = if rest > 0.5 {
        libm::log1p(-x)
    } else {
        libm::log(rest)
    };
    libm::exp(a * log_x + b * log_rest - log_beta) / (a * fraction(a, b, x))
}

/// Returns 1 + d1 / (1 + d2 / (1 + …)) of DLMF 8.17.22 by Lentz's method.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let (mut value, mut above, mut below) = (1.0_f64, 1.0_f64, 0.0_f64);
    for step in 1..10_000 {
        let m = f64::from(step / 2);
        let term = if step % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        below = 1.0 / not_zero(1.0 + term * below);
        above = not_zero(1.0 + term / above);
        let change = above * below;
        value *= change;
        if (change - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    value
}

fn not_zero(value: f64) -> f64 {
    if value.abs() < TINY { TINY } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF, StudentsT};
    use std::f64::consts::PI;

    const PROBABILITIES: [f64; 8] = [0.0005, 0.1, 0.4, 0.5, 0.75, 0.95, 0.975, 0.9995];

    fn assert_close(found: f64, expected: f64, relative: f64) {
        let error = (found - expected).abs();
        assert!(
            error <= relative * expected.abs().max(1e-6),
            "{found} is not {expected}"
        );
    }

    #[test]
    fn quantiles_of_one_and_two_degrees_are_those_of_the_closed_forms() {
        for probability in PROBABILITIES {
            let cauchy = libm::tan(PI * (probability - 0.5));
            assert_close(t_quantile(1.0, probability), cauchy, 1e-10);
            let spread = 4.0 * probability * (1.0 - probability);
            let two = (2.0 * probability - 1.0) * (2.0 / spread).sqrt();
            assert_close(t_quantile(2.0, probability), two, 1e-10);
        }
    }

    #[test]
    fn quantiles_agree_with_another_library() {
        for freedom in [0.7, 3.0, 3.7, 4.0, 9.0, 29.0, 250.0, 9_999.0] {
            let student = StudentsT::new(0.0, 1.0, freedom).unwrap();
            for probability in PROBABILITIES {
                let expected = student.inverse_cdf(probability);
                assert_close(t_quantile(freedom, probability), expected, 1e-7);
            }
        }
    }

    #[test]
    fn the_expansion_continues_the_distribution() {
        for probability in PROBABILITIES {
            let (below, above) = (MAX_FREEDOM, MAX_FREEDOM * (1.0 + 1e-9));
            let expected = t_quantile(below, probability);
            assert_close(t_quantile(above, probability), expected, 1e-10);
        }
    }

    #[test]
    fn an_unlimited_number_of_degrees_is_the_normal_distribution() {
        assert_close(
            t_quantile(f64::INFINITY, 0.975),
            1.959_963_984_540_054,
            1e-14,
        );
    }
}
