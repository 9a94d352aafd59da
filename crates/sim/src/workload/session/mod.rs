//! Sessions: applications that open TCP connections, send requests over them, and get answers.
//!
//! A client runs an application ([`App`]). Its server answers as the script says. One flow of the
//! network may thus have any number of connections, one after the other or at once.

mod connections;
mod exchanges;
#[cfg(test)]
mod laws;
mod measure;
mod numbered;
mod playout;
mod responsiveness;
mod script;
mod smoothing;
mod transfers;
mod video;
mod web;

use crate::{IdealPath, TIMES};
use connections::Connections;
use goodqueue_tcp::{TcpConfig, TcpStats, TimeLimited};
use goodqueue_types::parameters::{AMOUNT, Given, Key, Kind, Parameters, Refusal, one_of};
use goodqueue_types::{Packet, RandomStream, Span, Time, variants};
use numbered::Numbered;
use script::{Message, Script};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use exchanges::Exchanges;
pub use exchanges::ExchangesConfig;
pub use measure::{AppOutcome, Measure, Metric};
use responsiveness::Responsiveness;
pub use responsiveness::ResponsivenessConfig;
use transfers::Transfers;
pub use transfers::{Intervals, TransferWay, TransfersConfig};
use video::Video;
pub use video::VideoConfig;
use web::Web;
pub use web::WebConfig;

const MOST: Key = one_of(&[
    Kind::Integer {
        min: 1,
        max: 1_000_000_000,
    },
    Kind::Choice(&["unlimited"]),
])
.named("most")
.example("1000")
.doc("Largest number of transfers, exchanges, segments or pages.");

const REQUEST: Key = Key::new(AMOUNT).example("350B").doc("Bytes of a request.");

const SERVER_TIME: Key = Key::new(TIMES)
    .example("20ms")
    .doc("How long the server takes to begin its answer.");

variants! {
    /// Application of a session's client.
    #[derive(Clone, Debug, PartialEq)]
    pub enum SessionConfig(super::KIND) {
        /// Connections that begin at random times, each for one transfer.
        Transfers(config: TransfersConfig) = "transfers"("transfers"),
        /// Requests on one connection, each after the answer to the one before or at a fixed time.
        Exchanges(config: ExchangesConfig) = "exchanges"("exchanges"),
        /// Web pages of several objects.
        Web(config: WebConfig) = "web"("web"),
        /// Segments of a video.
        Video(config: VideoConfig) = "video"("video"),
        /// Probes on and beside connections that load the path.
        Responsiveness(config: ResponsivenessConfig) = "responsiveness"("responsiveness"),
    }
}

impl SessionConfig {
    /// Creates the application `word` with the values that a table gives.
    ///
    /// # Errors
    /// Returns the key at fault, the reason, and what to write instead.
    pub fn read(word: &str, given: &Given) -> Result<Self, Refusal> {
        let mut config = Self::defaults(word);
        config.apply(given);
        match &mut config {
            Self::Exchanges(config) => config.check()?,
            Self::Video(config) => {
                config.complete(given);
                config.check()?;
            }
            Self::Transfers(config) => config.check()?,
            Self::Web(_) | Self::Responsiveness(_) => {}
        }
        Ok(config)
    }
}

/// The application at the client.
#[derive(Debug)]
enum App {
    Transfers(Box<Transfers>),
    Exchanges(Exchanges),
    Web(Web),
    Video(Box<Video>),
    Responsiveness(Box<Responsiveness>),
}

impl App {
    /// Does what is due.
    fn wake(&mut self, desk: &mut Desk<'_>) {
        match self {
            Self::Transfers(app) => app.wake(desk),
            Self::Exchanges(app) => app.wake(desk),
            Self::Web(app) => app.wake(desk),
            Self::Video(app) => app.wake(desk),
            Self::Responsiveness(app) => app.wake(desk),
        }
    }

    /// Handles data or acknowledgements that came on a connection.
    fn progress(&mut self, connection: u32, desk: &mut Desk<'_>) {
        match self {
            Self::Transfers(app) => app.progress(connection, desk),
            Self::Exchanges(app) => app.progress(connection, desk),
            Self::Web(app) => app.progress(connection, desk),
            Self::Video(app) => app.progress(connection, desk),
            Self::Responsiveness(app) => app.progress(connection, desk),
        }
    }

    fn wakes_at(&self) -> Time {
        match self {
            Self::Transfers(app) => app.wakes_at(),
            Self::Exchanges(app) => app.wakes_at(),
            Self::Web(app) => app.wakes_at(),
            Self::Video(app) => app.wakes_at(),
            Self::Responsiveness(app) => app.wakes_at(),
        }
    }

    /// Returns the bytes of memory for what it waits for.
    fn bytes(&self) -> usize {
        match self {
            Self::Transfers(app) => app.bytes(),
            Self::Exchanges(app) => app.bytes(),
            Self::Responsiveness(app) => app.bytes(),
            Self::Web(_) | Self::Video(_) => 0,
        }
    }

    /// Returns the application's measurements until the end of the run.
    fn outcome(&self, end: Time) -> AppOutcome {
        match self {
            Self::Transfers(app) => app.outcome(),
            Self::Exchanges(app) => app.measure.outcome(),
            Self::Web(app) => app.measure.outcome(),
            Self::Video(app) => app.outcome(end),
            Self::Responsiveness(app) => app.outcome(),
        }
    }
}

/// Environment of an application at a call.
struct Desk<'a> {
    now: Time,
    connections: &'a mut Connections,
    opening: &'a mut Numbered<Time>,
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

    /// Writes a request of `bytes` bytes and returns the position in the client's stream at which
    /// it ends. `written_before` bytes of requests precede it. In an endless stream, the request is
    /// the bytes that are sent next.
    fn ask(&mut self, connection: u32, bytes: u64, written_before: u64, reply: Reply) -> u64 {
        let sent = self.connections.sent_of_endless(connection);
        let ends_at = sent.unwrap_or(written_before) + bytes;
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
        if sent.is_none() {
            self.connections.write(connection, bytes);
        }
        ends_at
    }

    /// Returns true from the end of a connection's handshake to the end of the connection.
    fn has_opened(&self, connection: u32) -> bool {
        let endpoint = self.connections.get(connection);
        endpoint.is_some_and(goodqueue_tcp::TcpEndpoint::is_established)
    }

    /// Returns the bytes of answers that have come on a connection, or `u64::MAX` once it has
    /// ended.
    fn delivered(&self, connection: u32) -> u64 {
        let endpoint = self.connections.get(connection);
        endpoint.map_or(u64::MAX, |endpoint| endpoint.stats().delivered_bytes)
    }
}

/// The answer to a request.
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
    /// Time of the first SYN of each connection that is not open yet.
    opening: Numbered<Time>,
    handshakes: Measure,
    script: Script,
    random: RandomStream,
}

/// The server of a session.
#[derive(Debug)]
pub struct Server {
    connections: Connections,
    script: Script,
    /// Answers in preparation: the time at which each is due, its connection, its bytes, and true
    /// if the server then closes the connection.
    thinking: BinaryHeap<Reverse<(Time, u32, u64, bool)>>,
}

/// Creates both ends of a session that begins at `start`.
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
            let config = config.clone();
            let app = Transfers::new(config, start, measure, alone, &mut random);
            App::Transfers(Box::new(app))
        }
        SessionConfig::Exchanges(config) => {
            App::Exchanges(Exchanges::new(config.clone(), start, measure))
        }
        SessionConfig::Web(config) => App::Web(Web::new(config.clone(), start, measure)),
        SessionConfig::Video(config) => {
            App::Video(Box::new(Video::new(config.clone(), start, measure)))
        }
        SessionConfig::Responsiveness(config) => {
            let client = Responsiveness::new(config.clone(), start, measured_from, path);
            App::Responsiveness(Box::new(client))
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
        opening: Numbered::default(),
        handshakes: Measure::new(measured_from).named("connections", "handshake_time_s"),
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

    /// Records the handshake's duration when the SYN-ACK has come, which opens the connection at
    /// the client.
    fn note_handshake(&mut self, now: Time, id: u32) {
        let connection = self.connections.get(id);
        if connection.is_some_and(goodqueue_tcp::TcpEndpoint::is_established)
            && let Some(began) = self.opening.remove(id)
        {
            self.handshakes.record(0, began, now);
        }
    }

    /// Receives a packet. Returns a round-trip time if the packet completed a sample.
    pub fn receive(&mut self, now: Time, packet: &Packet) -> Option<Span> {
        let id = self.connections.receive(now, packet, false)?;
        self.note_handshake(now, id);
        self.with_app(now, |app, desk| app.progress(id, desk));
        // When the server has closed, the client closes too.
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

    /// Returns the time at which [`wake`](Self::wake) is next needed.
    pub fn wakes_at(&self) -> Time {
        self.app.wakes_at().min(self.connections.wakes_at())
    }

    /// Returns false if there is certainly nothing to send.
    pub fn may_transmit(&self) -> bool {
        self.connections.may_transmit()
    }

    /// Writes the next packet to send. Returns false if there is none.
    pub fn transmit_into(&mut self, now: Time, packet: &mut Packet) -> bool {
        self.connections.transmit_into(now, packet)
    }

    /// Returns the bytes of memory that its connections and requests take.
    pub fn bytes(&self) -> usize {
        self.connections.bytes() + self.opening.bytes() + self.script.bytes() + self.app.bytes()
    }

    /// Returns the counters of all connections, summed.
    pub fn stats(&self) -> TcpStats {
        self.connections.stats()
    }

    /// Returns the times for which each cause limited the connections up to `now`, summed.
    pub fn time_limited(&self, now: Time) -> TimeLimited {
        self.connections.time_limited(now)
    }

    /// Returns the application's measurements until the end of the run.
    pub fn outcome(&self, end: Time) -> AppOutcome {
        let mut outcome = self.app.outcome(end);
        outcome.metrics.extend(self.handshakes.outcome().metrics);
        outcome
    }
}

impl Server {
    /// Receives a packet. Returns a round-trip time if the packet completed a sample.
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

    /// Returns the bytes of memory that its connections and answers take.
    pub fn bytes(&self) -> usize {
        let answer = size_of::<(Time, u32, u64, bool)>();
        self.connections.bytes() + self.thinking.capacity() * answer
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
            if let Some(sent) = self.connections.sent_of_endless(id) {
                self.script.add_answer(id, sent + bytes);
            } else {
                self.connections.write(id, bytes);
            }
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

    /// Returns the time at which [`wake`](Self::wake) is next needed.
    pub fn wakes_at(&self) -> Time {
        let answers = self.thinking.peek().map_or(Time::MAX, |answer| answer.0.0);
        answers.min(self.connections.wakes_at())
    }

    /// Returns false if there is certainly nothing to send.
    pub fn may_transmit(&self) -> bool {
        self.connections.may_transmit()
    }

    /// Writes the next packet to send. Returns false if there is none.
    pub fn transmit_into(&mut self, now: Time, packet: &mut Packet) -> bool {
        self.connections.transmit_into(now, packet)
    }

    /// Returns the counters of all connections, summed.
    pub fn stats(&self) -> TcpStats {
        self.connections.stats()
    }

    /// Returns the times for which each cause limited the connections up to `now`, summed.
    pub fn time_limited(&self, now: Time) -> TimeLimited {
        self.connections.time_limited(now)
    }
}
