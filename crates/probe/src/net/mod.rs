//! A probe over a real network: a server, a client, and what passes between them (Linux).
//!
//! One TCP connection controls a session. Its packets are UDP datagrams between one port of the server
//! and three ports of the client, which are three flows for routers.

pub mod client;
mod control;
mod exchange;
mod load;
pub mod server;
mod socket;
mod strangers;
mod token;
mod wire;

pub use control::{Message, Messages, read_records, write_records};
pub use load::{FlowRtt, Loaded, Written};
pub use token::{Key, SECRET, SessionKeys, TAG, Token, random};
pub use wire::{Body, Datagram, MAX_FIELDS, NONCE};

use std::{fmt, io};

/// Port of a probe server, for TCP and UDP.
pub const PORT: u16 = 4823;
/// Version of the protocol between client and server.
pub const VERSION: u32 = 2;

/// Failure of a session.
#[derive(Debug)]
pub enum NetError {
    /// The operating system's error.
    Io(io::Error),
    /// A request that was refused, or a peer that breaks the protocol. The text is a message for users.
    Refused(String),
    /// The user, or the end of the server, stopped the session.
    Stopped,
}

impl fmt::Display for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Refused(text) => f.write_str(text),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for NetError {}

impl From<io::Error> for NetError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<nix::errno::Errno> for NetError {
    fn from(error: nix::errno::Errno) -> Self {
        Self::Io(error.into())
    }
}

/// Returns the refusal of a peer that breaks the protocol.
fn broken(what: &str) -> NetError {
    NetError::Refused(format!("the other end breaks the protocol: {what}"))
}

/// A function that returns true until the session is to end.
pub type GoOn<'a> = dyn Fn() -> bool + Sync + 'a;
