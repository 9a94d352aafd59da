//! TCP headers and their options (RFC 9293, RFC 7323, RFC 2018, RFC 9768).

use crate::read::bytes::Order;
use crate::read::tally::Skip;
use goodqueue_types::{AccEcnOption, SegmentFlags};

/// A TCP header as on the wire: sequence numbers have 32 bits, and the window is unscaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpHeader {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Flags.
    pub flags: SegmentFlags,
    /// Window field, unscaled.
    pub window: u16,
    /// Length of the payload as sent, in bytes, however many of them were captured.
    pub payload: u32,
    /// Value of the maximum segment size option, in bytes.
    pub mss: Option<u16>,
    /// Value of the window scale option, in bits.
    pub scale: Option<u8>,
    /// True if the header has the SACK-permitted option.
    pub sack_permitted: bool,
    /// Value and echo of the timestamps option.
    pub timestamps: Option<(u32, u32)>,
    /// Counters of the AccECN option.
    pub accecn: AccEcnOption,
    sack: [(u32, u32); 4],
    sack_count: u8,
}

impl TcpHeader {
    /// Returns the selectively acknowledged ranges, each from its first byte to the byte after its
    /// last.
    pub fn sack(&self) -> &[(u32, u32)] {
        &self.sack[..usize::from(self.sack_count)]
    }
}

/// Parses the ports and the header of a segment of `length` bytes, of which `bytes` were captured.
pub(super) fn tcp_header(bytes: &[u8], length: u32) -> Result<((u16, u16), TcpHeader), Skip> {
    let fixed = bytes.get(..20).ok_or(Skip::CutHeader)?;
    let short = |at| Order::Big.short(fixed, at).unwrap_or_default();
    let word = |at| Order::Big.word(fixed, at).unwrap_or_default();
    let header_len = usize::from(fixed[12] >> 4) * 4;
    if header_len < 20 {
        return Err(Skip::BadHeader);
    }
    let payload = length
        .checked_sub(header_len as u32)
        .ok_or(Skip::BadHeader)?;
    let mut header = TcpHeader {
        seq: word(4),
        ack: word(8),
        flags: SegmentFlags(u16::from_be_bytes([fixed[12] & 1, fixed[13]])),
        window: short(14),
        payload,
        ..TcpHeader::default()
    };
    // Options that were not captured are treated as absent.
    read_options(&bytes[20..header_len.min(bytes.len())], &mut header);
    Ok(((short(0), short(2)), header))
}

fn read_options(mut options: &[u8], header: &mut TcpHeader) {
    loop {
        let (kind, value) = match options {
            [] | [0, ..] => return,
            [1, rest @ ..] => {
                options = rest;
                continue;
            }
            [kind, length, ..] if *length >= 2 && usize::from(*length) <= options.len() => {
                let (option, rest) = options.split_at(usize::from(*length));
                options = rest;
                (*kind, &option[2..])
            }
            _ => return,
        };
        let pair = |at| {
            Order::Big
                .word(value, at)
                .zip(Order::Big.word(value, at + 4))
        };
        match (kind, value.len()) {
            (2, 2) => header.mss = Order::Big.short(value, 0),
            (3, 1) => header.scale = Some(value[0]),
            (4, 0) => header.sack_permitted = true,
            (5, _) => {
                let free = &mut header.sack[usize::from(header.sack_count)..];
                for (place, block) in free.iter_mut().zip((0..).step_by(8).map_while(pair)) {
                    *place = block;
                    header.sack_count += 1;
                }
            }
            (8, 8) => header.timestamps = pair(0),
            _ => {
                if let Some(option) = AccEcnOption::from_wire(kind, value) {
                    header.accecn = option;
                }
            }
        }
    }
}
