//! IPv4 (RFC 791) and IPv6 (RFC 8200) headers.

use crate::read::tally::Skip;
use goodqueue_types::Ecn;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Fields of an IP header, and the payload that follows it.
pub(super) struct IpPacket<'a> {
    pub source: IpAddr,
    pub destination: IpAddr,
    pub protocol: u8,
    pub ecn: Ecn,
    /// Identification field, which IPv6 does not have.
    pub id: Option<u16>,
    /// Length of the packet as sent, in bytes, header included.
    pub length: u32,
    /// Length of the payload after the IP header and its extensions, as sent, in bytes.
    pub payload_len: u32,
    /// Captured part of the payload.
    pub payload: &'a [u8],
}

/// Decodes an IP header of either version. `wire` is the length of the packet that follows from the
/// frame's length. It replaces a length field of 0, which super-segments above 64 KiB have.
pub(super) fn ip_packet(bytes: &[u8], wire: u32) -> Result<IpPacket<'_>, Skip> {
    match bytes.first().ok_or(Skip::CutHeader)? >> 4 {
        4 => ipv4(bytes, wire),
        6 => ipv6(bytes, wire),
        _ => Err(Skip::NotIp),
    }
}

fn ecn_of(bits: u8) -> Ecn {
    match bits & 3 {
        0 => Ecn::NotCapable,
        1 => Ecn::Capable1,
        2 => Ecn::Capable0,
        _ => Ecn::Experienced,
    }
}

fn ipv4(bytes: &[u8], wire: u32) -> Result<IpPacket<'_>, Skip> {
    let header = bytes.get(..20).ok_or(Skip::CutHeader)?;
    let header_len = usize::from(header[0] & 15) * 4;
    let length = match u16::from_be_bytes([header[2], header[3]]) {
        0 => wire,
        length => u32::from(length),
    };
    if header_len < 20 || (length as usize) < header_len {
        return Err(Skip::BadHeader);
    }
    let place = u16::from_be_bytes([header[6], header[7]]);
    if place & 0x1FFF != 0 {
        return Err(Skip::LaterFragment);
    }
    let address =
        |at: usize| Ipv4Addr::new(header[at], header[at + 1], header[at + 2], header[at + 3]);
    let captured = bytes.len().min(length as usize);
    Ok(IpPacket {
        source: address(12).into(),
        destination: address(16).into(),
        protocol: header[9],
        ecn: ecn_of(header[1]),
        id: Some(u16::from_be_bytes([header[4], header[5]])),
        length,
        payload_len: length - header_len as u32,
        payload: bytes.get(header_len..captured).ok_or(Skip::CutHeader)?,
    })
}

fn ipv6(bytes: &[u8], wire: u32) -> Result<IpPacket<'_>, Skip> {
    let header = bytes.get(..40).ok_or(Skip::CutHeader)?;
    let length = match u16::from_be_bytes([header[4], header[5]]) {
        0 => wire,
        length => u32::from(length) + 40,
    };
    if length < 40 {
        return Err(Skip::BadHeader);
    }
    let class = header[0] << 4 | header[1] >> 4;
    let address = |at: usize| {
        let octets: [u8; 16] = header[at..at + 16].try_into().unwrap_or_default();
        Ipv6Addr::from(octets)
    };
    let extensions = past_extensions(header[6], bytes)?;
    let payload_len = length
        .checked_sub(extensions.end as u32)
        .ok_or(Skip::BadHeader)?;
    let captured = bytes.len().min(length as usize);
    Ok(IpPacket {
        source: address(8).into(),
        destination: address(24).into(),
        protocol: extensions.protocol,
        ecn: ecn_of(class),
        id: None,
        length,
        payload_len,
        payload: bytes.get(extensions.end..captured).ok_or(Skip::CutHeader)?,
    })
}

/// End of the extension headers of an IPv6 packet, and the protocol that follows them.
struct Extensions {
    protocol: u8,
    end: usize,
}

const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;

fn past_extensions(first: u8, bytes: &[u8]) -> Result<Extensions, Skip> {
    let mut found = Extensions {
        protocol: first,
        end: 40,
    };
    loop {
        // Hop-by-hop, routing, fragment, authentication and destination options, mobility, HIP,
        // shim6.
        if !matches!(
            found.protocol,
            0 | 43 | FRAGMENT | AUTHENTICATION | 60 | 135 | 139 | 140
        ) {
            return Ok(found);
        }
        let start = bytes.get(found.end..found.end + 8).ok_or(Skip::CutHeader)?;
        let counted = usize::from(start[1]);
        found.end += match found.protocol {
            FRAGMENT => {
                if u16::from_be_bytes([start[2], start[3]]) & 0xFFF8 != 0 {
                    return Err(Skip::LaterFragment);
                }
                8
            }
            // The length field counts words of four bytes and leaves out the first two words.
            AUTHENTICATION => (counted + 2) * 4,
            _ => (counted + 1) * 8,
        };
        found.protocol = start[0];
    }
}
