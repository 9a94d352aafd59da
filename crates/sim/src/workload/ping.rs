//! Ping: echo requests at constant intervals, which the other host answers at once.

use super::Outgoing;
use goodqueue_types::{Body, Packet, Span, Time};
use std::collections::VecDeque;

/// Sender of echo requests, which computes the round-trip time from each reply.
#[derive(Debug)]
pub struct Pinger {
    next: Time,
    due: bool,
    interval: Span,
    packet: u32,
}

impl Pinger {
    /// Creates a sender with a request of `packet` IP bytes at `start` and at every `interval`
    /// after it.
    pub fn new(start: Time, interval: Span, packet: u32) -> Self {
        Self {
            next: start,
            due: false,
            interval,
            packet,
        }
    }

    /// Returns the round-trip time that a reply completes.
    pub(super) fn round_trip(now: Time, packet: &Packet) -> Span {
        let Body::EchoReply { requested } = packet.body else {
            unreachable!("a ping flow carries replies to its client")
        };
        now - requested
    }

    pub(super) fn wake(&mut self, now: Time) {
        if self.next <= now {
            self.due = true;
            self.next = self.next.saturating_add(self.interval);
        }
    }

    pub(super) fn wakes_at(&self) -> Time {
        self.next
    }

    pub(super) fn transmit(&mut self) -> Option<Outgoing> {
        std::mem::take(&mut self.due).then_some((self.packet, Body::EchoRequest))
    }
}

/// Host that answers each request with a reply of the same size.
#[derive(Debug, Default)]
pub struct Responder {
    replies: VecDeque<Outgoing>,
}

impl Responder {
    pub(super) fn receive(&mut self, packet: &Packet) {
        self.replies.push_back((
            packet.size,
            Body::EchoReply {
                requested: packet.sent,
            },
        ));
    }

    pub(super) fn transmit(&mut self) -> Option<Outgoing> {
        self.replies.pop_front()
    }
}
