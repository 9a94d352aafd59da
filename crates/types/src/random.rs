//! One random stream per purpose and entity, so that adding a flow does not shift another's draws.

use crate::Span;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A reproducible stream of random numbers: PCG-64-MCG seeded from the run's seed, a purpose and
/// the index of the entity that draws. Logarithms come from `libm`, so draws are equal on every
/// machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomStream(Pcg64Mcg);

impl RandomStream {
    /// Creates the stream of `entity` for `purpose` in the run with `seed`.
    pub fn new(seed: u64, purpose: &str, entity: u64) -> Self {
        let mut state = mix(seed ^ 0x6A09_E667_F3BC_C908);
        for byte in purpose.bytes() {
            state = mix(state ^ u64::from(byte));
        }
        Self(Pcg64Mcg::seed_from_u64(mix(state ^ mix(entity))))
    }

    /// Draws 64 uniformly random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Draws a number uniformly from [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Draws a span uniformly from [0, `limit`). Returns zero if `limit` is zero.
    pub fn span_below(&mut self, limit: Span) -> Span {
        // The high half of a 128-bit product has a bias of at most 2⁻⁶⁴ and needs no division.
        Span(((u128::from(self.bits()) * u128::from(limit.0)) >> 64) as u64)
    }

    /// Draws from the exponential distribution with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log1p(-self.unit())
    }
}

/// Returns the finaliser of `SplitMix64`, in which every input bit affects every output bit.
#[inline]
pub fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_purpose_and_entity_and_repeat() {
        let draw = |seed, purpose, entity| RandomStream::new(seed, purpose, entity).bits();
        let first = draw(1, "start", 0);
        assert_eq!(first, draw(1, "start", 0));
        assert_ne!(first, draw(2, "start", 0));
        assert_ne!(first, draw(1, "phase", 0));
        assert_ne!(first, draw(1, "start", 1));
    }

    #[test]
    fn draws_have_the_means_of_their_distributions() {
        let mut random = RandomStream::new(7, "test", 0);
        let n = 100_000;
        let uniform = (0..n).map(|_| random.unit()).sum::<f64>() / f64::from(n);
        assert!(
            (uniform - 0.5).abs() < 4.0 * 0.2887 / f64::from(n).sqrt(),
            "{uniform}"
        );
        let exponential = (0..n).map(|_| random.exponential(2.0)).sum::<f64>() / f64::from(n);
        assert!(
            (exponential - 2.0).abs() < 4.0 * 2.0 / f64::from(n).sqrt(),
            "{exponential}"
        );
        assert_eq!(random.span_below(Span::ZERO), Span::ZERO);
        assert!(random.span_below(Span(10)) < Span(10));
    }
}
