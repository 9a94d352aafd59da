//! The start of a frame of each link type, and the IP packet in it.

use super::heading::Heading;
use super::layers::{Layer, from, ip_behind, short};
use super::link_type::LinkType;
use super::wireless;
use crate::read::bytes::Order;
use crate::read::tally::Skip;

/// Largest number of link types around one another, such as IEEE 802.11 in PPI.
const MAX_LINKS: usize = 4;

/// IP packet found in a frame.
pub(super) struct Found<'a> {
    /// The packet from its version field on. Bytes that follow it are not cut off.
    pub packet: &'a [u8],
    pub heading: Heading,
    /// Number of bytes before the frame that were never sent: metadata of the capture.
    pub metadata: usize,
}

/// Start of a frame.
pub(super) enum Start<'a> {
    /// The first header of the frame, behind this number of bytes that were never sent.
    Header(usize, Layer, &'a [u8], Heading),
    /// Metadata in front of a frame of another link type.
    Metadata(LinkType, &'a [u8], Heading),
}

/// Returns the IP packet in a frame.
pub(super) fn ip_in(mut link: LinkType, frame: &[u8]) -> Result<Found<'_>, Skip> {
    let (mut rest, mut told) = (frame, Heading::Unknown);
    for _ in 0..MAX_LINKS {
        match start(link, rest)? {
            Start::Metadata(inner, bytes, heading) => {
                (link, rest, told) = (inner, bytes, told.or(heading));
            }
            Start::Header(metadata, layer, bytes, heading) => {
                return Ok(Found {
                    packet: ip_behind(layer, bytes)?,
                    heading: told.or(heading),
                    metadata: frame.len() - rest.len() + metadata,
                });
            }
        }
    }
    Err(Skip::BadHeader)
}

fn start(link: LinkType, frame: &[u8]) -> Result<Start<'_>, Skip> {
    let header = |layer, at| Ok(Start::Header(0, layer, from(frame, at)?, Heading::Unknown));
    match link {
        LinkType::ETHERNET => ethernet(frame, 12),
        LinkType::RAW
        | LinkType::RAW_BSD
        | LinkType::RAW_OPENBSD
        | LinkType::IPV4
        | LinkType::IPV6 => header(Layer::Ip, 0),
        LinkType::LINUX_SLL => {
            let heading = Heading::of_cooked(short(frame, 0)?);
            Ok(cooked(short(frame, 14)?, from(frame, 16)?, heading))
        }
        LinkType::LINUX_SLL2 => {
            let body = from(frame, 20)?;
            let heading = Heading::of_cooked(u16::from(frame[10]));
            Ok(cooked(short(frame, 0)?, body, heading))
        }
        LinkType::PPP | LinkType::PPP_HDLC => header(Layer::Ppp, 0),
        LinkType::PPP_ETHER => header(Layer::Ppp, 6),
        LinkType::C_HDLC => header(Layer::CiscoHdlc, 0),
        LinkType::FRELAY => header(Layer::FrameRelay, 0),
        LinkType::PPP_WITH_DIR | LinkType::PPP_PPPD => directed(LinkType::PPP, frame),
        LinkType::C_HDLC_WITH_DIR => directed(LinkType::C_HDLC, frame),
        LinkType::FRELAY_WITH_DIR => directed(LinkType::FRELAY, frame),
        // The version field of the IP header replaces the address family, whose byte order varies.
        LinkType::NULL | LinkType::LOOP => header(Layer::Ip, 4),
        LinkType::SLIP => header(Layer::Ip, 16),
        LinkType::ENC => header(Layer::Ip, 12),
        LinkType::FDDI => header(Layer::Llc, 13),
        LinkType::ATM_RFC1483 => header(Layer::Llc, 0),
        LinkType::SUNATM => header(Layer::Llc, 4),
        LinkType::DSA_TAG_BRCM | LinkType::DSA_TAG_DSA => ethernet(frame, 16),
        LinkType::DSA_TAG_EDSA => ethernet(frame, 20),
        LinkType::DSA_TAG_BRCM_PREPEND => ethernet(from(frame, 4)?, 12),
        LinkType::NETANALYZER => metadata(LinkType::ETHERNET, frame, 4),
        LinkType::ETHERNET_MPACKET => metadata(LinkType::ETHERNET, frame, 8),
        LinkType::PFLOG => {
            let length = usize::from(*frame.first().ok_or(Skip::CutHeader)?);
            metadata(LinkType::RAW, frame, length.next_multiple_of(4))
        }
        LinkType::NFLOG => netfilter_log(frame),
        LinkType::PKTAP | LinkType::USER2 => pktap(frame),
        LinkType::PPI => {
            let length = Order::Little.short(frame, 2).ok_or(Skip::CutHeader)?;
            let inner = Order::Little.word(frame, 4).ok_or(Skip::CutHeader)?;
            metadata(LinkType(inner as u16), frame, usize::from(length).max(8))
        }
        LinkType::IEEE802_11 => wireless::start(frame),
        LinkType::IEEE802_11_RADIOTAP => wireless::radiotap(frame),
        LinkType::IEEE802_11_PRISM | LinkType::IEEE802_11_AVS => wireless::prism(frame),
        _ => Err(Skip::UnknownLinkType),
    }
}

pub(super) fn metadata(link: LinkType, frame: &[u8], length: usize) -> Result<Start<'_>, Skip> {
    Ok(Start::Metadata(
        link,
        from(frame, length)?,
        Heading::Unknown,
    ))
}

/// Begins an Ethernet frame whose type is at offset `at`, behind the addresses and a switch's tag.
fn ethernet(frame: &[u8], at: usize) -> Result<Start<'_>, Skip> {
    let addresses = frame.get(..12).ok_or(Skip::CutHeader)?;
    let heading = Heading::of_stations(&addresses[..6], &addresses[6..]);
    if at == 12 {
        return Ok(Start::Header(0, Layer::Ethernet, frame, heading));
    }
    let layer = Layer::Type(short(frame, at)?);
    Ok(Start::Header(0, layer, from(frame, at + 2)?, heading))
}

/// Begins the payload of a Linux cooked frame with this protocol field.
fn cooked(protocol: u16, body: &[u8], heading: Heading) -> Start<'_> {
    Start::Header(0, Layer::Type(protocol), body, heading)
}

/// Reads the byte in front of a frame that is 0 for received frames.
fn directed(link: LinkType, frame: &[u8]) -> Result<Start<'_>, Skip> {
    let (direction, rest) = frame.split_first().ok_or(Skip::CutHeader)?;
    let heading = if *direction == 0 {
        Heading::In
    } else {
        Heading::Out
    };
    Ok(Start::Metadata(link, rest, heading))
}

/// Reads the attributes of a packet of Linux's netfilter log, up to its payload. Their lengths and
/// kinds are in the byte order of the host that captured. No attribute has a kind above 255.
fn netfilter_log(frame: &[u8]) -> Result<Start<'_>, Skip> {
    let (incoming, outgoing, payload) = (4, 5, 9);
    let first = Order::Little.short(frame, 6).ok_or(Skip::CutHeader)?;
    let order = if first <= 0xFF {
        Order::Little
    } else {
        Order::Big
    };
    let (mut at, mut interfaces) = (4, 0);
    loop {
        let length = order.short(frame, at).ok_or(Skip::CutHeader)?;
        let kind = order.short(frame, at + 2).ok_or(Skip::CutHeader)?;
        if length < 4 {
            return Err(Skip::BadHeader);
        }
        if kind == payload {
            let heading = Heading::of_flags(interfaces);
            let packet = from(frame, at + 4)?;
            return Ok(Start::Metadata(LinkType::RAW, packet, heading));
        }
        interfaces |= u32::from(kind == incoming) | u32::from(kind == outgoing) << 1;
        at += usize::from(length).next_multiple_of(4);
    }
}

/// Reads the header of macOS's PKTAP, in the byte order of Intel and ARM machines.
fn pktap(frame: &[u8]) -> Result<Start<'_>, Skip> {
    let word = |at| Order::Little.word(frame, at).ok_or(Skip::CutHeader);
    let (length, kind, link, flags) = (word(0)? as usize, word(4)?, word(8)?, word(36)?);
    if length < 40 || kind != 1 || link > u32::from(u16::MAX) {
        return Err(Skip::UnknownLinkType);
    }
    let inner = LinkType(link as u16);
    Ok(Start::Metadata(
        inner,
        from(frame, length)?,
        Heading::of_flags(flags),
    ))
}
