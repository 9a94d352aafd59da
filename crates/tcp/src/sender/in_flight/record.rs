//! The record of one segment that is sent and not acknowledged yet.

use goodqueue_types::Time;

/// Bytes of a sender's record of a segment in flight.
pub const RECORD_BYTES: usize = size_of::<Record>();

/// A segment in the retransmission queue.
///
/// A record takes only 24 bytes, because a million flows each have several records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub seq: u64,
    /// Time of its last transmission.
    pub sent: Time,
    /// Number of segments delivered at its last transmission. It is the part of its
    /// [snapshot](super::records::Records::snapshot) that every sender needs.
    pub(super) delivered: u32,
    /// Sequence numbers that it takes, including that of a FIN. An IP packet cannot carry more
    /// bytes.
    pub(super) len: u16,
    pub(super) marks: Marks,
}

/// State of a segment: independent marks, one bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks(u8);

impl Marks {
    pub const SACKED: u8 = 1;
    pub const LOST: u8 = 2;
    pub const RESENT: u8 = 4;
    pub const EVER_RESENT: u8 = 8;
    pub const CUT: u8 = 16;

    #[inline]
    pub fn has(self, mark: u8) -> bool {
        self.0 & mark != 0
    }

    #[inline]
    pub fn set(&mut self, marks: u8) {
        self.0 |= marks;
    }

    #[inline]
    pub fn clear(&mut self, marks: u8) {
        self.0 &= !marks;
    }
}

impl Record {
    /// Creates the record of a segment that leaves for the first time, when `delivered` segments were
    /// delivered.
    pub fn new(seq: u64, len: u32, sent: Time, delivered: u64) -> Self {
        debug_assert!(u16::try_from(len).is_ok(), "{len} bytes in a segment");
        Self {
            seq,
            sent,
            delivered: limited(delivered),
            len: len as u16,
            marks: Marks::default(),
        }
    }

    /// Returns the sequence number after the segment.
    #[inline]
    pub fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }

    /// Returns the number of segments delivered at its last transmission, limited to 32 bits.
    #[inline]
    pub fn delivered(&self) -> u32 {
        self.delivered
    }

    /// Returns true if the receiver has reported it (RFC 2018).
    #[inline]
    pub fn is_sacked(&self) -> bool {
        self.marks.has(Marks::SACKED)
    }

    /// Returns true if it is thought to be lost. The record stays marked while its retransmission
    /// is in flight.
    #[inline]
    pub fn is_lost(&self) -> bool {
        self.marks.has(Marks::LOST)
    }

    /// Returns true if a retransmission is in flight.
    #[inline]
    pub fn is_resent(&self) -> bool {
        self.marks.has(Marks::RESENT)
    }

    /// Returns true if it was transmitted more than once, so that an ACK does not show which one
    /// arrived (Karn).
    #[inline]
    pub fn was_resent(&self) -> bool {
        self.marks.has(Marks::EVER_RESENT)
    }

    /// Returns true if an ACK has covered only its head.
    #[inline]
    pub fn is_cut(&self) -> bool {
        self.marks.has(Marks::CUT)
    }

    /// Returns true if its last transmission is neither SACKed nor thought to be lost.
    #[inline]
    pub(super) fn is_under_way(&self) -> bool {
        !self.is_sacked() && (!self.is_lost() || self.is_resent())
    }

    /// Returns true if it waits for its retransmission.
    #[inline]
    pub(super) fn waits(&self) -> bool {
        self.marks.0 & (Marks::LOST | Marks::RESENT | Marks::SACKED) == Marks::LOST
    }
}

/// Returns a number of delivered segments, limited to 32 bits.
pub(super) fn limited(delivered: u64) -> u32 {
    u32::try_from(delivered).unwrap_or(u32::MAX)
}
