//! Proof that less time passed than the clock of a capture shows, from the packets on both sides of
//! a jump.

use goodqueue_trace::read::{Datagram, TcpHeader, Transport};
use goodqueue_types::SegmentFlags;
use std::collections::VecDeque;

/// Number of packets before a jump that are remembered.
const MAX_REMEMBERED: usize = 64;
/// Fewest ticks of the timestamp option in a second. RFC 7323 allows 1 to 1000, and hosts of this
/// century have at least 10.
const SLOWEST_TICKS: f64 = 5.0;

/// The last packets.
#[derive(Default)]
pub struct Recent(VecDeque<Datagram>);

impl Recent {
    /// Remembers a packet.
    pub fn add(&mut self, datagram: &Datagram) {
        if self.0.len() == MAX_REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(*datagram);
    }

    /// Returns true if the timestamps of a connection advanced by far less than `length`
    /// nanoseconds between the last packets and the given next ones.
    pub fn contradicts_timestamps<'a>(
        &self,
        length: i64,
        mut next: impl Iterator<Item = &'a Datagram>,
    ) -> bool {
        let least = SLOWEST_TICKS * length as f64 * 1e-9;
        let ticks = |packet: &Datagram| tcp(packet)?.timestamps.map(|(value, _)| value);
        let advance = next.find_map(|packet| {
            let earlier = self.0.iter().rev().find(|earlier| {
                (earlier.source, earlier.destination) == (packet.source, packet.destination)
            })?;
            // A host whose timestamps stand still proves nothing.
            let ticks = ticks(packet)?.wrapping_sub(ticks(earlier)?);
            (ticks != 0 && ticks < 1 << 31).then_some(ticks)
        });
        advance.is_some_and(|ticks| f64::from(ticks) < least)
    }

    /// Returns true if the first of the given next packets of a connection is the first
    /// acknowledgement of data among the last packets.
    pub fn contradicts_acks<'a>(&self, next: impl Iterator<Item = &'a Datagram>) -> bool {
        let mut seen: Vec<&Datagram> = Vec::new();
        for packet in next {
            let is_first = seen.iter().all(|before| {
                before.source != packet.source && before.source != packet.destination
            });
            if is_first && self.is_awaited(packet) {
                return true;
            }
            seen.push(packet);
        }
        false
    }

    fn is_awaited(&self, packet: &Datagram) -> bool {
        let Some(ack) = tcp(packet).filter(|tcp| tcp.payload == 0 && is_plain(tcp)) else {
            return false;
        };
        let earlier = |ends| {
            let packets = self.0.iter();
            packets.filter(move |earlier| (earlier.source, earlier.destination) == ends)
        };
        let own = earlier((packet.source, packet.destination)).filter_map(tcp);
        let data = earlier((packet.destination, packet.source)).filter_map(tcp);
        let is_new = own.into_iter().all(|own| own.ack != ack.ack);
        let ends = |tcp: &TcpHeader| tcp.seq.wrapping_add(tcp.payload) == ack.ack;
        is_new && data.into_iter().any(|tcp| tcp.payload > 0 && ends(tcp))
    }
}

fn is_plain(tcp: &TcpHeader) -> bool {
    tcp.flags.contains(SegmentFlags::ACK)
        && [SegmentFlags::SYN, SegmentFlags::RST, SegmentFlags::FIN]
            .into_iter()
            .all(|flag| !tcp.flags.contains(flag))
}

fn tcp(packet: &Datagram) -> Option<&TcpHeader> {
    match &packet.transport {
        Transport::Tcp(tcp) => Some(tcp),
        _ => None,
    }
}
