//! Out-of-order data, and their report in selective acknowledgements (RFC 2018 section 4, RFC 2883
//! section 4).

use goodqueue_types::SackBlocks;

use crate::ranges::RangeSet;

/// Number of ranges that a receiver remembers as recently reported.
const MEMORY: usize = 4;

/// Data above the next sequence number expected.
#[derive(Debug, Default)]
pub(crate) struct Reassembly {
    ranges: RangeSet,
    /// One position in each range; the range that changed last comes first.
    recent: [u64; MEMORY],
    /// Duplicate data to report, or an empty range.
    duplicate: (u64, u64),
}

impl Reassembly {
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns the bytes held.
    pub fn total(&self) -> u64 {
        self.ranges.total()
    }

    /// Returns the end of the highest range.
    pub fn end(&self) -> Option<u64> {
        self.ranges.last().map(|range| range.1)
    }

    /// Returns the lowest part of `start..end` that is held.
    pub fn first_overlap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        self.ranges.first_overlap(start, end)
    }

    /// Adds `start..end`, above `next`. Returns the number of its bytes that are new, and the number
    /// of other ranges that changed after its range did.
    pub fn insert(&mut self, start: u64, end: u64, next: u64) -> (u64, usize) {
        let new = self.ranges.insert(start, end);
        (new, self.remember(start, next))
    }

    fn remember(&mut self, position: u64, next: u64) -> usize {
        let Some(range) = self.ranges.containing(position) else {
            return 0;
        };
        let mut kept = [range.0; MEMORY];
        let mut count = 1;
        let mut newer = None;
        for old in self.recent.into_iter().filter(|old| *old > next) {
            if (range.0..range.1).contains(&old) {
                newer = newer.or(Some(count - 1));
            } else if count < MEMORY {
                kept[count] = old;
                count += 1;
            }
        }
        kept[count..].fill(0);
        self.recent = kept;
        newer.unwrap_or(count - 1)
    }

    /// Removes data up to the end of `next..end`, which has arrived. Returns the end of the data
    /// without a hole, and the number of bytes of `next..end` that are new.
    pub fn fill(&mut self, next: u64, end: u64) -> (u64, u64) {
        let new = end - next - self.ranges.bytes_below(end);
        let reach = self.ranges.containing(end).map_or(end, |range| range.1);
        self.ranges.remove_below(reach);
        (reach, new)
    }

    /// Records a duplicate for the next ACK, of `next`.
    pub fn set_duplicate(&mut self, duplicate: Option<(u64, u64)>, next: u64) {
        // Blocks are offsets of 31 bits from the acknowledgement.
        let near = |block: &(u64, u64)| next.saturating_sub(block.0) < 1 << 31;
        self.duplicate = duplicate.filter(near).unwrap_or_default();
    }

    pub fn has_duplicate(&self) -> bool {
        self.duplicate.1 != 0
    }

    /// Returns true if an ACK has ranges to report.
    pub fn has_blocks(&self) -> bool {
        !self.ranges.is_empty() || self.has_duplicate()
    }

    /// Returns at most `limit` blocks for an ACK of `next`. A duplicate comes first. Then comes the
    /// range changed last, which also contains a duplicate above the acknowledgement, and then
    /// earlier ones. A FIN at `fin`, if known, belongs to the data before it.
    pub fn blocks(&self, next: u64, limit: usize, fin: Option<u64>) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        let mut duplicates = 0;
        if self.has_duplicate() {
            blocks.push(next, self.duplicate.0, self.duplicate.1);
            duplicates = 1;
        }
        for position in self.recent {
            if blocks.len() >= limit {
                break;
            }
            // A range that grew over another one is listed once.
            if let Some((start, end)) = self.ranges.containing(position)
                && !blocks
                    .ranges(next)
                    .skip(duplicates)
                    .any(|block| block.0 == start)
            {
                blocks.push(next, start, end + u64::from(fin == Some(end)));
            }
        }
        blocks
    }
}
