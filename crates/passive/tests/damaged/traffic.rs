//! A capture of a bulk transfer over a link of 10 Mb/s, packet by packet.

use goodqueue_passive::{Analyzer, Report, Tap, Thresholds};
use goodqueue_trace::read::{Datagram, Heading, TcpHeader, Transport};
use goodqueue_types::{Ecn, SegmentFlags};
use std::net::SocketAddr;

pub const MS: i64 = 1_000_000;
pub const MSS: u32 = 1448;
/// Time of a full frame at 10 Mb/s.
const SERVICE: i64 = 1_211_200;
/// Round trip without the queue, to the receiver and back.
pub const BASE: i64 = 30 * MS;

/// A captured packet.
#[derive(Clone, Debug)]
pub struct Packet {
    pub time: i64,
    pub datagram: Datagram,
}

impl Packet {
    pub fn tcp(&mut self) -> &mut TcpHeader {
        match &mut self.datagram.transport {
            Transport::Tcp(tcp) => tcp,
            _ => unreachable!("all packets are segments"),
        }
    }

    /// Returns true if the sender of the data sent it.
    pub fn is_forward(&self) -> bool {
        self.datagram.destination.port() == 80
    }

    /// Sets the payload, and the lengths that contain it.
    pub fn set_payload(&mut self, bytes: u32) {
        self.tcp().payload = bytes;
        self.datagram.ip_bytes = bytes + 52;
        self.datagram.frame_bytes = bytes + 66;
    }
}

/// Returns the packet with these numbers; `forward` from the sender of the data.
fn packet(time: i64, forward: bool, seq: u32, ack: u32, payload: u32, id: u16) -> Packet {
    let client: SocketAddr = ([10, 0, 0, 1], 5000).into();
    let server: SocketAddr = ([10, 0, 0, 2], 80).into();
    let mut tcp = TcpHeader::default();
    (tcp.seq, tcp.ack, tcp.payload) = (seq, ack, payload);
    (tcp.flags, tcp.window) = (SegmentFlags::ACK, 60_000);
    tcp.timestamps = Some(((time / MS) as u32, 0));
    let datagram = Datagram {
        source: if forward { client } else { server },
        destination: if forward { server } else { client },
        protocol: 6,
        ecn: Ecn::NotCapable,
        id: Some(id),
        ip_bytes: 52 + payload,
        frame_bytes: 66 + payload,
        heading: if forward { Heading::In } else { Heading::Out },
        interface: 0,
        cut: false,
        transport: Transport::Tcp(tcp),
    };
    Packet { time, datagram }
}

/// Returns a handshake and `rounds` round trips with a window that falls after each loss. The tapping
/// point is at the sender. Every loss is repaired a round trip later.
pub fn capture(rounds: u32) -> Vec<Packet> {
    let (isn, server_isn) = (1_000_000_u32, 77_000_u32);
    let mut packets = vec![
        packet(0, true, isn, 0, 0, 1),
        packet(BASE, false, server_isn, isn + 1, 0, 1),
        packet(BASE + MS / 10, true, isn + 1, server_isn + 1, 0, 2),
    ];
    packets[0].tcp().flags = SegmentFlags::SYN;
    packets[1].tcp().flags = SegmentFlags::SYN.with(SegmentFlags::ACK);
    for packet in &mut packets[..2] {
        (packet.tcp().mss, packet.tcp().scale) = (Some(1460), Some(2));
    }
    let (mut seq, mut time, mut window) = (isn + 1, BASE + MS, 10_u32);
    let (mut ids, mut free) = ([2_u16, 1], 0);
    let mut lost: Option<u32> = None;
    for _ in 0..rounds {
        let begin = time;
        let mut next_loss = None;
        let mut all = Vec::new();
        if let Some(lost) = lost.take() {
            all.push((lost, true));
        }
        all.extend((0..window).map(|_| {
            let start = seq;
            seq = seq.wrapping_add(MSS);
            (start, false)
        }));
        let count = all.len();
        let mut held: Option<u32> = None;
        for (index, (start, again)) in all.into_iter().enumerate() {
            ids[0] += 1;
            let sent = begin + index as i64 * MS / 20;
            packets.push(packet(sent, true, start, server_isn + 1, MSS, ids[0]));
            free = free.max(sent) + SERVICE;
            // The last but three of a large window is lost.
            if window >= 30 && index + 4 == count && !again {
                (next_loss, held) = (Some(start), Some(start));
                continue;
            }
            let ack = held.unwrap_or(start.wrapping_add(MSS).max(if again {
                seq_before(seq, window)
            } else {
                0
            }));
            ids[1] += 1;
            packets.push(packet(free + BASE, false, server_isn + 1, ack, 0, ids[1]));
        }
        lost = next_loss;
        window = if lost.is_some() {
            window / 2
        } else {
            window + 1
        };
        time = free + BASE + MS / 10;
    }
    packets.sort_by_key(|packet| packet.time);
    echo(&mut packets);
    packets
}

/// Returns the sequence number before this window.
fn seq_before(seq: u32, window: u32) -> u32 {
    seq.wrapping_sub(window * MSS)
}

/// Sets each echo to the last clock value of the other end.
fn echo(packets: &mut [Packet]) {
    let mut last = [0, 0];
    for packet in packets {
        let from = usize::from(packet.is_forward());
        let other = last[1 - from];
        let stamps = &mut packet.tcp().timestamps;
        if let Some((value, echo)) = stamps {
            last[from] = *value;
            *echo = other;
        }
    }
}

/// Analyses packets as one tapping point saw them.
pub fn analyze(packets: &[Packet]) -> Report {
    let mut analyzer = Analyzer::new(Thresholds::default(), false);
    for packet in packets {
        analyzer.packet(Tap::First, packet.time, &packet.datagram);
    }
    analyzer.finish(None, None, 1)
}
