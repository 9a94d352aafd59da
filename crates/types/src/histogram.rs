//! A histogram of bounded size with bounded relative error, for quantiles of integers.

use crate::compact::CompactHistogram;

/// Bins per octave above the exact range.
const SUB_BINS: u64 = 1 << SUB_BITS;
const SUB_BITS: u32 = 5;

/// Weighted counts of `u64` values in log-linear bins: exact below 64, then 32 bins per octave, so
/// that a quantile is within 1.6 % of a value that was recorded.
///
/// It grows to the largest value recorded, at most to 15 KiB. Two histograms of equal input are
/// equal. For thousands of histograms, a [`CompactHistogram`] takes less memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    weights: Vec<u64>,
    total: u64,
    weighted_sum: u128,
    max: u64,
    /// Smallest value with all bits inverted, so that an empty histogram holds only zeros.
    inverted_min: u64,
}

impl Histogram {
    /// Counts `value` with `weight` (1 for a sample, a duration for a time-weighted quantity).
    #[inline]
    pub fn record(&mut self, value: u64, weight: u64) {
        let bin = bin_of(value);
        match self.weights.get_mut(bin) {
            Some(bin) => *bin += weight,
            None => self.grow(bin, weight),
        }
        self.total += weight;
        self.weighted_sum += u128::from(value) * u128::from(weight);
        self.max = self.max.max(value);
        self.inverted_min = self.inverted_min.max(!value);
    }

    /// Adds a bin and counts a value in it.
    #[cold]
    fn grow(&mut self, bin: usize, weight: u64) {
        self.weights.resize(bin + 1, 0);
        self.weights[bin] = weight;
    }

    /// Reserves memory for values up to `largest`, so that recording them does not allocate.
    pub fn reserve(&mut self, largest: u64) {
        let needed = bin_of(largest) + 1;
        self.weights
            .reserve(needed.saturating_sub(self.weights.len()));
    }

    /// Returns the bytes of the bins of a histogram with memory for values up to `largest`.
    pub fn bytes_up_to(largest: u64) -> usize {
        (bin_of(largest) + 1) * size_of::<u64>()
    }

    /// Returns the sum of all weights.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the exact weighted mean, or none if nothing was recorded.
    pub fn mean(&self) -> Option<f64> {
        (self.total > 0).then(|| self.weighted_sum as f64 / self.total as f64)
    }

    /// Returns the largest value recorded, or none if nothing was recorded.
    pub fn max(&self) -> Option<u64> {
        (self.total > 0).then_some(self.max)
    }

    /// Returns the smallest value with at least the share `q` of the weight at or below it, to
    /// within half a bin (1.6 %). It is never below the smallest nor above the largest value
    /// recorded. Returns none if nothing was recorded.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let wanted = libm::ceil(q.clamp(0.0, 1.0) * self.total as f64).max(1.0) as u64;
        let mut below = 0;
        self.weights.iter().enumerate().find_map(|(bin, weight)| {
            below += weight;
            (below >= wanted && below > 0).then(|| self.value_of(bin))
        })
    }

    /// Returns the bins that are not empty, as (middle value, weight), in order of value.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.weights
            .iter()
            .enumerate()
            .filter(|(_, weight)| **weight > 0)
            .map(|(bin, weight)| (self.value_of(bin), *weight))
    }

    /// Returns the middle of a bin that is not empty, within the range of recorded values.
    fn value_of(&self, bin: usize) -> u64 {
        middle_of(bin).max(!self.inverted_min).min(self.max)
    }
}

impl From<&CompactHistogram> for Histogram {
    fn from(compact: &CompactHistogram) -> Self {
        let mut weights = Vec::new();
        for (bin, weight) in compact.weights() {
            weights.resize(bin, 0);
            weights.push(weight);
        }
        Self {
            weights,
            total: compact.total(),
            weighted_sum: compact.weighted_sum(),
            max: compact.max(),
            inverted_min: compact.inverted_min(),
        }
    }
}

/// Returns the number of a value's bin.
#[inline]
pub(crate) fn bin_of(value: u64) -> usize {
    if value < 2 * SUB_BINS {
        return value as usize;
    }
    let shift = value.ilog2() - SUB_BITS;
    (u64::from(shift) * SUB_BINS + (value >> shift)) as usize
}

fn middle_of(bin: usize) -> u64 {
    let bin = bin as u64;
    if bin < 2 * SUB_BINS {
        return bin;
    }
    let shift = bin / SUB_BINS - 1;
    let low = (bin - shift * SUB_BINS) << shift;
    low + ((1u64 << shift) - 1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_within_its_bin_and_bins_are_ordered() {
        let mut last = 0;
        for exponent in 0..64 {
            for value in [
                1u64 << exponent,
                (1u64 << exponent) + (1u64 << exponent) / 3,
            ] {
                let bin = bin_of(value);
                assert!(bin >= last);
                last = bin;
                let error = middle_of(bin).abs_diff(value) as f64 / value as f64;
                assert!(error <= 1.0 / 64.0 + 1e-12, "{value}: {error}");
            }
        }
        assert_eq!(bin_of(63), 63);
        assert_eq!(bin_of(64), 64);
        assert!(bin_of(u64::MAX) < 2000);
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

    #[test]
    fn quantiles_lie_between_the_smallest_and_the_largest_value() {
        let mut histogram = Histogram::default();
        // One bin holds 992 to 1007 and has the middle 999.
        histogram.record(1006, 3);
        assert_eq!(histogram.quantile(0.5), Some(1006));
        histogram.record(993, 1);
        assert_eq!(histogram.quantile(0.5), Some(999));
        let bins = |histogram: &Histogram| histogram.bins().collect::<Vec<_>>();
        assert_eq!(bins(&histogram), [(999, 4)]);
    }

    /// docs/results.md promises a bound of 1/64.
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
        // Floats hold these shares exactly, so that the rank is certain.
        for part in 1..=1_024_usize {
            let exact = values[4 * part - 1];
            let quantile = histogram.quantile(part as f64 / 1_024.0).unwrap();
            let error = quantile.abs_diff(exact) as f64;
            assert!(error <= exact as f64 / 64.0, "{part}: {quantile} {exact}");
        }
    }
}
