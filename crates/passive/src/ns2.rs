//! A trace of ns-2 as packets at both sides of a link.
//!
//! ns-2 counts segments, not bytes, and writes neither windows nor selective acknowledgements: a data
//! packet numbered n carries the n-th stretch of its size, and an acknowledgement numbered n all
//! stretches up to it.

use crate::analyzer::Tap;
use goodqueue_trace::read::{
    Datagram, Heading, Ns2Event, Ns2Record, Ns2Totals, TcpHeader, Transport,
};
use goodqueue_types::SegmentFlags;
use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};

/// IP and TCP headers as ns-2 counts them.
const HEADERS: u32 = 40;
/// Flows whose segment size is remembered.
const MOST_FLOWS: usize = 1 << 20;

/// The link that dropped most, and of those without drops the one that passed most bytes.
pub fn target_link(totals: &Ns2Totals) -> (u32, u32) {
    let links = totals.rows().map(|row| row.0);
    let most = links.max_by_key(|link| {
        let at = |event| totals.at(*link, event);
        (at(Ns2Event::Dropped).packets, at(Ns2Event::Dequeued).bytes)
    });
    most.unwrap_or_default()
}

/// Flow id, source and destination.
type FlowKey = (u32, (u32, u32), (u32, u32));

/// Turns records into packets.
pub struct Replay {
    link: (u32, u32),
    /// Bytes of a segment by flow.
    sizes: HashMap<FlowKey, u32>,
}

impl Replay {
    /// Of this link.
    pub fn new(link: (u32, u32)) -> Self {
        Self {
            link,
            sizes: HashMap::new(),
        }
    }

    /// The packet at the tapping point before the link (when it arrives there, in either direction)
    /// or at the one after it.
    pub fn packet(&mut self, record: &Ns2Record<'_>) -> Option<(Tap, Datagram)> {
        let back = (self.link.1, self.link.0);
        let tap = match record.event {
            Ns2Event::Enqueued if record.link == self.link => Tap::First,
            Ns2Event::Received if record.link == self.link => Tap::Second,
            Ns2Event::Received if record.link == back => Tap::First,
            Ns2Event::Enqueued if record.link == back => Tap::Second,
            _ => return None,
        };
        let transport = self.transport(record);
        let protocol = if matches!(transport, Transport::Tcp(_)) {
            6
        } else {
            17
        };
        Some((
            tap,
            Datagram {
                source: end(record.source),
                destination: end(record.destination),
                protocol,
                ecn: record.ecn,
                dscp: 0,
                ttl: 0,
                id: None,
                is_fragment: false,
                ip_bytes: record.size,
                frame_bytes: record.size,
                heading: Heading::Unknown,
                transport,
            },
        ))
    }

    fn transport(&mut self, record: &Ns2Record<'_>) -> Transport {
        let payload = record.size.saturating_sub(HEADERS);
        let mut header = TcpHeader::default();
        (header.flags, header.window) = (SegmentFlags::ACK, u16::MAX);
        let number = |count: i64, size: u32| (count as u32).wrapping_mul(size);
        match record.kind {
            "tcp" => {
                let key = (record.flow, record.source, record.destination);
                // The first segment of full TCP and others is a SYN without data.
                let known = self.sizes.get(&key).copied().unwrap_or(0);
                if payload > known && self.sizes.len() < MOST_FLOWS {
                    self.sizes.insert(key, payload);
                }
                header.seq = number(record.sequence, payload.max(known));
                header.payload = payload;
            }
            "ack" => {
                let key = (record.flow, record.destination, record.source);
                let size = self.sizes.get(&key).copied().unwrap_or(0);
                header.ack = number(record.sequence + 1, size);
            }
            _ => return Transport::Udp(record.size),
        }
        Transport::Tcp(header)
    }
}

/// A node and port as an address: nodes are numbered within 10.0.0.0/8.
fn end((node, port): (u32, u32)) -> SocketAddr {
    let [_, b, c, d] = node.to_be_bytes();
    SocketAddr::new(Ipv4Addr::new(10, b, c, d).into(), port as u16)
}
