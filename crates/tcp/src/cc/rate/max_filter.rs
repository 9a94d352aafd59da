//! A filter for the largest value of the last rounds.

/// Maximum of the values of the newest `N` rounds.
#[derive(Clone, Debug)]
pub struct MaxFilter<const N: usize> {
    values: [f64; N],
    round: u64,
}

impl<const N: usize> Default for MaxFilter<N> {
    fn default() -> Self {
        Self {
            values: [0.0; N],
            round: 0,
        }
    }
}

impl<const N: usize> MaxFilter<N> {
    /// Adds a value of `round`, which never decreases.
    pub fn update(&mut self, round: u64, value: f64) {
        self.advance(round);
        let slot = &mut self.values[round as usize % N];
        *slot = slot.max(value);
    }

    /// Advances to `round` and drops the values of rounds that are `N` or more behind it.
    pub fn advance(&mut self, round: u64) {
        let passed = round.saturating_sub(self.round).min(N as u64);
        for n in 0..passed {
            self.values[(round - n) as usize % N] = 0.0;
        }
        self.round = self.round.max(round);
    }

    /// Returns the maximum, or 0 without values.
    pub fn max(&self) -> f64 {
        self.values.iter().fold(0.0, |max, value| max.max(*value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_for_one_round_per_slot() {
        let mut filter = MaxFilter::<3>::default();
        for (round, value, max) in [
            (0, 5.0, 5.0),
            (0, 4.0, 5.0),
            (1, 3.0, 5.0),
            (2, 1.0, 5.0),
            (3, 2.0, 3.0),
            (4, 0.5, 2.0),
            (9, 0.1, 0.1),
        ] {
            filter.update(round, value);
            assert!((filter.max() - max).abs() < 1e-12, "{round}");
        }
    }
}
