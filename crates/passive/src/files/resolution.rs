//! The resolution of a capture's times, from their differences.

const MILLISECOND: i64 = 1_000_000;

/// Units of times, in nanoseconds, from fine to coarse: decimal ones, and the ticks of kernels of
/// 100, 250 and 1000 Hz.
const UNITS: [i64; 10] = [
    100,
    1000,
    10_000,
    100_000,
    MILLISECOND,
    2 * MILLISECOND,
    4 * MILLISECOND,
    10 * MILLISECOND,
    100 * MILLISECOND,
    1000 * MILLISECOND,
];
/// Number of differences from which a resolution is recognised. Times of a finer clock are multiples
/// of ten units by chance in one of 10^8 such cases.
const MIN_DIFFERENCES: u64 = 8;

/// Counts of differences.
#[derive(Clone, Debug, Default)]
pub struct Resolution {
    /// Number of packets with the same time as the one before.
    same: u64,
    different: u64,
    /// Number of differences that are multiples of each unit.
    multiples: [u64; UNITS.len()],
    /// Smallest positive difference.
    smallest: Option<i64>,
}

impl Resolution {
    /// Counts the difference of two successive times.
    pub fn add(&mut self, difference: i64) {
        if difference == 0 {
            self.same += 1;
            return;
        }
        self.different += 1;
        for (count, unit) in self.multiples.iter_mut().zip(UNITS) {
            *count += u64::from(difference % unit == 0);
        }
        if difference > 0 && self.smallest.is_none_or(|smallest| difference < smallest) {
            self.smallest = Some(difference);
        }
    }

    /// Returns the resolution in nanoseconds. It is the coarsest unit of which 99 of 100
    /// differences are multiples. It is the smallest difference if that is long, but most packets
    /// have the time of the one before: such times are those of a clock that is read at each tick.
    pub fn nanoseconds(&self) -> i64 {
        if self.different < MIN_DIFFERENCES {
            return 1;
        }
        let is_unit = |count: &u64| *count * 100 >= self.different * 99;
        let unit = self.multiples.iter().rposition(is_unit);
        let unit = unit.map_or(1, |place| UNITS[place]);
        let ticks = self.smallest.filter(|_| self.same > self.different);
        unit.max(ticks.filter(|ticks| *ticks >= MILLISECOND).unwrap_or(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolution_of(differences: impl IntoIterator<Item = i64>) -> i64 {
        let mut resolution = Resolution::default();
        for difference in differences {
            resolution.add(difference);
        }
        resolution.nanoseconds()
    }

    #[test]
    fn coarse_clocks_are_recognised() {
        let fine = || (1..400).map(|number| 123_457 * number * number % 7_000_001);
        assert_eq!(resolution_of(fine()), 1);
        assert_eq!(resolution_of(fine().map(|time| time * 1000)), 1000);
        let rounded = |unit: i64| {
            let times: Vec<_> = (1..4000)
                .map(|number| number * 777_777 / unit * unit)
                .collect();
            resolution_of(times.windows(2).map(|pair| pair[1] - pair[0]))
        };
        for unit in [1, 4, 10, 100] {
            assert_eq!(rounded(unit * MILLISECOND), unit * MILLISECOND);
        }
        // Windows' clock, read at each tick, with an error of some microseconds.
        let ticks = fine().map(|time| if time % 3 == 0 { 15_625_000 + time } else { 0 });
        assert!(resolution_of(ticks) >= 15_625_000);
        assert_eq!(resolution_of([MILLISECOND; 7]), 1);
    }
}
