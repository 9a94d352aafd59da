//! The header fields of real packets, as the simulator's queues read them.

use goodqueue_trace::read::{Datagram, Frame, Heading, LinkType, Transport, decode};
use goodqueue_types::{
    Body, Direction, FlowId, Hosts, Packet, SackBlocks, Segment, Time, Timestamps,
};
use std::collections::HashMap;
use std::net::SocketAddr;

/// Largest number of connections that are told apart. Further ones share the last number.
const MAX_CONNECTIONS: usize = 1 << 20;

/// Largest number of ping requests that are remembered.
const MAX_PINGS: usize = 1 << 16;

/// Number of the protocol ICMP, and the types of its echo requests and replies.
const ICMP: u8 = 1;
const ECHO: [u8; 2] = [8, 0];
/// The same for IPv6 (RFC 4443).
const ICMP6: u8 = 58;
const ECHO6: [u8; 2] = [128, 129];

/// Both ends of a connection, in the direction of its client, and its protocol.
type Connection = (u8, SocketAddr, SocketAddr);

/// Turns the bytes of IP packets into packets of the simulator.
#[derive(Debug, Default)]
pub struct Classifier {
    /// Hosts of each flow.
    hosts: Vec<Hosts>,
    connections: HashMap<Connection, u32>,
    /// Times of ping requests that were not answered, by flow and identity.
    pings: HashMap<(FlowId, [u8; 4]), Time>,
}

impl Classifier {
    /// Returns a classifier for flows between these hosts.
    pub fn new(hosts: impl Iterator<Item = Hosts>) -> Self {
        Self {
            hosts: hosts.collect(),
            ..Self::default()
        }
    }

    /// Returns the packet that these bytes are, sent at `now` by a host of `flow` in `direction`,
    /// as the `number`th of all packets. Its content is a datagram if its headers cannot be read.
    pub fn packet(
        &mut self,
        bytes: &[u8],
        (flow, direction): (FlowId, Direction),
        number: u64,
        now: Time,
    ) -> Packet {
        let mut packet = Packet {
            flow,
            direction,
            hosts: self.hosts.get(flow.0 as usize).copied().unwrap_or_default(),
            dscp: dscp(bytes),
            size: bytes.len() as u32,
            number,
            sent: now,
            body: Body::Datagram,
            ..Packet::default()
        };
        let frame = Frame {
            time_ns: 0,
            link: LinkType::RAW,
            bytes,
            original_len: bytes.len() as u32,
            interface: 0,
            heading: Heading::Unknown,
        };
        if let Ok(datagram) = decode(&frame) {
            packet.ecn = datagram.ecn;
            packet.connection = self.connection(&datagram, direction);
            if let Transport::Tcp(_) = datagram.transport {
                packet.body = segment(&datagram);
            }
        }
        self.follow_ping(bytes, &mut packet);
        packet
    }

    /// Sets the content of a packet that is a ping (RFC 792, RFC 4443), or the answer to one.
    fn follow_ping(&mut self, bytes: &[u8], packet: &mut Packet) {
        let Some((is_request, identity)) = ping(bytes) else {
            return;
        };
        let key = (packet.flow, identity);
        if is_request {
            if self.pings.len() == MAX_PINGS {
                self.pings.clear();
            }
            self.pings.insert(key, packet.sent);
            packet.body = Body::EchoRequest;
        } else if let Some(requested) = self.pings.remove(&key) {
            packet.body = Body::EchoReply { requested };
        }
    }

    /// Returns the number of a packet's connection, in order of their first packets.
    fn connection(&mut self, datagram: &Datagram, direction: Direction) -> u32 {
        let (client, server) = match direction {
            Direction::Forward => (datagram.source, datagram.destination),
            Direction::Reverse => (datagram.destination, datagram.source),
        };
        let next = self.connections.len().min(MAX_CONNECTIONS) as u32;
        if next as usize == MAX_CONNECTIONS {
            return next;
        }
        let key = (datagram.protocol, client, server);
        *self.connections.entry(key).or_insert(next)
    }
}

/// Returns a segment's header, with sequence numbers of 32 bits above an offset that keeps earlier
/// ones positive.
fn segment(datagram: &Datagram) -> Body {
    const ABOVE: u64 = 1 << 32;
    let Transport::Tcp(header) = datagram.transport else {
        return Body::Datagram;
    };
    let ack = ABOVE + u64::from(header.ack);
    let mut sack = SackBlocks::default();
    for (start, end) in header.sack() {
        let start_at = ack.wrapping_add_signed(i64::from(start.wrapping_sub(header.ack) as i32));
        let length = end.wrapping_sub(*start);
        if length > 0 {
            sack.push(ack, start_at, start_at + u64::from(length));
        }
    }
    let (value, echo) = header.timestamps.unwrap_or_default();
    let segment = Segment {
        seq: ABOVE + u64::from(header.seq),
        ack,
        window: u32::from(header.window),
        payload: header.payload,
        header: datagram.ip_bytes.saturating_sub(header.payload) as u16,
        flags: header.flags,
        sack,
        timestamps: Timestamps { value, echo },
        ..Segment::default()
    };
    Body::Tcp(segment.with_accecn(header.accecn))
}

/// Returns the differentiated services code point of an IP packet of either version, 0 if it is
/// neither.
fn dscp(bytes: &[u8]) -> u8 {
    match bytes {
        [first, second, ..] if first >> 4 == 4 => second >> 2,
        [first, second, ..] if first >> 4 == 6 => (first & 0x0F) << 2 | second >> 6,
        _ => 0,
    }
}

/// Returns true for an echo request of ICMP and false for a reply, with its identifier and its sequence
/// number; none for other packets.
fn ping(bytes: &[u8]) -> Option<(bool, [u8; 4])> {
    let first = *bytes.first()?;
    let (header, place, protocol, [request, reply]) = match first >> 4 {
        4 => (4 * usize::from(first & 0x0F), 9, ICMP, ECHO),
        6 => (40, 6, ICMP6, ECHO6),
        _ => return None,
    };
    let message = bytes.get(header..)?;
    let kind = *message.first()?;
    let is_ping = *bytes.get(place)? == protocol && (kind == request || kind == reply);
    let identity = message.get(4..8)?.try_into().ok()?;
    is_ping.then_some((kind == request, identity))
}

/// Sets the ECN field of an IP packet to "congestion experienced" (RFC 3168 section 5), and adjusts
/// the checksum of an IPv4 header (RFC 1624).
pub fn mark(bytes: &mut [u8]) {
    match bytes.first().map(|first| first >> 4) {
        Some(4) if bytes.len() >= 20 => {
            let word = |bytes: &[u8], at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
            let old = word(bytes, 0);
            bytes[1] |= 3;
            let sum = u32::from(!word(bytes, 10)) + u32::from(!old) + u32::from(word(bytes, 0));
            let sum = (sum & 0xFFFF) + (sum >> 16);
            let sum = !(((sum & 0xFFFF) + (sum >> 16)) as u16);
            bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        Some(6) if bytes.len() >= 40 => bytes[1] |= 0x30,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_types::Ecn;
    use proptest::prelude::*;

    /// An IPv4 header with its correct checksum, in front of a UDP header.
    fn ipv4(traffic_class: u8) -> Vec<u8> {
        let mut bytes = vec![
            0x45,
            traffic_class,
            0,
            28,
            0,
            1,
            0,
            0,
            64,
            17,
            0,
            0,
            10,
            77,
            0,
            1,
            10,
            77,
            0,
            2,
            0,
            7,
            0,
            9,
            0,
            8,
            0,
            0,
        ];
        let sum = checksum(&bytes);
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    /// The Internet checksum of an IPv4 header (RFC 1071). That of a correct header is 0.
    fn checksum(header: &[u8]) -> u16 {
        let words = header[..20].chunks(2);
        let sum: u32 = words
            .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])))
            .sum();
        let sum = (sum & 0xFFFF) + (sum >> 16);
        !((sum & 0xFFFF) + (sum >> 16)) as u16
    }

    fn packet(bytes: &[u8]) -> Packet {
        Classifier::default().packet(bytes, (FlowId(0), Direction::Forward), 0, Time::ZERO)
    }

    proptest! {
        #[test]
        fn a_marked_packet_has_a_correct_checksum(class in any::<u8>(), id in any::<[u8; 2]>()) {
            let mut bytes = ipv4(class);
            bytes[4..6].copy_from_slice(&id);
            bytes[10..12].copy_from_slice(&[0, 0]);
            let sum = checksum(&bytes);
            bytes[10..12].copy_from_slice(&sum.to_be_bytes());
            prop_assert_eq!(checksum(&bytes), 0);
            mark(&mut bytes);
            prop_assert_eq!(checksum(&bytes), 0);
            let marked = packet(&bytes);
            prop_assert_eq!(marked.ecn, Ecn::Experienced);
            prop_assert_eq!(marked.dscp, class >> 2);
        }

        #[test]
        fn any_bytes_are_a_packet(mut bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let read = packet(&bytes);
            prop_assert_eq!(read.size as usize, bytes.len());
            mark(&mut bytes);
        }
    }

    #[test]
    fn the_answer_to_a_ping_has_the_time_of_its_request() {
        let mut request = ipv4(0);
        request[9] = 1;
        request[20..28].copy_from_slice(&[8, 0, 0, 0, 7, 7, 0, 1]);
        check_ping(&request, 20, 0);
    }

    #[test]
    fn the_answer_to_a_ping_of_ipv6_has_the_time_of_its_request() {
        let mut request = vec![0x60, 0, 0, 0, 0, 8, 58, 64];
        request.extend([0xfd; 32]);
        request.extend([128, 0, 0, 0, 7, 7, 0, 1]);
        check_ping(&request, 40, 129);
    }

    /// Checks that the answer to a request, whose message begins at `message` and gets the type `kind`, is
    /// found, and that others are not.
    fn check_ping(request: &[u8], message: usize, kind: u8) {
        let mut reply = request.to_vec();
        reply[message] = kind;
        let mut other = reply.clone();
        other[message + 7] = 2;
        let mut classifier = Classifier::default();
        let mut body = |bytes: &[u8], direction, ms| {
            let now = Time::ZERO + goodqueue_types::Span::from_millis(ms);
            classifier
                .packet(bytes, (FlowId(0), direction), 0, now)
                .body
        };
        assert_eq!(body(request, Direction::Forward, 5), Body::EchoRequest);
        assert_eq!(body(&other, Direction::Reverse, 6), Body::Datagram);
        let requested = Time::ZERO + goodqueue_types::Span::from_millis(5);
        assert_eq!(
            body(&reply, Direction::Reverse, 45),
            Body::EchoReply { requested }
        );
        assert_eq!(
            body(&reply, Direction::Reverse, 46),
            Body::Datagram,
            "twice"
        );
    }

    #[test]
    fn both_directions_of_a_connection_have_one_number() {
        let mut classifier = Classifier::default();
        let there = ipv4(0);
        let mut back = there.clone();
        back.copy_within(12..16, 16);
        back[12..16].copy_from_slice(&there[16..20]);
        back[20..24].copy_from_slice(&[0, 9, 0, 7]);
        let mut other = there.clone();
        other[21] = 8;
        let mut number = |bytes: &[u8], direction| {
            classifier
                .packet(bytes, (FlowId(0), direction), 0, Time::ZERO)
                .connection
        };
        assert_eq!(number(&there, Direction::Forward), 0);
        assert_eq!(number(&back, Direction::Reverse), 0);
        assert_eq!(number(&other, Direction::Forward), 1);
    }
}
