//! Sessions: applications that open TCP connections, ask over them, and are answered.
//!
//! A client runs an application ([`App`]); its server answers what the script says. One flow of
//! the network may so have any number of connections, one after the other or at once.

mod connections;
mod exchanges;
#[cfg(test)]
mod laws;
mod measure;
mod playout;
mod script;
mod smoothing;
mod transfers;
mod video;
mod web;

use crate::IdealPath;
use connections::Connections;
use goodqueue_tcp::{TcpConfig, TcpStats, TimeLimited};
use goodqueue_types::{Packet, RandomStream, Span, Time};
use script::{Message, Script};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use exchanges::Exchanges;
pub use exchanges::ExchangesConfig;
pub use measure::{AppOutcome, Measure, Metric};
use transfers::Transfers;
pub use transfers::TransfersConfig;
use video::Video;
pub use video::VideoConfig;
use web::Web;
pub use web::WebConfig;

/// What the client of a session does.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionConfig {
    /// Connections that begin at random times, each for one transfer.
    Transfers(TransfersConfig),
    /// Requests on one connection, each after the answer to the one before.
    Exchanges(ExchangesConfig),
    /// Pages of objects.
    Web(WebConfig),
    /// Segments of a video.
    Video(VideoConfig),
}

/// The application at the client.
#[derive(Debug)]
enum App {
    Transfers(Transfers),
    Exchanges(Exchanges),
    Web(Web),
    Video(Box<Video>),
}

impl App {
    /// Does what is due.
    fn wake(&mut self, desk: &mut Desk<'_>) {
        match self {
            Self::Transfers(app) => app.wake(desk),
            Self::Exchanges(app) => app.wake(desk),
            Self::Web(app) => app.wake(desk),
            Self::Video(app) => app.wake(desk),
        }
    }

    /// Something came on a connection: data or acknowledgements.
    fn progress(&mut self, connection: u32, desk: &mut Desk<'_>) {
        match self {
            Self::Transfers(app) => app.progress(connection, desk),
            Self::Exchanges(app) => app.progress(connection, desk),
            Self::Web(app) => app.progress(connection, desk),
            Self::Video(app) => app.progress(connection, desk),
        }
    }

    fn wakes_at(&self) -> Time {
        match self {
            Self::Transfers(app) => app.wakes_at(),
            Self::Exchanges(app) => app.wakes_at(),
            Self::Web(app) => app.wakes_at(),
            Self::Video(app) => app.wakes_at(),
        }
    }

    /// What was measured until the end of the run.
    fn outcome(&self, end: Time) -> AppOutcome {
        match self {
            Self::Transfers(app) => app.outcome(),
            Self::Exchanges(app) => app.measure.outcome(),
            Self::Web(app) => app.measure.outcome(),
            Self::Video(app) => app.outcome(end),
        }
    }
}

/// What an application works with.
struct Desk<'a> {
    now: Time,
    connections: &'a mut Connections,
    opening: &'a mut BTreeMap<u32, Time>,
    script: &'a Script,
    random: &'a mut RandomStream,
}

impl Desk<'_> {
    fn open(&mut self) -> u32 {
        let id = self.connections.open(self.now);
        self.opening.insert(id, self.now);
        id
    }

    fn close(&mut self, connection: u32) {
        self.connections.close(connection);
    }

    /// Writes a request of `bytes` bytes; the connection has so many bytes of requests after it.
    fn ask(&mut self, connection: u32, bytes: u64, written_before: u64, reply: Reply) -> u64 {
        let ends_at = written_before + bytes;
        let Reply {
            bytes: reply,
            after,
            closes,
        } = reply;
        self.script.add(
            connection,
            Message {
                ends_at,
                reply,
                after,
                closes,
            },
        );
        self.connections.write(connection, bytes);
        ends_at
    }

    /// Bytes of answers that have come on a connection; all of them once it is gone.
    fn delivered(&self, connection: u32) -> u64 {
        let endpoint = self.connections.get(connection);
        endpoint.map_or(u64::MAX, |endpoint| endpoint.stats().delivered_bytes)
    }
}

/// The answer that a request asks for.
#[derive(Clone, Copy, Debug)]
struct Reply {
    bytes: u64,
    after: Span,
    closes: bool,
}

/// The client of a session.
#[derive(Debug)]
pub struct Client {
    app: App,
    connections: Connections,
    /// When each connection that is not open yet sent its first SYN.
    opening: BTreeMap<u32, Time>,
    handshakes: Measure,
    script: Script,
    random: RandomStream,
}

/// The server of a session.
#[derive(Debug)]
pub struct Server {
    connections: Connections,
    script: Script,
    /// Answers that it still thinks about: when, on which connection, how many bytes, and whether
    /// it then closes.
    thinking: BinaryHeap<Reverse<(Time, u32, u64, bool)>>,
}

/// Both ends of a session that begins at `start`.
pub fn pair(
    config: &SessionConfig,
    tcp: &Arc<TcpConfig>,
    start: Time,
    measured_from: Time,
    path: IdealPath,
    mut random: RandomStream,
) -> (Client, Server) {
    let measure = Measure::new(measured_from);
    let app = match config {
        SessionConfig::Transfers(config) => {
            let alone = (path, tcp.clone());
            App::Transfers(Transfers::new(
                config.clone(),
                start,
                measure,
                alone,
                &mut random,
            ))
        }
        SessionConfig::Exchanges(config) => {
            App::Exchanges(Exchanges::new(config.clone(), start, measure))
        }
        SessionConfig::Web(config) => App::Web(Web::new(config.clone(), start, measure)),
        SessionConfig::Video(config) => {
            App::Video(Box::new(Video::new(config.clone(), start, measure)))
        }
    };
    let script = Script::default();
    let server = Server {
        connections: Connections::new(tcp.clone()),
        script: script.clone(),
        thinking: BinaryHeap::new(),
    };
    let client = Client {
        app,
        connections: Connections::new(tcp.clone()),
        opening: BTreeMap::new(),
        handshakes: Measure::new(measured_from).of("connections", "handshake_time_s"),
        script,
        random,
    };
    (client, server)
}

impl Client {
    fn with_app(&mut self, now: Time, call: impl FnOnce(&mut App, &mut Desk<'_>)) {
        let mut desk = Desk {
            now,
            connections: &mut self.connections,
            opening: &mut self.opening,
            script: &self.script,
            random: &mut self.random,
        };
        call(&mut self.app, &mut desk);
    }

    /// A connection is open, for its client, when the SYN-ACK has come.
    fn note_handshake(&mut self, now: Time, id: u32) {
        let connection = self.connections.get(id);
        if connection.is_some_and(goodqueue_tcp::TcpEndpoint::is_established)
            && let Some(began) = self.opening.remove(&id)
        {
            self.handshakes.record(0, began, now);
        }
    }

    /// Takes a packet; returns a round-trip time if the packet completed a sample.
    pub fn receive(&mut self, now: Time, packet: &Packet) -> Option<Span> {
        let id = self.connections.receive(now, packet, false)?;
        self.note_handshake(now, id);
        self.with_app(now, |app, desk| app.progress(id, desk));
        // A server that has said all is answered in kind.
        let ended = self
            .connections
            .get(id)
            .is_some_and(|endpoint| endpoint.is_peer_finished() && !endpoint.is_finished());
        if ended {
            self.connections.close(id);
        }
        self.connections.settle(id);
        self.connections.take_rtt_sample()
    }

    /// Does what is due by `now`.
    pub fn wake(&mut self, now: Time) {
        self.connections.wake(now);
        if self.app.wakes_at() <= now {
            self.with_app(now, App::wake);
        }
    }

    /// When [`wake`](Self::wake) is next needed.
    pub fn wakes_at(&self) -> Time {
        self.app.wakes_at().min(self.connections.wakes_at())
    }

    /// False if nothing is to be sent for sure.
    pub fn may_transmit(&self) -> bool {
        self.connections.may_transmit()
    }

    /// Writes the next packet to send; false when there is none.
    pub fn transmit_into(&mut self, now: Time, packet: &mut Packet) -> bool {
        self.connections.transmit_into(now, packet)
    }

    /// What all connections counted.
    pub fn stats(&self) -> TcpStats {
        self.connections.stats()
    }

    /// How long connections waited for what up to `now`.
    pub fn time_limited(&self, now: Time) -> TimeLimited {
        self.connections.time_limited(now)
    }

    /// What the application measured until the end of the run.
    pub fn outcome(&self, end: Time) -> AppOutcome {
        let mut outcome = self.app.outcome(end);
        outcome.metrics.extend(self.handshakes.outcome().metrics);
        outcome
    }
}

impl Server {
    /// Takes a packet; returns a round-trip time if the packet completed a sample.
    pub fn receive(&mut self, now: Time, packet: &Packet) -> Option<Span> {
        let id = self.connections.receive(now, packet, true)?;
        let delivered = self.connections.get(id)?.stats().delivered_bytes;
        while let Some(message) = self.script.take(id, delivered) {
            let answer = (now + message.after, id, message.reply, message.closes);
            self.thinking.push(Reverse(answer));
        }
        self.answer(now);
        let ended = self
            .connections
            .get(id)
            .is_some_and(|endpoint| endpoint.is_peer_finished() && !endpoint.is_finished());
        if ended && !self.is_thinking_about(id) {
            self.connections.close(id);
        }
        self.connections.settle(id);
        self.connections.take_rtt_sample()
    }

    fn is_thinking_about(&self, id: u32) -> bool {
        self.thinking.iter().any(|Reverse(answer)| answer.1 == id)
    }

    /// Writes the answers that are due.
    fn answer(&mut self, now: Time) {
        while let Some(Reverse((due, id, bytes, closes))) = self.thinking.peek().copied() {
            if due > now {
                return;
            }
            self.thinking.pop();
            self.connections.write(id, bytes);
            let ended = self
                .connections
                .get(id)
                .is_some_and(goodqueue_tcp::TcpEndpoint::is_peer_finished);
            if closes || ended {
                self.connections.close(id);
            }
        }
    }

    /// Does what is due by `now`.
    pub fn wake(&mut self, now: Time) {
        self.connections.wake(now);
        self.answer(now);
    }

    /// When [`wake`](Self::wake) is next needed.
    pub fn wakes_at(&self) -> Time {
        let answers = self.thinking.peek().map_or(Time::MAX, |answer| answer.0.0);
        answers.min(self.connections.wakes_at())
    }

    /// False if nothing is to be sent for sure.
    pub fn may_transmit(&self) -> bool {
        self.connections.may_transmit()
    }

    /// Writes the next packet to send; false when there is none.
    pub fn transmit_into(&mut self, now: Time, packet: &mut Packet) -> bool {
        self.connections.transmit_into(now, packet)
    }

    /// What all connections counted.
    pub fn stats(&self) -> TcpStats {
        self.connections.stats()
    }

    /// How long connections waited for what up to `now`.
    pub fn time_limited(&self, now: Time) -> TimeLimited {
        self.connections.time_limited(now)
    }
}
