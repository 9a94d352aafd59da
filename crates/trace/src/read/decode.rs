//! A captured frame taken apart.

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
    /// Where it came from; port 0 where there are no ports.
    pub source: SocketAddr,
    /// Where it went.
    pub destination: SocketAddr,
    /// The number of its protocol: 6 for TCP, 17 for UDP.
    pub protocol: u8,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Bytes of the IP packet as sent.
    pub ip_bytes: u32,
    /// Bytes of the frame as sent.
    pub frame_bytes: u32,
    /// Which way it went, as far as the capture tells.
    pub heading: Heading,
    /// What it carries.
    pub transport: Transport,
}

/// What an IP packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A TCP segment.
    Tcp(TcpHeader),
    /// A UDP datagram with so many bytes of payload.
    Udp(u32),
    /// Anything else.
    Other,
}

/// Takes a frame apart.
///
/// # Errors
///
/// Why it cannot be.
pub fn decode(frame: &Frame<'_>) -> Result<Datagram, Skip> {
    // Sums of lengths are kept, and sequence numbers go on by them.
    if frame.original_len as usize > LARGEST_RECORD {
        return Err(Skip::BadHeader);
    }
    let (packet, heading) = ip_in(frame.link, frame.bytes)?;
    let header_bytes = (frame.bytes.len() - packet.len()) as u32;
    let packet = ip_packet(packet, frame.original_len.saturating_sub(header_bytes))?;
    let (ports, transport) = match packet.protocol {
        6 => {
            let (ports, header) = tcp_header(packet.payload, packet.payload_len)?;
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
        ip_bytes: packet.length,
        frame_bytes: frame.original_len,
        heading: if told { frame.heading } else { heading },
        transport,
    })
}
