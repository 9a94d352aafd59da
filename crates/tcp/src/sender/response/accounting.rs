//! The bytes that recovery by sequence numbers counts.

/// Bytes that recovery adds to the window, and bytes that it thinks are in the network.
#[derive(Debug, Default)]
pub(crate) struct Accounting {
    extra: i64,
    limited_transmitted: u64,
    pipe: i64,
}

impl Accounting {
    /// Returns the bytes that recovery adds to the window: inflation by duplicate ACKs, limited
    /// transmit, SACKed bytes.
    #[inline]
    pub fn extra(&self) -> i64 {
        self.extra
    }

    /// Sets the bytes that recovery adds to the window.
    #[inline]
    pub fn set_extra(&mut self, bytes: i64) {
        self.extra = bytes;
    }

    /// Changes the bytes that recovery adds to the window.
    pub fn add_extra(&mut self, bytes: i64) {
        self.extra += bytes;
    }

    /// Returns the bytes sent by limited transmit since the last new ACK (RFC 3042).
    pub fn limited_transmitted(&self) -> u64 {
        self.limited_transmitted
    }

    /// Records bytes sent by limited transmit.
    pub fn send_limited(&mut self, bytes: u64) {
        self.limited_transmitted += bytes;
    }

    /// Counts limited transmit from zero on.
    pub fn forget_limited(&mut self) {
        self.limited_transmitted = 0;
    }

    /// Adds nothing to the window after a new ACK.
    #[inline]
    pub fn forget(&mut self) {
        self.extra = 0;
        self.limited_transmitted = 0;
    }

    /// Returns the bytes that are thought to be in the network (RFC 6675 `pipe`).
    pub fn pipe(&self) -> i64 {
        self.pipe
    }

    /// Sets the bytes that are thought to be in the network.
    pub fn set_pipe(&mut self, bytes: i64) {
        self.pipe = bytes;
    }

    /// Changes the bytes that are thought to be in the network.
    pub fn add_pipe(&mut self, bytes: i64) {
        self.pipe += bytes;
    }
}
