//! Datagrams of a probe.
//!
//! A datagram has a tag of 8 bytes, then `gq`, its kind, its stream, the number of its phase, and what
//! its kind adds. The tag is the begin of the HMAC of these fields. What follows is padding. All
//! numbers are big-endian.

use super::token::{Key, TAG};
use crate::{Feedback, Stream};

/// Bytes of a nonce.
pub const NONCE: usize = 16;
/// Fixed fields: the tag, two letters, kind, stream and phase.
const HEAD: usize = TAG + 8;
/// Most bytes that a datagram has before its padding.
pub const MAX_FIELDS: usize = HEAD + 32;

/// Contents of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Request of the client for a nonce.
    Open,
    /// Nonce that the server sends to the address from which the request came.
    Nonce([u8; NONCE]),
    /// The same nonce, sent back. It proves that the client receives at this address.
    Echo([u8; NONCE]),
    /// Packet of a phase.
    Data {
        /// Its number within the stream.
        sequence: u32,
        /// Time of sending, on the sender's clock in nanoseconds.
        sent: i64,
    },
    /// Ping of the client.
    Ping {
        /// Its number.
        sequence: u32,
        /// Time of sending, on the client's clock in nanoseconds.
        sent: i64,
    },
    /// Answer of the server to a ping.
    Pong {
        /// Number of the ping.
        sequence: u32,
        /// Time at which the ping was sent.
        sent: i64,
        /// Time at which the ping was received, on the server's clock.
        turned: i64,
        /// Time between receipt and answer, in nanoseconds.
        held: i64,
    },
    /// Counts of the receiver.
    Feedback(Feedback),
}

/// A datagram without its tag and its padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Number of the phase.
    pub phase: u32,
    /// Lane on which it is sent: 0 for the main stream, 1 and 2 for the sparse ones.
    pub lane: u8,
    /// Contents.
    pub body: Body,
}

impl Datagram {
    /// Writes the datagram into `buffer`, whose length becomes that of the datagram. It has `size`
    /// bytes, or more if its fields need them.
    pub fn write(&self, key: &Key, size: usize, buffer: &mut Vec<u8>) {
        buffer.clear();
        buffer.extend([0; TAG]);
        buffer.extend(b"gq");
        buffer.push(self.body.kind());
        buffer.push(self.lane);
        buffer.extend(self.phase.to_be_bytes());
        match self.body {
            Body::Open => {}
            Body::Nonce(nonce) | Body::Echo(nonce) => buffer.extend(nonce),
            Body::Data { sequence, sent } | Body::Ping { sequence, sent } => {
                buffer.extend(sequence.to_be_bytes());
                buffer.extend(sent.to_be_bytes());
            }
            Body::Pong {
                sequence,
                sent,
                turned,
                held,
            } => {
                buffer.extend(sequence.to_be_bytes());
                for time in [sent, turned, held] {
                    buffer.extend(time.to_be_bytes());
                }
            }
            Body::Feedback(told) => {
                buffer.extend(told.next.to_be_bytes());
                buffer.extend(told.received.to_be_bytes());
                buffer.extend(told.bytes.to_be_bytes());
                buffer.extend(told.time.to_be_bytes());
                buffer.extend(told.delay.to_be_bytes());
            }
        }
        let tag = key.tag(&buffer[TAG..]);
        buffer[..TAG].copy_from_slice(&tag);
        buffer.resize(size.max(buffer.len()), 0);
    }

    /// Reads a datagram. Returns none if it is damaged or its tag is wrong.
    pub fn read(key: &Key, bytes: &[u8]) -> Option<Self> {
        let (datagram, length) = Self::parse(bytes)?;
        key.has_tag(&bytes[TAG..length], &bytes[..TAG])
            .then_some(datagram)
    }

    /// Reads a datagram without a look at its tag. Returns it with the length of its fields.
    pub fn parse(bytes: &[u8]) -> Option<(Self, usize)> {
        let mut fields = Fields(bytes.get(TAG..)?);
        if fields.take()? != *b"gq" {
            return None;
        }
        let [kind, lane] = fields.take()?;
        let phase = u32::from_be_bytes(fields.take()?);
        let body = match kind {
            0 => Body::Open,
            1 => Body::Nonce(fields.take()?),
            2 => Body::Echo(fields.take()?),
            3 => Body::Data {
                sequence: fields.count()?,
                sent: fields.time()?,
            },
            4 => Body::Ping {
                sequence: fields.count()?,
                sent: fields.time()?,
            },
            5 => Body::Pong {
                sequence: fields.count()?,
                sent: fields.time()?,
                turned: fields.time()?,
                held: fields.time()?,
            },
            6 => Body::Feedback(Feedback {
                next: fields.count()?,
                received: fields.count()?,
                bytes: u64::from_be_bytes(fields.take()?),
                time: fields.time()?,
                delay: fields.time()?,
            }),
            _ => return None,
        };
        let length = bytes.len() - fields.0.len();
        let datagram = Self { phase, lane, body };
        (lane < 3).then_some((datagram, length))
    }

    /// Returns the stream of a packet on this lane.
    pub fn stream(&self) -> Stream {
        if self.lane == 0 {
            Stream::Main
        } else {
            Stream::Sparse
        }
    }
}

impl Body {
    fn kind(self) -> u8 {
        match self {
            Self::Open => 0,
            Self::Nonce(_) => 1,
            Self::Echo(_) => 2,
            Self::Data { .. } => 3,
            Self::Ping { .. } => 4,
            Self::Pong { .. } => 5,
            Self::Feedback(_) => 6,
        }
    }
}

/// Bytes that were not read yet.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn count(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    /// Reads a time. Clocks count from the start of a process, so larger values are damage.
    fn time(&mut self) -> Option<i64> {
        let time = i64::from_be_bytes(self.take()?);
        (time.unsigned_abs() < 1 << 60).then_some(time)
    }
}
