//! Numbers decoded from bytes in either byte order.

/// Byte order of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The highest byte comes first, as in all headers of the internet.
    Big,
    /// The lowest byte comes first.
    Little,
}

impl Order {
    /// Returns the 16-bit number at offset `at`, or none if `bytes` ends before it does.
    pub fn short(self, bytes: &[u8], at: usize) -> Option<u16> {
        let two = array(bytes, at)?;
        Some(match self {
            Self::Big => u16::from_be_bytes(two),
            Self::Little => u16::from_le_bytes(two),
        })
    }

    /// Returns the 32-bit number at offset `at`, or none if `bytes` ends before it does.
    pub fn word(self, bytes: &[u8], at: usize) -> Option<u32> {
        let four = array(bytes, at)?;
        Some(match self {
            Self::Big => u32::from_be_bytes(four),
            Self::Little => u32::from_le_bytes(four),
        })
    }

    /// Returns the 64-bit number at offset `at`, or none if `bytes` ends before it does.
    pub fn wide(self, bytes: &[u8], at: usize) -> Option<u64> {
        let eight = array(bytes, at)?;
        Some(match self {
            Self::Big => u64::from_be_bytes(eight),
            Self::Little => u64::from_le_bytes(eight),
        })
    }
}

fn array<const LENGTH: usize>(bytes: &[u8], at: usize) -> Option<[u8; LENGTH]> {
    bytes.get(at..)?.first_chunk().copied()
}
