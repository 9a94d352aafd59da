//! A server that answers what it gets on the same connection, as INET's `TCPEchoApp` does.

use super::TcpHost;
use goodqueue_tcp::TcpConfig;
use goodqueue_types::{Packet, Span, Time};
use std::sync::Arc;

/// What a server answers to each piece of the stream that its TCP delivers: a segment, or several
/// that had waited for one before them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EchoReply {
    /// So many bytes.
    Bytes(u64),
    /// This share of the piece, rounded down, and a byte at least.
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

/// The server.
#[derive(Debug)]
pub struct Echo {
    pub(super) host: TcpHost,
    reply: EchoReply,
    /// Bytes that it has answered.
    answered: u64,
}

impl Echo {
    /// One that listens from the start.
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
