//! A histogram in little memory, for values that lie close together.

use crate::counts::Counts;
use crate::histogram::bin_of;

/// Number of bins that get memory together: an octave of a [`Histogram`](crate::Histogram).
const BLOCK: usize = 32;

/// Position of a block without memory, which is beyond any bin.
const ABSENT: i8 = i8::MAX;

/// Histogram with the bins of a [`Histogram`](crate::Histogram), into which it can be converted.
///
/// Only octaves with values have memory: 32 bins of two bytes each, or of four or eight once a
/// bin's count exceeds the smaller size. The round-trip times of a flow take about 300 bytes.
#[derive(Clone, Debug)]
pub struct CompactHistogram {
    bins: Counts,
    /// Position of each block in `bins`, in blocks, or [`ABSENT`]. No histogram has more blocks.
    places: [i8; 64],
    total: u64,
    weighted_sum: u128,
    max: u64,
    /// Smallest value with all bits inverted, as in a [`Histogram`](crate::Histogram).
    inverted_min: u64,
}

impl Default for CompactHistogram {
    /// Returns an empty histogram, whose bins own no memory.
    fn default() -> Self {
        Self {
            bins: Counts::default(),
            places: [ABSENT; 64],
            total: 0,
            weighted_sum: 0,
            max: 0,
            inverted_min: 0,
        }
    }
}

impl CompactHistogram {
    /// Counts `value` once.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let bin = bin_of(value);
        let (block, rest) = (bin / BLOCK % 64, bin % BLOCK);
        if !self.bins.add(place(self.places[block], rest), 1) {
            self.grow(block, rest);
        }
        self.total += 1;
        self.weighted_sum += u128::from(value);
        self.max = self.max.max(value);
        self.inverted_min = self.inverted_min.max(!value);
    }

    /// Adds a block and counts a value in it.
    #[cold]
    fn grow(&mut self, block: usize, rest: usize) {
        if self.bins.capacity() - self.bins.len() < BLOCK {
            self.reserve_octaves(2);
        }
        self.places[block] = (self.bins.len() / BLOCK) as i8;
        self.bins.append_zeros(BLOCK);
        self.bins.add(place(self.places[block], rest), 1);
    }

    /// Reserves memory for values in `octaves` more octaves, whichever these are.
    pub fn reserve_octaves(&mut self, octaves: usize) {
        self.bins.reserve_exact(octaves * BLOCK);
    }

    /// Returns the number of values counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the sum of all values.
    pub(crate) fn weighted_sum(&self) -> u128 {
        self.weighted_sum
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
        let places = self.places.iter().enumerate();
        let present = places.filter(|(_, place)| **place != ABSENT);
        let bins = present.flat_map(move |(block, at)| {
            (0..BLOCK).map(move |rest| (block * BLOCK + rest, self.bins.get(place(*at, rest))))
        });
        bins.filter(|(_, weight)| *weight > 0)
    }
}

/// Returns the index of a bin of the block at `place`, which is beyond all bins for [`ABSENT`].
#[inline]
fn place(place: i8, rest: usize) -> usize {
    place as usize * BLOCK + rest
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
    fn memory_is_proportional_to_the_octaves_in_use() {
        let mut histogram = CompactHistogram::default();
        assert_eq!(histogram.bins.capacity(), 0);
        for value in (100_000_000..200_000_000).step_by(1_000_003) {
            histogram.record(value);
        }
        assert_eq!(histogram.bins.capacity(), 2 * BLOCK);
        histogram.reserve_octaves(42);
        let room = histogram.bins.capacity();
        for exponent in 0..=40 {
            histogram.record(1 << exponent);
        }
        assert_eq!(histogram.bins.capacity(), room);
    }
}
