//! What a link layer adds to an IP packet.

/// Cells that a link cuts frames into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cells {
    /// None: frames go as they are.
    #[default]
    None,
    /// ATM with AAL5, as on ADSL: cells of 48 payload bytes in 53, the last one padded.
    Atm,
    /// PTM with 64b/65b coding, as on VDSL2: one byte for every 64 begun.
    Ptm,
}

/// Bytes on the wire for an IP packet, in the terms of Linux `tc`'s `overhead`, `mpu` and
/// `linklayer`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Framing {
    /// Bytes added to each packet.
    pub overhead: u32,
    /// No frame is shorter than this, before it is cut into cells.
    pub minimum: u32,
    /// Cells.
    pub cells: Cells,
}

impl Framing {
    /// So many bytes added, nothing else.
    pub const fn bytes(overhead: u32) -> Self {
        Self {
            overhead,
            minimum: 0,
            cells: Cells::None,
        }
    }

    /// The frame of an IP packet of this many bytes.
    #[inline]
    pub fn frame_bytes(self, ip_bytes: u32) -> u64 {
        let frame = (u64::from(ip_bytes) + u64::from(self.overhead)).max(u64::from(self.minimum));
        match self.cells {
            Cells::None => frame,
            Cells::Atm => frame.div_ceil(48) * 53,
            Cells::Ptm => frame + frame.div_ceil(64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_padded_to_the_minimum_and_to_whole_cells() {
        let framed = |overhead, minimum, cells, ip_bytes| {
            Framing {
                overhead,
                minimum,
                cells,
            }
            .frame_bytes(ip_bytes)
        };
        assert_eq!(framed(7, 0, Cells::None, 576), 583);
        // Ethernet with preamble, FCS and gap: 38 bytes, and 84 at least.
        assert_eq!(framed(38, 84, Cells::None, 40), 84);
        assert_eq!(framed(38, 84, Cells::None, 1500), 1538);
        // A 40-byte ACK over PPPoA LLC (14 with the AAL5 trailer): two cells; one byte less than
        // 48 · 32 fits in 32 cells, one more does not.
        assert_eq!(framed(14, 0, Cells::Atm, 40), 106);
        assert_eq!(framed(0, 0, Cells::Atm, 1536), 32 * 53);
        assert_eq!(framed(0, 0, Cells::Atm, 1537), 33 * 53);
        assert_eq!(framed(0, 0, Cells::Ptm, 128), 130);
        assert_eq!(framed(0, 0, Cells::Ptm, 129), 132);
    }
}
