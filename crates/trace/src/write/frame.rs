//! The bytes of a packet's headers: Ethernet, IPv4, and TCP, UDP or ICMP, with correct checksums.
//!
//! A simulated packet has a size and fields but no bytes. Frames have a payload of zeros, which
//! adds nothing to the checksums: these remain valid wherever a frame is cut.

use goodqueue_types::{
    Body, Direction, Ecn, FastOpenOption, FlowId, Packet, Segment, SegmentFlags, Span, Time,
    Timestamps,
};

/// Length of an Ethernet header, in bytes.
pub const ETHERNET: usize = 14;
const IP: usize = 20;
const TCP: usize = 20;
const UDP: usize = 8;
const ICMP: usize = 8;
/// Largest length of TCP options, in bytes: the data offset has four bits (RFC 9293 section 3.1).
const MAX_OPTIONS: usize = 40;

/// Facts about a flow that its frames show but its simulated packets do not contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoints {
    /// Index of the flow among those between the same hosts, which have different ports.
    pub ordinal: u32,
    /// Parameters that the handshakes agree on, if this is a TCP flow.
    pub tcp: Option<TcpFacts>,
    /// Schedule of the echo requests, if this is a ping flow.
    pub echo: Option<Echo>,
}

/// Parameters that both ends of a flow's connections agree on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFacts {
    /// Largest payload of a segment, in bytes (RFC 9293 section 3.7.1).
    pub mss: u16,
    /// Window scale, in bits (RFC 7323 section 2); none if the option is not offered.
    pub window_scale: Option<u8>,
    /// True if SACK is permitted (RFC 2018 section 2).
    pub sack: bool,
}

/// Schedule of echo requests at constant intervals. A reply identifies its request by the time at
/// which the request left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// Time of the first request.
    pub start: Time,
    /// Time between two requests.
    pub interval: Span,
}

/// Source and destination of a packet in its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// IPv4 addresses of source and destination.
    pub ip: [[u8; 4]; 2],
    /// Ports of source and destination.
    pub ports: [u16; 2],
}

impl Addresses {
    /// Returns the addresses of a packet. Clients have addresses from 10.0.0.1, servers from
    /// 10.128.0.1. The client's port is derived from the connection and the server's from the flow.
    /// Both are from ranges that belong to no application, so that tools do not misinterpret the
    /// payload.
    pub fn from_packet(packet: &Packet, ordinal: u32) -> Self {
        let address = |base: u32, host: u16| (base + u32::from(host) + 1).to_be_bytes();
        let client = address(0x0A00_0000, packet.hosts.client);
        let server = address(0x0A80_0000, packet.hosts.server);
        let client_port = 49_152 + (packet.connection % 16_384) as u16;
        let server_port = 40_000 + (ordinal % 9_000) as u16;
        match packet.direction {
            Direction::Forward => Self {
                ip: [client, server],
                ports: [client_port, server_port],
            },
            Direction::Reverse => Self {
                ip: [server, client],
                ports: [server_port, client_port],
            },
        }
    }
}

/// The beginning of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    bytes: [u8; Self::ROOM],
    headers: usize,
    /// Length of the whole frame, in bytes.
    pub length: usize,
}

impl Frame {
    const ROOM: usize = ETHERNET + IP + TCP + MAX_OPTIONS;

    /// Returns all headers. The rest of the frame is zeros.
    pub fn headers(&self) -> &[u8] {
        &self.bytes[..self.headers]
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.headers..self.headers + bytes.len()].copy_from_slice(bytes);
        self.headers += bytes.len();
    }

    fn put16(&mut self, value: u16) {
        self.put(&value.to_be_bytes());
    }

    fn put32(&mut self, value: u32) {
        self.put(&value.to_be_bytes());
    }
}

/// Builds the frame of a packet.
pub fn frame(packet: &Packet, endpoints: &Endpoints) -> Frame {
    let addresses = Addresses::from_packet(packet, endpoints.ordinal);
    let mut frame = Frame {
        bytes: [0; Frame::ROOM],
        headers: 0,
        length: ETHERNET + shown_bytes(packet, endpoints),
    };
    ethernet(&mut frame, &addresses);
    match &packet.body {
        Body::Tcp(segment) => {
            ip(&mut frame, packet, &addresses, 6);
            tcp(&mut frame, segment, endpoints, &addresses);
        }
        Body::Datagram => {
            ip(&mut frame, packet, &addresses, 17);
            udp(&mut frame, &addresses);
        }
        Body::EchoRequest | Body::EchoReply { .. } => {
            ip(&mut frame, packet, &addresses, 1);
            icmp(&mut frame, packet, endpoints);
        }
    }
    frame
}

/// Returns the length of the IP packet in the frame, in bytes. It exceeds the length of the
/// simulated packet if the headers do not fit into that length, because some models count no bytes
/// for options.
pub fn shown_bytes(packet: &Packet, endpoints: &Endpoints) -> usize {
    match &packet.body {
        Body::Tcp(segment) => {
            let options = options_bytes(segment, endpoints.tcp);
            IP + TCP + options + segment.payload as usize
        }
        Body::Datagram => (packet.size as usize).clamp(IP + UDP, 0xFFFF),
        Body::EchoRequest | Body::EchoReply { .. } => {
            (packet.size as usize).clamp(IP + ICMP, 0xFFFF)
        }
    }
}

/// Writes the Ethernet header. The addresses are locally administered, which their second bit marks
/// (IEEE 802), and contain the host's IP address.
fn ethernet(frame: &mut Frame, addresses: &Addresses) {
    for ip in [addresses.ip[1], addresses.ip[0]] {
        frame.put(&[0x02, 0x00]);
        frame.put(&ip);
    }
    frame.put16(0x0800);
}

/// Writes the IPv4 header (RFC 791 section 3.1).
fn ip(frame: &mut Frame, packet: &Packet, addresses: &Addresses, protocol: u8) {
    let ecn = match packet.ecn {
        Ecn::NotCapable => 0,
        Ecn::Capable1 => 1,
        Ecn::Capable0 => 2,
        Ecn::Experienced => 3,
    };
    frame.put(&[0x45, packet.dscp << 2 | ecn]);
    frame.put16((frame.length - ETHERNET) as u16);
    frame.put16(packet.number as u16);
    // The flags forbid fragmentation, and the time to live is 64 hops.
    frame.put(&[0x40, 0x00, 64, protocol, 0, 0]);
    frame.put(&addresses.ip[0]);
    frame.put(&addresses.ip[1]);
    let header = &frame.bytes[ETHERNET..ETHERNET + IP];
    let checksum = fold(sum(header));
    set_checksum(frame, ETHERNET + 10, checksum);
}

/// Writes the TCP header (RFC 9293 section 3.1). Sequence numbers begin at 0 and wrap at 32 bits.
fn tcp(frame: &mut Frame, segment: &Segment, endpoints: &Endpoints, addresses: &Addresses) {
    let begin = frame.headers;
    let has = |flag| segment.flags.contains(flag);
    let scale = endpoints.tcp.and_then(|tcp| tcp.window_scale).unwrap_or(0);
    // The window of a SYN is never scaled (RFC 7323 section 2.2).
    let shift = if has(SegmentFlags::SYN) { 0 } else { scale };
    let words = (TCP + options_bytes(segment, endpoints.tcp)) / 4;
    frame.put16(addresses.ports[0]);
    frame.put16(addresses.ports[1]);
    frame.put32(segment.seq as u32);
    let ack = if has(SegmentFlags::ACK) {
        segment.ack
    } else {
        0
    };
    frame.put32(ack as u32);
    frame.put16((words << 12) as u16 | segment.flags.0 & 0x1FF);
    frame.put16((segment.window >> shift).min(0xFFFF) as u16);
    // The checksum, for now 0, and the urgent pointer.
    frame.put32(0);
    options(frame, segment, endpoints.tcp);
    // Options that the model counts without content become the end-of-list option, which is zeros
    // like the rest of the frame.
    frame.headers = begin + 4 * words;
    transport_checksum(frame, begin, begin + 16, 6, addresses);
}

/// Returns the number of the segment's SACK blocks that fit.
fn blocks_shown(segment: &Segment) -> usize {
    let room = if segment.timestamps.is_present() {
        3
    } else {
        4
    };
    segment.sack.len().min(room)
}

/// Returns the length of the options, in bytes: the length of the segment's options, or the length
/// that the model counts for options if that is larger. Each option, or pair of options, fills
/// whole words, as in Linux, where the AccECN option and SACK blocks share their padding.
fn options_bytes(segment: &Segment, tcp: Option<TcpFacts>) -> usize {
    let mut needed = 12 * usize::from(segment.timestamps.is_present());
    if let Some(tcp) = tcp.filter(|_| segment.flags.contains(SegmentFlags::SYN)) {
        let beside = tcp.sack && segment.timestamps.is_present();
        needed += 4 + 4 * usize::from(tcp.window_scale.is_some());
        needed += 4 * usize::from(tcp.sack && !beside);
        needed += usize::from(segment.fast_open.padded());
    }
    let mut loose = segment.accecn().length();
    if !segment.sack.is_empty() {
        loose += 2;
        needed += 8 * blocks_shown(segment);
    }
    needed += loose.next_multiple_of(4);
    let counted = (segment.header as usize).saturating_sub(IP + TCP);
    needed.max(counted).next_multiple_of(4).min(MAX_OPTIONS)
}

const NO_OPERATION: u8 = 1;

fn options(frame: &mut Frame, segment: &Segment, tcp: Option<TcpFacts>) {
    let opening = tcp.filter(|_| segment.flags.contains(SegmentFlags::SYN));
    let permits_sack = opening.is_some_and(|tcp| tcp.sack);
    if let Some(tcp) = opening {
        frame.put(&[2, 4]);
        frame.put16(tcp.mss);
    }
    if permits_sack || segment.timestamps.is_present() {
        frame.put(if permits_sack {
            &[4, 2]
        } else {
            &[NO_OPERATION; 2]
        });
        if segment.timestamps.is_present() {
            let Timestamps { value, echo } = segment.timestamps;
            frame.put(&[8, 10]);
            frame.put32(value);
            frame.put32(echo);
        } else {
            frame.put(&[NO_OPERATION; 2]);
        }
    }
    if let Some(scale) = opening.and_then(|tcp| tcp.window_scale) {
        frame.put(&[NO_OPERATION, 3, 3, scale]);
    }
    fast_open(frame, segment.fast_open);
    if segment.accecn().is_present() {
        frame.put(&[segment.accecn().kind(), segment.accecn().length() as u8]);
        for (_, counter) in segment.accecn().counters() {
            frame.put(&counter.to_be_bytes()[1..]);
        }
    }
    let loose = segment.accecn().length() + 2 * usize::from(!segment.sack.is_empty());
    for _ in loose..loose.next_multiple_of(4) {
        frame.put(&[NO_OPERATION]);
    }
    if !segment.sack.is_empty() {
        let blocks = blocks_shown(segment);
        frame.put(&[5, 2 + 8 * blocks as u8]);
        for (start, end) in segment.sack.ranges(segment.ack).take(blocks) {
            frame.put32(start as u32);
            frame.put32(end as u32);
        }
    }
}

/// Writes the Fast Open option (RFC 7413 section 4.1.1). Cookies have no content in the model, so they
/// are zeros.
fn fast_open(frame: &mut Frame, option: FastOpenOption) {
    if option == FastOpenOption::None {
        return;
    }
    frame.put(&[FastOpenOption::KIND, option.length() as u8]);
    if option == FastOpenOption::Cookie {
        frame.put(&[0; FastOpenOption::COOKIE]);
    }
    frame.put(&[NO_OPERATION; 2]);
}

/// Writes the UDP header (RFC 768).
fn udp(frame: &mut Frame, addresses: &Addresses) {
    let begin = frame.headers;
    frame.put16(addresses.ports[0]);
    frame.put16(addresses.ports[1]);
    frame.put16((frame.length - begin) as u16);
    frame.put16(0);
    transport_checksum(frame, begin, begin + 6, 17, addresses);
    if frame.bytes[begin + 6..begin + 8] == [0, 0] {
        // A checksum of 0 would mean that there is none.
        frame.bytes[begin + 6..begin + 8].copy_from_slice(&[0xFF, 0xFF]);
    }
}

/// Writes the header of an echo request or reply (RFC 792). The identifier is the flow's number,
/// and the sequence number is that of the request.
fn icmp(frame: &mut Frame, packet: &Packet, endpoints: &Endpoints) {
    let begin = frame.headers;
    let (kind, number) = match packet.body {
        Body::EchoReply { requested } => (0, request_number(endpoints.echo, requested)),
        _ => (8, packet.number),
    };
    frame.put(&[kind, 0, 0, 0]);
    let FlowId(flow) = packet.flow;
    frame.put16(flow as u16);
    frame.put16((number + 1) as u16);
    let checksum = fold(sum(&frame.bytes[begin..frame.headers]));
    set_checksum(frame, begin + 2, checksum);
}

fn request_number(echo: Option<Echo>, requested: Time) -> u64 {
    echo.map_or(0, |echo| {
        requested.saturating_since(echo.start).0 / echo.interval.0.max(1)
    })
}

/// Computes the checksum of a transport header from the pseudo-header and the header (RFC 9293
/// section 3.1, RFC 768). The payload is zeros and adds nothing.
fn transport_checksum(
    frame: &mut Frame,
    begin: usize,
    at: usize,
    protocol: u8,
    addresses: &Addresses,
) {
    let length = (frame.length - begin) as u64;
    let hosts = sum(&addresses.ip[0]) + sum(&addresses.ip[1]);
    let total = hosts + u64::from(protocol) + length + sum(&frame.bytes[begin..frame.headers]);
    set_checksum(frame, at, fold(total));
}

fn set_checksum(frame: &mut Frame, at: usize, checksum: u16) {
    frame.bytes[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
}

/// Returns the sum of the 16-bit words of an even number of bytes (RFC 1071).
fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(2);
    words
        .map(|word| u64::from(u16::from_be_bytes([word[0], word[1]])))
        .sum()
}

/// Returns the complement of the ones' complement sum.
fn fold(mut sum: u64) -> u16 {
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests;
