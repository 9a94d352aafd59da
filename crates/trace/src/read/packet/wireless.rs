//! IEEE 802.11 frames, and the metadata that capturing programs put in front of them.

use super::heading::Heading;
use super::layers::{Layer, from};
use super::link_layer::{Start, metadata};
use super::link_type::LinkType;
use crate::read::bytes::Order;
use crate::read::file::Frame;
use crate::read::tally::Skip;

/// Bits of the second byte of a frame.
const TO_SYSTEM: u8 = 1;
const FROM_SYSTEM: u8 = 2;
const PROTECTED: u8 = 0x40;
const HIGH_THROUGHPUT: u8 = 0x80;

/// Bytes of addresses and length before each part of an aggregate.
const PART_HEADER: usize = 14;

/// Body of a data frame.
struct Data<'a> {
    destination: &'a [u8],
    source: &'a [u8],
    /// True if the body is an aggregate of several Ethernet frames (A-MSDU).
    is_aggregate: bool,
    body: &'a [u8],
}

/// Begins a frame without metadata.
pub(super) fn start(frame: &[u8]) -> Result<Start<'_>, Skip> {
    let data = data(frame)?;
    if data.is_aggregate {
        return metadata(LinkType::ETHERNET, data.body, 0);
    }
    let heading = Heading::of_stations(data.destination, data.source);
    Ok(Start::Header(0, Layer::Llc, data.body, heading))
}

fn data(frame: &[u8]) -> Result<Data<'_>, Skip> {
    let (kind, flags) = match frame {
        [kind, flags, ..] => (*kind, *flags),
        _ => return Err(Skip::CutHeader),
    };
    // Management and control frames, and data frames without a body.
    if kind & 0x0F != 0x08 || kind & 0x40 != 0 {
        return Err(Skip::NotIp);
    }
    if flags & PROTECTED != 0 {
        return Err(Skip::Encrypted);
    }
    let address = |at| frame.get(at..at + 6).ok_or(Skip::CutHeader);
    let (to, from_) = (flags & TO_SYSTEM != 0, flags & FROM_SYSTEM != 0);
    let destination = address(if to { 16 } else { 4 })?;
    let source = address(match (to, from_) {
        (true, true) => 24,
        (false, true) => 16,
        _ => 10,
    })?;
    // The fragment number.
    if frame.get(22).ok_or(Skip::CutHeader)? & 0x0F != 0 {
        return Err(Skip::LaterFragment);
    }
    let mut at = if to && from_ { 30 } else { 24 };
    let mut is_aggregate = false;
    if kind & 0x80 != 0 {
        is_aggregate = frame.get(at).ok_or(Skip::CutHeader)? & 0x80 != 0;
        at += if flags & HIGH_THROUGHPUT == 0 { 2 } else { 6 };
    }
    Ok(Data {
        destination,
        source,
        is_aggregate,
        body: from(frame, at)?,
    })
}

/// Reads a radiotap header (radiotap.org), whose flags say if the frame was received whole, and if
/// padding follows its header.
pub(super) fn radiotap(frame: &[u8]) -> Result<Start<'_>, Skip> {
    let length = Order::Little.short(frame, 2).ok_or(Skip::CutHeader)?;
    let flags = radiotap_flags(frame).unwrap_or(0);
    if flags & 0x40 != 0 {
        return Err(Skip::BadHeader);
    }
    let rest = from(frame, usize::from(length).max(8))?;
    let padded = flags & 0x20 != 0;
    match start(rest)? {
        Start::Header(_, layer, body, heading) if padded => {
            let header = rest.len() - body.len();
            let body = from(rest, header.next_multiple_of(4))?;
            let metadata = frame.len() - rest.len();
            Ok(Start::Header(metadata, layer, body, heading))
        }
        _ => metadata(LinkType::IEEE802_11, rest, 0),
    }
}

/// Returns the flags of a radiotap header, if it has any. They follow the words that list the
/// fields, and the time, which has 8 bytes at a multiple of 8.
fn radiotap_flags(frame: &[u8]) -> Option<u8> {
    let first = Order::Little.word(frame, 4)?;
    let mut at = 8;
    let mut word = first;
    while word & 1 << 31 != 0 {
        word = Order::Little.word(frame, at)?;
        at += 4;
    }
    if first & 1 != 0 {
        at = at.next_multiple_of(8) + 8;
    }
    (first & 2 != 0).then(|| frame.get(at).copied())?
}

/// Reads a Prism header, or the AVS header that replaced it, whose length follows its first word.
pub(super) fn prism(frame: &[u8]) -> Result<Start<'_>, Skip> {
    let order = match frame.first().ok_or(Skip::CutHeader)? {
        0 | 0x80 => Order::Big,
        _ => Order::Little,
    };
    let length = order.word(frame, 4).ok_or(Skip::CutHeader)?;
    metadata(LinkType::IEEE802_11, frame, length as usize)
}

/// Calls `take` with each Ethernet frame of an aggregate. Returns false if the frame is none.
pub(super) fn each_part(frame: &Frame<'_>, mut take: impl FnMut(&Frame<'_>)) -> bool {
    let Some(mut rest) = aggregate(frame.link, frame.bytes) else {
        return false;
    };
    while let Some(length) = Order::Big.short(rest, 12) {
        let length = PART_HEADER + usize::from(length);
        take(&Frame {
            link: LinkType::ETHERNET,
            bytes: &rest[..length.min(rest.len())],
            original_len: length as u32,
            ..*frame
        });
        // All parts but the last are padded.
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    true
}

fn aggregate(link: LinkType, frame: &[u8]) -> Option<&[u8]> {
    let bytes = match link {
        LinkType::IEEE802_11 => frame,
        LinkType::IEEE802_11_RADIOTAP => {
            frame.get(usize::from(Order::Little.short(frame, 2)?)..)?
        }
        _ => return None,
    };
    let data = data(bytes).ok().filter(|data| data.is_aggregate)?;
    Some(data.body)
}
