//! Bulk TCP: the client sends a number of bytes and closes, or sends without end.

use crate::BetweenLosses;
use goodqueue_tcp::{ENDLESS, TcpConfig, TcpEndpoint, TcpInfo, TcpStats, TimeLimited};
use goodqueue_types::{Body, Packet, Segment, Span, Time};
use std::sync::Arc;

/// A TCP endpoint with the small application of a bulk transfer.
#[derive(Debug)]
pub struct TcpHost {
    endpoint: TcpEndpoint,
    /// Time at which the application opens the connection. [`Time::MAX`] on the server and after
    /// that time.
    opens_at: Time,
    /// Number of bytes to send, or [`ENDLESS`] if the application never closes.
    bytes: u64,
    /// Time at which the last byte was acknowledged, or [`Time::MAX`] before.
    finished_at: Time,
}

impl TcpHost {
    /// Creates the sender of `bytes` bytes from `start` on.
    pub fn client(config: Arc<TcpConfig>, start: Time, bytes: Option<u64>) -> Self {
        let endpoint = TcpEndpoint::new(config);
        Self {
            endpoint,
            opens_at: start,
            bytes: bytes.unwrap_or(ENDLESS),
            finished_at: Time::MAX,
        }
    }

    /// Makes the sender begin between two losses. The caller must do so before it starts.
    pub(crate) fn begin_between_losses(&mut self, place: BetweenLosses) {
        self.endpoint.begin_between_losses(place.peak, place.phase);
    }

    /// Creates a server that may answer and listens from the start.
    pub fn server(config: Arc<TcpConfig>) -> Self {
        Self::listening(TcpEndpoint::new(config))
    }

    /// Creates a server that only receives data and listens from the start.
    pub fn sink(config: Arc<TcpConfig>) -> Self {
        Self::listening(TcpEndpoint::receiving(config))
    }

    fn listening(mut endpoint: TcpEndpoint) -> Self {
        endpoint.listen();
        Self {
            endpoint,
            opens_at: Time::MAX,
            bytes: 0,
            finished_at: Time::MAX,
        }
    }

    #[inline]
    pub(super) fn receive(&mut self, now: Time, packet: &Packet) -> Option<Span> {
        let Body::Tcp(segment) = &packet.body else {
            unreachable!("a TCP flow carries segments only")
        };
        self.endpoint.handle_packet(now, segment, packet.ecn);
        if self.endpoint.is_finished() && self.finished_at == Time::MAX {
            self.finished_at = now;
        }
        self.endpoint.take_rtt_sample()
    }

    pub(super) fn write(&mut self, bytes: u64) {
        self.endpoint.write(bytes);
    }

    pub(super) fn wake(&mut self, now: Time) {
        if self.opens_at <= now {
            self.opens_at = Time::MAX;
            self.endpoint.connect(now);
            self.endpoint.write(self.bytes);
            if self.bytes != ENDLESS {
                self.endpoint.close();
            }
        }
        self.endpoint.handle_timeout(now);
    }

    #[inline]
    pub(super) fn wakes_at(&self) -> Time {
        let timeout = self.endpoint.poll_timeout().unwrap_or(Time::MAX);
        self.opens_at.min(timeout)
    }

    #[inline]
    pub(super) fn may_transmit(&self) -> bool {
        self.endpoint.may_transmit()
    }

    #[inline]
    pub(super) fn transmit_into(&mut self, now: Time, packet: &mut Packet) -> bool {
        if !matches!(packet.body, Body::Tcp(_)) {
            packet.body = Body::Tcp(Segment::default());
        }
        let Body::Tcp(segment) = &mut packet.body else {
            unreachable!("set just now")
        };
        let sends = self.endpoint.poll_transmit_into(now, segment);
        packet.size = segment.ip_bytes();
        packet.ecn = self.endpoint.transmit_ecn();
        sends
    }

    pub(super) fn info(&self) -> TcpInfo {
        self.endpoint.info()
    }

    pub(super) fn time_limited(&self, now: Time) -> TimeLimited {
        self.endpoint.time_limited(now)
    }

    /// Returns the endpoint's counters.
    pub fn stats(&self) -> &TcpStats {
        self.endpoint.stats()
    }

    /// Returns the time at which the last byte was acknowledged.
    pub fn finished_at(&self) -> Option<Time> {
        Some(self.finished_at).filter(|at| *at != Time::MAX)
    }
}
