//! Sources of datagrams that nobody answers: constant bit rate and Poisson.

use super::Outgoing;
use crate::PacketSize;
use goodqueue_types::{Body, RandomStream, Span, Time};

/// Bytes of IP and UDP or ICMP header (RFC 791, 768, 792): what of a datagram is not payload.
pub const DATAGRAM_HEADER: u64 = 28;

/// Sends a packet at each of its times.
#[derive(Debug)]
pub struct Source {
    next: Time,
    due: bool,
    timing: Timing,
    packet: PacketSize,
    random: Option<Box<RandomStream>>,
}

#[derive(Debug)]
enum Timing {
    Constant(Span),
    Exponential(Span),
}

impl Source {
    /// A packet of `packet` bytes at `start` and at every `interval` after it.
    pub fn constant(start: Time, interval: Span, packet: u32) -> Self {
        let packet = PacketSize::Fixed(packet);
        Self {
            next: start,
            due: false,
            timing: Timing::Constant(interval),
            packet,
            random: None,
        }
    }

    /// Packets at exponential intervals, the first one such interval after `start`.
    pub fn poisson(start: Time, mean: Span, packet: PacketSize, random: RandomStream) -> Self {
        let timing = Timing::Exponential(mean);
        let random = Some(Box::new(random));
        let mut source = Self {
            next: start,
            due: false,
            timing,
            packet,
            random,
        };
        source.next = start.saturating_add(source.draw_interval());
        source
    }

    fn draw_interval(&mut self) -> Span {
        match (&self.timing, &mut self.random) {
            (Timing::Exponential(mean), Some(random)) => {
                Span::from_secs_f64(random.exponential(mean.as_secs_f64()))
            }
            (Timing::Constant(interval) | Timing::Exponential(interval), _) => *interval,
        }
    }

    fn draw_size(&mut self) -> u32 {
        match (self.packet, &mut self.random) {
            (PacketSize::Exponential(mean), Some(random)) => {
                libm::round(random.exponential(mean)).clamp(1.0, 65_535.0) as u32
            }
            (PacketSize::Exponential(mean), None) => mean as u32,
            (PacketSize::Fixed(size), _) => size,
        }
    }

    pub(super) fn wake(&mut self, now: Time) {
        if self.next <= now {
            self.due = true;
            self.next = self.next.saturating_add(self.draw_interval());
        }
    }

    pub(super) fn wakes_at(&self) -> Time {
        self.next
    }

    pub(super) fn transmit(&mut self) -> Option<Outgoing> {
        std::mem::take(&mut self.due).then(|| (self.draw_size(), Body::Datagram))
    }
}
