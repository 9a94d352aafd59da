//! A server that answers its data on the same connection, as INET's `TCPEchoApp` does.

use super::TcpHost;
use goodqueue_tcp::TcpConfig;
use goodqueue_types::parameters::{Parameter, Value};
use goodqueue_types::{Packet, Span, Time};
use std::sync::Arc;

/// Size of a server's answer to each piece of the stream that its TCP delivers. A piece is a
/// segment, or several segments that waited for an earlier one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EchoReply {
    /// A fixed number of bytes.
    Bytes(u64),
    /// A share of the piece, rounded down, but at least one byte.
    Share(f64),
}

impl EchoReply {
    fn to(self, piece: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Share(share) => ((piece as f64 * share) as u64).max(1),
        }
    }
}

impl Parameter for EchoReply {
    fn from_value(value: Value) -> Self {
        match value {
            Value::Number(share) => Self::Share(share),
            bytes => Self::Bytes(u64::from_value(bytes)),
        }
    }

    fn value(&self) -> Value {
        match self {
            Self::Bytes(bytes) => Value::Integer(*bytes),
            Self::Share(share) => Value::Number(*share),
        }
    }
}

/// The server.
#[derive(Debug)]
pub struct Echo {
    pub(super) host: TcpHost,
    reply: EchoReply,
    /// Bytes that the server has answered.
    answered: u64,
}

impl Echo {
    /// Creates a server that listens from the start.
    pub fn new(config: Arc<TcpConfig>, reply: EchoReply) -> Self {
        Self {
            host: TcpHost::server(config),
            reply,
            answered: 0,
        }
    }

    pub(super) fn receive(&mut self, now: Time, packet: &Packet) -> Option<Span> {
        let rtt = self.host.receive(now, packet);
        let delivered = self.host.stats().delivered_bytes;
        if delivered > self.answered {
            let reply = self.reply.to(delivered - self.answered);
            self.host.write(reply);
            self.answered = delivered;
        }
        rtt
    }
}
