//! Directions of frames.

/// Direction of a frame, as far as its link layer records it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Heading {
    /// The link layer does not record a direction.
    #[default]
    Unknown,
    /// Towards the host that captured, or towards the higher of two Ethernet addresses.
    In,
    /// The opposite direction.
    Out,
}

impl Heading {
    /// Returns the opposite direction.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Unknown => Self::Unknown,
            Self::In => Self::Out,
            Self::Out => Self::In,
        }
    }

    /// Returns this direction, or the other one if this one is unknown.
    pub(super) fn or(self, other: Self) -> Self {
        if self == Self::Unknown { other } else { self }
    }

    /// Converts two bits of which the first means "in" and the second "out", as in pcapng's
    /// `epb_flags`.
    pub(in crate::read) fn of_flags(flags: u32) -> Self {
        match flags & 3 {
            1 => Self::In,
            2 => Self::Out,
            _ => Self::Unknown,
        }
    }

    /// Converts the packet type of Linux's cooked captures.
    pub(super) fn of_cooked(packet_type: u16) -> Self {
        match packet_type {
            0 => Self::In,
            4 => Self::Out,
            _ => Self::Unknown,
        }
    }

    /// Derives the direction from the order of two Ethernet addresses, which separates the two
    /// directions between two stations.
    pub(super) fn of_stations(destination: &[u8], source: &[u8]) -> Self {
        match source.cmp(destination) {
            std::cmp::Ordering::Less => Self::In,
            std::cmp::Ordering::Equal => Self::Unknown,
            std::cmp::Ordering::Greater => Self::Out,
        }
    }
}
