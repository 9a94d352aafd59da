//! A path in virtual time: two of the simulator's links, cross traffic, and perhaps a policer.

use goodqueue_probe::{
    Codepoint, HEADERS, Path, Pattern, Phase, Ping, Receiver, Record, Recording, Sender, Stream,
};
use goodqueue_queue::{Limit, QueueConfig};
use goodqueue_sim::{
    Bottleneck, LinkConfig, Network, PacketFate, RateStep, RateTrace, Record as Recorded,
    ServiceConfig,
};
use goodqueue_types::{
    Body, Direction, Ecn, FlowId, Hosts, Packet, RandomStream, Rate, Span, Time,
};

/// A token bucket that drops what finds no tokens.
#[derive(Clone, Debug)]
pub struct Policer {
    pub rate_bps: f64,
    pub burst_bytes: f64,
    tokens: f64,
    filled: i64,
}

impl Policer {
    pub fn new(rate_bps: f64, burst_bytes: f64) -> Self {
        Self {
            rate_bps,
            burst_bytes,
            tokens: burst_bytes,
            filled: 0,
        }
    }

    fn admits(&mut self, now: i64, bytes: u32) -> bool {
        let new = self.rate_bps / 8e9 * (now - self.filled) as f64;
        self.tokens = (self.tokens + new).min(self.burst_bytes);
        self.filled = now;
        let fits = self.tokens >= f64::from(bytes);
        if fits {
            self.tokens -= f64::from(bytes);
        }
        fits
    }
}

/// One direction of the path.
#[derive(Clone, Debug)]
pub struct Way {
    pub rate_bps: u64,
    pub delay_s: f64,
    pub queue: QueueConfig,
    pub policer: Option<Policer>,
    /// Share of the rate that other packets take.
    pub cross: f64,
    /// Shortest and longest pause of the link in seconds, if it pauses.
    pub pauses: Option<(f64, f64)>,
}

/// Returns a rate with pauses of these lengths, from 0.3 s to 0.9 s apart, for 200 s.
fn with_pauses(rate_bps: u64, (shortest, longest): (f64, f64), seed: u64) -> ServiceConfig {
    let mut random = RandomStream::new(seed, "pauses", 0);
    let mut between = |least: f64, most: f64| least + random.unit() * (most - least);
    let step = |at: f64, rate| RateStep {
        at: Span::from_secs_f64(at),
        rate: Rate(rate),
    };
    let (mut at, mut steps) = (0.0, vec![step(0.0, rate_bps)]);
    while at < 200.0 {
        at += between(0.3, 0.9);
        steps.push(step(at, 0));
        at += between(shortest, longest);
        steps.push(step(at, rate_bps));
    }
    ServiceConfig::Trace(RateTrace {
        steps: steps.into(),
        repeat: None,
    })
}

struct Link {
    bottleneck: Bottleneck,
    policer: Option<Policer>,
    /// Mean time between packets of other traffic in nanoseconds, and the time of the next one.
    cross: Option<(f64, i64)>,
    random: RandomStream,
}

/// A path between a client and a server.
pub struct Bed {
    links: [Link; 2],
    now: i64,
    number: u64,
    /// Reading of the server's clock minus that of the client's, at first.
    offset: i64,
    /// Gain of the server's clock.
    pub drift: f64,
}

const CROSS_BYTES: [u32; 3] = [1500, 576, 64];

impl Bed {
    pub fn new(ways: [Way; 2], seed: u64) -> Self {
        let configs: Vec<_> = ways
            .iter()
            .map(|way| {
                let mut link = LinkConfig::drop_tail(
                    Rate(way.rate_bps),
                    Span::from_secs_f64(way.delay_s),
                    Limit::Unlimited,
                );
                link.queue = way.queue.clone();
                let pauses = way.pauses;
                link.service = pauses.map(|pauses| with_pauses(way.rate_bps, pauses, seed));
                link
            })
            .collect();
        let network = Network {
            seed,
            end: Time(u64::MAX / 2),
            warmup: Time(0),
            links: configs,
            pools: Vec::new(),
            flows: Vec::new(),
            record: Recorded::default(),
        };
        let mut index = 0;
        let links = ways.map(|way| {
            let mean = f64::from(CROSS_BYTES.iter().sum::<u32>()) / 3.0;
            let gap = mean * 8e9 / (way.cross * way.rate_bps as f64);
            let link = Link {
                bottleneck: Bottleneck::new(&network, index),
                policer: way.policer,
                cross: (way.cross > 0.0).then_some((gap, 0)),
                random: RandomStream::new(seed, "cross traffic", index as u64),
            };
            index += 1;
            link
        });
        Self {
            links,
            now: 0,
            number: 0,
            offset: 1_234_567_891,
            drift: 0.0,
        }
    }

    /// Returns the reading of the server's clock at a time of the client's.
    fn server(&self, time: i64) -> i64 {
        time + self.offset + (time as f64 * self.drift) as i64
    }

    /// Carries a phase out and waits for the queues to empty.
    pub fn run(&mut self, phase: &Phase) -> Recording {
        let recording = match phase.pattern {
            Pattern::Pings { count, interval_us } => self.pings(count, interval_us),
            _ => self.one_way(phase),
        };
        let longest = recording.records.iter().map(Record::delay);
        let least = longest.clone().min().unwrap_or(0);
        let drain = longest.max().unwrap_or(0) - least + 2_000_000_000;
        self.pass(self.now + drain);
        recording
    }

    fn pings(&mut self, count: u32, interval_us: u32) -> Recording {
        let begun = self.now;
        let mut pings = vec![None; count as usize];
        let mut next = 0_u32;
        let due = |next: u32| begun + i64::from(next) * i64::from(interval_us) * 1000;
        let end = due(count) + 3_000_000_000;
        while self.now < end {
            let sending = if next < count { due(next) } else { end };
            let now = self.next_event().min(sending);
            for (path, packet, at) in self.pass(now) {
                let index = packet.number as usize;
                if path == Path::Up {
                    pings[index] = Some(Ping {
                        sent: due(packet.number as u32),
                        turned: self.server(at),
                        received: 0,
                    });
                    self.enter(Path::Down, Stream::Main, packet.number as u32, 96, 0);
                } else if let Some(ping) = &mut pings[index] {
                    ping.received = at;
                }
            }
            if next < count && now >= sending {
                self.enter(Path::Up, Stream::Main, next, 96, 0);
                next += 1;
            }
        }
        let came_back = pings.into_iter().flatten().filter(|ping| ping.received > 0);
        Recording {
            pings: came_back.collect(),
            sent: [count, 0],
            ..Recording::default()
        }
    }

    fn one_way(&mut self, phase: &Phase) -> Recording {
        let back = match phase.path {
            Path::Up => Path::Down,
            Path::Down => Path::Up,
        };
        let mut sender = Sender::new(phase.pattern, self.now);
        let mut receiver = Receiver::new(&phase.pattern);
        let mut feedbacks = Vec::new();
        let mut sent_at = [Vec::new(), Vec::new()];
        let mut until = None;
        loop {
            if until.is_none() && sender.is_done(self.now) {
                until = Some(self.now + 3_000_000_000);
            }
            if until.is_some_and(|until| self.now >= until) {
                break;
            }
            let send = sender.next_send().filter(|_| until.is_none());
            let tick = self.now + 10_000_000;
            let now = send.unwrap_or(tick).min(tick).min(self.next_event());
            let now = now.max(self.now);
            for (path, packet, at) in self.pass(now) {
                if path == back {
                    let feedback = feedbacks[packet.number as usize];
                    sender.hear(at, feedback);
                    continue;
                }
                let is_sparse = packet.flow.0 % 3 > 0;
                let stream = [Stream::Main, Stream::Sparse][usize::from(is_sparse)];
                let times: &Vec<i64> = &sent_at[usize::from(is_sparse)];
                let record = Record {
                    stream,
                    sequence: packet.number as u32,
                    sent: times[packet.number as usize],
                    received: self.server(at),
                    bytes: packet.size,
                    ecn: packet.ecn as u8,
                };
                if let Some(feedback) = receiver.receive(record) {
                    feedbacks.push(feedback);
                    let number = feedbacks.len() as u32 - 1;
                    self.enter(back, Stream::Main, number, HEADERS + 36, 0);
                }
            }
            if until.is_none()
                && let Some(out) = sender.send(self.now)
            {
                sent_at[out.stream as usize].push(self.now);
                let ecn = out.codepoint as u8;
                self.enter(phase.path, out.stream, out.sequence, out.bytes, ecn);
            }
        }
        receiver.finish(sender.sent())
    }

    fn enter(&mut self, path: Path, stream: Stream, tag: u32, bytes: u32, ecn: u8) {
        let link = &mut self.links[path as usize];
        let policer = link.policer.as_mut();
        if policer.is_some_and(|policer| !policer.admits(self.now, bytes)) {
            return;
        }
        self.number += 1;
        let flow = match stream {
            Stream::Main => 0,
            Stream::Sparse => 1 + tag % 2,
        };
        let flow = FlowId(3 * path as u32 + flow);
        let mut packet = packet(flow, bytes, self.number, self.now);
        packet.number = u64::from(tag);
        packet.ecn = match ecn {
            x if x == Codepoint::Capable0 as u8 => Ecn::Capable0,
            x if x == Codepoint::Capable1 as u8 => Ecn::Capable1,
            _ => Ecn::NotCapable,
        };
        link.bottleneck.arrive(time(self.now), packet);
    }

    /// Returns the time of the next event of the links or of other traffic.
    fn next_event(&self) -> i64 {
        let links = self.links.iter();
        let times = links.flat_map(|link| {
            let event = link
                .bottleneck
                .next()
                .map(|time| time.0.div_ceil(1000) as i64);
            [event, link.cross.map(|(_, next)| next)]
        });
        times.flatten().min().unwrap_or(i64::MAX)
    }

    /// Goes on to `until`. Returns the packets of the probe that arrived, with their times.
    fn pass(&mut self, until: i64) -> Vec<(Path, Packet, i64)> {
        let mut arrived = Vec::new();
        for (link, path) in self.links.iter_mut().zip([Path::Up, Path::Down]) {
            while let Some((mean, next)) = link.cross.filter(|(_, next)| *next <= until) {
                let kind = (link.random.unit() * 3.0) as usize;
                let flow = FlowId(10 + (link.random.unit() * 8.0) as u32);
                self.number += 1;
                let bytes = CROSS_BYTES[kind.min(2)];
                let policer = link.policer.as_mut();
                if policer.is_none_or(|policer| policer.admits(next, bytes)) {
                    let packet = packet(flow, bytes, self.number, next);
                    link.bottleneck.arrive(time(next), packet);
                }
                let gap = link.random.exponential(mean);
                link.cross = Some((mean, next + 1 + gap as i64));
            }
            link.bottleneck.advance(time(until));
            for event in link.bottleneck.take_events() {
                if event.fate == PacketFate::Delivered && event.packet.flow.0 < 10 {
                    arrived.push((path, event.packet, event.time.0 as i64 / 1000));
                }
            }
        }
        self.now = until;
        arrived
    }
}

fn time(ns: i64) -> Time {
    Time(ns as u64 * 1000)
}

fn packet(flow: FlowId, bytes: u32, number: u64, now: i64) -> Packet {
    Packet {
        flow,
        direction: Direction::Forward,
        ecn: Ecn::NotCapable,
        dscp: 0,
        more_segments: 0,
        hosts: Hosts::default(),
        connection: 0,
        size: bytes,
        number,
        sent: time(now),
        arrived: time(now),
        body: Body::Datagram,
    }
}
