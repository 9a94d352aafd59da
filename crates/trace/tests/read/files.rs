//! Files and frames built by hand from the format specifications.

use proptest::prelude::*;

/// Byte order of a file; true means that the high byte comes first.
#[derive(Clone, Copy, Debug)]
pub struct Order(pub bool);

impl Order {
    pub fn short(self, value: u16) -> [u8; 2] {
        if self.0 {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    pub fn long(self, value: u32) -> [u8; 4] {
        if self.0 {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }
}

/// A frame to write and to read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    pub time_ns: i64,
    pub bytes: Vec<u8>,
    pub original: u32,
}

pub fn pcap(order: Order, nanoseconds: bool, link: u16, frames: &[Sample]) -> Vec<u8> {
    let magic = if nanoseconds {
        0xA1B2_3C4D
    } else {
        0xA1B2_C3D4
    };
    let mut file = order.long(magic).to_vec();
    file.extend([order.short(2), order.short(4)].concat());
    for word in [0, 0, 262_144, u32::from(link)] {
        file.extend(order.long(word));
    }
    for frame in frames {
        let unit = if nanoseconds { 1 } else { 1000 };
        file.extend(order.long((frame.time_ns / 1_000_000_000) as u32));
        file.extend(order.long((frame.time_ns % 1_000_000_000 / unit) as u32));
        file.extend(order.long(frame.bytes.len() as u32));
        file.extend(order.long(frame.original));
        file.extend(&frame.bytes);
    }
    file
}

pub fn block(order: Order, kind: u32, body: &[u8]) -> Vec<u8> {
    let padded = body.len().next_multiple_of(4);
    let length = order.long(padded as u32 + 12);
    let mut bytes = order.long(kind).to_vec();
    bytes.extend(length);
    bytes.extend(body);
    bytes.resize(8 + padded, 0);
    bytes.extend(length);
    bytes
}

pub fn option(order: Order, code: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = order.short(code).to_vec();
    bytes.extend(order.short(value.len() as u16));
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

pub fn section(order: Order) -> Vec<u8> {
    let mut body = order.long(0x1A2B_3C4D).to_vec();
    body.extend([order.short(1), order.short(0)].concat());
    body.extend([0xFF; 8]);
    block(order, 0x0A0D_0D0A, &body)
}

pub fn interface(order: Order, link: u16, resolution: Option<u8>) -> Vec<u8> {
    let mut body = [order.short(link), order.short(0)].concat();
    body.extend(order.long(0));
    if let Some(resolution) = resolution {
        body.extend(option(order, 9, &[resolution]));
        body.extend(option(order, 0, &[]));
    }
    block(order, 1, &body)
}

/// Builds an enhanced packet block (`kind` 6) or an obsolete packet block (`kind` 2).
pub fn packet(
    order: Order,
    kind: u32,
    interface: u16,
    ticks: u64,
    frame: &Sample,
    comment: Option<&str>,
) -> Vec<u8> {
    let mut body = if kind == 2 {
        [order.short(interface), order.short(0)].concat()
    } else {
        order.long(u32::from(interface)).to_vec()
    };
    body.extend(order.long((ticks >> 32) as u32));
    body.extend(order.long(ticks as u32));
    body.extend(order.long(frame.bytes.len() as u32));
    body.extend(order.long(frame.original));
    body.extend(&frame.bytes);
    body.resize(body.len().next_multiple_of(4), 0);
    if let Some(comment) = comment {
        body.extend(option(order, 1, comment.as_bytes()));
    }
    block(order, kind, &body)
}

pub fn simple_packet(order: Order, frame: &Sample) -> Vec<u8> {
    let mut body = order.long(frame.original).to_vec();
    body.extend(&frame.bytes);
    block(order, 3, &body)
}

/// Draws frames in order of time. Times are whole microseconds.
pub fn samples() -> impl Strategy<Value = Vec<Sample>> {
    let frame = (
        0..2_000_000_000_i64,
        prop::collection::vec(any::<u8>(), 0..80),
        1..9000_u32,
    );
    let sample = frame.prop_map(|(microseconds, bytes, more)| Sample {
        time_ns: microseconds * 1000,
        original: bytes.len() as u32 + more,
        bytes,
    });
    prop::collection::vec(sample, 0..20)
}

/// Builds an Ethernet frame with IPv4 and a TCP segment that has these options. Its length fields
/// claim `payload` bytes of payload.
pub fn tcp_over_ethernet(options: &[u8], payload: u16) -> Vec<u8> {
    let header = 20 + options.len();
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    frame.extend(ipv4(6, (header + usize::from(payload)) as u16));
    frame.extend(tcp(options));
    frame
}

pub fn ipv4(protocol: u8, length: u16) -> Vec<u8> {
    let mut bytes = vec![0x45, 0x03];
    bytes.extend((20 + length).to_be_bytes());
    bytes.extend([
        0x12, 0x34, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
    ]);
    bytes
}

pub fn tcp(options: &[u8]) -> Vec<u8> {
    assert!(options.len().is_multiple_of(4));
    let mut bytes = vec![0x13, 0x89, 0, 80];
    bytes.extend(7_u32.to_be_bytes());
    bytes.extend(9_u32.to_be_bytes());
    bytes.extend([((20 + options.len()) * 4) as u8, 0x18, 1, 0, 0, 0, 0, 0]);
    bytes.extend(options);
    bytes
}
