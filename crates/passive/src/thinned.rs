//! A series that keeps its shape in bounded room.

/// Every 2^k-th value, k such that there is room.
#[derive(Clone, Debug)]
pub struct Thinned<T> {
    kept: Vec<T>,
    /// Values that there is room for.
    most: usize,
    /// Values that came.
    seen: u64,
    /// Of so many values that come, one is kept.
    every: u64,
}

impl<T> Thinned<T> {
    /// Keeps at most so many values.
    pub fn new(most: usize) -> Self {
        Self {
            kept: Vec::new(),
            most,
            seen: 0,
            every: 1,
        }
    }

    /// Takes in the next value.
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

    /// What is kept, in order.
    pub fn values(&self) -> &[T] {
        &self.kept
    }

    /// The same, for good.
    pub fn into_values(self) -> Vec<T> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_evenly_spaced() {
        let mut series = Thinned::new(8);
        (0..100).for_each(|value| series.push(value));
        assert_eq!(series.values(), [0, 16, 32, 48, 64, 80, 96]);
    }
}
