//! A histogram in little memory, for values that lie close together.

use crate::counts::Counts;
use crate::histogram::bin_of;

/// Number of bins of an octave of a [`Histogram`](crate::Histogram).
const OCTAVE: usize = 32;

/// Number of bins that get memory together.
const BLOCK: usize = 8;

/// Histogram with the bins of a [`Histogram`](crate::Histogram), into which it can be converted.
///
/// Only the bins between the smallest and the largest value have memory: two bytes each, or four or
/// eight once a bin's count exceeds the smaller size. The round-trip times of a flow take about 130
/// bytes.
#[derive(Clone, Debug, Default)]
pub struct CompactHistogram {
    bins: Counts,
    /// Number of the first bin with memory, a multiple of [`BLOCK`].
    first: u16,
    /// Number of times that the sum of all values has exceeded 64 bits, which `sum` leaves out.
    carries: u32,
    sum: u64,
    max: u64,
    /// Smallest value with all bits inverted, as in a [`Histogram`](crate::Histogram).
    inverted_min: u64,
}

impl CompactHistogram {
    /// Counts `value` once.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let bin = bin_of(value);
        if !self.bins.add(bin.wrapping_sub(usize::from(self.first)), 1) {
            self.grow(bin);
        }
        let (sum, carry) = self.sum.overflowing_add(value);
        self.sum = sum;
        self.carries += u32::from(carry);
        self.max = self.max.max(value);
        self.inverted_min = self.inverted_min.max(!value);
    }

    /// Adds the blocks up to a bin beyond the others, and counts a value in it.
    #[cold]
    fn grow(&mut self, bin: usize) {
        let from = bin / BLOCK * BLOCK;
        if self.bins.is_empty() {
            self.first = from as u16;
        }
        let first = usize::from(self.first);
        let before = first.saturating_sub(from);
        let after = (from + BLOCK).saturating_sub(first + self.bins.len());
        if self.bins.capacity() - self.bins.len() < before + after {
            // Room for a range of twice the width makes later growth rare.
            self.bins
                .reserve_exact((before + after).max(self.bins.len()));
        }
        self.bins.append_zeros(before + after);
        self.bins.rotate_right(before);
        self.first -= before as u16;
        self.bins.add(bin - usize::from(self.first), 1);
    }

    /// Reserves memory for values in `octaves` more octaves next to those with memory.
    pub fn reserve_octaves(&mut self, octaves: usize) {
        self.bins.reserve_exact(octaves * OCTAVE);
    }

    /// Returns the number of values counted, in a time that grows with the number of bins.
    pub fn total(&self) -> u64 {
        self.weights().map(|(_, weight)| weight).sum()
    }

    /// Returns true if no value was counted.
    pub fn is_empty(&self) -> bool {
        self.bins.is_empty()
    }

    /// Returns the sum of all values.
    pub(crate) fn weighted_sum(&self) -> u128 {
        u128::from(self.carries) << 64 | u128::from(self.sum)
    }

    /// Returns the largest value, or 0 without values.
    pub(crate) fn max(&self) -> u64 {
        self.max
    }

    /// Returns the smallest value with all bits inverted, or 0 without values.
    pub(crate) fn inverted_min(&self) -> u64 {
        self.inverted_min
    }

    /// Returns the bins that are not empty, as (number, weight), in order.
    pub(crate) fn weights(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let bins = (0..self.bins.len()).map(|at| (usize::from(self.first) + at, self.bins.get(at)));
        bins.filter(|(_, weight)| *weight > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Histogram;

    /// Near and far values in any order give the same bins, sums and quantiles.
    #[test]
    fn it_turns_into_the_histogram_of_its_values() {
        let mut state = 1_u64;
        let (mut compact, mut histogram) = (CompactHistogram::default(), Histogram::default());
        assert_eq!(Histogram::from(&compact), histogram);
        for index in 0..200_000_u32 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let value = if index % 2 == 0 {
                77
            } else {
                state >> (index % 64)
            };
            compact.record(value);
            histogram.record(value, 1);
            if index < 100 {
                assert_eq!(Histogram::from(&compact), histogram, "{index}");
            }
        }
        assert_eq!(Histogram::from(&compact), histogram);
    }

    #[test]
    fn memory_goes_by_the_range_of_the_values() {
        let mut histogram = CompactHistogram::default();
        assert_eq!(histogram.bins.capacity(), 0);
        for value in (100_000_000..200_000_000).step_by(1_000_003) {
            histogram.record(value);
        }
        assert!(histogram.bins.capacity() <= 2 * OCTAVE);
        histogram.reserve_octaves(42);
        let room = histogram.bins.capacity();
        for exponent in 0..=40 {
            histogram.record(1 << exponent);
        }
        assert_eq!(histogram.bins.capacity(), room);
        assert_eq!(histogram.total(), 100 + 41);
        assert!(size_of::<CompactHistogram>() <= 64);
    }

    #[test]
    fn sums_beyond_64_bits_are_exact() {
        let mut histogram = CompactHistogram::default();
        for _ in 0..5 {
            histogram.record(u64::MAX - 1);
        }
        assert_eq!(histogram.weighted_sum(), 5 * u128::from(u64::MAX - 1));
    }
}
