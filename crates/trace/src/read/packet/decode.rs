//! Decoding of the headers of a captured frame.

use super::heading::Heading;
use super::link_layer::ip_in;
use super::network_layer::{IpPacket, ip_packet};
use super::tcp_header::{TcpHeader, tcp_header};
use super::tunnel::ip_within;
use super::wireless;
use crate::read::bytes::Order;
use crate::read::file::{Frame, LARGEST_RECORD};
use crate::read::tally::Skip;
use goodqueue_types::Ecn;
use std::net::SocketAddr;

/// An IP packet of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Source address; the port is 0 if the protocol has no ports.
    pub source: SocketAddr,
    /// Destination address; the port is 0 if the protocol has no ports.
    pub destination: SocketAddr,
    /// Protocol number: 6 for TCP, 17 for UDP.
    pub protocol: u8,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Identification field of IPv4, which IPv6 does not have.
    pub id: Option<u16>,
    /// Length of the IP packet as sent, in bytes.
    pub ip_bytes: u32,
    /// Length of the frame as sent, in bytes.
    pub frame_bytes: u32,
    /// Direction of the packet, as far as the capture records it.
    pub heading: Heading,
    /// Index of the interface that captured the packet, counted from 0.
    pub interface: u32,
    /// True if the captured part ends within the transport header, so that options are missing.
    pub cut: bool,
    /// Transport header and payload.
    pub transport: Transport,
}

/// Payload of an IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A TCP segment.
    Tcp(TcpHeader),
    /// A UDP datagram, with the length of its payload in bytes.
    Udp(u32),
    /// Any other protocol.
    Other,
}

/// Largest number of tunnels within one another. Deeper ones are not opened.
const MAX_TUNNELS: usize = 8;

/// Decodes the packets of a frame, which are several if IEEE 802.11 aggregated them. `take` gets
/// each packet, or the reason why it cannot be decoded.
pub fn decode_each(frame: &Frame<'_>, mut take: impl FnMut(Result<Datagram, Skip>)) {
    if !wireless::each_part(frame, |part| take(decode(part))) {
        take(decode(frame));
    }
}

/// Decodes the link, network and transport headers of a frame, and of the packet within its
/// innermost tunnel.
///
/// # Errors
///
/// Returns the reason if the frame cannot be decoded.
pub fn decode(frame: &Frame<'_>) -> Result<Datagram, Skip> {
    // Longer frames are refused, because callers add up lengths and advance sequence numbers by
    // them.
    if frame.original_len as usize > LARGEST_RECORD {
        return Err(Skip::BadHeader);
    }
    let found = ip_in(frame.link, frame.bytes)?;
    let header_bytes = (frame.bytes.len() - found.packet.len()) as u32;
    let wire = frame.original_len.saturating_sub(header_bytes);
    let packet = innermost(ip_packet(found.packet, wire)?)?;
    let mut cut = false;
    let (ports, transport) = match packet.protocol {
        6 => {
            let (ports, header) = tcp_header(packet.payload, packet.payload_len)?;
            cut = packet.payload.len() < (packet.payload_len - header.payload) as usize;
            (ports, Transport::Tcp(header))
        }
        17 => {
            let port = |at| Order::Big.short(packet.payload, at);
            let ports = port(0).zip(port(2)).ok_or(Skip::CutHeader)?;
            let payload = packet.payload_len.checked_sub(8).ok_or(Skip::BadHeader)?;
            (ports, Transport::Udp(payload))
        }
        _ => ((0, 0), Transport::Other),
    };
    Ok(Datagram {
        source: SocketAddr::new(packet.source, ports.0),
        destination: SocketAddr::new(packet.destination, ports.1),
        protocol: packet.protocol,
        ecn: packet.ecn,
        id: packet.id,
        ip_bytes: packet.length,
        frame_bytes: frame.original_len.saturating_sub(found.metadata as u32),
        heading: frame.heading.or(found.heading),
        interface: frame.interface,
        cut,
        transport,
    })
}

/// Returns the packet within the innermost tunnel.
fn innermost(mut packet: IpPacket<'_>) -> Result<IpPacket<'_>, Skip> {
    for _ in 0..MAX_TUNNELS {
        let Some(inner) = ip_within(&packet)? else {
            break;
        };
        let header_bytes = (packet.payload.len() - inner.len()) as u32;
        match ip_packet(inner, packet.payload_len.saturating_sub(header_bytes)) {
            Ok(inner) => packet = inner,
            // Data that only resemble a tunnel are the payload of this packet.
            Err(Skip::NotIp | Skip::BadHeader) => break,
            Err(skip) => return Err(skip),
        }
    }
    Ok(packet)
}
