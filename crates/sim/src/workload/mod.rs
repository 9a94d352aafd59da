//! Workloads of hosts. Each file has one workload, as a pair of behaviours for client and server.

mod bulk;
mod datagram;
mod echo;
pub mod foreign;
mod game;
pub mod law;
mod ping;
mod receipts;
pub mod session;
mod source;
mod stream;
mod voice;

use crate::{IdealPath, WorkloadConfig};
use foreign::ForeignHost;
use goodqueue_tcp::{TcpInfo, TcpStats, TimeLimited};
use goodqueue_types::parameters::{Key, Kind, REQUIRED, concat, key};
use goodqueue_types::{Packet, RandomStream, Span, Time};
use session::SessionConfig;

pub use bulk::TcpHost;
pub use datagram::{DATAGRAM_HEADER, Source};
pub use echo::{Echo, EchoReply};
pub use game::{GameConfig, Player};
pub use ping::{Pinger, Responder};
pub use source::{PacketSize, SourceConfig};
pub use stream::StreamConfig;
pub use voice::{Listener, SpeechCodec, VoiceConfig};

/// Words of all workloads.
pub const WORKLOADS: [&str;
    StreamConfig::WORDS.len() + SessionConfig::WORDS.len() + SourceConfig::WORDS.len()] = concat(
    "bulk",
    &[
        StreamConfig::WORDS,
        SessionConfig::WORDS,
        SourceConfig::WORDS,
    ],
);

/// Key of a workload's kind.
pub const KIND: Key = key(
    "kind",
    Kind::Choice(&WORKLOADS),
    REQUIRED,
    "\"bulk\"",
    "`bulk`: TCP data. `echo`: the same, and the server answers all that comes. `transfers`: short TCP flows, which begin at random times. `exchanges`: requests and answers \
     on one TCP connection. `web`: pages of objects over parallel TCP connections. `video`: segments of a video, at the bit rates that the \
     player's buffer allows. `responsiveness`: small requests on and beside connections that load the path. `cbr`: datagrams at constant \
     intervals. `poisson`: datagrams at exponential intervals. `bursts`: several at once at exponential \
     intervals. `on_off`: datagrams at constant intervals in on periods, silence between them. `voice`: one direction of a \
     call. `game`: small updates both ways. `ping`: echo requests.",
);

/// IP size and body of a packet to send. The agent adds the flow's labels.
pub type Outgoing = (u32, goodqueue_types::Body);

/// Behaviour of one end of a flow. Both engines drive it by the same four calls.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every agent of a large run is the largest: a box would cost what it saves"
)]
pub enum Behaviour {
    /// A TCP endpoint and its application.
    Tcp(TcpHost),
    /// A TCP server that answers its data.
    Echo(Box<Echo>),
    /// A source of datagrams.
    Source(Box<Source>),
    /// A receiver of datagrams that sends nothing.
    Sink,
    /// The receiver of a call.
    Listener(Box<Listener>),
    /// One side of a game.
    Player(Box<Player>),
    /// A sender of echo requests, which measures the time to the replies.
    Pinger(Pinger),
    /// A host that answers echo requests.
    Responder(Responder),
    /// The client of an application over any number of TCP connections.
    Client(Box<session::Client>),
    /// The server of such an application.
    Server(Box<session::Server>),
    /// A transport stack from outside.
    Foreign(Box<ForeignHost>),
}

impl Behaviour {
    /// Creates the client and the server of a flow that begins at `start`, on this path.
    /// Measurements of applications count from `measured_from` on.
    pub fn pair(
        workload: &WorkloadConfig,
        start: Time,
        measured_from: Time,
        path: IdealPath,
        random: RandomStream,
    ) -> [Self; 2] {
        match workload {
            WorkloadConfig::Session { tcp, session } => {
                let (client, server) =
                    session::pair(session, tcp, start, measured_from, path, random);
                [
                    Self::Client(Box::new(client)),
                    Self::Server(Box::new(server)),
                ]
            }
            WorkloadConfig::Stream { tcp, stream } => [
                Self::Tcp(TcpHost::client(tcp.clone(), start, stream.bytes())),
                match stream {
                    StreamConfig::Bulk { .. } => Self::Tcp(TcpHost::sink(tcp.clone())),
                    StreamConfig::Echo { reply, .. } => {
                        Self::Echo(Box::new(Echo::new(tcp.clone(), *reply)))
                    }
                },
            ],
            WorkloadConfig::Source(source) => Self::of_source(source, start, measured_from, random),
            WorkloadConfig::Foreign(_) => unreachable!("a foreign stack needs its placement"),
        }
    }

    /// Creates the client and the server of a flow without TCP.
    fn of_source(
        source: &SourceConfig,
        start: Time,
        measured_from: Time,
        random: RandomStream,
    ) -> [Self; 2] {
        match source {
            SourceConfig::Game(config) => {
                let players = game::pair(config, start, measured_from, random);
                players.map(|player| Self::Player(Box::new(player)))
            }
            SourceConfig::ConstantBitRate {
                interval,
                packet,
                spread,
            } => {
                let source = Source::constant(start, *interval, *packet);
                [
                    Self::source(source.with_spread(*spread, random)),
                    Self::Sink,
                ]
            }
            SourceConfig::Poisson {
                mean_interval,
                packet,
            } => [
                Self::source(Source::poisson(start, *mean_interval, *packet, random)),
                Self::Sink,
            ],
            SourceConfig::Bursts {
                mean_interval,
                packets,
                packet,
            } => {
                let size = crate::PacketSize::Fixed(*packet);
                let source = Source::poisson(start, *mean_interval, size, random);
                [Self::source(source.in_bursts(*packets)), Self::Sink]
            }
            SourceConfig::OnOff {
                interval,
                packet,
                on,
                off,
            } => {
                let periods = (on.clone(), off.clone());
                let source = Source::on_off(start, *interval, *packet, periods, random);
                [Self::source(source), Self::Sink]
            }
            SourceConfig::Voice(voice) => [
                Self::source(Source::constant(start, voice.interval, voice.packet)),
                Self::Listener(Box::new(Listener::new(*voice, measured_from))),
            ],
            SourceConfig::Ping { interval, packet } => [
                Self::Pinger(Pinger::new(start, *interval, *packet)),
                Self::Responder(Responder::default()),
            ],
        }
    }

    /// Returns a source, which is boxed because its random stream would align every agent to 16
    /// bytes.
    fn source(source: Source) -> Self {
        Self::Source(Box::new(source))
    }

    /// Receives a packet. Returns a round-trip time if the packet completed a sample. Only the part
    /// for bulk TCP is inlined here, in [`transmit_into`](Self::transmit_into) and in
    /// [`wakes_at`](Self::wakes_at), because they run for every packet: the jumps by kind of agent
    /// took 2 % of the instructions of `s1`.
    #[inline]
    pub fn receive(&mut self, now: Time, packet: &Packet) -> Option<Span> {
        match self {
            Self::Tcp(host) => host.receive(now, packet),
            _ => self.receive_at_other(now, packet),
        }
    }

    #[inline(never)]
    fn receive_at_other(&mut self, now: Time, packet: &Packet) -> Option<Span> {
        match self {
            Self::Tcp(host) => host.receive(now, packet),
            Self::Echo(echo) => echo.receive(now, packet),
            Self::Client(client) => client.receive(now, packet),
            Self::Server(server) => server.receive(now, packet),
            Self::Foreign(host) => host.receive(now, packet),
            Self::Pinger(_) => Some(Pinger::round_trip(now, packet)),
            Self::Responder(responder) => {
                responder.receive(packet);
                None
            }
            Self::Listener(listener) => {
                listener.receive(now, packet);
                None
            }
            Self::Player(player) => {
                player.receive(now, packet);
                None
            }
            Self::Source(_) | Self::Sink => None,
        }
    }

    /// Does what is due by `now`.
    #[inline]
    pub fn wake(&mut self, now: Time) {
        match self {
            Self::Tcp(host) => host.wake(now),
            Self::Echo(echo) => echo.host.wake(now),
            Self::Client(client) => client.wake(now),
            Self::Server(server) => server.wake(now),
            Self::Source(source) => source.wake(now),
            Self::Pinger(pinger) => pinger.wake(now),
            Self::Player(player) => player.wake(now),
            Self::Foreign(host) => host.wake(now),
            Self::Responder(_) | Self::Listener(_) | Self::Sink => {}
        }
    }

    /// Returns the time at which [`wake`](Self::wake) is next needed, or [`Time::MAX`] if it is
    /// not. Any other call may change it.
    #[inline]
    pub fn wakes_at(&self) -> Time {
        match self {
            Self::Tcp(host) => host.wakes_at(),
            _ => self.other_wakes_at(),
        }
    }

    #[inline(never)]
    fn other_wakes_at(&self) -> Time {
        match self {
            Self::Tcp(host) => host.wakes_at(),
            Self::Echo(echo) => echo.host.wakes_at(),
            Self::Client(client) => client.wakes_at(),
            Self::Server(server) => server.wakes_at(),
            Self::Source(source) => source.wakes_at(),
            Self::Pinger(pinger) => pinger.wakes_at(),
            Self::Player(player) => player.wakes_at(),
            Self::Foreign(host) => host.wakes_at(),
            Self::Responder(_) | Self::Listener(_) | Self::Sink => Time::MAX,
        }
    }

    /// Returns false if [`transmit_into`](Self::transmit_into) is certain to find nothing to send.
    #[inline]
    pub fn may_transmit(&self) -> bool {
        match self {
            Self::Tcp(host) => host.may_transmit(),
            Self::Echo(echo) => echo.host.may_transmit(),
            Self::Client(client) => client.may_transmit(),
            Self::Server(server) => server.may_transmit(),
            _ => true,
        }
    }

    /// Writes size and body of the next packet to send now. Returns false if there is none.
    #[inline]
    pub fn transmit_into(&mut self, now: Time, packet: &mut Packet) -> bool {
        match self {
            Self::Tcp(host) => host.transmit_into(now, packet),
            _ => self.other_transmits_into(now, packet),
        }
    }

    #[inline(never)]
    fn other_transmits_into(&mut self, now: Time, packet: &mut Packet) -> bool {
        let outgoing = match self {
            Self::Tcp(host) => return host.transmit_into(now, packet),
            Self::Echo(echo) => return echo.host.transmit_into(now, packet),
            Self::Client(client) => return client.transmit_into(now, packet),
            Self::Server(server) => return server.transmit_into(now, packet),
            Self::Foreign(host) => return host.transmit_into(now, packet),
            Self::Source(source) => source.transmit(),
            Self::Pinger(pinger) => pinger.transmit(),
            Self::Responder(responder) => responder.transmit(),
            Self::Player(player) => player.transmit(),
            Self::Listener(_) | Self::Sink => None,
        };
        let Some((size, body)) = outgoing else {
            return false;
        };
        (packet.size, packet.body) = (size, body);
        true
    }

    /// Returns TCP's variables, for time series.
    pub fn tcp_info(&self) -> Option<TcpInfo> {
        match self {
            Self::Tcp(host) => Some(host.info()),
            Self::Echo(echo) => Some(echo.host.info()),
            _ => None,
        }
    }

    /// Returns the bytes of memory for connections, requests and answers of a session, or for the
    /// datagrams of a foreign stack.
    pub fn session_bytes(&self) -> usize {
        match self {
            Self::Client(client) => client.bytes(),
            Self::Server(server) => server.bytes(),
            Self::Foreign(host) => host.bytes(),
            _ => 0,
        }
    }

    /// Returns the times for which each cause limited the behaviour's TCP connections up to `now`,
    /// summed.
    pub fn time_limited(&self, now: Time) -> TimeLimited {
        match self {
            Self::Tcp(host) => host.time_limited(now),
            Self::Echo(echo) => echo.host.time_limited(now),
            Self::Client(client) => client.time_limited(now),
            Self::Server(server) => server.time_limited(now),
            _ => TimeLimited::default(),
        }
    }

    /// Returns the counters of the behaviour's TCP connections, summed.
    pub fn tcp_stats(&self) -> Option<TcpStats> {
        match self {
            Self::Tcp(host) => Some(*host.stats()),
            Self::Echo(echo) => Some(*echo.host.stats()),
            Self::Client(client) => Some(client.stats()),
            Self::Server(server) => Some(server.stats()),
            _ => None,
        }
    }
}
