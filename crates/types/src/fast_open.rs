//! The Fast Open option of TCP (RFC 7413 section 4.1.1).

/// Content of the Fast Open option of a SYN or SYN-ACK. By default the segment has no such option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FastOpenOption {
    /// The segment has no Fast Open option.
    #[default]
    None,
    /// The client requests a cookie.
    Request,
    /// The segment carries a cookie, which a client returns to the server that issued it.
    Cookie,
}

impl FastOpenOption {
    /// Kind of the option on the wire.
    pub const KIND: u8 = 34;
    /// Length of a cookie, in bytes. RFC 7413 permits 4 to 16, and Linux issues 8.
    pub const COOKIE: usize = 8;

    /// Returns the length of the option on the wire, in bytes, or 0 without an option.
    #[must_use]
    pub fn length(self) -> usize {
        match self {
            Self::None => 0,
            Self::Request => 2,
            Self::Cookie => 2 + Self::COOKIE,
        }
    }

    /// Returns the bytes that the option takes of a header, with its padding.
    #[must_use]
    pub fn padded(self) -> u16 {
        self.length().next_multiple_of(4) as u16
    }
}
