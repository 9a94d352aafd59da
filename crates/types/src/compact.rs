//! A histogram of values that lie close together, in little memory.

use crate::counts::Counts;
use crate::histogram::bin_of;

/// Bins are given memory in blocks of so many: an octave of a [`Histogram`](crate::Histogram).
const BLOCK: usize = 32;

/// The place of a block that holds nothing: beyond any bin.
const ABSENT: i8 = i8::MAX;

/// Counts values in the bins of a [`Histogram`](crate::Histogram), which it can be turned into.
///
/// Only octaves in which values lie have memory: 32 bins of two bytes each, or of four or eight once
/// a bin holds too many. The round-trip times of a flow take some 300 bytes so.
#[derive(Clone, Debug)]
pub struct CompactHistogram {
    bins: Counts,
    /// Where in `bins` each block is, in blocks, or [`ABSENT`]. No histogram has more blocks.
    places: [i8; 64],
    total: u64,
    weighted_sum: u128,
    max: u64,
    /// All bits of the smallest value inverted, as in a [`Histogram`](crate::Histogram).
    inverted_min: u64,
}

impl Default for CompactHistogram {
    /// An empty histogram, whose bins own no memory.
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

    /// Counts in a block that is not there yet.
    #[cold]
    fn grow(&mut self, block: usize, rest: usize) {
        if self.bins.capacity() - self.bins.len() < BLOCK {
            self.reserve_octaves(2);
        }
        self.places[block] = (self.bins.len() / BLOCK) as i8;
        self.bins.append_zeros(BLOCK);
        self.bins.add(place(self.places[block], rest), 1);
    }

    /// Makes room for values in so many more octaves, whichever they are.
    pub fn reserve_octaves(&mut self, octaves: usize) {
        self.bins.reserve_exact(octaves * BLOCK);
    }

    /// How many values were counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The sum of all values.
    pub(crate) fn weighted_sum(&self) -> u128 {
        self.weighted_sum
    }

    /// The largest value, 0 without any.
    pub(crate) fn max(&self) -> u64 {
        self.max
    }

    /// All bits of the smallest value inverted, 0 without any.
    pub(crate) fn inverted_min(&self) -> u64 {
        self.inverted_min
    }

    /// The bins that hold anything, as (number, weight), in order.
    pub(crate) fn weights(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let places = self.places.iter().enumerate();
        let present = places.filter(|(_, place)| **place != ABSENT);
        let bins = present.flat_map(move |(block, at)| {
            (0..BLOCK).map(move |rest| (block * BLOCK + rest, self.bins.get(place(*at, rest))))
        });
        bins.filter(|(_, weight)| *weight > 0)
    }
}

/// Where a bin of the block at `place` is; beyond all bins if that is [`ABSENT`].
#[inline]
fn place(place: i8, rest: usize) -> usize {
    place as usize * BLOCK + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Histogram;

    /// Values in whatever order, near and far: the same bins, sums and quantiles.
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
    fn memory_goes_by_the_octaves_that_hold_anything() {
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
