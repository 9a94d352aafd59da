//! A scripted peer for packet conversations: an endpoint under test, a clock, and segments written
//! by hand.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::sync::Arc;

use goodqueue_tcp::{Profile, TcpConfig, TcpEndpoint};
use goodqueue_types::{Ecn, Segment, SegmentFlags, Span, Time};

pub const MSS: u64 = 1000;
pub const SYN: SegmentFlags = SegmentFlags::SYN;
pub const ACK: SegmentFlags = SegmentFlags::ACK;

/// The endpoint under test, with the clock and the window of its peer.
pub struct Peer {
    pub host: TcpEndpoint,
    pub now: Time,
    pub window: u32,
}

/// Returns the `rfc` profile with segments of 1000 bytes.
pub fn config(adjust: impl FnOnce(&mut TcpConfig)) -> TcpConfig {
    let mut config = TcpConfig::profile(Profile::Rfc);
    config.mss = MSS as u32;
    adjust(&mut config);
    config
}

impl Peer {
    pub fn new(config: TcpConfig) -> Self {
        Self {
            host: TcpEndpoint::new(Arc::new(config)),
            now: Time::ZERO,
            window: 10_000_000,
        }
    }

    /// Returns a connection that the peer opened, with a handshake of 100 ms.
    pub fn accepted(config: TcpConfig) -> Self {
        let mut peer = Self::new(config);
        peer.host.listen();
        assert_eq!(peer.say(peer.segment(0, 0, SYN, 0)).len(), 1);
        peer.wait(100);
        peer.say(peer.segment(1, 1, ACK, 0));
        assert!(peer.host.is_established());
        peer
    }

    /// Returns a connection that the endpoint opened, with a handshake of 100 ms.
    pub fn connected(config: TcpConfig) -> Self {
        let mut peer = Self::new(config);
        peer.host.connect(peer.now);
        peer.listen();
        peer.wait(100);
        peer.say(peer.segment(0, 1, SYN.with(ACK), 0));
        assert!(peer.host.is_established());
        peer
    }

    pub fn segment(&self, seq: u64, ack: u64, flags: SegmentFlags, payload: u32) -> Segment {
        Segment {
            seq,
            ack,
            window: self.window,
            payload,
            header: 40,
            flags,
            ..Segment::default()
        }
    }

    /// Delivers a segment and returns the endpoint's answers.
    pub fn say(&mut self, segment: Segment) -> Vec<Segment> {
        self.say_marked(segment, Ecn::NotCapable)
    }

    /// Delivers a segment in a packet with this ECN field and returns the endpoint's answers.
    pub fn say_marked(&mut self, segment: Segment, mark: Ecn) -> Vec<Segment> {
        self.host.handle_packet(self.now, &segment, mark);
        self.listen()
    }

    /// Delivers data `from..to` and returns the endpoint's answers.
    pub fn data(&mut self, from: u64, to: u64) -> Vec<Segment> {
        self.say(self.segment(from, 1, ACK, (to - from) as u32))
    }

    /// Returns all segments that leave now.
    pub fn listen(&mut self) -> Vec<Segment> {
        std::iter::from_fn(|| self.host.poll_transmit(self.now)).collect()
    }

    pub fn wait(&mut self, millis: u64) {
        self.now += Span::from_millis(millis);
    }

    /// Returns the milliseconds until the next timer.
    pub fn timer(&self) -> Option<u64> {
        let deadline = self.host.poll_timeout()?;
        Some((deadline - self.now).0 / Span::from_millis(1).0)
    }

    /// Lets the next timer expire. Returns its time in milliseconds and the segments that leave
    /// then.
    pub fn expire(&mut self) -> (u64, Vec<Segment>) {
        self.now = self.host.poll_timeout().expect("a timer");
        self.host.handle_timeout(self.now);
        (self.now.0 / Span::from_millis(1).0, self.listen())
    }
}
