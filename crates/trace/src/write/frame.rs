//! The bytes of a packet's headers: Ethernet, IPv4, and TCP, UDP or ICMP, with correct checksums.
//!
//! The simulator's packets have sizes and meaning but no bytes. Payload is all zeros here, so that
//! checksums are those of the headers and hold for frames cut anywhere.

use goodqueue_types::{
    Body, Direction, Ecn, FlowId, Packet, Segment, SegmentFlags, Span, Time, Timestamps,
};

/// Bytes of an Ethernet header.
pub const ETHERNET: usize = 14;
const IP: usize = 20;
const TCP: usize = 20;
const UDP: usize = 8;
const ICMP: usize = 8;
/// RFC 9293 section 3.1: the data offset has four bits.
const MOST_OPTIONS: usize = 40;

/// What a flow's frames show that its packets do not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoints {
    /// Which of the flows between the same hosts it is: ports tell them apart.
    pub ordinal: u32,
    /// What its handshakes agree on, if it is of TCP.
    pub tcp: Option<TcpFacts>,
    /// When its echo requests leave, if it is of those.
    pub echo: Option<Echo>,
}

/// What both ends of a flow's connections agree on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFacts {
    /// Largest payload of a segment (RFC 9293 section 3.7.1).
    pub mss: u16,
    /// The scale of windows (RFC 7323 section 2); none: not offered.
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018 section 2).
    pub sack: bool,
}

/// Echo requests at constant intervals: a reply names its request by the time at which it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// The first request leaves.
    pub start: Time,
    /// Time between requests.
    pub interval: Span,
}

/// The two ends of a packet, as its frame shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// IPv4 addresses of source and destination.
    pub ip: [[u8; 4]; 2],
    /// Their ports.
    pub ports: [u16; 2],
}

impl Addresses {
    /// Clients are 10.0.0.1 onward, servers 10.128.0.1 onward. Ports are those of connections and
    /// flows, in ranges that belong to no application, so that nobody takes payload for what it is not.
    pub fn of(packet: &Packet, ordinal: u32) -> Self {
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
    /// Bytes of the whole frame.
    pub length: usize,
}

impl Frame {
    const ROOM: usize = ETHERNET + IP + TCP + MOST_OPTIONS;

    /// All headers; what follows is zeros.
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

/// The frame of a packet.
pub fn frame(packet: &Packet, endpoints: &Endpoints) -> Frame {
    let addresses = Addresses::of(packet, endpoints.ordinal);
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

/// Bytes of the IP packet that a frame shows: those of the simulated packet, or more where it has no
/// room for what its headers say. Some models count options as nothing.
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

/// Addresses of our own making (IEEE 802: the second bit says so), that of a host made of its IP.
fn ethernet(frame: &mut Frame, addresses: &Addresses) {
    for ip in [addresses.ip[1], addresses.ip[0]] {
        frame.put(&[0x02, 0x00]);
        frame.put(&ip);
    }
    frame.put16(0x0800);
}

/// RFC 791 section 3.1.
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
    // Never to be cut, 64 hops to go.
    frame.put(&[0x40, 0x00, 64, protocol, 0, 0]);
    frame.put(&addresses.ip[0]);
    frame.put(&addresses.ip[1]);
    let header = &frame.bytes[ETHERNET..ETHERNET + IP];
    let checksum = fold(sum(header));
    set_checksum(frame, ETHERNET + 10, checksum);
}

/// RFC 9293 section 3.1. Sequence numbers begin at 0 and wrap at 32 bits.
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
    // Checksum, urgent pointer.
    frame.put32(0);
    options(frame, segment, endpoints.tcp);
    // What only the model counts is the end of the list, which is zeros, as all of the frame is.
    frame.headers = begin + 4 * words;
    transport_checksum(frame, begin, begin + 16, 6, addresses);
}

/// How many of a segment's SACK blocks there is room for.
fn blocks_shown(segment: &Segment) -> usize {
    let room = if segment.timestamps.is_present() {
        3
    } else {
        4
    };
    segment.sack.len().min(room)
}

/// Bytes of options: what the segment says, or as many as the model has counted. Each option or pair
/// of them fills whole words, as Linux lays them out.
fn options_bytes(segment: &Segment, tcp: Option<TcpFacts>) -> usize {
    let mut needed = 12 * usize::from(segment.timestamps.is_present());
    if let Some(tcp) = tcp.filter(|_| segment.flags.contains(SegmentFlags::SYN)) {
        let beside = tcp.sack && segment.timestamps.is_present();
        needed += 4 + 4 * usize::from(tcp.window_scale.is_some());
        needed += 4 * usize::from(tcp.sack && !beside);
    }
    if !segment.sack.is_empty() {
        needed += 4 + 8 * blocks_shown(segment);
    }
    let counted = (segment.header as usize).saturating_sub(IP + TCP);
    needed.max(counted).next_multiple_of(4).min(MOST_OPTIONS)
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
    if !segment.sack.is_empty() {
        let blocks = blocks_shown(segment);
        frame.put(&[NO_OPERATION, NO_OPERATION, 5, 2 + 8 * blocks as u8]);
        for (start, end) in segment.sack.ranges(segment.ack).take(blocks) {
            frame.put32(start as u32);
            frame.put32(end as u32);
        }
    }
}

/// RFC 768.
fn udp(frame: &mut Frame, addresses: &Addresses) {
    let begin = frame.headers;
    frame.put16(addresses.ports[0]);
    frame.put16(addresses.ports[1]);
    frame.put16((frame.length - begin) as u16);
    frame.put16(0);
    transport_checksum(frame, begin, begin + 6, 17, addresses);
    if frame.bytes[begin + 6..begin + 8] == [0, 0] {
        // 0 would say that there is no checksum.
        frame.bytes[begin + 6..begin + 8].copy_from_slice(&[0xFF, 0xFF]);
    }
}

/// RFC 792: echo and echo reply; the identifier is the flow's, the sequence number the request's.
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

/// RFC 9293 section 3.1, RFC 768: pseudo-header, header, and a payload of zeros, which adds nothing.
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

/// The 16-bit words of an even number of bytes, added up (RFC 1071).
fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(2);
    words
        .map(|word| u64::from(u16::from_be_bytes([word[0], word[1]])))
        .sum()
}

/// The complement of the ones' complement sum.
fn fold(mut sum: u64) -> u16 {
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests;
