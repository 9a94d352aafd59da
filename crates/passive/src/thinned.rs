//! A series of bounded length that keeps its shape.

/// Every 2^k-th value, with the smallest k whose values fit.
#[derive(Clone, Debug)]
pub struct Thinned<T> {
    kept: Vec<T>,
    /// Largest number of values kept.
    most: usize,
    /// Number of values added.
    seen: u64,
    /// Distance between kept values, in values added.
    every: u64,
}

impl<T> Thinned<T> {
    /// Creates a series that keeps at most `most` values.
    pub fn new(most: usize) -> Self {
        Self {
            kept: Vec::new(),
            most,
            seen: 0,
            every: 1,
        }
    }

    /// Adds the next value.
    pub fn push(&mut self, value: T) {
        if self.seen.is_multiple_of(self.every) {
            if self.kept.len() >= self.most {
                let mut odd = false;
                self.kept.retain(|_| {
                    odd = !odd;
                    odd
                });
                self.every *= 2;
            }
            if self.seen.is_multiple_of(self.every) {
                self.kept.push(value);
            }
        }
        self.seen += 1;
    }

    /// Returns the kept values in order.
    pub fn values(&self) -> &[T] {
        &self.kept
    }

    /// Returns the kept values of the first `count` that were added.
    pub fn first_mut(&mut self, count: u64) -> &mut [T] {
        let kept = usize::try_from(count.div_ceil(self.every)).unwrap_or(usize::MAX);
        let kept = kept.min(self.kept.len());
        &mut self.kept[..kept]
    }

    /// Returns the kept values in order and drops the rest.
    pub fn into_values(self) -> Vec<T> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_values_are_evenly_spaced() {
        let mut series = Thinned::new(8);
        (0..100).for_each(|value| series.push(value));
        assert_eq!(series.values(), [0, 16, 32, 48, 64, 80, 96]);
        assert_eq!(series.first_mut(33), [0, 16, 32]);
        assert_eq!(series.first_mut(32), [0, 16]);
    }
}
