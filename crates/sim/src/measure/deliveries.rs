//! Bytes that a flow delivered in each interval of the window.

use crate::measure::fairness::INTERVALS;
use goodqueue_types::Counts;

/// Amounts of bytes by interval, as multiples of their greatest common divisor.
///
/// In most intervals a bulk flow delivers whole segments. An amount then takes one byte of memory up
/// to 255 segments.
#[derive(Clone, Debug)]
pub struct Deliveries {
    multiples: Counts,
    /// Greatest common divisor of all amounts; 0 before the first amount above 0.
    unit: u64,
    /// Bytes delivered up to the end of the last interval.
    before: u64,
}

impl Deliveries {
    /// Creates an empty list with memory for all intervals, of a flow that has delivered `before`
    /// bytes.
    pub fn new(before: u64) -> Self {
        Self {
            multiples: list(),
            unit: 0,
            before,
        }
    }

    /// Ends an interval, up to whose end the flow has delivered `bytes` in all.
    pub fn end_interval(&mut self, bytes: u64) {
        let amount = bytes - self.before;
        self.before = bytes;
        if amount > 0 && (self.unit == 0 || !amount.is_multiple_of(self.unit)) {
            self.refine(amount);
        }
        self.multiples.push(amount / self.unit.max(1));
    }

    /// Changes the unit so that it divides `amount` too.
    fn refine(&mut self, amount: u64) {
        let unit = greatest_common_divisor(self.unit, amount);
        let factor = self.unit / unit;
        let mut multiples = list();
        for interval in 0..self.len() {
            multiples.push(factor * self.multiples.get(interval));
        }
        (self.multiples, self.unit) = (multiples, unit);
    }

    /// Returns the number of intervals that have ended.
    pub fn len(&self) -> usize {
        self.multiples.len()
    }

    /// Returns the bytes delivered in an interval that has ended.
    ///
    /// # Panics
    /// Panics if it has not ended.
    pub fn get(&self, interval: usize) -> u64 {
        self.unit * self.multiples.get(interval)
    }

    /// Returns the bytes delivered after the last interval that has ended, of `bytes` in all.
    pub fn since(&self, bytes: u64) -> u64 {
        bytes - self.before
    }
}

fn list() -> Counts {
    let mut list = Counts::narrow();
    list.reserve_exact(INTERVALS);
    list
}

fn greatest_common_divisor(mut larger: u64, mut smaller: u64) -> u64 {
    while smaller > 0 {
        (larger, smaller) = (smaller, larger % smaller);
    }
    larger
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_kept_whatever_their_divisors() {
        let amounts = [0, 2_896, 1_448, 0, 14_480, 1_000_000 * 1_448, 700, 3, 0];
        let mut deliveries = Deliveries::new(10);
        let mut bytes = 10;
        for (interval, amount) in amounts.into_iter().enumerate() {
            assert_eq!(deliveries.since(bytes), 0);
            bytes += amount;
            assert_eq!(deliveries.since(bytes), amount);
            deliveries.end_interval(bytes);
            assert_eq!(deliveries.len(), interval + 1);
            for (before, amount) in amounts[..=interval].iter().enumerate() {
                assert_eq!(deliveries.get(before), *amount);
            }
        }
    }
}
