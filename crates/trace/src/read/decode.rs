//! Decoding of the headers of a captured frame.

use super::bytes::Order;
use super::capture::{Frame, LARGEST_RECORD};
use super::link_layer::{Heading, ip_in};
use super::network_layer::ip_packet;
use super::tally::Skip;
use super::tcp_header::{TcpHeader, tcp_header};
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

/// Decodes the link, network and transport headers of a frame.
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
    let (packet, heading) = ip_in(frame.link, frame.bytes)?;
    let header_bytes = (frame.bytes.len() - packet.len()) as u32;
    let packet = ip_packet(packet, frame.original_len.saturating_sub(header_bytes))?;
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
    let told = frame.heading != Heading::Unknown;
    Ok(Datagram {
        source: SocketAddr::new(packet.source, ports.0),
        destination: SocketAddr::new(packet.destination, ports.1),
        protocol: packet.protocol,
        ecn: packet.ecn,
        id: packet.id,
        ip_bytes: packet.length,
        frame_bytes: frame.original_len,
        heading: if told { frame.heading } else { heading },
        interface: frame.interface,
        cut,
        transport,
    })
}
