//! The count of duplicate ACKs.

/// Duplicate ACKs since the last new one.
#[derive(Clone, Copy, Debug, Default)]
#[repr(Rust, packed)]
pub(crate) struct Duplicates {
    count: u32,
    /// True while duplicate ACKs are ignored until the next new ACK (ns-2's Sack1 after a timeout).
    ignored: bool,
}

impl Duplicates {
    #[inline]
    pub fn count(self) -> u32 {
        self.count
    }

    /// Counts duplicate ACKs.
    pub fn add(&mut self, acks: u32) {
        self.count += acks;
    }

    /// Counts from zero on.
    pub fn reset(&mut self) {
        self.count = 0;
    }

    /// Forgets the count and heeds duplicate ACKs again, after a new ACK.
    #[inline]
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Sets whether duplicate ACKs are ignored until the next new ACK.
    pub fn ignore(&mut self, ignored: bool) {
        self.ignored = ignored;
    }

    /// Returns true if duplicate ACKs are ignored.
    pub fn are_ignored(self) -> bool {
        self.ignored
    }
}
