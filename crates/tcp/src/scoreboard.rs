//! What the sender knows of the receiver's out-of-order data, and what it infers (RFC 6675).

use goodqueue_types::Segment;

use crate::config::SackVariant;
use crate::ranges::RangeSet;

/// SACKed ranges above the cumulative ACK, and how far retransmission has come.
#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    sacked: RangeSet,
    /// `HighRxt`: the end of the highest data retransmitted in this recovery.
    pub high_rxt: u64,
    /// `RescueRxt`: recovery allows one rescue once the cumulative ACK passes it.
    pub rescue_rxt: u64,
}

impl Scoreboard {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.sacked.is_empty()
    }

    /// Bytes SACKed.
    #[inline]
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked.total()
    }

    pub fn sacked_below(&self, bound: u64) -> u64 {
        self.sacked.bytes_below(bound)
    }

    /// Adds a range.
    pub fn insert(&mut self, start: u64, end: u64) {
        self.sacked.insert(start, end);
    }

    pub fn clear(&mut self) {
        self.sacked.clear();
    }

    pub fn remove_below(&mut self, una: u64) {
        self.sacked.remove_below(una);
    }

    /// `Update`: takes the blocks of an ACK and returns how many bytes they newly report.
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

    /// Data below this that are not SACKed count as lost: `IsLost` for every sequence number at
    /// once, since more has been SACKed above a lower one. By RFC 6675, a byte is lost when
    /// `threshold` discontiguous ranges or more than (`threshold` − 1)·SMSS bytes are SACKed above it.
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

    /// The first hole at or above `from` that has SACKed data above it: (start, end).
    pub fn hole_from(&self, from: u64) -> Option<(u64, u64)> {
        self.sacked.gap_from(from)
    }

    /// If `position` is SACKed, the end of its range, else `position`.
    pub fn skip_sacked(&self, position: u64) -> u64 {
        self.sacked
            .containing(position)
            .map_or(position, |range| range.1)
    }

    /// Where the first SACKed range above `position` begins.
    pub fn next_sacked(&self, position: u64) -> Option<u64> {
        self.sacked.gap_from(position).map(|gap| gap.1)
    }

    /// The highest sequence number SACKed, plus one.
    pub fn highest(&self) -> Option<u64> {
        self.sacked.last().map(|range| range.1)
    }

    /// `SetPipe` (RFC 6675 section 4): what of `una..max_sent` is thought to be in the network.
    pub fn pipe(&self, una: u64, max_sent: u64, lost_below: u64) -> u64 {
        let unsacked = |from: u64, to: u64| {
            (to - from) - (self.sacked.bytes_below(to) - self.sacked.bytes_below(from))
        };
        let lost_below = lost_below.max(una);
        let retransmitted = self.high_rxt.max(una);
        // (a) not SACKed and not lost; (b) not SACKed and retransmitted.
        unsacked(lost_below, max_sent) + unsacked(una, retransmitted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_types::{SackBlocks, SegmentFlags, Timestamps};

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
            timestamps: Timestamps::default(),
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

    /// RFC 6675 `IsLost`: `DupThresh` discontiguous ranges, or more than two segments of bytes, above.
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
        // The hole at 1101 has two ranges of 100 bytes above it: not lost.
        assert_eq!(lost_below(&board(&[(2001, 2101), (3001, 3101)])), 0);
        // Above 4001 only 2000 bytes, above 2001 more.
        assert_eq!(lost_below(&board(&[(2001, 3001), (4001, 6001)])), 2001);
    }

    #[test]
    fn ns2_takes_every_hole_for_lost() {
        let board = board(&[(2001, 3001), (5001, 6001)]);
        assert_eq!(board.lost_below(SackVariant::Ns2Sack1, 3, MSS), 5001);
    }

    /// `SetPipe`: neither SACKed nor lost counts once, retransmitted counts (again).
    #[test]
    fn pipe_counts_what_may_be_in_the_network() {
        // 1..2001 lost, 2001..5001 SACKed, 5001..10_001 in flight.
        let mut board = board(&[(2001, 5001)]);
        let lost = lost_below(&board);
        assert_eq!(lost, 2001);
        assert_eq!(board.pipe(1, 10_001, lost), 5000);
        board.high_rxt = 1001;
        assert_eq!(board.pipe(1, 10_001, lost), 6000);
    }

    #[test]
    fn update_ignores_what_is_known_below_or_never_sent() {
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
        // An old ACK reports what is acknowledged by now.
        assert_eq!(board.update(&ack(1, &[(2001, 3001)]), 4501, 10_001), 0);
        assert_eq!(board.sacked_bytes(), 500);
    }
}
