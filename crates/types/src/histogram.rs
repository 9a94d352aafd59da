//! A histogram of bounded size with bounded relative error, for quantiles of anything integral.

use crate::counts::Counts;

/// Bins per octave above the exact range.
const SUB_BINS: usize = 1 << SUB_BITS;
const SUB_BITS: u32 = 5;

/// Octaves: the first holds all values below 64, a bin each; the one of number `n` above it the
/// values from 2^(n + 5) on.
const OCTAVES: usize = 64 - SUB_BITS as usize;

/// The place of an octave that holds nothing: beyond any bin.
const ABSENT: i8 = i8::MAX;

/// Weighted counts of `u64` values in log-linear bins: exact below 64, then 32 bins per octave,
/// so that a quantile read off is within 1.6 % of a value that was recorded.
///
/// Only octaves in which values lie have memory: 32 bins of two bytes each, or of four or eight once
/// a weight is too large. At most 15 KiB; two histograms of equal input are equal.
#[derive(Clone, Debug)]
pub struct Histogram {
    bins: Counts,
    /// Where in `bins` each octave is, in units of 32 bins less one unit; or [`ABSENT`].
    /// Longer than there are octaves, so that no index needs a check.
    places: [i8; 64],
    total: u64,
    weighted_sum: u128,
    max: u64,
}

impl Default for Histogram {
    /// An empty histogram, which owns no memory.
    fn default() -> Self {
        Self {
            bins: Counts::default(),
            places: [ABSENT; 64],
            total: 0,
            weighted_sum: 0,
            max: 0,
        }
    }
}

impl PartialEq for Histogram {
    /// Equal weights are equal, in whatever order their octaves came.
    fn eq(&self, other: &Self) -> bool {
        let sums = |of: &Self| (of.total, of.weighted_sum, of.max);
        sums(self) == sums(other) && self.bins().eq(other.bins())
    }
}

impl Eq for Histogram {}

impl Histogram {
    /// Counts `value` with `weight` (1 for a sample, a duration for a time-weighted quantity).
    #[inline]
    pub fn record(&mut self, value: u64, weight: u64) {
        let (octave, sub) = bin_of(value);
        if !self.bins.add(place(self.places[octave], sub), weight) {
            self.grow(octave, sub, weight);
        }
        self.total += weight;
        self.weighted_sum += u128::from(value) * u128::from(weight);
        self.max = self.max.max(value);
    }

    /// Counts in an octave that is not there yet.
    #[cold]
    fn grow(&mut self, octave: usize, sub: usize, weight: u64) {
        let (begin, bins) = (self.bins.len(), width(octave));
        if self.bins.capacity() - begin < bins {
            self.reserve_octaves(2);
        }
        self.bins.append_zeros(bins);
        let unit = (begin / SUB_BINS) as i8;
        // Above the first octave `sub` counts from 32 on.
        self.places[octave] = if octave == 0 { unit } else { unit - 1 };
        self.bins.add(place(self.places[octave], sub), weight);
    }

    /// Makes room for values up to `largest`, so that recording them allocates nothing (but once, when
    /// a weight outgrows four bytes).
    pub fn reserve(&mut self, largest: u64) {
        self.bins.widen_to_four();
        self.reserve_octaves(bin_of(largest).0 + 1);
    }

    /// Makes room for values in so many more octaves, whichever they are.
    pub fn reserve_octaves(&mut self, octaves: usize) {
        let first = usize::from(self.places[0] == ABSENT) * SUB_BINS;
        self.bins.reserve_exact(octaves * SUB_BINS + first);
    }

    /// The sum of all weights.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The exact weighted mean; none if nothing was recorded.
    pub fn mean(&self) -> Option<f64> {
        (self.total > 0).then(|| self.weighted_sum as f64 / self.total as f64)
    }

    /// The largest value recorded; none if nothing was.
    pub fn max(&self) -> Option<u64> {
        (self.total > 0).then_some(self.max)
    }

    /// The smallest value with at least the share `q` of the weight at or below it, to within
    /// half a bin (1.6 %); none if nothing was recorded.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let wanted = libm::ceil(q.clamp(0.0, 1.0) * self.total as f64).max(1.0) as u64;
        let mut below = 0;
        let mut found = self.weights().find(|(_, weight)| {
            below += weight;
            below >= wanted && below > 0
        });
        found.take().map(|(value, _)| value.min(self.max))
    }

    /// The bins that hold anything, as (middle value, weight), in order of value.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.weights()
            .filter(|(_, weight)| *weight > 0)
            .map(|(value, weight)| (value.min(self.max), weight))
    }

    /// All bins of the octaves that have memory, as (middle value, weight), in order of value.
    fn weights(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let octaves = (0..OCTAVES).filter(|octave| self.places[*octave] != ABSENT);
        octaves.flat_map(move |octave| {
            let subs = if octave == 0 { 0 } else { SUB_BINS }..2 * SUB_BINS;
            subs.map(move |sub| {
                let weight = self.bins.get(place(self.places[octave], sub));
                (middle_of(octave, sub), weight)
            })
        })
    }
}

/// How many bins an octave has.
fn width(octave: usize) -> usize {
    if octave == 0 { 2 * SUB_BINS } else { SUB_BINS }
}

/// The octave of a value, and its bin in there: from 0 on in the first, from 32 on above.
#[inline]
fn bin_of(value: u64) -> (usize, usize) {
    let shift = (value | SUB_BINS as u64).ilog2() - SUB_BITS;
    (shift as usize, (value >> shift) as usize)
}

/// Where a bin of the octave at `place` is; beyond all bins if that is [`ABSENT`].
#[inline]
fn place(place: i8, sub: usize) -> usize {
    ((isize::from(place) * SUB_BINS as isize) as usize).wrapping_add(sub)
}

fn middle_of(octave: usize, sub: usize) -> u64 {
    let low = (sub as u64) << octave;
    low + ((1u64 << octave) - 1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_within_its_bin_and_bins_are_ordered() {
        let mut last = (0, 0);
        for exponent in 0..64 {
            for value in [
                1u64 << exponent,
                (1u64 << exponent) + (1u64 << exponent) / 3,
            ] {
                let (octave, sub) = bin_of(value);
                assert!((octave, sub) >= last);
                last = (octave, sub);
                let error = middle_of(octave, sub).abs_diff(value) as f64 / value as f64;
                assert!(error <= 1.0 / 64.0 + 1e-12, "{value}: {error}");
            }
        }
        assert_eq!((bin_of(0), bin_of(63)), ((0, 0), (0, 63)));
        assert_eq!((bin_of(64), bin_of(127)), ((1, 32), (1, 63)));
        assert_eq!(bin_of(u64::MAX), (OCTAVES - 1, 63));
    }

    /// Octaves in whatever order they come, and weights of any size.
    #[test]
    fn the_order_of_values_does_not_matter() {
        let values: Vec<u64> = (0..64).map(|exponent| 3u64 << exponent >> 1).collect();
        let (mut up, mut down) = (Histogram::default(), Histogram::default());
        for value in &values {
            up.record(*value, 1);
        }
        for value in values.iter().rev() {
            down.record(*value, 1);
        }
        assert_eq!(up, down);
        assert!(up.bins().is_sorted());
        assert_eq!(up.bins().map(|(_, weight)| weight).sum::<u64>(), 64);
        down.record(1, 1 << 40);
        assert_ne!(up, down);
        assert_eq!(down.bins().next(), Some((1, (1 << 40) + 1)));
    }

    /// Values that lie close together, as round-trip times do, take little memory.
    #[test]
    fn memory_goes_by_the_octaves_that_hold_anything() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.bins.capacity(), 0);
        for value in (100_000_000..200_000_000).step_by(1_000_003) {
            histogram.record(value, 1);
        }
        assert!(histogram.bins.capacity() <= 3 * SUB_BINS);
        histogram.reserve(1 << 40);
        let room = histogram.bins.capacity();
        for exponent in 0..=40 {
            histogram.record(1 << exponent, 1);
        }
        assert_eq!(histogram.bins.capacity(), room);
    }

    #[test]
    fn quantiles_and_means() {
        let mut histogram = Histogram::default();
        assert_eq!(
            (histogram.mean(), histogram.quantile(0.5), histogram.max()),
            (None, None, None)
        );
        for value in 1..=50 {
            histogram.record(value, 1);
        }
        assert_eq!(histogram.quantile(0.5), Some(25));
        assert_eq!(histogram.quantile(0.99), Some(50));
        assert_eq!(histogram.quantile(0.0), Some(1));
        assert!((histogram.mean().unwrap() - 25.5).abs() < 1e-12);
        histogram.record(0, 1000);
        assert_eq!(histogram.quantile(0.5), Some(0));
        assert_eq!(histogram.bins().next(), Some((0, 1000)));
    }

    /// docs/results.md promises 1/64.
    #[test]
    fn quantiles_keep_the_bound_that_is_promised() {
        let mut values: Vec<u64> = Vec::new();
        let mut state = 1_u64;
        for index in 0..4_096_u32 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            values.push(state >> (index % 60));
        }
        let mut histogram = Histogram::default();
        for value in &values {
            histogram.record(*value, 1);
        }
        values.sort_unstable();
        // Shares that floats hold exactly, so that the rank is sure.
        for part in 1..=1_024_usize {
            let exact = values[4 * part - 1];
            let quantile = histogram.quantile(part as f64 / 1_024.0).unwrap();
            let error = quantile.abs_diff(exact) as f64;
            assert!(error <= exact as f64 / 64.0, "{part}: {quantile} {exact}");
        }
    }
}
