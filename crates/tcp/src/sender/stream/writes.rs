//! The ends of the application's writes and of small segments, at which segments are cut.

use std::collections::VecDeque;

/// The ends of the application's writes and of the last small segment.
#[derive(Debug, Default)]
pub(crate) struct Writes {
    /// Ends of the writes that share no segment with the following data, in order.
    ends: Option<Box<Ends>>,
    /// End of the last small segment.
    small_end: u64,
}

/// Ends of writes. Few connections have any, so the queue is stored apart.
#[derive(Debug, Default)]
struct Ends {
    ahead: VecDeque<u64>,
}

impl Writes {
    /// Records that a write ends at `end` and shares no segment with the following data.
    pub fn end_at(&mut self, end: u64) {
        self.ends.get_or_insert_default().ahead.push_back(end);
    }

    /// Returns the end of the write that contains `next`, or the largest number if it is open.
    #[inline]
    pub fn end_of(&mut self, next: u64) -> u64 {
        let Some(Ends { ahead: ends }) = self.ends.as_deref_mut() else {
            return u64::MAX;
        };
        while ends.front().is_some_and(|end| *end <= next) {
            ends.pop_front();
        }
        ends.front().copied().unwrap_or(u64::MAX)
    }

    /// Records that a small segment leaves.
    #[inline]
    pub fn send_small(&mut self, end: u64) {
        self.small_end = end;
    }

    /// Returns true if a small segment is not acknowledged.
    #[inline]
    pub fn has_small_out(&self, una: u64) -> bool {
        self.small_end > una
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_ends_with_its_write() {
        let mut writes = Writes::default();
        assert_eq!(writes.end_of(1), u64::MAX);
        writes.end_at(501);
        writes.end_at(801);
        assert_eq!(
            [1, 500, 501, 801].map(|next| writes.end_of(next)),
            [501, 501, 801, u64::MAX]
        );
        writes.send_small(801);
        assert!(writes.has_small_out(501) && !writes.has_small_out(801));
    }
}
