//! Connections whose clients have not proved yet that they know the token. They are few, so that
//! nobody keeps others out: a new connection takes the place of an old one of the host that has most.

use super::control::Message;
use std::io::Write;
use std::net::{IpAddr, Ipv6Addr, Shutdown, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Connections at once without a proof.
const MAX_STRANGERS: usize = 16;
/// Connections at once without a proof from one host.
const MAX_OF_HOST: usize = 4;
/// Reason that a client gets whose place another one has taken.
const BUSY: &str = "the server is busy with other connections, try again later";

/// The connections without a proof, in order of their arrival.
#[derive(Default)]
pub struct Strangers {
    waiting: Mutex<Vec<Stranger>>,
    arrived: AtomicU64,
}

struct Stranger {
    number: u64,
    host: IpAddr,
    stream: TcpStream,
}

/// A place among the strangers, which is free again when this is dropped.
pub struct Place<'a> {
    strangers: &'a Strangers,
    number: u64,
}

impl Strangers {
    /// Takes in a connection. If there are too many, one of them is closed.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn enter(&self, stream: &TcpStream, peer: IpAddr) -> std::io::Result<Place<'_>> {
        let newcomer = Stranger {
            number: self.arrived.fetch_add(1, Ordering::Relaxed),
            host: host_of(peer),
            stream: stream.try_clone()?,
        };
        let number = newcomer.number;
        let mut waiting = self.waiting.lock().expect("no thread panics");
        let leaves = leaving(&waiting, newcomer.host).map(|at| waiting.remove(at));
        waiting.push(newcomer);
        drop(waiting);
        if let Some(stranger) = leaves {
            stranger.dismiss();
        }
        Ok(Place {
            strangers: self,
            number,
        })
    }
}

impl Place<'_> {
    /// Leaves the strangers. Returns false if another connection had taken the place.
    pub fn leave(self) -> bool {
        self.free()
    }

    fn free(&self) -> bool {
        let mut waiting = self.strangers.waiting.lock().expect("no thread panics");
        let before = waiting.len();
        waiting.retain(|stranger| stranger.number != self.number);
        waiting.len() < before
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.free();
    }
}

impl Stranger {
    /// Tells the client that the server is busy, without waiting, and closes the connection.
    fn dismiss(mut self) {
        let message = Message::Refused {
            reason: BUSY.to_owned(),
        };
        if self.stream.set_nonblocking(true).is_ok()
            && let Ok(line) = message.line()
        {
            self.stream.write_all(&line).ok();
        }
        self.stream.shutdown(Shutdown::Both).ok();
    }
}

/// Returns the index of the connection that a new one from this host replaces: the oldest of its own
/// host, or of the host with most connections.
fn leaving(waiting: &[Stranger], newcomer: IpAddr) -> Option<usize> {
    let count = |host: IpAddr| waiting.iter().filter(|other| other.host == host).count();
    let oldest = |host: IpAddr| waiting.iter().position(|other| other.host == host);
    if count(newcomer) >= MAX_OF_HOST {
        return oldest(newcomer);
    }
    if waiting.len() < MAX_STRANGERS {
        return None;
    }
    let hosts = waiting.iter().rev().map(|stranger| stranger.host);
    hosts.max_by_key(|host| count(*host)).and_then(oldest)
}

/// Returns the address of a host. A host of IPv6 has all addresses that begin with the same 64 bits.
fn host_of(peer: IpAddr) -> IpAddr {
    match peer {
        IpAddr::V4(_) => peer,
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}
