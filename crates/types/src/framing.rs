//! The bytes that a link layer adds to an IP packet.

use crate::parameters::{Key, size, words};
use crate::{parameters, words};

words! {
    /// Cells into which a link cuts frames.
    #[derive(Default, Hash)]
    pub enum Cells {
        /// No cells: frames are sent as they are.
        #[default]
        None = "none",
        /// ATM with AAL5, as on ADSL: cells of 48 payload bytes in 53, the last one padded.
        Atm = "atm",
        /// PTM with 64b/65b coding, as on VDSL2: one more byte for every 64 begun.
        Ptm = "ptm",
    }
}

/// Key of a number of bytes of the link layer.
const BYTES: Key = size(0, 1_024).default("\"0B\"");

parameters! {
    /// Bytes on the wire for an IP packet, in the terms of Linux `tc`'s `overhead`, `mpu` and
    /// `linklayer`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Framing("framing") {
        /// Bytes added to every IP packet.
        overhead: u32 = 0 => BYTES.example("38B");
        /// No frame is shorter, before it is cut into cells.
        minimum: u32 = 0 => BYTES.example("84B");
        /// `atm`: 48 bytes in cells of 53, the last one padded; `ptm`: one byte for every 64 begun.
        cells: Cells = Cells::None => words::<Cells>().default("\"none\"").example("atm");
    }
}

impl Framing {
    /// Returns framing that adds `overhead` bytes to each packet and does nothing else.
    pub const fn bytes(overhead: u32) -> Self {
        Self {
            overhead,
            minimum: 0,
            cells: Cells::None,
        }
    }

    /// Returns the size of the frame for an IP packet of `ip_bytes` bytes.
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
        // Ethernet with preamble, FCS and gap adds 38 bytes, and has at least 84.
        assert_eq!(framed(38, 84, Cells::None, 40), 84);
        assert_eq!(framed(38, 84, Cells::None, 1500), 1538);
        // A 40-byte ACK over PPPoA LLC (14 bytes with the AAL5 trailer) takes two cells. 48 · 32
        // bytes fit in 32 cells, and one byte more does not.
        assert_eq!(framed(14, 0, Cells::Atm, 40), 106);
        assert_eq!(framed(0, 0, Cells::Atm, 1536), 32 * 53);
        assert_eq!(framed(0, 0, Cells::Atm, 1537), 33 * 53);
        assert_eq!(framed(0, 0, Cells::Ptm, 128), 130);
        assert_eq!(framed(0, 0, Cells::Ptm, 129), 132);
    }
}
