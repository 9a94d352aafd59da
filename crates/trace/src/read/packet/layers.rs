//! Headers between the start of a frame and its IP packet: Ethernet, VLAN and switch tags, MPLS,
//! PPP and LLC, in any order.

use crate::read::bytes::Order;
use crate::read::tally::Skip;

/// Largest number of headers in front of an IP packet. Real frames have fewer than half as many.
const MAX_HEADERS: usize = 32;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86DD;
const VLAN: u16 = 0x8100;

/// Header that comes next in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    /// The IP packet.
    Ip,
    /// Two addresses and an Ethernet type.
    Ethernet,
    /// The header or packet that this Ethernet type announces.
    Type(u16),
    /// LLC (IEEE 802.2).
    Llc,
    /// PPP (RFC 1661, RFC 1662).
    Ppp,
    /// A label of MPLS (RFC 3032).
    Mpls,
    /// Cisco HDLC.
    CiscoHdlc,
    /// Frame Relay (RFC 2427).
    FrameRelay,
}

/// Returns the IP packet behind the headers that begin with `layer`, from its version field on.
/// Bytes that follow the IP packet are not cut off.
pub(super) fn ip_behind(mut layer: Layer, mut rest: &[u8]) -> Result<&[u8], Skip> {
    for _ in 0..MAX_HEADERS {
        (layer, rest) = match layer {
            Layer::Ip => return Ok(rest),
            Layer::Ethernet => after_addresses(rest)?,
            Layer::Type(kind) => after_type(kind, rest)?,
            Layer::Llc => after_llc(rest)?,
            Layer::Ppp => after_ppp(rest)?,
            Layer::Mpls => after_label(rest)?,
            Layer::CiscoHdlc => after_cisco_hdlc(rest)?,
            Layer::FrameRelay => after_frame_relay(rest)?,
        };
    }
    Err(Skip::BadHeader)
}

type Next<'a> = Result<(Layer, &'a [u8]), Skip>;

/// Returns the 16-bit number at offset `at`.
pub(super) fn short(bytes: &[u8], at: usize) -> Result<u16, Skip> {
    Order::Big.short(bytes, at).ok_or(Skip::CutHeader)
}

/// Returns the bytes from offset `at` on.
pub(super) fn from(bytes: &[u8], at: usize) -> Result<&[u8], Skip> {
    bytes.get(at..).ok_or(Skip::CutHeader)
}

/// Returns the Ethernet type at offset `at`, and the bytes behind it.
pub(super) fn typed(bytes: &[u8], at: usize) -> Next<'_> {
    Ok((Layer::Type(short(bytes, at)?), from(bytes, at + 2)?))
}

/// Reads the Ethernet type, or the tag of a switch that has no type and takes its place.
fn after_addresses(frame: &[u8]) -> Next<'_> {
    let (kind, rest) = (short(frame, 12)?, from(frame, 14)?);
    match after_type(kind, rest) {
        Err(Skip::NotIp) => match behind_tag(rest) {
            Some(rest) => typed(rest, 0),
            None => Err(Skip::NotIp),
        },
        next => next,
    }
}

fn after_type(kind: u16, rest: &[u8]) -> Next<'_> {
    match kind {
        IPV4 | IPV6 => Ok((Layer::Ip, rest)),
        // 802.1Q, 802.1ad and their predecessors, and a VLAN that stands for a switch port.
        VLAN | 0x88A8 | 0x9100 | 0x9200 | 0xDADB => typed(rest, 2),
        0x8847 | 0x8848 => Ok((Layer::Mpls, rest)),
        // A PPPoE session, and PPP without PPPoE.
        0x8864 => Ok((Layer::Ppp, from(rest, 6)?)),
        0x880B => Ok((Layer::Ppp, rest)),
        // Ethernet in a tunnel ("transparent bridging"), and in a provider's backbone (802.1ah).
        0x6558 => Ok((Layer::Ethernet, rest)),
        0x88E7 => Ok((Layer::Ethernet, from(rest, 4)?)),
        // Tags of switch chips by Marvell, Broadcom, Realtek and Renesas.
        0xDADA | 0xE001 => typed(rest, 6),
        0x8874 => typed(rest, 4),
        0x8899 => match rest.first().ok_or(Skip::CutHeader)? {
            0x04 => typed(rest, 6),
            0x90..=0xAF => typed(rest, 2),
            _ => Err(Skip::NotIp),
        },
        // A length in place of a type (IEEE 802.3).
        0..=1500 => match rest {
            [0xAA, 0xAA, ..] | [0xFE, 0xFE, ..] | [0x06, 0x06, ..] => Ok((Layer::Llc, rest)),
            _ => Err(Skip::NotIp),
        },
        _ => Err(Skip::NotIp),
    }
}

/// Returns the bytes from the Ethernet type on that a tag of 2, 4 or 8 bytes hides. The bytes
/// `rest` follow the first two of the tag. Only an IP packet or a VLAN tag confirms a tag.
fn behind_tag(rest: &[u8]) -> Option<&[u8]> {
    [0, 2, 6].into_iter().find_map(|skipped| {
        let bytes = rest.get(skipped..)?;
        let (kind, first) = (Order::Big.short(bytes, 0)?, bytes.get(2)?);
        let is_packet = match kind {
            IPV4 => (0x45..=0x4F).contains(first),
            IPV6 => first >> 4 == 6,
            VLAN => matches!(Order::Big.short(bytes, 4), Some(IPV4 | IPV6)),
            _ => false,
        };
        is_packet.then_some(bytes)
    })
}

fn after_llc(rest: &[u8]) -> Next<'_> {
    match rest {
        [0xAA, 0xAA, 0x03, 0, 0, 0 | 0xF8, ..] => typed(rest, 6),
        // Bridged Ethernet, with two bytes of padding (RFC 2684).
        [0xAA, 0xAA, 0x03, 0, 0x80, 0xC2, 0, 1 | 7, ..] => Ok((Layer::Ethernet, from(rest, 10)?)),
        [0xFE, 0xFE, 0x03, 0xCC | 0x8E, packet @ ..] | [0x06, 0x06, 0x03, packet @ ..] => {
            Ok((Layer::Ip, packet))
        }
        [0xFE, 0xFE, 0x03, 0xCF, frame @ ..] => Ok((Layer::Ppp, frame)),
        [_, _, _, _, _, _, ..] => Err(Skip::NotIp),
        _ => Err(Skip::CutHeader),
    }
}

/// Reads the protocol of a PPP frame. The sender may omit the address and control bytes, and the
/// first byte of the protocol.
fn after_ppp(frame: &[u8]) -> Next<'_> {
    let rest = frame.strip_prefix(&[0xFF, 0x03]).unwrap_or(frame);
    match rest {
        [0x00, 0x21 | 0x57, packet @ ..] | [0x21 | 0x57, packet @ ..] => Ok((Layer::Ip, packet)),
        [0x02, 0x81 | 0x83, labels @ ..] => Ok((Layer::Mpls, labels)),
        // Bridged Ethernet (RFC 3518), behind a byte of flags.
        [0x00, 0x31, _, 1, frame @ ..] | [0x31, _, 1, frame @ ..] => Ok((Layer::Ethernet, frame)),
        [_, _, ..] => Err(Skip::NotIp),
        _ => Err(Skip::CutHeader),
    }
}

/// Reads a label. The last label does not name what follows: IP begins with its version, the control
/// word of a pseudowire with 0 (RFC 4385), and Ethernet may follow without one.
fn after_label(rest: &[u8]) -> Next<'_> {
    let (label, payload) = rest.split_at_checked(4).ok_or(Skip::CutHeader)?;
    if label[2] & 1 == 0 {
        return Ok((Layer::Mpls, payload));
    }
    match payload {
        [0x45..=0x4F | 0x60..=0x6F, ..] if !is_ethernet(payload) => Ok((Layer::Ip, payload)),
        [0x00..=0x0F, _, _, _, frame @ ..] if is_ethernet(frame) => Ok((Layer::Ethernet, frame)),
        _ if is_ethernet(payload) => Ok((Layer::Ethernet, payload)),
        [] => Err(Skip::CutHeader),
        _ => Err(Skip::NotIp),
    }
}

/// Returns true if the bytes hold two addresses and a known Ethernet type with what it announces.
fn is_ethernet(frame: &[u8]) -> bool {
    match (Order::Big.short(frame, 12), frame.get(14)) {
        (Some(IPV4), Some(first)) => (0x45..=0x4F).contains(first),
        (Some(IPV6), Some(first)) => first >> 4 == 6,
        (Some(VLAN | 0x88A8 | 0x8847), Some(_)) => true,
        _ => false,
    }
}

fn after_cisco_hdlc(frame: &[u8]) -> Next<'_> {
    match frame {
        [0xFF, 0x03, ..] => Ok((Layer::Ppp, frame)),
        [0x0F | 0x8F, 0, ..] => typed(frame, 2),
        [_, _, ..] => Err(Skip::NotIp),
        _ => Err(Skip::CutHeader),
    }
}

/// Reads an address, whose last byte has its lowest bit set, and the protocol in IETF's or Cisco's
/// encapsulation.
fn after_frame_relay(frame: &[u8]) -> Next<'_> {
    let address = frame.iter().take(4).position(|byte| byte & 1 == 1);
    let end = address.map_or(Err(Skip::BadHeader), |last| Ok(last + 1))?;
    match from(frame, end)? {
        [0x03, 0xCC | 0x8E, packet @ ..] => Ok((Layer::Ip, packet)),
        [0x03, 0xCF, frame @ ..] => Ok((Layer::Ppp, frame)),
        snap @ ([0x03, 0x80, 0, 0, 0, ..] | [0x03, 0, 0x80, 0, 0, 0, ..]) => {
            typed(snap, if snap[1] == 0x80 { 5 } else { 6 })
        }
        rest => typed(rest, 0),
    }
}
