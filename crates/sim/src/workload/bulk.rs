//! Bulk TCP: the client sends so many bytes and closes, or sends without end.

use goodqueue_tcp::{ENDLESS, TcpConfig, TcpEndpoint, TcpInfo, TcpStats};
use goodqueue_types::{Body, Packet, Segment, Span, Time};
use std::sync::Arc;

/// A TCP endpoint with the little application a bulk transfer needs.
#[derive(Debug)]
pub struct TcpHost {
    endpoint: TcpEndpoint,
    /// When the application opens the connection; none on the server and once it has.
    opens_at: Option<Time>,
    bytes: Option<u64>,
    finished_at: Option<Time>,
}

impl TcpHost {
    /// The sender of `bytes`, from `start` on.
    pub fn client(config: Arc<TcpConfig>, start: Time, bytes: Option<u64>) -> Self {
        let endpoint = TcpEndpoint::new(config);
        Self {
            endpoint,
            opens_at: Some(start),
            bytes,
            finished_at: None,
        }
    }

    /// The receiver, listening from the start.
    pub fn server(config: Arc<TcpConfig>) -> Self {
        let mut endpoint = TcpEndpoint::new(config);
        endpoint.listen();
        Self {
            endpoint,
            opens_at: None,
            bytes: None,
            finished_at: None,
        }
    }

    #[inline]
    pub(super) fn receive(&mut self, now: Time, packet: &Packet) -> Option<Span> {
        let Body::Tcp(segment) = &packet.body else {
            unreachable!("a TCP flow carries segments only")
        };
        self.endpoint.handle_packet(now, segment, packet.ecn);
        if self.bytes.is_some() && self.finished_at.is_none() && self.endpoint.is_finished() {
            self.finished_at = Some(now);
        }
        self.endpoint.take_rtt_sample()
    }

    pub(super) fn wake(&mut self, now: Time) {
        if self.opens_at.is_some_and(|opens_at| opens_at <= now) {
            self.opens_at = None;
            self.endpoint.connect(now);
            self.endpoint.write(self.bytes.unwrap_or(ENDLESS));
            if self.bytes.is_some() {
                self.endpoint.close();
            }
        }
        self.endpoint.handle_timeout(now);
    }

    #[inline]
    pub(super) fn wakes_at(&self) -> Time {
        self.opens_at
            .or_else(|| self.endpoint.poll_timeout())
            .unwrap_or(Time::MAX)
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

    /// What the endpoint counted since it was made.
    pub fn stats(&self) -> &TcpStats {
        self.endpoint.stats()
    }

    /// When the last byte was acknowledged.
    pub fn finished_at(&self) -> Option<Time> {
        self.finished_at
    }
}
