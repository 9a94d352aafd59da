//! Damage of captures, as real captures have it.

use crate::traffic::{MS, MSS, Packet};
use goodqueue_trace::read::Heading;
use goodqueue_types::{RandomStream, SegmentFlags};

/// Returns a number below `limit`.
fn below(random: &mut RandomStream, limit: usize) -> usize {
    (random.unit() * limit as f64) as usize
}

type Damage = fn(&mut Vec<Packet>, &mut RandomStream);

/// All kinds of damage.
pub const ALL: [(&str, Damage); 22] = [
    ("each packet twice", |packets, _| copies(packets, 10_000, 0)),
    ("each packet three times", |packets, _| {
        copies(packets, 10_000, 0);
        copies(packets, 20_000, 1);
    }),
    ("before and behind a queue", |packets, random| {
        copies(packets, below(random, 50) as i64 * MS, 1);
    }),
    ("in and out of a router", |packets, _| {
        let mut sent = packets.clone();
        merge(packets);
        for packet in packets.iter_mut() {
            packet.datagram.heading = Heading::In;
        }
        for packet in &mut sent {
            let queue = if packet.is_forward() { 25 * MS } else { 0 };
            packet.time += MS / 20 + queue;
            packet.datagram.heading = Heading::Out;
        }
        packets.extend(sent);
        packets.sort_by_key(|packet| packet.time);
    }),
    ("each packet twice without identification", |packets, _| {
        for packet in packets.iter_mut() {
            packet.datagram.id = None;
        }
        copies(packets, 10_000, 0);
    }),
    ("wrong sequence numbers", |packets, random| {
        some(packets, random, |packet, random| {
            packet.tcp().seq ^= 1 << below(random, 32);
        });
    }),
    ("wrong acknowledgements", |packets, random| {
        some(packets, random, |packet, random| {
            packet.tcp().ack ^= 1 << below(random, 32);
        });
    }),
    ("wrong flags", |packets, random| {
        some(packets, random, |packet, random| {
            packet.tcp().flags = SegmentFlags(random.bits() as u16 & 0x1FF);
        });
    }),
    ("wrong lengths", |packets, random| {
        some(packets, random, |packet, random| {
            packet.set_payload(below(random, 65_000) as u32);
        });
    }),
    ("wrong options", |packets, random| {
        some(packets, random, |packet, random| {
            let value = random.bits();
            (packet.tcp().mss, packet.tcp().scale) = (Some(value as u16), Some(value as u8));
            packet.tcp().timestamps = Some((value as u32, (value >> 32) as u32));
        });
    }),
    ("a pause", |packets, random| {
        let pause = [500 * MS, 21_000 * MS, 7_200_000 * MS][below(random, 3)];
        shift(packets, random, pause);
    }),
    ("a clock that goes back", |packets, random| {
        shift(packets, random, -300 * MS);
    }),
    ("a clock that is set", |packets, random| {
        let sign = [1, -1][below(random, 2)];
        shift(packets, random, sign * 1_700_000_000_000 * MS);
    }),
    ("a coarse clock", |packets, random| {
        let tick = [MS, 10 * MS, 1000 * MS][below(random, 3)];
        for packet in packets {
            packet.time -= packet.time.rem_euclid(tick);
        }
    }),
    ("times that are all equal", |packets, _| {
        for packet in packets {
            packet.time = 5;
        }
    }),
    ("swapped neighbours", |packets, random| {
        for _ in 0..packets.len() / 20 {
            let place = below(random, packets.len().max(2) - 1);
            if place + 1 < packets.len() {
                packets.swap(place, place + 1);
            }
        }
    }),
    ("frames that the capture lacks", |packets, random| {
        let share = 0.5 * random.unit();
        packets.retain(|_| random.unit() > share);
    }),
    ("one direction", |packets, random| {
        let forward = random.unit() < 0.5;
        packets.retain(|packet| packet.is_forward() == forward);
    }),
    ("a capture that begins late", |packets, random| {
        packets.drain(..below(random, packets.len().max(1)));
    }),
    ("super-segments", |packets, _| merge(packets)),
    ("super-segments and their parts", |packets, _| {
        let mut parts = packets.clone();
        for packet in &mut parts {
            packet.time += 20_000;
        }
        merge(packets);
        packets.extend(parts);
        packets.sort_by_key(|packet| packet.time);
    }),
    (
        "ports that are used again without a SYN",
        |packets, random| {
            let (seq, ack) = (random.bits() as u32, random.bits() as u32);
            let last = packets.last().map_or(0, |packet| packet.time);
            let mut later = packets.clone();
            later.retain_mut(|packet| {
                packet.time += last + 100 * MS;
                let tcp = packet.tcp();
                let opens = tcp.flags.contains(SegmentFlags::SYN);
                let forward = tcp.payload > 0;
                let (own, other) = if forward { (seq, ack) } else { (ack, seq) };
                tcp.seq = tcp.seq.wrapping_add(own);
                tcp.ack = tcp.ack.wrapping_add(other);
                !opens
            });
            packets.extend(later);
        },
    ),
];

/// Copies each packet to a later time, at another interface if `interface` is not 0.
fn copies(packets: &mut Vec<Packet>, later: i64, interface: u32) {
    let mut copies = packets.clone();
    for copy in &mut copies {
        copy.time += later;
        copy.datagram.interface += interface;
    }
    packets.extend(copies);
    packets.sort_by_key(|packet| packet.time);
}

/// Damages one packet, or one in a hundred.
fn some(
    packets: &mut [Packet],
    random: &mut RandomStream,
    damage: impl Fn(&mut Packet, &mut RandomStream),
) {
    let count = [1, packets.len() / 100][below(random, 2)];
    for _ in 0..count {
        let place = below(random, packets.len());
        if let Some(packet) = packets.get_mut(place) {
            damage(packet, random);
        }
    }
}

/// Moves the times of the packets behind one of them.
fn shift(packets: &mut [Packet], random: &mut RandomStream, by: i64) {
    let place = below(random, packets.len());
    for packet in packets.iter_mut().skip(place) {
        packet.time = packet.time.saturating_add(by);
    }
}

/// Merges successive data to super-segments of up to ten segments.
fn merge(packets: &mut Vec<Packet>) {
    let mut merged: Vec<Packet> = Vec::new();
    for packet in packets.iter() {
        let mut packet = packet.clone();
        let (seq, payload) = (packet.tcp().seq, packet.tcp().payload);
        if let Some(last) = merged.last_mut()
            && payload > 0
            && last.is_forward()
            && last.tcp().payload > 0
            && last.tcp().payload < 10 * MSS
            && last.tcp().seq.wrapping_add(last.tcp().payload) == seq
        {
            let bytes = last.tcp().payload + payload;
            last.set_payload(bytes);
        } else {
            merged.push(packet);
        }
    }
    *packets = merged;
}
