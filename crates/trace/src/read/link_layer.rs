//! Link-layer headers, up to the IP packet that a frame carries.

use super::bytes::Order;
use super::tally::Skip;

/// A link type by its registered number (www.tcpdump.org/linktypes.html).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkType(pub u16);

impl LinkType {
    /// BSD loopback: the address family in the byte order of the capturing host.
    pub const NULL: Self = Self(0);
    /// Ethernet.
    pub const ETHERNET: Self = Self(1);
    /// PPP, with or without its address and control bytes.
    pub const PPP: Self = Self(9);
    /// Raw IP of either version, by the number that some systems use in files.
    pub const RAW_BSD: Self = Self(12);
    /// Raw IP of either version, by the number that OpenBSD uses.
    pub const RAW_OPENBSD: Self = Self(14);
    /// PPP in HDLC-like framing.
    pub const PPP_HDLC: Self = Self(50);
    /// Raw IP of either version.
    pub const RAW: Self = Self(101);
    /// OpenBSD loopback: the address family with the high byte first.
    pub const LOOP: Self = Self(108);
    /// Linux "cooked" capture.
    pub const LINUX_SLL: Self = Self(113);
    /// IPv4 without a link-layer header.
    pub const IPV4: Self = Self(228);
    /// IPv6 without a link-layer header.
    pub const IPV6: Self = Self(229);
    /// Linux "cooked" capture, version 2.
    pub const LINUX_SLL2: Self = Self(276);
}

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

    /// Converts pcapng's `epb_flags`.
    pub(super) fn of_flags(flags: u32) -> Self {
        match flags & 3 {
            1 => Self::In,
            2 => Self::Out,
            _ => Self::Unknown,
        }
    }

    fn of_cooked(packet_type: u16) -> Self {
        match packet_type {
            0 => Self::In,
            4 => Self::Out,
            _ => Self::Unknown,
        }
    }

    /// Derives the direction from the order of two Ethernet addresses, which separates the two
    /// directions between two stations.
    fn of_stations(destination: &[u8], source: &[u8]) -> Self {
        match source.cmp(destination) {
            std::cmp::Ordering::Less => Self::In,
            std::cmp::Ordering::Equal => Self::Unknown,
            std::cmp::Ordering::Greater => Self::Out,
        }
    }
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86DD;

/// Returns the IP packet in a frame, from its version field on, and the frame's direction. Bytes
/// that follow the IP packet are not cut off.
pub(super) fn ip_in(link: LinkType, frame: &[u8]) -> Result<(&[u8], Heading), Skip> {
    match link {
        LinkType::ETHERNET => {
            let addresses = frame.get(..12).ok_or(Skip::CutHeader)?;
            let heading = Heading::of_stations(&addresses[..6], &addresses[6..]);
            Ok((after_type(frame, 12)?, heading))
        }
        LinkType::RAW
        | LinkType::RAW_BSD
        | LinkType::RAW_OPENBSD
        | LinkType::IPV4
        | LinkType::IPV6 => Ok((frame, Heading::Unknown)),
        LinkType::LINUX_SLL => {
            let heading = Heading::of_cooked(short(frame, 0)?);
            Ok((after_type(frame, 14)?, heading))
        }
        LinkType::LINUX_SLL2 => {
            let header = frame.get(..20).ok_or(Skip::CutHeader)?;
            let heading = Heading::of_cooked(u16::from(header[10]));
            let body = after_tags(short(frame, 0)?, &frame[20..])?;
            Ok((body, heading))
        }
        LinkType::PPP | LinkType::PPP_HDLC => Ok((in_ppp(frame)?, Heading::Unknown)),
        // The version field of the IP header replaces the address family, whose byte order varies.
        LinkType::NULL | LinkType::LOOP => {
            Ok((frame.get(4..).ok_or(Skip::CutHeader)?, Heading::Unknown))
        }
        _ => Err(Skip::UnknownLinkType),
    }
}

fn short(bytes: &[u8], at: usize) -> Result<u16, Skip> {
    Order::Big.short(bytes, at).ok_or(Skip::CutHeader)
}

/// Returns the bytes that follow the Ethernet type at offset `at`.
fn after_type(frame: &[u8], at: usize) -> Result<&[u8], Skip> {
    after_tags(short(frame, at)?, &frame[at + 2..])
}

/// Skips any VLAN tags (802.1Q, 802.1ad and their predecessors) and returns the bytes after them.
fn after_tags(mut kind: u16, mut rest: &[u8]) -> Result<&[u8], Skip> {
    loop {
        match kind {
            IPV4 | IPV6 => return Ok(rest),
            0x8100 | 0x88A8 | 0x9100 | 0x9200 => {
                kind = short(rest, 2)?;
                rest = &rest[4..];
            }
            // A PPPoE session: the PPPoE header comes first, then PPP.
            0x8864 => return in_ppp(rest.get(6..).ok_or(Skip::CutHeader)?),
            _ => return Err(Skip::NotIp),
        }
    }
}

/// Returns the IP packet in a PPP frame (RFC 1661, RFC 1662). The sender may omit the address and
/// control bytes, and the first byte of the protocol.
fn in_ppp(frame: &[u8]) -> Result<&[u8], Skip> {
    let rest = frame.strip_prefix(&[0xFF, 0x03]).unwrap_or(frame);
    match rest {
        [0x00, 0x21 | 0x57, packet @ ..] | [0x21 | 0x57, packet @ ..] => Ok(packet),
        [_, _, ..] => Err(Skip::NotIp),
        _ => Err(Skip::CutHeader),
    }
}
