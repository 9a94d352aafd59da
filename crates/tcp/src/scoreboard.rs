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
