//! Conversion of a trace of ns-2 to packets at both sides of a link.
//!
//! ns-2 counts segments and not bytes, and writes neither windows nor SACK blocks. A data packet
//! with number n carries the n-th segment of the stream. An ACK with number n acknowledges all
//! segments up to it.

use crate::analyzer::Tap;
use goodqueue_trace::read::{
    Datagram, Heading, Ns2Event, Ns2Record, Ns2Totals, TcpHeader, Transport,
};
use goodqueue_types::SegmentFlags;
use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};

/// Bytes of IP and TCP headers as ns-2 counts them.
const HEADERS: u32 = 40;
/// Largest number of flows whose segment size is stored.
const MAX_FLOWS: usize = 1 << 20;

/// Returns the link with most drops. Without drops, returns the link that passed most bytes.
pub fn target_link(totals: &Ns2Totals) -> (u32, u32) {
    let links = totals.links().into_iter();
    let most = links.max_by_key(|(_, counts)| {
        let at = |event| counts[event as usize];
        (at(Ns2Event::Dropped).packets, at(Ns2Event::Dequeued).bytes)
    });
    most.unwrap_or_default().0
}

/// Flow id, source and destination.
type FlowKey = (u32, (u32, u32), (u32, u32));

/// Converter of records to packets.
pub struct Replay {
    link: (u32, u32),
    /// Bytes of a segment by flow.
    sizes: HashMap<FlowKey, u32>,
}

impl Replay {
    /// Creates a converter for this link.
    pub fn new(link: (u32, u32)) -> Self {
        Self {
            link,
            sizes: HashMap::new(),
        }
    }

    /// Returns the packet at the tapping point before the link (on its arrival there, in either
    /// direction) or after it.
    pub fn packet(&mut self, record: &Ns2Record) -> Option<(Tap, Datagram)> {
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
                id: None,
                ip_bytes: record.size,
                frame_bytes: record.size,
                heading: Heading::Unknown,
                interface: 0,
                cut: false,
                transport,
            },
        ))
    }

    fn transport(&mut self, record: &Ns2Record) -> Transport {
        let payload = record.size.saturating_sub(HEADERS);
        let mut header = TcpHeader::default();
        (header.flags, header.window) = (SegmentFlags::ACK, u16::MAX);
        let number = |count: i64, size: u32| (count as u32).wrapping_mul(size);
        match record.kind.name() {
            "tcp" => {
                let key = (record.flow, record.source, record.destination);
                // FullTcp and some other agents begin with a SYN without data.
                let known = self.sizes.get(&key).copied().unwrap_or(0);
                if payload > known && self.sizes.len() < MAX_FLOWS {
                    self.sizes.insert(key, payload);
                }
                header.seq = number(record.sequence, payload.max(known));
                header.payload = payload;
            }
            "ack" => {
                let key = (record.flow, record.destination, record.source);
                let size = self.sizes.get(&key).copied().unwrap_or(0);
                header.ack = number(record.sequence.wrapping_add(1), size);
            }
            _ => return Transport::Udp(record.size),
        }
        Transport::Tcp(header)
    }
}

/// Represents a node and port as an address. Nodes are numbered within 10.0.0.0/8.
fn end((node, port): (u32, u32)) -> SocketAddr {
    let [_, b, c, d] = node.to_be_bytes();
    SocketAddr::new(Ipv4Addr::new(10, b, c, d).into(), port as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_trace::read::Ns2Trace;
    use std::fmt::Write;
    use std::time::{Duration, Instant};

    fn totals(text: &str) -> Ns2Totals {
        let mut trace = Ns2Trace::new(text.as_bytes());
        let mut totals = Ns2Totals::default();
        while let Some(record) = trace.next_record().unwrap() {
            totals.add(&record);
        }
        totals
    }

    #[test]
    fn the_target_is_the_link_with_most_drops_of_all_types() {
        let drop = |from: u32, kind| format!("d 1 {from} 9 {kind} 40 ------- 0 0.0 3.1 2 6\n");
        let passed = "- 1 3 9 tcp 9000 ------- 0 0.0 3.1 2 6\n".to_owned();
        assert_eq!(target_link(&totals(&passed)), (3, 9));
        let dropped = [
            passed,
            drop(1, "tcp"),
            drop(1, "tcp"),
            drop(2, "tcp"),
            drop(2, "ack"),
            drop(2, "cbr"),
        ];
        assert_eq!(target_link(&totals(&dropped.concat())), (2, 9));
    }

    /// The time to interpret rows grows linearly with their number.
    #[test]
    fn a_trace_of_many_types_is_summed_in_linear_time() {
        let mut text = String::new();
        for kind in 0..70_000 {
            writeln!(text, "d 1 {} 9 {kind} 40 ------- 0 0.0 3.1 2 6", kind % 7).unwrap();
        }
        let (totals, begin) = (totals(&text), Instant::now());
        assert!(target_link(&totals).0 < 7);
        assert!(begin.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn the_largest_sequence_number_is_accepted() {
        let text = format!("+ 1 1 9 ack 40 ------- 0 0.0 3.1 {} 6\n", i64::MAX);
        let mut trace = Ns2Trace::new(text.as_bytes());
        let record = trace.next_record().unwrap().unwrap();
        assert!(Replay::new((1, 9)).packet(&record).is_some());
    }
}
