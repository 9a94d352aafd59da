//! One end of a QUIC connection, driven by the simulator.

use crate::application::Application;
use crate::clock;
use crate::control::Sample;
use crate::qlog::Now;
use crate::tls;
use bytes::BytesMut;
use goodqueue_sim::{AppOutcome, Batch, Endpoint, Progress};
use goodqueue_types::{Ecn, Span, Time};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, EcnCodepoint, Transmit,
};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::Ordering;

/// Most datagrams in one batch, as in quinn's own driver on Linux.
pub const MOST_IN_BATCH: usize = 10;

/// Address of the other end, of which there is one. Packets carry the addresses of the scenario.
const PEER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 4433);

/// A client or server with its application.
pub struct QuinnEndpoint {
    /// quinn's endpoint, which finds the connection of a datagram.
    pub endpoint: quinn_proto::Endpoint,
    /// The connection, once there is one.
    pub connection: Option<(ConnectionHandle, Connection)>,
    /// Configuration of a client that has not begun.
    pub client: Option<ClientConfig>,
    /// Time at which the client begins.
    pub start: Time,
    /// Time at which the client's application stops.
    pub stop: Option<Time>,
    /// The application.
    pub application: Application,
    /// Most datagrams in one batch.
    pub most_in_batch: usize,
    /// Round-trip times that the control noted.
    pub sample: Sample,
    /// Time of the present call, for qlog.
    pub now: Now,
    /// Time at which the connection must be called.
    pub timeout: Option<Time>,
    /// Answer of the endpoint itself, and whether it is to be sent.
    pub response: Option<(Transmit, Vec<u8>)>,
    /// Buffer of such answers.
    pub buffer: Vec<u8>,
}

impl fmt::Debug for QuinnEndpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("QuinnEndpoint")
            .field("start", &self.start)
            .field("application", &self.application)
            .finish_non_exhaustive()
    }
}

impl QuinnEndpoint {
    /// Passes on what the connection has for its endpoint and its application.
    fn drive(&mut self, now: Time) {
        let Some((handle, connection)) = &mut self.connection else {
            return;
        };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
        while let Some(event) = connection.poll() {
            self.application.handle(now, connection, &event);
        }
    }

    fn begin(&mut self, now: Time) {
        let Some(config) = self.client.take() else {
            return;
        };
        let connected = self
            .endpoint
            .connect(clock::instant(now), config, PEER, tls::SERVER);
        self.connection = Some(connected.expect("the configuration is valid"));
    }

    fn note(&mut self, now: Time) {
        self.now.0.store((now - Time::ZERO).0, Ordering::Relaxed);
    }
}

impl Endpoint for QuinnEndpoint {
    fn receive(&mut self, now: Time, ecn: Ecn, datagram: &[u8]) -> Option<Span> {
        self.note(now);
        let ecn = match ecn {
            Ecn::NotCapable => None,
            Ecn::Capable0 => Some(EcnCodepoint::Ect0),
            Ecn::Capable1 => Some(EcnCodepoint::Ect1),
            Ecn::Experienced => Some(EcnCodepoint::Ce),
        };
        let (at, data) = (clock::instant(now), BytesMut::from(datagram));
        self.buffer.clear();
        let event = self
            .endpoint
            .handle(at, PEER, None, ecn, data, &mut self.buffer);
        match event {
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, at, &mut self.buffer, None);
                match accepted {
                    Ok(accepted) => self.connection = Some(accepted),
                    Err(error) => {
                        let written = self.buffer.clone();
                        self.response = error.response.map(|transmit| (transmit, written));
                    }
                }
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::Response(transmit)) => {
                self.response = Some((transmit, self.buffer.clone()));
            }
            None => {}
        }
        self.drive(now);
        let sample = self.sample.swap(0, Ordering::Relaxed);
        (sample > 0).then(|| Span(sample.saturating_mul(1_000)))
    }

    fn wake(&mut self, now: Time) {
        self.note(now);
        if self.start <= now {
            self.begin(now);
        }
        let Some((_, connection)) = &mut self.connection else {
            return;
        };
        if self.timeout.is_some_and(|timeout| timeout <= now) {
            connection.handle_timeout(clock::instant(now));
        }
        self.application.ask(now, connection);
        if self.stop.is_some_and(|stop| stop <= now) {
            self.application.stop(connection);
            self.stop = None;
        }
        self.drive(now);
    }

    fn wakes_at(&self) -> Option<Time> {
        let start = self.client.is_some().then_some(self.start);
        let asks = self.application.wakes_at();
        let connected = self.connection.is_some();
        let stop = self.stop.filter(|_| connected);
        let times = [start, asks, self.timeout, stop];
        times.into_iter().flatten().min()
    }

    fn transmit(&mut self, now: Time, datagrams: &mut Vec<u8>) -> Option<Batch> {
        let transmit = if let Some((transmit, bytes)) = self.response.take() {
            datagrams.extend_from_slice(&bytes[..transmit.size]);
            transmit
        } else {
            let (_, connection) = self.connection.as_mut()?;
            let at = clock::instant(now);
            let transmit = connection.poll_transmit(at, self.most_in_batch, datagrams);
            let Some(transmit) = transmit else {
                self.timeout = connection.poll_timeout().map(clock::time);
                return None;
            };
            transmit
        };
        Some(Batch {
            size: transmit.segment_size.unwrap_or(transmit.size),
            ecn: match transmit.ecn {
                None => Ecn::NotCapable,
                Some(EcnCodepoint::Ect0) => Ecn::Capable0,
                Some(EcnCodepoint::Ect1) => Ecn::Capable1,
                Some(EcnCodepoint::Ce) => Ecn::Experienced,
            },
        })
    }

    fn progress(&self) -> Progress {
        let connection = self.connection.as_ref();
        Progress {
            delivered_bytes: self.application.delivered,
            lost_packets: connection.map_or(0, |(_, one)| one.stats().path.lost_packets),
            timeouts: 0,
            finished_at: self.application.finished_at,
        }
    }

    fn outcome(&self, _end: Time) -> AppOutcome {
        self.application.outcome()
    }
}
