//! Tunnels: IP packets within the payload of another IP packet.

use super::layers::{Layer, from, ip_behind, short};
use super::network_layer::IpPacket;
use crate::read::tally::Skip;

/// Returns the IP packet that a packet carries, or none if it carries no other. The formats that
/// only a UDP port announces have to fit completely.
///
/// # Errors
///
/// Returns an error if the packet certainly carries another, which cannot be decoded.
pub(super) fn ip_within<'a>(packet: &IpPacket<'a>) -> Result<Option<&'a [u8]>, Skip> {
    let payload = packet.payload;
    let within = match packet.protocol {
        4 | 41 => Ok(payload),
        47 => in_gre(payload),
        137 => ip_behind(Layer::Mpls, payload),
        17 => return Ok(in_udp(payload).ok()),
        _ => return Ok(None),
    };
    match within {
        Ok(inner) => Ok(Some(inner)),
        Err(Skip::CutHeader) => Err(Skip::CutHeader),
        Err(_) => Ok(None),
    }
}

/// Reads a GRE header (RFC 2784, RFC 2890), or the one of PPTP (RFC 2637).
fn in_gre(bytes: &[u8]) -> Result<&[u8], Skip> {
    let (flags, kind) = (short(bytes, 0)?, short(bytes, 2)?);
    let has = |bit: u16| flags & bit != 0;
    let word = |there: bool| if there { 4 } else { 0 };
    let (checksum, routing, key, sequence) = (has(0x8000), has(0x4000), has(0x2000), has(0x1000));
    if routing {
        return Err(Skip::NotIp);
    }
    let mut at = 4 + word(checksum) + word(key) + word(sequence);
    match (flags & 7, kind) {
        // Ethernet over the tunnels of MikroTik, whose length and number are always there.
        (1, 0x6400) => return ip_behind(Layer::Ethernet, from(bytes, 8)?),
        (1, _) => at += word(has(0x80)),
        _ => {}
    }
    let rest = from(bytes, at)?;
    match kind {
        // Mirrored frames (ERSPAN): the first type has no header, the second has a sequence number.
        0x88BE => ip_behind(Layer::Ethernet, from(rest, if sequence { 8 } else { 0 })?),
        0x22EB => {
            let more = rest.get(11).ok_or(Skip::CutHeader)? & 1 != 0;
            ip_behind(Layer::Ethernet, from(rest, if more { 20 } else { 12 })?)
        }
        _ => ip_behind(Layer::Type(kind), rest),
    }
}

fn in_udp(bytes: &[u8]) -> Result<&[u8], Skip> {
    let port = short(bytes, 2)?;
    let rest = from(bytes, 8)?;
    let inner = match port {
        4789 | 8472 => in_vxlan(rest),
        6081 => in_geneve(rest),
        2152 => in_gtp(rest),
        1701 => in_l2tp(rest),
        6635 => ip_behind(Layer::Mpls, rest),
        37_008 => in_tzsp(rest),
        _ => Err(Skip::NotIp),
    }?;
    // Data that look like a tunnel may be others of the same port.
    match inner.first().ok_or(Skip::CutHeader)? {
        0x45..=0x4F | 0x60..=0x6F => Ok(inner),
        _ => Err(Skip::NotIp),
    }
}

/// Reads a VXLAN header (RFC 7348), whose flag says that it has a number.
fn in_vxlan(bytes: &[u8]) -> Result<&[u8], Skip> {
    match bytes {
        [flags, _, _, _, _, _, _, _, frame @ ..] if flags & 8 != 0 => {
            ip_behind(Layer::Ethernet, frame)
        }
        _ => Err(Skip::NotIp),
    }
}

/// Reads a GENEVE header (RFC 8926) of version 0, whose options are counted in words of four bytes.
fn in_geneve(bytes: &[u8]) -> Result<&[u8], Skip> {
    let first = *bytes.first().ok_or(Skip::CutHeader)?;
    let rest = from(bytes, 8 + usize::from(first & 0x3F) * 4)?;
    if first >> 6 != 0 {
        return Err(Skip::NotIp);
    }
    ip_behind(Layer::Type(short(bytes, 2)?), rest)
}

/// Reads a GTP-U header (3GPP TS 29.281) of a packet of a user, and its extension headers.
fn in_gtp(bytes: &[u8]) -> Result<&[u8], Skip> {
    let (first, kind) = match bytes {
        [first, kind, ..] => (*first, *kind),
        _ => return Err(Skip::CutHeader),
    };
    if first >> 4 != 3 || kind != 0xFF {
        return Err(Skip::NotIp);
    }
    let has_more = first & 7 != 0;
    if !has_more {
        return from(bytes, 8);
    }
    let mut at = 12;
    let mut next = *bytes.get(11).ok_or(Skip::CutHeader)?;
    while first & 4 != 0 && next != 0 {
        let length = usize::from(*bytes.get(at).ok_or(Skip::CutHeader)?) * 4;
        if length == 0 {
            return Err(Skip::BadHeader);
        }
        at += length;
        next = *bytes.get(at - 1).ok_or(Skip::CutHeader)?;
    }
    from(bytes, at)
}

/// Reads an L2TP header (RFC 2661) of a data message, which carries PPP.
fn in_l2tp(bytes: &[u8]) -> Result<&[u8], Skip> {
    let flags = short(bytes, 0)?;
    let has = |bit: u16| usize::from(flags & bit != 0);
    if flags & 0x800F != 2 {
        return Err(Skip::NotIp);
    }
    let mut at = 6 + 2 * has(0x4000) + 4 * has(0x0800);
    if has(0x0200) == 1 {
        at += 2 + usize::from(short(bytes, at)?);
    }
    ip_behind(Layer::Ppp, from(bytes, at)?)
}

/// Reads a TZSP header, with which access points send captured Ethernet frames, and its tags.
fn in_tzsp(bytes: &[u8]) -> Result<&[u8], Skip> {
    let Some(mut rest) = bytes.strip_prefix(&[1, 0, 0, 1]) else {
        return Err(Skip::NotIp);
    };
    loop {
        rest = match rest {
            [1, frame @ ..] => return ip_behind(Layer::Ethernet, frame),
            [0, rest @ ..] => rest,
            [_, length, rest @ ..] => from(rest, usize::from(*length))?,
            _ => return Err(Skip::CutHeader),
        };
    }
}
