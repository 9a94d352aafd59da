//! A list of counts that takes one or two bytes per count as long as these suffice.

/// Counts of `u64`. Each takes two bytes until one of them no longer fits, then four or eight. A
/// list made by [`narrow`](Self::narrow) begins with one byte.
#[derive(Clone, Debug)]
pub struct Counts(Width);

#[derive(Clone, Debug)]
enum Width {
    One(Vec<u8>),
    Two(Vec<u16>),
    Four(Vec<u32>),
    Eight(Vec<u64>),
}

/// Does the same with a list of any width.
macro_rules! each {
    ($self:expr, $counts:ident => $do:expr) => {
        match $self {
            Width::One($counts) => $do,
            Width::Two($counts) => $do,
            Width::Four($counts) => $do,
            Width::Eight($counts) => $do,
        }
    };
}

impl Default for Counts {
    /// Returns an empty list, which owns no memory.
    fn default() -> Self {
        Self(Width::Two(Vec::new()))
    }
}

impl Counts {
    /// Returns an empty list, which owns no memory, whose counts take one byte at first.
    pub fn narrow() -> Self {
        Self(Width::One(Vec::new()))
    }

    /// Adds `amount` to the count at `index`. Returns false and does nothing if there is no such
    /// count.
    #[inline]
    pub fn add(&mut self, index: usize, amount: u64) -> bool {
        let fits = match &mut self.0 {
            Width::Two(counts) => {
                let Some(count) = counts.get_mut(index) else {
                    return false;
                };
                let sum = u16::try_from(u64::from(*count).saturating_add(amount));
                *count = sum.unwrap_or(*count);
                sum.is_ok()
            }
            Width::Four(counts) => {
                let Some(count) = counts.get_mut(index) else {
                    return false;
                };
                let sum = u32::try_from(u64::from(*count).saturating_add(amount));
                *count = sum.unwrap_or(*count);
                sum.is_ok()
            }
            Width::Eight(counts) => {
                let Some(count) = counts.get_mut(index) else {
                    return false;
                };
                *count += amount;
                true
            }
            Width::One(counts) => {
                let Some(count) = counts.get_mut(index) else {
                    return false;
                };
                let sum = u8::try_from(u64::from(*count).saturating_add(amount));
                *count = sum.unwrap_or(*count);
                sum.is_ok()
            }
        };
        if !fits {
            self.widen(index, amount);
        }
        true
    }

    /// Appends a count.
    pub fn push(&mut self, count: u64) {
        self.append_zeros(1);
        self.add(self.len() - 1, count);
    }

    /// Appends `number` counts of zero.
    pub fn append_zeros(&mut self, number: usize) {
        each!(&mut self.0, counts => counts.resize(counts.len() + number, 0));
    }

    /// Reserves memory for exactly `additional` more counts.
    pub fn reserve_exact(&mut self, additional: usize) {
        each!(&mut self.0, counts => counts.reserve_exact(additional));
    }

    /// Returns the number of counts for which there is memory.
    pub fn capacity(&self) -> usize {
        each!(&self.0, counts => counts.capacity())
    }

    /// Returns the number of counts.
    pub fn len(&self) -> usize {
        each!(&self.0, counts => counts.len())
    }

    /// Returns true if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the count at `index`.
    ///
    /// # Panics
    /// Panics if there is no such count.
    pub fn get(&self, index: usize) -> u64 {
        match &self.0 {
            Width::One(counts) => u64::from(counts[index]),
            Width::Two(counts) => u64::from(counts[index]),
            Width::Four(counts) => u64::from(counts[index]),
            Width::Eight(counts) => counts[index],
        }
    }

    /// Moves the last `by` counts to the beginning.
    pub(crate) fn rotate_right(&mut self, by: usize) {
        each!(&mut self.0, counts => counts.rotate_right(by));
    }

    /// Adds `amount` to a count that then exceeds its width. All counts become wide enough for it,
    /// and the capacity stays.
    #[cold]
    fn widen(&mut self, index: usize, amount: u64) {
        let sum = self.get(index).saturating_add(amount);
        self.0 = if u16::try_from(sum).is_ok() {
            Width::Two(self.wider())
        } else if u32::try_from(sum).is_ok() {
            Width::Four(self.wider())
        } else {
            Width::Eight(self.wider())
        };
        self.add(index, amount);
    }

    /// Returns the counts in a list with the same capacity, whose type holds all of them.
    fn wider<T: TryFrom<u64> + Default>(&self) -> Vec<T> {
        let mut wide = Vec::with_capacity(self.capacity());
        let counts = (0..self.len()).map(|index| T::try_from(self.get(index)).unwrap_or_default());
        wide.extend(counts);
        wide
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_outgrow_their_bytes_keep_their_values() {
        let mut counts = Counts::default();
        assert!(counts.is_empty() && !counts.add(0, 1));
        counts.reserve_exact(8);
        for value in [7, u64::from(u16::MAX), 0] {
            counts.push(value);
        }
        assert!(counts.add(1, 0) && matches!(counts.0, Width::Two(_)));
        assert!(counts.add(1, 1) && matches!(counts.0, Width::Four(_)));
        assert!(counts.add(2, u64::from(u32::MAX)) && matches!(counts.0, Width::Four(_)));
        assert!(counts.add(2, 1) && matches!(counts.0, Width::Eight(_)));
        assert!(!counts.add(3, 1));
        counts.push(u64::MAX);
        let all: Vec<u64> = (0..counts.len()).map(|index| counts.get(index)).collect();
        assert_eq!(all, [7, 1 << 16, 1 << 32, u64::MAX]);
        assert!(counts.capacity() >= 8);
    }

    #[test]
    fn one_byte_becomes_two_four_and_eight() {
        let mut counts = Counts::narrow();
        for count in [255, 256, 1 << 16, 1 << 32] {
            counts.push(count);
        }
        let all: Vec<u64> = (0..counts.len()).map(|index| counts.get(index)).collect();
        assert_eq!(all, [255, 256, 1 << 16, 1 << 32]);
    }

    #[test]
    fn two_bytes_become_eight_at_once() {
        let mut counts = Counts::default();
        counts.push(3);
        counts.push(1 << 40);
        assert_eq!((counts.get(0), counts.get(1)), (3, 1 << 40));
    }
}
