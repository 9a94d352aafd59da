//! The registry of workloads without TCP: datagrams and echo requests.

use super::{GameConfig, KIND, VoiceConfig};
use crate::{Law, TIMES};
use goodqueue_types::parameters::{
    Declared, Given, INTERVAL, Key, Kind, PACKET, Parameters, Refusal, Value, integer, key, number,
};
use goodqueue_types::{Span, variants};

const EITHER: &str = "one of `rate` and `interval`";

/// Key of a rate, which a file may give in place of the interval.
const RATE: Key = Key::new(Kind::Rate)
    .named("rate")
    .default(EITHER)
    .example("500kbps")
    .doc("Mean rate of IP bits. From 1bps to 10Tbps.");

const EVERY: Key = Key::new(INTERVAL)
    .named("interval")
    .default(EITHER)
    .example("20ms")
    .doc("Mean time between packets.");

const SIZE: Key = Key::new(PACKET)
    .named("packet")
    .example("200B")
    .doc("Size of the IP packets.");

variants! {
    /// Workload without TCP.
    #[derive(Clone, Debug, PartialEq)]
    pub enum SourceConfig(KIND) {
        /// Datagrams at constant intervals, or at random ones around them.
        ConstantBitRate = "cbr"("cbr") [RATE] {
            interval: Span = Span::from_secs(1) => EVERY;
            packet: u32 = 1_500 => SIZE;
            /// Each time between two packets is drawn uniformly from `interval` less this share of it to `interval`
            /// plus this share (ns-2's `random_`: 0.5).
            spread: f64 = 0.0 => number(0.0, 1.0).example("0.5");
        },
        /// Datagrams at exponential intervals.
        Poisson = "poisson"("poisson") [RATE] {
            mean_interval: Span = Span::from_secs(1) => EVERY;
            /// Sizes of the IP packets.
            packet: PacketSize = PacketSize::Fixed(1_500);
        },
        /// Bursts of datagrams back to back at exponential intervals.
        Bursts = "bursts"("bursts") [RATE] {
            mean_interval: Span = Span::from_secs(1) => EVERY.example("100ms")
                .doc("Mean time between bursts, which is exponential.");
            /// Datagrams of a burst, handed to the host's link at once.
            packets: u32 = 1 => integer(1, 1_000_000).required().example("20");
            packet: u32 = 1_500 => SIZE;
        },
        /// Datagrams at constant intervals in on periods, none in the off periods between them.
        OnOff = "on_off"("on_off") [RATE.doc("Rate of IP bits while on.")] {
            interval: Span = Span::from_secs(1) => EVERY.doc("Time between packets while on.");
            packet: u32 = 1_500 => SIZE;
            /// Length of an on period, with which the flow begins; its mean is at least the interval. Packets go
            /// whenever the sum of on times is a multiple of the interval.
            on: Law = Law::Fixed(1.0) => Key::new(TIMES).required()
                .example("{ law = \"pareto\", mean = \"500ms\" }");
            /// Length of an off period.
            off: Law = Law::Fixed(1.0) => Key::new(TIMES).required()
                .example("{ law = \"exponential\", mean = \"500ms\" }");
        },
        /// One direction of a voice call.
        Voice(voice: VoiceConfig) = "voice"("voice"),
        /// Small updates in both directions at constant intervals.
        Game(game: GameConfig) = "game"("game"),
        /// Echo requests at constant intervals, answered by the server's host.
        Ping = "ping"("ping") {
            /// Time between requests; the first goes at `start`.
            interval: Span = Span::from_secs(1) => Key::new(INTERVAL).example("10ms");
            /// Size of the IP packet; the reply has the same.
            packet: u32 = 84 => Key::new(PACKET).example("84B");
        },
    }
}

impl SourceConfig {
    /// Creates the source `word` with the values that a table gives.
    pub fn read(word: &str, given: &Given) -> Self {
        let mut config = Self::defaults(word);
        config.apply(given);
        if let Self::Voice(voice) = &mut config {
            voice.complete(given);
        }
        config
    }

    /// Returns the IP bytes that the source sends at each of its times.
    pub fn bytes_at_once(&self) -> u64 {
        let whole = |key| match self.get(key) {
            Some(Value::Integer(number)) => number,
            _ => 1,
        };
        whole("packet") * whole("packets")
    }

    /// Returns the number of packets at each of the source's times, and an upper bound on the bytes
    /// of each: exponential sizes have no bound, but twice the mean bounds the sum of many.
    pub fn most_at_once(&self) -> (u32, u32) {
        match self {
            Self::Bursts {
                packets, packet, ..
            } => (*packets, *packet),
            Self::Poisson {
                packet: PacketSize::Exponential(mean),
                ..
            } => (1, 2 * *mean as u32),
            Self::Game(_) => (1, 65_535),
            _ => (1, self.largest_packet(false)),
        }
    }

    /// Returns true if the source may stop before the end of the run: one that sends datagrams in one
    /// direction, to which nobody answers.
    pub fn may_stop(&self) -> bool {
        match self {
            Self::ConstantBitRate { .. }
            | Self::Poisson { .. }
            | Self::Bursts { .. }
            | Self::OnOff { .. } => true,
            Self::Voice(_) | Self::Game(_) | Self::Ping { .. } => false,
        }
    }

    /// Returns the time between the client's packets, if it is constant.
    pub fn period(&self) -> Option<Span> {
        match self {
            Self::ConstantBitRate { interval, .. } | Self::Ping { interval, .. } => Some(*interval),
            Self::Voice(voice) => Some(voice.interval),
            Self::Game(game) => Some(game.interval),
            Self::Poisson { .. } | Self::Bursts { .. } | Self::OnOff { .. } => None,
        }
    }

    /// Returns the intervals at which client and server send packets in on periods, or their means.
    pub fn intervals(&self) -> impl Iterator<Item = Span> {
        let (client, server) = match self {
            Self::ConstantBitRate { interval, .. }
            | Self::OnOff { interval, .. }
            | Self::Ping { interval, .. } => (*interval, None),
            Self::Poisson { mean_interval, .. } | Self::Bursts { mean_interval, .. } => {
                (*mean_interval, None)
            }
            Self::Voice(voice) => (voice.interval, None),
            Self::Game(game) => (game.interval, Some(game.server_interval)),
        };
        std::iter::once(client).chain(server)
    }

    /// Returns the size in bytes of the largest IP packet from client to server, or backward. If
    /// there is no largest one, it returns the mean.
    pub fn largest_packet(&self, backward: bool) -> u32 {
        match self {
            Self::Ping { packet, .. } => *packet,
            Self::Game(game) if backward => game.server_packet.mean() as u32,
            _ if backward => 0,
            Self::Game(game) => game.packet.mean() as u32,
            Self::ConstantBitRate { packet, .. }
            | Self::Bursts { packet, .. }
            | Self::OnOff { packet, .. }
            | Self::Voice(VoiceConfig { packet, .. }) => *packet,
            Self::Poisson { packet, .. } => packet.mean(),
        }
    }

    /// Checks that the parameters work together.
    ///
    /// # Errors
    /// Returns the parameter at fault, the reason, and what to write instead.
    pub fn check(&self) -> Result<(), Refusal> {
        match self {
            Self::OnOff { interval, on, .. } if on.mean() < interval.as_secs_f64() => {
                let message = "the mean on period is shorter than the time between packets";
                let help = format!("at least \"{}s\"", interval.as_secs_f64());
                Err(Refusal::new("on", message, help))
            }
            _ => Ok(()),
        }
    }
}

/// Sizes of a source's IP packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PacketSize {
    /// Constant size in bytes.
    Fixed(u32),
    /// Exponential with this mean in bytes, rounded, at least 1 and at most 65,535.
    Exponential(f64),
}

impl PacketSize {
    const WORDS: &[&str] = &["fixed", "exponential"];

    fn mean(self) -> u32 {
        match self {
            Self::Fixed(bytes) => bytes,
            Self::Exponential(mean) => mean as u32,
        }
    }
}

impl Declared for PacketSize {
    const KEYS: &'static [Key] = &[
        SIZE.example("1000B")
            .doc("Size of the IP packets, or its mean."),
        key(
            "sizes",
            Kind::Choice(Self::WORDS),
            "\"fixed\"",
            "\"exponential\"",
            "Whether all packets have this size, or exponential sizes with this mean (rounded, 1 to 65535 bytes).",
        ),
    ];
}

impl Parameters for PacketSize {
    fn keys(&self) -> &'static [Key] {
        Self::KEYS
    }

    fn get(&self, key: &str) -> Option<Value> {
        let word = Self::WORDS[usize::from(matches!(self, Self::Exponential(_)))];
        match key {
            "packet" => Some(Value::Integer(self.mean().into())),
            "sizes" => Some(Value::Word(word)),
            _ => None,
        }
    }

    fn set(&mut self, key: &str, value: Value) {
        match (key, value, &mut *self) {
            ("packet", Value::Bytes(bytes), Self::Fixed(size)) => *size = bytes as u32,
            ("packet", Value::Bytes(bytes), Self::Exponential(mean)) => *mean = bytes as f64,
            ("sizes", Value::Word("exponential"), _) => {
                *self = Self::Exponential(self.mean().into());
            }
            ("sizes", _, _) => *self = Self::Fixed(self.mean()),
            _ => {}
        }
    }
}
