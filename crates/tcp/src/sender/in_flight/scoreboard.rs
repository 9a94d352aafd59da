//! The sender's knowledge of the receiver's out-of-order data, and its conclusions (RFC 6675).

use std::ops::{Deref, DerefMut};

use goodqueue_types::Segment;

use crate::config::SackVariant;
use crate::ranges::RangeSet;

/// SACKed ranges above the cumulative ACK, and the progress of retransmission.
///
/// Its contents take memory from the first loss on, because the end of a connection that only
/// receives never has any.
#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    contents: Option<Box<Contents>>,
}

/// The contents of a [`Scoreboard`]; without them it reads as [`NONE`].
#[derive(Debug, Default)]
pub(crate) struct Contents {
    sacked: RangeSet,
    /// End of the highest data retransmitted in this recovery (`HighRxt`).
    high_rxt: u64,
    /// Sequence number beyond which the cumulative ACK allows one rescue retransmission
    /// (`RescueRxt`).
    rescue_rxt: u64,
}

static NONE: Contents = Contents {
    sacked: RangeSet::new(),
    high_rxt: 0,
    rescue_rxt: 0,
};

impl Deref for Scoreboard {
    type Target = Contents;

    #[inline]
    fn deref(&self) -> &Contents {
        self.contents.as_deref().unwrap_or(&NONE)
    }
}

/// Gives the scoreboard contents.
impl DerefMut for Scoreboard {
    #[inline]
    fn deref_mut(&mut self) -> &mut Contents {
        self.contents.get_or_insert_default()
    }
}

impl Scoreboard {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.contents
            .as_ref()
            .is_none_or(|contents| contents.sacked.is_empty())
    }

    pub fn clear(&mut self) {
        if let Some(contents) = &mut self.contents {
            contents.sacked.clear();
        }
    }

    /// Gives back memory that is not in use.
    pub fn tighten(&mut self) {
        if self.is_empty() && (self.high_rxt, self.rescue_rxt) == (0, 0) {
            self.contents = None;
        } else {
            self.sacked.tighten();
        }
    }

    pub fn remove_below(&mut self, una: u64) {
        if let Some(contents) = &mut self.contents {
            contents.sacked.remove_below(una);
        }
    }
}

impl Contents {
    /// Returns the number of bytes SACKed.
    #[inline]
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked.total()
    }

    /// Returns the end of the highest data retransmitted in this recovery (`HighRxt`).
    pub fn high_rxt(&self) -> u64 {
        self.high_rxt
    }

    /// Records a retransmission up to `end`.
    pub fn retransmit(&mut self, end: u64) {
        self.high_rxt = end;
    }

    /// Returns the sequence number beyond which the cumulative ACK allows one rescue retransmission
    /// (`RescueRxt`).
    pub fn rescue_rxt(&self) -> u64 {
        self.rescue_rxt
    }

    /// Sets the sequence number beyond which the cumulative ACK allows one rescue retransmission.
    pub fn allow_rescue_above(&mut self, seq: u64) {
        self.rescue_rxt = seq;
    }

    pub fn sacked_below(&self, bound: u64) -> u64 {
        self.sacked.bytes_below(bound)
    }

    /// Adds a range.
    pub fn insert(&mut self, start: u64, end: u64) {
        self.sacked.insert(start, end);
    }

    /// Adds the blocks of an ACK and returns the number of bytes that they newly report (`Update`).
    pub fn update(&mut self, segment: &Segment, una: u64, max_sent: u64) -> u64 {
        let mut new = 0;
        for (start, end) in segment.sack.ranges(segment.ack) {
            let start = start.max(una);
            if start < end && end <= max_sent {
                new += self.sacked.insert(start, end);
            }
        }
        new
    }

    /// Returns the sequence number below which data that are not SACKed count as lost. This is
    /// `IsLost` for every sequence number at once, because more is SACKed above a lower one. By RFC
    /// 6675, a byte is lost if `threshold` discontiguous ranges or more than (`threshold` − 1)·SMSS
    /// bytes are SACKed above it.
    pub fn lost_below(&self, variant: SackVariant, threshold: u32, mss: u32) -> u64 {
        let (mut ranges, mut bytes) = (0, 0);
        let enough = u64::from(threshold.saturating_sub(1)) * u64::from(mss);
        for (start, end) in self.sacked.descending() {
            ranges += 1;
            bytes += end - start;
            let lost = match variant {
                SackVariant::Rfc6675 => ranges >= threshold || bytes > enough,
                SackVariant::Ns2Sack1 => true,
            };
            if lost {
                return start;
            }
        }
        0
    }

    /// Returns the first hole (start, end) at or above `from` that has SACKed data above it.
    pub fn hole_from(&self, from: u64) -> Option<(u64, u64)> {
        self.sacked.gap_from(from)
    }

    /// Returns the end of the SACKed range that contains `position`, or `position` if there is
    /// none.
    pub fn skip_sacked(&self, position: u64) -> u64 {
        self.sacked
            .containing(position)
            .map_or(position, |range| range.1)
    }

    /// Returns the start of the first SACKed range above `position`.
    pub fn next_sacked(&self, position: u64) -> Option<u64> {
        self.sacked.gap_from(position).map(|gap| gap.1)
    }

    /// Returns the parts of `start..end` that are not SACKed yet, the lowest first.
    pub fn unsacked(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> {
        let mut position = start;
        std::iter::from_fn(move || {
            position = self.skip_sacked(position);
            if position >= end {
                return None;
            }
            let from = position;
            position = self.next_sacked(from).unwrap_or(end).min(end);
            Some((from, position))
        })
    }

    /// Returns the highest SACKed sequence number plus one.
    pub fn highest(&self) -> Option<u64> {
        self.sacked.last().map(|range| range.1)
    }

    /// Returns the bytes of `una..max_sent` that are thought to be in the network (`SetPipe`, RFC
    /// 6675 section 4).
    pub fn pipe(&self, una: u64, max_sent: u64, lost_below: u64) -> u64 {
        let unsacked = |from: u64, to: u64| {
            (to - from) - (self.sacked.bytes_below(to) - self.sacked.bytes_below(from))
        };
        let lost_below = lost_below.max(una);
        let retransmitted = self.high_rxt.max(una);
        // The terms are (a) bytes neither SACKed nor lost and (b) bytes not SACKed but
        // retransmitted.
        unsacked(lost_below, max_sent) + unsacked(una, retransmitted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_types::{SackBlocks, SegmentFlags};

    const MSS: u32 = 1000;

    fn ack(ack: u64, blocks: &[(u64, u64)]) -> Segment {
        let mut sack = SackBlocks::default();
        for &(start, end) in blocks {
            assert!(sack.push(ack, start, end));
        }
        let flags = SegmentFlags::ACK;
        Segment {
            seq: 1,
            ack,
            window: 0,
            payload: 0,
            header: 40,
            flags,
            sack,
            ..Segment::default()
        }
    }

    fn board(blocks: &[(u64, u64)]) -> Scoreboard {
        let mut board = Scoreboard::default();
        for block in blocks {
            board.update(&ack(1, &[*block]), 1, 100_001);
        }
        board
    }

    fn lost_below(board: &Scoreboard) -> u64 {
        board.lost_below(SackVariant::Rfc6675, 3, MSS)
    }

    /// RFC 6675 `IsLost`: `DupThresh` discontiguous ranges, or more than two segments of bytes, are
    /// above.
    #[test]
    fn lost_by_ranges_or_by_bytes() {
        assert_eq!(
            lost_below(&board(&[(1001, 3001)])),
            0,
            "two segments are not more than two"
        );
        assert_eq!(lost_below(&board(&[(1001, 3002)])), 1001);
        let scattered = board(&[(1001, 1101), (2001, 2101), (3001, 3101)]);
        assert_eq!(lost_below(&scattered), 1001, "three ranges, however small");
        // The hole at 1101 has two ranges of 100 bytes above it, so it is not lost.
        assert_eq!(lost_below(&board(&[(2001, 2101), (3001, 3101)])), 0);
        // Above 4001 there are only 2000 bytes, and above 2001 more.
        assert_eq!(lost_below(&board(&[(2001, 3001), (4001, 6001)])), 2001);
    }

    #[test]
    fn ns2_takes_every_hole_for_lost() {
        let board = board(&[(2001, 3001), (5001, 6001)]);
        assert_eq!(board.lost_below(SackVariant::Ns2Sack1, 3, MSS), 5001);
    }

    /// The other end of a bulk flow never gives contents to its scoreboard, and a sender takes them
    /// back after each recovery.
    #[test]
    fn an_empty_scoreboard_takes_a_word() {
        assert_eq!(size_of::<Scoreboard>(), size_of::<usize>());
        let mut board = Scoreboard::default();
        board.clear();
        board.remove_below(1);
        assert!(board.contents.is_none());
        assert_eq!((board.highest(), board.skip_sacked(7)), (None, 7));
        board.insert(1001, 2001);
        board.tighten();
        assert_eq!(board.sacked_bytes(), 1000);
        board.remove_below(2001);
        board.tighten();
        assert!(board.contents.is_none());
    }

    /// `SetPipe`: bytes neither SACKed nor lost count once, and retransmitted bytes count (again).
    #[test]
    fn pipe_counts_bytes_that_may_be_in_the_network() {
        // 1..2001 are lost, 2001..5001 SACKed and 5001..10_001 in flight.
        let mut board = board(&[(2001, 5001)]);
        let lost = lost_below(&board);
        assert_eq!(lost, 2001);
        assert_eq!(board.pipe(1, 10_001, lost), 5000);
        board.retransmit(1001);
        assert_eq!(board.pipe(1, 10_001, lost), 6000);
    }

    #[test]
    fn update_ignores_blocks_that_are_known_acknowledged_or_never_sent() {
        let mut board = Scoreboard::default();
        assert_eq!(
            board.update(&ack(1, &[(2001, 3001), (4001, 5001)]), 1, 10_001),
            2000
        );
        assert_eq!(board.update(&ack(1, &[(2001, 3001)]), 1, 10_001), 0);
        assert_eq!(board.update(&ack(1, &[(2001, 3501)]), 1, 10_001), 500);
        assert_eq!(
            board.update(&ack(1, &[(9001, 11_001)]), 1, 10_001),
            0,
            "never sent"
        );
        board.remove_below(4501);
        // An old ACK reports data that are acknowledged by now.
        assert_eq!(board.update(&ack(1, &[(2001, 3001)]), 4501, 10_001), 0);
        assert_eq!(board.sacked_bytes(), 500);
    }
}
