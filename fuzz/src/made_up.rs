//! Long files that come up to the limits of what is remembered: of connections, of segments in flight,
//! of losses, of links.

use crate::below;
use crate::captures::Input;
use goodqueue_types::RandomStream;
use std::fmt::Write;

/// Packets of a file at the most: more than are remembered of anything.
const MAX_PACKETS: usize = 1_200_000;

/// A capture, two of a link that loses and delays, or a trace.
pub fn input(random: &mut RandomStream) -> Input {
    if below(random, 4) == 0 {
        return alone(trace(random));
    }
    let packets = traffic(random);
    if below(random, 2) == 0 {
        return alone(capture(packets.iter()));
    }
    let loss = 0.3 * random.unit().powi(3);
    let mut behind = Vec::new();
    let mut free = 0;
    for packet in packets.iter().filter(|packet| !packet.back) {
        if random.unit() >= loss {
            free = (free + 100 + random.bits() % 3000).max(packet.time + 10_000);
            behind.push(Packet {
                time: free,
                ..*packet
            });
        }
    }
    Input {
        files: vec![capture(packets.iter()), capture(behind.iter())],
        ..alone(Vec::new())
    }
}

fn alone(file: Vec<u8>) -> Input {
    Input {
        files: vec![file],
        drops: None,
        link_rate_bps: None,
    }
}

/// A TCP segment of one of many flows between two hosts.
#[derive(Clone, Copy)]
struct Packet {
    /// Nanoseconds since 1970.
    time: u64,
    flow: u32,
    /// True for packets from the receiver of the data to its sender.
    back: bool,
    flags: u8,
    seq: u32,
    ack: u32,
    payload: u16,
    /// A selective acknowledgement of one block.
    sack: Option<(u32, u32)>,
}

/// Behaviour of a file's flows.
struct Manner {
    flows: usize,
    /// Payload of most segments: pieces of two bytes leave the most to remember.
    piece: u16,
    /// Shares of segments that are sent again, acknowledged, selectively acknowledged, jumped over.
    again: f64,
    acknowledged: f64,
    selective: f64,
    jump: f64,
}

fn manner(random: &mut RandomStream) -> Manner {
    let pick = |random: &mut RandomStream, among: &[f64]| among[below(random, among.len())];
    Manner {
        flows: [1, 3, 1000, 70_000, 400_000][below(random, 5)],
        piece: [2, 2, 1, 1448, 40_000][below(random, 5)],
        again: pick(random, &[0.0, 0.01, 0.3]),
        // Without any, the capture is of one way only.
        acknowledged: pick(random, &[0.0, 0.0, 0.01, 0.5]),
        selective: pick(random, &[0.0, 0.01, 0.3]),
        jump: pick(random, &[0.0, 0.01, 0.5]),
    }
}

fn traffic(random: &mut RandomStream) -> Vec<Packet> {
    let manner = manner(random);
    let mut next = vec![0_u32; manner.flows];
    let mut time = 1_700_000_000_000_000_000;
    let count = 1000 + below(random, MAX_PACKETS);
    (0..count)
        .map(|_| {
            time += random.bits() % 2000;
            let flow = below(random, manner.flows);
            segment(&manner, flow, &mut next[flow], time, random)
        })
        .collect()
}

fn segment(
    manner: &Manner,
    flow: usize,
    next: &mut u32,
    time: u64,
    random: &mut RandomStream,
) -> Packet {
    let piece = u32::from(manner.piece);
    let within = |random: &mut RandomStream| {
        let pieces = below(random, 1 + (*next / piece) as usize) as u32;
        pieces * piece
    };
    let mut packet = Packet {
        time,
        flow: flow as u32,
        back: random.unit() < manner.acknowledged,
        flags: if *next == 0 { 0x02 } else { 0x10 },
        seq: *next,
        ack: 1,
        payload: 0,
        sack: None,
    };
    if packet.back {
        packet.flags = 0x10;
        packet.seq = 1;
        packet.ack = within(random);
        let start = within(random);
        let block = (start, start.wrapping_add(piece));
        packet.sack = (random.unit() < manner.selective).then_some(block);
        return packet;
    }
    if *next == 0 {
        *next = 1;
        return packet;
    }
    packet.payload = manner.piece;
    if random.unit() < manner.again {
        packet.seq = 1 + within(random);
    } else {
        let over = if random.unit() < manner.jump {
            piece
        } else {
            0
        };
        packet.seq = next.wrapping_add(over);
        *next = packet.seq.wrapping_add(piece);
    }
    packet
}

/// pcap in nanoseconds, of raw IPv4, headers only.
fn capture<'a>(packets: impl Iterator<Item = &'a Packet>) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xA1B2_3C4D_u32, 0x0004_0002, 0, 0, 262_144, 101] {
        file.extend(word.to_le_bytes());
    }
    for packet in packets {
        let frame = frame(packet);
        let length = frame.len() as u32;
        let second = 1_000_000_000;
        for word in [
            (packet.time / second) as u32,
            (packet.time % second) as u32,
            length,
            length + u32::from(packet.payload),
        ] {
            file.extend(word.to_le_bytes());
        }
        file.extend(frame);
    }
    file
}

fn frame(packet: &Packet) -> Vec<u8> {
    let options = if packet.sack.is_some() { 12 } else { 0 };
    let [_, high, middle, low] = packet.flow.to_be_bytes();
    let (client, server) = ([10, high, 0, 1], [10, 0, 0, 2]);
    let port = 1024 + u16::from_be_bytes([middle, low]) % 60_000;
    let mut ends = [(client, port), (server, 80)];
    if packet.back {
        ends.reverse();
    }
    let mut bytes = vec![0x45, 0];
    bytes.extend((40 + options + packet.payload).to_be_bytes());
    bytes.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    bytes.extend(ends[0].0);
    bytes.extend(ends[1].0);
    bytes.extend(ends[0].1.to_be_bytes());
    bytes.extend(ends[1].1.to_be_bytes());
    bytes.extend(packet.seq.to_be_bytes());
    bytes.extend(packet.ack.to_be_bytes());
    bytes.extend([
        (20 + options as u8) << 2,
        packet.flags,
        0xFF,
        0xFF,
        0,
        0,
        0,
        0,
    ]);
    if let Some((start, end)) = packet.sack {
        bytes.extend([1, 1, 5, 10]);
        bytes.extend(start.to_be_bytes());
        bytes.extend(end.to_be_bytes());
    }
    bytes
}

/// A trace of ns-2 with few or very many links, packet types and flows, and lines that are none.
fn trace(random: &mut RandomStream) -> Vec<u8> {
    let [links, kinds, flows] = [(); 3].map(|()| [1, 3, 1000, 100_000][below(random, 4)]);
    let mut text = "+ 0 0 1 tcp 1040 ------- 0 0.0 1.0 0 0\n".to_owned();
    for line in 0..below(random, MAX_PACKETS / 2) {
        let event = ['+', '-', 'r', 'd'][below(random, 4)];
        let (link, flow) = (below(random, links), below(random, flows));
        let kind = match below(random, kinds) {
            0 => "tcp".to_owned(),
            1 => "ack".to_owned(),
            other => format!("kind{other}"),
        };
        let (from, to) = if below(random, 2) == 0 {
            (link, link + 1)
        } else {
            (link + 1, link)
        };
        let number = match below(random, 1000) {
            0 => i64::MAX,
            1 => i64::MIN,
            _ => line as i64,
        };
        let time = line as f64 * 1e-5;
        let _ = writeln!(
            text,
            "{event} {time} {from} {to} {kind} 1040 ---E--N {flow} {flow}.0 {to}.1 {number} {line}"
        );
        if below(random, 5000) == 0 {
            text.push_str("+ no line\n");
        }
    }
    text.into_bytes()
}
