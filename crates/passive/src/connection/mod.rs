//! A connection: its two directions and its handshake.

pub(crate) mod counts;
pub(crate) mod crossing;
pub(crate) mod half;
pub(crate) mod history;
pub(crate) mod opening;
pub(crate) mod plausible;
pub(crate) mod rounds;
pub(crate) mod scoreboard;
pub(crate) mod segment_size;
pub(crate) mod sequence;
pub(crate) mod shared;

use crate::Nanos;
use crate::connection::half::Half;
use crate::connection::plausible::{Held, Position};
use crate::connection::shared::{Passed, Shared};
use crate::repeats::{Context, Point};
use crate::rtt::{FIRST_TIMEOUT, OLD_FIRST_TIMEOUT};
use goodqueue_trace::read::TcpHeader;
use goodqueue_types::SegmentFlags;
use std::net::SocketAddr;

/// Key of a connection: two ends and a protocol. Both directions have the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The lower and the higher end.
    pub ends: [SocketAddr; 2],
    pub protocol: u8,
}

impl Key {
    /// Returns the key of a packet, and the index of the end that sent it.
    pub fn between(source: SocketAddr, destination: SocketAddr, protocol: u8) -> (Self, usize) {
        let from = usize::from(source > destination);
        let ends = if from == 0 {
            [source, destination]
        } else {
            [destination, source]
        };
        (Self { ends, protocol }, from)
    }
}

/// Handshake of a connection as seen at the first tapping point.
#[derive(Debug, Default)]
struct Handshake {
    client: Option<usize>,
    syn: Option<Nanos>,
    syn_number: u32,
    answer: Option<Nanos>,
    /// Number that acknowledges the answer.
    answer_end: Option<u32>,
    /// True if a SYN or its answer was sent twice, so that they cannot be paired.
    spoilt: bool,
    done: bool,
}

/// Times of a handshake: the client's part, the server's part, and the whole.
#[derive(Default)]
struct Parts {
    client: Option<Nanos>,
    server: Option<Nanos>,
    whole: Option<Nanos>,
}

impl Handshake {
    /// Returns the times of the handshake that this segment of the client ends. A client that sends
    /// data in place of the ACK may have waited for its application, and an ACK of the server's data
    /// for them, so its part is unknown then. Clients of ns-2 end every handshake with their first
    /// data.
    fn parts(&self, last: &Passed<'_>) -> Option<Parts> {
        let syn = self.syn.filter(|_| !self.spoilt)?;
        let is_ns2 = self.answer.is_some() && self.answer_end.is_none();
        let answers = self.answer_end.is_none_or(|end| last.tcp.ack == end);
        let bare = answers && (last.tcp.payload == 0 || is_ns2);
        let shorter = |time: Nanos, limit| (0..limit).contains(&time).then_some(time);
        let Some(answer) = self.answer else {
            // Only the client's direction was seen. The answer may have been sent twice, so times as
            // long as its first timeout are discarded.
            let whole = shorter(last.time - syn, FIRST_TIMEOUT).filter(|_| bare);
            return Some(Parts {
                whole,
                ..Parts::default()
            });
        };
        // A part above the first timeout has a retransmission that the capture lacks.
        let server = shorter(answer - syn, OLD_FIRST_TIMEOUT);
        let client = shorter(last.time - answer, OLD_FIRST_TIMEOUT).filter(|_| bare);
        let whole = client.zip(server).map(|(client, server)| client + server);
        Some(Parts {
            client,
            server,
            whole,
        })
    }
}

/// Number of segments with data after which those of a connection are not seen again any more.
const MAX_UNREPEATED: u8 = 128;
/// Number of unmatched packets after which a direction is assumed to cross the link in the reverse
/// direction.
const TRIES: u32 = 64;

/// State of a connection.
#[derive(Debug, Default)]
pub struct Connection {
    /// Directions, by the index of the sending end.
    pub halves: [Half; 2],
    handshake: Handshake,
    scales: [Option<u8>; 2],
    finished: [bool; 2],
    /// Index of the end whose packets cross the target link in the measured direction, as the order
    /// of the tapping points shows.
    pub forward: Option<usize>,
    pub last: Nanos,
    pub closed: bool,
    /// Segments of each direction that do not follow those before them.
    pub held: Option<Box<[Held; 2]>>,
    /// Number of segments with data since one was seen again. None before.
    unrepeated: Option<u8>,
}

impl Connection {
    /// Creates a connection that is first seen now.
    pub fn new(time: Nanos, forward: Option<usize>) -> Self {
        Self {
            forward,
            last: time,
            ..Self::default()
        }
    }

    /// Returns true if this segment opens another connection between the same ports.
    pub fn is_over_by(&self, tcp: &TcpHeader, time: Nanos, from: usize) -> bool {
        let opens = tcp.flags.contains(SegmentFlags::SYN) && !tcp.flags.contains(SegmentFlags::ACK);
        let known = self.handshake.client == Some(from) && self.handshake.syn_number == tcp.seq;
        let used = self.halves.iter().any(|half| half.first_data.is_some());
        // A connection without data may be one of a client whose SYN was not captured. A SYN that
        // comes again within a second is then a retransmission.
        opens && !known && (self.closed || used || time - self.last > 1_000_000_000)
    }

    /// Returns the position of a segment of end `from` relative to the segments before it.
    pub fn position(&self, from: usize, tcp: &TcpHeader) -> Position {
        let begins = SegmentFlags::SYN.with(SegmentFlags::RST);
        if tcp.flags.0 & begins.0 != 0 {
            return Position::Within;
        }
        let scaled = self.scales == [None; 2] || self.scales.iter().all(Option::is_some);
        let knows_windows = self.handshake.answer.is_some() && scaled;
        let data = self.halves[from].position(tcp.seq, tcp.payload, knows_windows);
        if !tcp.flags.contains(SegmentFlags::ACK) {
            return data;
        }
        data.max(self.halves[1 - from].position_of_ack(tcp.ack))
    }

    /// Records that a segment with data was seen, for the first time or `again`.
    pub fn repeated(&mut self, again: bool) {
        if again {
            self.unrepeated = Some(0);
        } else if let Some(count) = &mut self.unrepeated {
            *count = count.saturating_add(1);
        }
    }

    /// Returns what is known for the recognition of repeated segments of end `from`.
    pub fn context(&self, from: usize, point: Point) -> Context {
        let first = self.halves[from].point;
        Context {
            elsewhere: first.is_some_and(|first| first != point),
            answered: self.halves[from].rtt.receiver.get(),
            repeats: self.unrepeated.is_some_and(|count| count < MAX_UNREPEATED),
        }
    }

    /// Takes a segment that passed the first tapping point. `from` is the index of its sender.
    pub fn passed(&mut self, from: usize, passed: &Passed<'_>, shared: &mut Shared<'_>) {
        let tcp = passed.tcp;
        self.last = passed.time;
        if tcp.flags.contains(SegmentFlags::RST) {
            self.closed = true;
            return;
        }
        self.open(from, passed);
        // If packets were already in flight when the capture began, the first match determines the
        // direction.
        let half = &mut self.halves[from];
        half.may_cross = self.forward == Some(from) || half.crossings.unmatched < TRIES;
        self.halves[from].data(passed, shared);
        if tcp.flags.contains(SegmentFlags::ACK) {
            // The window of a SYN is not scaled. Windows are scaled only if both ends offer it.
            let syn = tcp.flags.contains(SegmentFlags::SYN);
            let scale = match self.scales {
                [Some(low), Some(high)] if !syn => [low, high][from],
                _ => 0,
            };
            self.halves[1 - from].acknowledged(passed, scale, shared);
        }
        self.finished[from] |= tcp.flags.contains(SegmentFlags::FIN);
        self.closed |= self.finished == [true, true];
    }

    fn open(&mut self, from: usize, passed: &Passed<'_>) {
        let tcp = passed.tcp;
        let opening = &mut self.handshake;
        if tcp.flags.contains(SegmentFlags::SYN) {
            if let Some(mss) = tcp.mss {
                for half in &mut self.halves {
                    half.size.announce(mss);
                }
            }
            self.scales[from] = tcp.scale;
            if tcp.flags.contains(SegmentFlags::ACK) {
                opening.spoilt |= opening.answer.is_some();
                opening.answer = Some(passed.time);
                opening.answer_end = Some(tcp.seq.wrapping_add(1));
            } else {
                opening.spoilt |= opening.syn.is_some();
                opening.client = Some(from);
                (opening.syn, opening.syn_number) = (Some(passed.time), tcp.seq);
            }
            return;
        }
        let client = opening.client == Some(from);
        // Servers of ns-2 answer a SYN with a bare ACK.
        let answers = !client && opening.syn.is_some() && opening.answer.is_none();
        if answers && tcp.ack == opening.syn_number.wrapping_add(1) {
            opening.answer = Some(passed.time);
        }
        if opening.done || !client || !tcp.flags.contains(SegmentFlags::ACK) {
            return;
        }
        opening.done = true;
        if let Some(parts) = opening.parts(passed) {
            for (end, half) in self.halves.iter_mut().enumerate() {
                half.rtt.handshake = parts.whole;
                half.rtt.sender_by_handshake = if end == from {
                    parts.client
                } else {
                    parts.server
                };
            }
        }
    }

    /// Takes a segment that passed the second tapping point. `from` is the index of its sender.
    pub fn crossed(
        &mut self,
        from: usize,
        passed: &Passed<'_>,
        shared: &mut Shared<'_>,
    ) -> Option<crate::connection::crossing::Arrival> {
        self.last = self.last.max(passed.time);
        let arrival = self.halves[from].crossed(passed, shared);
        if arrival.is_some() {
            self.forward = Some(from);
        }
        arrival
    }
}
