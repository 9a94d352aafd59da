//! Sets of byte ranges, for a receiver's out-of-order data and a sender's SACKed data.

/// Number of ranges for which an empty set keeps its memory.
const MAX_KEPT: usize = 4;
/// Number of ranges above which a search halves them instead of visiting each.
const MANY: usize = 8;

/// Disjoint, non-adjacent half-open ranges in increasing order, with their total length.
///
/// A set has few ranges (one per hole in a window). They are added near the top and removed at the
/// bottom. An empty set owns at most memory for a few.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeSet {
    /// The ranges, after `removed` ones that are no longer in the set. It is empty if the set is.
    /// Searches of a slice take half of the instructions of searches of a ring.
    ranges: Vec<(u64, u64)>,
    removed: usize,
    total: u64,
}

impl RangeSet {
    /// Creates an empty set.
    pub const fn new() -> Self {
        Self {
            ranges: Vec::new(),
            removed: 0,
            total: 0,
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    #[inline]
    fn as_slice(&self) -> &[(u64, u64)] {
        &self.ranges[self.removed..]
    }

    /// Returns the bytes in all ranges.
    #[inline]
    pub fn total(&self) -> u64 {
        self.total
    }

    pub fn last(&self) -> Option<(u64, u64)> {
        self.ranges.last().copied()
    }

    /// Returns the ranges from the highest to the lowest.
    pub fn descending(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.as_slice().iter().rev().copied()
    }

    /// Empties the set. Memory for more than a few ranges is given back, because thousands of flows
    /// have a set.
    pub fn clear(&mut self) {
        if self.ranges.capacity() > MAX_KEPT {
            self.ranges = Vec::new();
        }
        self.ranges.clear();
        self.removed = 0;
        self.total = 0;
    }

    /// Gives back the memory of an empty set.
    pub fn tighten(&mut self) {
        if self.ranges.is_empty() {
            self.ranges = Vec::new();
        }
    }

    /// Adds `start..end` and returns the number of its bytes that are new.
    pub fn insert(&mut self, start: u64, end: u64) -> u64 {
        debug_assert!(start < end);
        match self.ranges.last_mut() {
            Some(last) if start > last.1 => self.ranges.push((start, end)),
            // Most arrivals extend the highest range.
            Some(last) if start >= last.0 => {
                let new = end.saturating_sub(last.1);
                last.1 = last.1.max(end);
                self.total += new;
                return new;
            }
            Some(_) => return self.insert_below_top(start, end),
            None => self.ranges.push((start, end)),
        }
        self.total += end - start;
        end - start
    }

    /// Merges `start..end` with every range that it touches, in the general case.
    fn insert_below_top(&mut self, start: u64, end: u64) -> u64 {
        let ranges = self.as_slice();
        let from = ranges.partition_point(|range| range.1 < start);
        let touched = ranges[from..]
            .iter()
            .take_while(|range| range.0 <= end)
            .count();
        let held: u64 = ranges[from..from + touched]
            .iter()
            .map(|range| range.1 - range.0)
            .sum();
        let from = self.removed + from;
        if touched == 0 {
            self.ranges.insert(from, (start, end));
            self.total += end - start;
            return end - start;
        }
        let last = self.ranges[from + touched - 1];
        let merged = (start.min(self.ranges[from].0), end.max(last.1));
        self.ranges[from] = merged;
        if touched > 1 {
            self.ranges.drain(from + 1..from + touched);
        }
        let new = merged.1 - merged.0 - held;
        self.total += new;
        new
    }

    /// Removes everything below `bound`.
    pub fn remove_below(&mut self, bound: u64) {
        while let Some(first) = self.ranges.get_mut(self.removed) {
            if first.0 >= bound {
                return;
            }
            if first.1 > bound {
                self.total -= bound - first.0;
                first.0 = bound;
                return;
            }
            self.total -= first.1 - first.0;
            self.removed += 1;
            if self.removed == self.ranges.len() {
                self.clear();
            } else if 2 * self.removed > self.ranges.len() {
                self.ranges.drain(..self.removed);
                self.removed = 0;
            }
        }
    }

    /// Returns the ranges that end above `position`.
    #[inline]
    fn above(&self, position: u64) -> &[(u64, u64)] {
        let ranges = self.as_slice();
        let below = |range: &(u64, u64)| range.1 <= position;
        if ranges.len() > MANY {
            return &ranges[ranges.partition_point(below)..];
        }
        let below = ranges.iter().take_while(|range| below(range)).count();
        &ranges[below..]
    }

    /// Returns the range that contains `position`.
    pub fn containing(&self, position: u64) -> Option<(u64, u64)> {
        let first = self.above(position).first().copied();
        first.filter(|range| range.0 <= position)
    }

    /// Returns the part of `start..end` that the lowest range in it covers.
    pub fn first_overlap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let range = self.above(start).first().filter(|range| range.0 < end)?;
        Some((range.0.max(start), range.1.min(end)))
    }

    /// Returns the first gap (start, end) at or above `position` that has a range above it.
    pub fn gap_from(&self, position: u64) -> Option<(u64, u64)> {
        let above = self.above(position);
        let first = above.first()?;
        if position < first.0 {
            return Some((position, first.0));
        }
        above.get(1).map(|next| (first.1, next.0))
    }

    /// Returns the number of bytes of the ranges that lie below `bound`. Scans only the shorter
    /// side.
    pub fn bytes_below(&self, bound: u64) -> u64 {
        let ranges = self.as_slice();
        let above = self.above(bound);
        let index = ranges.len() - above.len();
        if index <= ranges.len() / 2 {
            let below = |range: &(u64, u64)| range.1.min(bound).saturating_sub(range.0);
            ranges[..ranges.len().min(index + 1)]
                .iter()
                .map(below)
                .sum()
        } else {
            let rest = |range: &(u64, u64)| range.1 - range.0.max(bound);
            self.total - above.iter().map(rest).sum::<u64>()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ranges: &[(u64, u64)]) -> RangeSet {
        let mut set = RangeSet::default();
        for &(start, end) in ranges {
            set.insert(start, end);
        }
        set
    }

    #[test]
    fn inserting_merges_and_counts_new_bytes() {
        let mut set = set(&[(10, 20), (30, 40), (50, 60)]);
        assert_eq!(set.insert(30, 40), 0);
        assert_eq!(set.insert(15, 35), 10);
        assert_eq!(set.as_slice().first().copied(), Some((10, 40)));
        assert_eq!(set.insert(0, 5), 5);
        assert_eq!(set.insert(40, 50), 10, "adjacent ranges become one");
        assert_eq!(set.descending().collect::<Vec<_>>(), [(10, 60), (0, 5)]);
        assert_eq!(set.total(), 55);
        assert_eq!(set.insert(0, 100), 45);
        assert_eq!(
            (set.total(), set.as_slice().first().copied()),
            (100, Some((0, 100)))
        );
    }

    #[test]
    fn gaps_and_sums() {
        let set = set(&[(10, 20), (30, 40)]);
        assert_eq!(set.gap_from(5), Some((5, 10)));
        assert_eq!(set.gap_from(10), Some((20, 30)));
        assert_eq!(set.gap_from(25), Some((25, 30)));
        assert_eq!(set.gap_from(30), None);
        assert_eq!(
            (
                set.bytes_below(15),
                set.bytes_below(35),
                set.bytes_below(99)
            ),
            (5, 15, 20)
        );
        assert_eq!(
            (set.containing(19), set.containing(20)),
            (Some((10, 20)), None)
        );
    }

    #[test]
    fn removal_cuts_ranges() {
        let mut set = set(&[(10, 20), (30, 40)]);
        set.remove_below(15);
        assert_eq!(
            (set.as_slice().first().copied(), set.total()),
            (Some((15, 20)), 15)
        );
        set.remove_below(40);
        assert!(set.is_empty() && set.total() == 0);
    }
}
