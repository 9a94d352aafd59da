//! Bulk TCP: the client sends a number of bytes and closes, or sends without end.

use crate::BetweenLosses;
use goodqueue_tcp::{ENDLESS, Handshake, TcpConfig, TcpEndpoint, TcpInfo, TcpStats, TimeLimited};
use goodqueue_types::{Body, Packet, Segment, Span, Time};
use std::sync::Arc;

/// A TCP endpoint with the small application of a bulk transfer.
#[derive(Debug)]
pub struct TcpHost {
    endpoint: TcpEndpoint,
    /// Time at which the application opens the connection or writes. [`Time::MAX`] on the server and
    /// after everything is written.
    acts_at: Time,
    /// Time at which the application stops. [`Time::MAX`] if it never does, and afterwards.
    stops_at: Time,
    /// Number of bytes to send, or [`ENDLESS`] if the application never closes.
    bytes: u64,
    /// Time at which the last byte was acknowledged, or [`Time::MAX`] before.
    finished_at: Time,
    /// The first window of a flow that begins between two losses, until it is written.
    first_window: Option<Box<FirstWindow>>,
}

/// A window that is written segment by segment, evenly over a round trip: written at once it would go
/// round and round as one burst.
#[derive(Debug)]
struct FirstWindow {
    /// Time between two segments; `None` until the connection is open and so a round trip known.
    gap: Option<Span>,
    /// Segments of the window that are not written yet, and bytes of the transfer.
    segments: u64,
    bytes: u64,
}

impl TcpHost {
    /// Creates the sender of `bytes` bytes from `start` on.
    pub fn client(config: Arc<TcpConfig>, start: Time, bytes: Option<u64>) -> Self {
        let endpoint = TcpEndpoint::new(config);
        Self {
            endpoint,
            acts_at: start,
            stops_at: Time::MAX,
            bytes: bytes.unwrap_or(ENDLESS),
            finished_at: Time::MAX,
            first_window: None,
        }
    }

    /// Makes the sender begin between two losses. The caller must do so before it starts.
    pub(crate) fn begin_between_losses(&mut self, place: BetweenLosses) {
        self.endpoint.begin_between_losses(place.peak, place.phase);
        self.first_window = Some(Box::new(FirstWindow {
            gap: None,
            segments: 0,
            bytes: self.bytes,
        }));
    }

    /// Makes an endless sender stop at a time. The caller must do so before it starts, and not for a
    /// sender that begins between two losses.
    pub(crate) fn stop_at(&mut self, time: Time) {
        debug_assert!(self.bytes == ENDLESS && self.first_window.is_none() && self.acts_at < time);
        self.stops_at = time;
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
            acts_at: Time::MAX,
            stops_at: Time::MAX,
            bytes: 0,
            finished_at: Time::MAX,
            first_window: None,
        }
    }

    #[inline]
    pub(super) fn receive(&mut self, now: Time, packet: &Packet) -> Option<Span> {
        let Body::Tcp(segment) = &packet.body else {
            unreachable!("a TCP flow carries segments only")
        };
        self.endpoint.handle_packet(now, segment, packet.ecn);
        if self.first_window.is_some() {
            self.plan_first_window(now);
        }
        if self.finished_at == Time::MAX && self.is_finished() {
            self.finished_at = now;
        }
        self.endpoint.take_rtt_sample()
    }

    pub(super) fn write(&mut self, bytes: u64) {
        self.endpoint.write(bytes);
    }

    pub(super) fn wake(&mut self, now: Time) {
        if self.acts_at <= now {
            self.act(now);
        }
        self.endpoint.handle_timeout(now);
    }

    #[cold]
    fn act(&mut self, now: Time) {
        if self.stops_at <= now {
            (self.acts_at, self.stops_at) = (Time::MAX, Time::MAX);
            self.endpoint.withdraw();
            return self.end();
        }
        self.acts_at = self.stops_at;
        match &mut self.first_window {
            None => {
                self.endpoint.connect(now);
                self.write_last(self.bytes);
            }
            Some(first) => match first.gap {
                None => self.endpoint.connect(now),
                Some(gap) => self.write_first_window(now, gap),
            },
        }
    }

    /// The application offers the last of its bytes.
    fn write_last(&mut self, bytes: u64) {
        self.endpoint.write(bytes);
        if self.bytes != ENDLESS {
            self.end();
        }
    }

    /// Ends the data: with a FIN, but without one in ns-2's one-way agents.
    fn end(&mut self) {
        if !self.is_one_way() {
            self.endpoint.close();
        }
    }

    fn is_one_way(&self) -> bool {
        self.endpoint.config().handshake == Handshake::OneWay
    }

    /// Returns true if all data of a client are acknowledged, and its FIN if it sends one.
    fn is_finished(&self) -> bool {
        let written = self.bytes > 0 && self.first_window.is_none();
        self.endpoint.is_finished()
            || (self.is_one_way() && written && self.endpoint.is_acknowledged())
    }

    /// Plans the first window when the connection opens, and writes its first segment at once.
    #[cold]
    fn plan_first_window(&mut self, now: Time) {
        let Some(first) = self.first_window.as_deref_mut() else {
            return;
        };
        if first.gap.is_some() || !self.endpoint.is_established() {
            return;
        }
        let info = self.endpoint.info();
        first.segments = info.cwnd / u64::from(self.endpoint.config().mss);
        let gap = info.srtt.unwrap_or_default() / (2 * first.segments.max(1));
        first.gap = Some(gap);
        self.write_first_window(now, gap);
    }

    /// Writes the next segment of the first window, and all that is left after the last of them.
    fn write_first_window(&mut self, now: Time, gap: Span) {
        let mss = u64::from(self.endpoint.config().mss);
        let Some(first) = self.first_window.as_deref_mut() else {
            return;
        };
        if first.segments == 0 || first.bytes <= mss {
            let last = first.bytes;
            self.first_window = None;
            return self.write_last(last);
        }
        first.segments -= 1;
        first.bytes -= mss;
        self.endpoint.write(mss);
        self.acts_at = now + gap;
    }

    #[inline]
    pub(super) fn wakes_at(&self) -> Time {
        let timeout = self.endpoint.poll_timeout().unwrap_or(Time::MAX);
        self.acts_at.min(timeout)
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
