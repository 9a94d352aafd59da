//! Messages on the TCP connection that controls a session: a line of JSON each.

use super::load::FlowRtt;
use super::token::Secret;
use super::{GoOn, NetError, broken};
use crate::{Phase, Record, Stream};
use serde::{Deserialize, Serialize};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Longest line in bytes.
pub const LONGEST_LINE: usize = 16_384;
/// Time after which a blocked call looks if the session is to end.
const TURN: Duration = Duration::from_millis(100);
/// Bytes of a record.
const RECORD: usize = 26;
/// Most records that are accepted.
const MAX_RECORDS: usize = 2_000_000;

/// Reason of a connection that ends without one.
const CLOSED: &str = "the other end closed the connection";

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "message", deny_unknown_fields)]
pub enum Message {
    /// First message of the server.
    Hello {
        /// Version of the protocol.
        version: u32,
        /// Random bytes, which the client's proof must contain.
        challenge: Secret,
    },
    /// Proof of the client that it knows the token.
    Proof {
        /// Version of the protocol.
        version: u32,
        /// Random bytes, which the server's proof must contain.
        nonce: Secret,
        /// The proof.
        proof: Secret,
    },
    /// Request to join a session with a second connection.
    Attach {
        /// The session.
        session: u64,
        /// The proof.
        proof: Secret,
    },
    /// Acceptance of a client, with the proof that the server knows the token.
    Welcome {
        /// The proof.
        proof: Secret,
        /// The session.
        session: u64,
        /// UDP port of the session.
        port: u16,
        /// Largest rate in bits of IP per second.
        most_bps: u64,
        /// Longest duration of the session in seconds.
        longest_s: u32,
    },
    /// Refusal, after which the server closes the connection.
    Refused {
        /// The reason, for the user.
        reason: String,
    },
    /// The three UDP addresses of the client have sent their nonces back.
    Verified,
    /// Request of the client for a phase.
    Phase {
        /// Its number, from 1.
        number: u32,
        /// The packets.
        phase: Phase,
    },
    /// Request of the client for TCP traffic on a second connection, beside pings.
    Load {
        /// Number of the phase.
        number: u32,
        /// True for traffic from the client to the server.
        up: bool,
        /// Duration in milliseconds.
        span_ms: u32,
    },
    /// The server has begun with the phase.
    Ready,
    /// The sender of a phase has ended, and its packets have had time to arrive.
    Done {
        /// Packets that were sent, by stream.
        sent: [u32; 2],
    },
    /// Results of the server for a phase: after this line follow the records.
    Records {
        /// Number of records.
        count: u32,
        /// Packets that the server's socket dropped because they were not read in time.
        missed: u32,
    },
    /// A TCP load as the server saw it.
    Counted {
        /// Bytes that it read in each 100 ms, if it received.
        bytes: Vec<u64>,
        /// RTTs within the flow, if it sent.
        rtts: Vec<FlowRtt>,
    },
}

/// A connection that carries messages.
#[derive(Debug)]
pub struct Messages {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl Messages {
    /// Takes over a connection.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn new(stream: TcpStream) -> Result<Self, NetError> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TURN))?;
        stream.set_write_timeout(Some(TURN))?;
        Ok(Self {
            stream,
            unread: Vec::new(),
        })
    }

    /// Returns the connection.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Returns the connection. Messages that were not read are lost.
    pub fn into_stream(self) -> TcpStream {
        self.stream
    }

    /// Sends a message.
    ///
    /// # Errors
    /// Returns an error if the peer does not take it within ten seconds.
    pub fn send(&mut self, message: &Message, go_on: &GoOn<'_>) -> Result<(), NetError> {
        self.write(&message.line()?, go_on)
    }

    /// Writes bytes, for which the peer has ten seconds and the time at 100 kb/s.
    ///
    /// # Errors
    /// Returns an error if the peer does not take them.
    pub fn write(&mut self, mut bytes: &[u8], go_on: &GoOn<'_>) -> Result<(), NetError> {
        let patience = Duration::from_secs(10) + Duration::from_micros(bytes.len() as u64 * 80);
        let until = Instant::now() + patience;
        while !bytes.is_empty() {
            match self.stream.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if is_wait(&error) => {}
                Err(error) => return Err(error.into()),
            }
            check(until, go_on)?;
        }
        Ok(())
    }

    /// Waits for a message.
    ///
    /// # Errors
    /// Returns an error if none comes in time, or if the peer closes, refuses or sends another thing.
    pub fn receive(&mut self, patience: Duration, go_on: &GoOn<'_>) -> Result<Message, NetError> {
        let until = Instant::now() + patience;
        loop {
            if let Some(message) = self.take()? {
                return Ok(message);
            }
            self.fill()?;
            check(until, go_on)?;
        }
    }

    /// Returns a message if one has come; `readable` says that the connection can be read.
    ///
    /// # Errors
    /// Returns an error if the peer has closed, refuses, or sent another thing.
    pub fn poll(&mut self, readable: bool) -> Result<Option<Message>, NetError> {
        if readable {
            self.fill()?;
        }
        self.take()
    }

    /// Waits for this number of bytes after a message.
    ///
    /// # Errors
    /// Returns an error if they do not come within ten seconds and the time at 100 kb/s.
    pub fn read_bytes(&mut self, count: usize, go_on: &GoOn<'_>) -> Result<Vec<u8>, NetError> {
        let patience = Duration::from_secs(10) + Duration::from_micros(count as u64 * 80);
        let until = Instant::now() + patience;
        while self.unread.len() < count {
            self.fill()?;
            check(until, go_on)?;
        }
        let rest = self.unread.split_off(count);
        Ok(std::mem::replace(&mut self.unread, rest))
    }

    fn fill(&mut self) -> Result<(), NetError> {
        let mut bytes = [0; 16_384];
        match self.stream.read(&mut bytes) {
            Ok(0) => Err(NetError::Refused(CLOSED.to_owned())),
            Ok(count) => {
                self.unread.extend(&bytes[..count]);
                Ok(())
            }
            Err(error) if is_wait(&error) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes a whole line from what was read.
    fn take(&mut self) -> Result<Option<Message>, NetError> {
        let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') else {
            let fits = self.unread.len() <= LONGEST_LINE;
            return fits
                .then_some(None)
                .ok_or_else(|| broken("a line is too long"));
        };
        let line: Vec<u8> = self.unread.drain(..=end).collect();
        match Message::read(&line)? {
            Message::Refused { reason } => Err(NetError::Refused(printable(&reason))),
            message => Ok(Some(message)),
        }
    }
}

impl Message {
    /// Returns the message as a line.
    ///
    /// # Errors
    /// Returns an error if it cannot be written as JSON.
    pub fn line(&self) -> Result<Vec<u8>, NetError> {
        let mut line = serde_json::to_vec(self).map_err(std::io::Error::other)?;
        line.push(b'\n');
        Ok(line)
    }

    /// Reads a line.
    ///
    /// # Errors
    /// Refuses a line that is too long or no message.
    pub fn read(line: &[u8]) -> Result<Self, NetError> {
        if line.len() > LONGEST_LINE {
            return Err(broken("a line is too long"));
        }
        serde_json::from_slice(line).map_err(|_| broken("a line is no message"))
    }
}

/// Returns an error if the time is over, or the session is to end.
fn check(until: Instant, go_on: &GoOn<'_>) -> Result<(), NetError> {
    if !go_on() {
        return Err(NetError::Stopped);
    }
    if Instant::now() > until {
        return Err(NetError::Refused(
            "the other end does not answer".to_owned(),
        ));
    }
    Ok(())
}

/// Returns true for the errors of a call that may be repeated.
pub fn is_wait(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

/// Returns true if the peer closed the connection without a reason.
pub fn is_closed(error: &NetError) -> bool {
    match error {
        NetError::Refused(reason) => reason == CLOSED,
        NetError::Io(error) => matches!(
            error.kind(),
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe
        ),
        NetError::Stopped => false,
    }
}

/// Returns the first 300 characters of a text of the peer, without those that control a terminal.
fn printable(text: &str) -> String {
    let letters = text.chars().take(300);
    letters
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}

/// Returns records as bytes.
pub fn write_records(records: &[Record]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(records.len() * RECORD);
    for record in records {
        bytes.push(record.stream as u8);
        bytes.extend(record.sequence.to_be_bytes());
        bytes.extend(record.sent.to_be_bytes());
        bytes.extend(record.received.to_be_bytes());
        bytes.extend((record.bytes.min(0xffff) as u16).to_be_bytes());
        bytes.extend([record.ecn, 0, 0]);
    }
    bytes
}

/// Reads the records of bytes. Returns none if they are damaged.
pub fn read_records(bytes: &[u8]) -> Option<Vec<Record>> {
    let (records, rest) = bytes.as_chunks::<RECORD>();
    if !rest.is_empty() || records.len() > MAX_RECORDS {
        return None;
    }
    let records = records.iter().map(|bytes| {
        let time = |from: usize| {
            let time = i64::from_be_bytes(bytes[from..from + 8].try_into().ok()?);
            (time.unsigned_abs() < 1 << 60).then_some(time)
        };
        Some(Record {
            stream: match bytes[0] {
                0 => Stream::Main,
                1 => Stream::Sparse,
                _ => return None,
            },
            sequence: u32::from_be_bytes(bytes[1..5].try_into().ok()?),
            sent: time(5)?,
            received: time(13)?,
            bytes: u16::from_be_bytes([bytes[21], bytes[22]]).into(),
            ecn: bytes[23] & 3,
        })
    });
    records.collect()
}

/// Returns the number of bytes of this number of records, or none if there are too many.
pub fn records_length(count: u32) -> Option<usize> {
    let count = count as usize;
    (count <= MAX_RECORDS).then_some(count * RECORD)
}
