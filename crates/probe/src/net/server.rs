//! A server of probes.
//!
//! It answers only clients that know its token. It sends no packet of a phase by UDP before the address has
//! sent a nonce back, and the nonce only to the host of the TCP connection, in a packet no larger than
//! the one that asked for it. Rate, duration and the number of sessions are limited.

use super::control::{Message, Messages, write_records};
use super::exchange::Lanes;
use super::load::{LONGEST_MS, Written, read_for, write_for};
use super::socket::Port;
use super::strangers::Strangers;
use super::token::{Secret, SessionKeys, Token, random};
use super::wire::{Body, Datagram, NONCE};
use super::{GoOn, NetError, VERSION, broken};
use crate::{Codepoint, Path, Pattern, Phase, TINY};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Scope, scope, sleep};
use std::time::{Duration, Instant};

/// Time that a client has to prove that it knows the token.
const PROOF: Duration = Duration::from_secs(5);
/// Time that a client has to show its UDP addresses.
const ADDRESSES: Duration = Duration::from_secs(10);
/// Time that a client has to ask for the next phase. A user may have to agree to it.
const IDLE: Duration = Duration::from_secs(300);
/// Nonces that one session gets.
const MAX_NONCES: u32 = 100;
/// Phases of one session.
const MAX_PHASES: u32 = 64;

/// Limits of a server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Largest rate of a session, in bits of IP per second.
    pub most_bps: u64,
    /// Longest duration of a session.
    pub longest: Duration,
    /// Sessions at once. They share the path, so that more than one disturb each other.
    pub sessions: usize,
}

/// A server.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: Token,
    limits: Limits,
    running: Mutex<Vec<Option<Running>>>,
    strangers: Strangers,
}

/// A session in progress.
struct Running {
    session: u64,
    keys: SessionKeys,
    attached: Sender<Messages>,
}

/// Receiver of lines about sessions.
pub type Log<'a> = dyn Fn(String) + Sync + 'a;

impl Server {
    /// Opens the port of a server. Port 0 is any free port.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn bind(address: SocketAddr, token: Token, limits: Limits) -> Result<Self, NetError> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let sessions = limits.sessions.clamp(1, 64);
        Ok(Self {
            listener,
            address,
            token,
            limits,
            running: Mutex::new((0..sessions).map(|_| None).collect()),
            strangers: Strangers::default(),
        })
    }

    /// Returns the address at which the server listens.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn address(&self) -> Result<SocketAddr, NetError> {
        Ok(self.listener.local_addr()?)
    }

    /// Serves clients while `go_on` returns true.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn serve(&self, go_on: &GoOn<'_>, log: &Log<'_>) -> Result<(), NetError> {
        scope(|scope| {
            while go_on() {
                match self.listener.accept() {
                    Ok((stream, peer)) => self.welcome(scope, stream, peer, go_on, log),
                    Err(_) => sleep(Duration::from_millis(20)),
                }
            }
            Ok(())
        })
    }

    /// Serves a new connection on a thread of its own.
    fn welcome<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        stream: TcpStream,
        peer: SocketAddr,
        go_on: &'env GoOn<'_>,
        log: &'env Log<'_>,
    ) {
        // A listener of both versions of IP shows IPv4 addresses as ones of IPv6.
        let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
        let Ok(place) = self.strangers.enter(&stream, peer.ip()) else {
            return;
        };
        scope.spawn(move || {
            let known = stream
                .set_nonblocking(false)
                .map_err(NetError::from)
                .and_then(|()| Messages::new(stream))
                .and_then(|control| self.identify(control, go_on));
            let is_stranger = place.leave();
            match known {
                Ok(Some((control, challenge, nonce))) => {
                    let ended = self.session(control, peer, &challenge, &nonce, go_on, log);
                    let how = ended
                        .err()
                        .map_or("done".to_owned(), |error| error.to_string());
                    log(format!("{peer}: session ended: {how}"));
                }
                Ok(None) => {}
                // Another connection had its place, which floods would write to the log.
                Err(_) if !is_stranger => {}
                Err(error) => log(format!("{peer}: refused: {error}")),
            }
        });
    }

    /// Lets a client prove that it knows the token. Returns the connection of a new session, or none
    /// if it joined a session.
    fn identify(
        &self,
        mut control: Messages,
        go_on: &GoOn<'_>,
    ) -> Result<Option<(Messages, Secret, Secret)>, NetError> {
        let challenge = random()?;
        let version = VERSION;
        control.send(&Message::Hello { version, challenge }, go_on)?;
        let refused = |control: &mut Messages, reason: &str| {
            let reason = reason.to_owned();
            let message = Message::Refused {
                reason: reason.clone(),
            };
            control.send(&message, go_on)?;
            Err(NetError::Refused(reason))
        };
        match control.receive(PROOF, go_on)? {
            Message::Proof { version, .. } if version != VERSION => {
                refused(&mut control, "the server has another version of goodqueue")
            }
            Message::Proof { nonce, proof, .. } => {
                if !self.token.is_client(&challenge, &nonce, &proof) {
                    return refused(&mut control, "the client has another token");
                }
                Ok(Some((control, challenge, nonce)))
            }
            Message::Attach { session, proof } => {
                let running = self.running.lock().expect("no thread panics");
                let mut all = running.iter().flatten();
                let joined = all.find(|one| {
                    let parts: [&[u8]; 2] = [&challenge, &session.to_be_bytes()];
                    one.session == session && one.keys.connections.verify(&parts, &proof)
                });
                if let Some(joined) = joined {
                    joined.attached.send(control).ok();
                    return Ok(None);
                }
                drop(running);
                refused(&mut control, "there is no such session")
            }
            _ => Err(broken("no proof")),
        }
    }

    /// Serves a session.
    fn session(
        &self,
        mut control: Messages,
        peer: SocketAddr,
        challenge: &Secret,
        nonce: &Secret,
        go_on: &GoOn<'_>,
        log: &Log<'_>,
    ) -> Result<(), NetError> {
        let keys = self.token.session(challenge, nonce);
        let session = u64::from_be_bytes(random()?[..8].try_into().expect("eight bytes"));
        let (attached, attaching) = channel();
        let running = Running {
            session,
            keys: keys.clone(),
            attached,
        };
        let Some(place) = self.enter(running) else {
            let reason = "the server is busy with other sessions, try again later".to_owned();
            control.send(
                &Message::Refused {
                    reason: reason.clone(),
                },
                go_on,
            )?;
            return Err(NetError::Refused(reason));
        };
        log(format!("{peer}: session"));
        let until = Instant::now() + self.limits.longest;
        let in_time = || go_on() && Instant::now() < until;
        let served = self.open(place, peer).and_then(|port| {
            let proof = self.token.server_proof(challenge, nonce);
            let welcome = Message::Welcome {
                proof,
                session,
                port: port.socket().local_addr()?.port(),
                most_bps: self.limits.most_bps,
                longest_s: self.limits.longest.as_secs() as u32,
            };
            control.send(&welcome, &in_time)?;
            let [up, down] = keys.datagrams;
            let lanes = Lanes::new(vec![port], down, up);
            let mut session = Session {
                control,
                lanes,
                attaching,
                most_bps: self.limits.most_bps,
                go_on: &in_time,
            };
            session.verify(peer)?;
            session.phases()
        });
        self.running.lock().expect("no thread panics")[place] = None;
        match served {
            Err(NetError::Stopped) if go_on() => Err(NetError::Refused(format!(
                "it lasted {} s, the longest duration",
                self.limits.longest.as_secs()
            ))),
            served => served,
        }
    }

    /// Takes a free place for a session, if there is one.
    fn enter(&self, running: Running) -> Option<usize> {
        let mut places = self.running.lock().expect("no thread panics");
        let free = places.iter().position(Option::is_none)?;
        places[free] = Some(running);
        Some(free)
    }

    /// Opens the UDP port of a place, for the version of IP of the client.
    fn open(&self, place: usize, peer: SocketAddr) -> Result<Port, NetError> {
        let mut address = self.address;
        if peer.is_ipv4() {
            let own = address.ip().to_canonical();
            let any = IpAddr::from(Ipv4Addr::UNSPECIFIED);
            address.set_ip(if own.is_ipv4() { own } else { any });
        }
        if address.port() != 0 {
            address.set_port(address.port().wrapping_add(place as u16));
        }
        Port::open(address)
    }
}

/// The server's end of a session.
struct Session<'a> {
    control: Messages,
    lanes: Lanes,
    attaching: Receiver<Messages>,
    most_bps: u64,
    go_on: &'a GoOn<'a>,
}

impl Session<'_> {
    /// Finds the three addresses of the client: those that send their nonces back.
    fn verify(&mut self, peer: SocketAddr) -> Result<(), NetError> {
        let until = Instant::now() + ADDRESSES;
        let mut nonces: [Option<(SocketAddr, [u8; NONCE])>; 3] = [None; 3];
        let mut sent = 0;
        while self.lanes.known() < 3 {
            if !(self.go_on)() {
                return Err(NetError::Stopped);
            }
            if Instant::now() > until {
                let reason = "the UDP packets of the client did not arrive".to_owned();
                let message = Message::Refused {
                    reason: reason.clone(),
                };
                self.control.send(&message, self.go_on)?;
                return Err(NetError::Refused(reason));
            }
            for (datagram, arrived, bytes) in self.lanes.listen()? {
                let lane = usize::from(datagram.lane);
                if arrived.from.ip() != peer.ip() {
                    continue;
                }
                match datagram.body {
                    Body::Open if bytes >= TINY && sent < MAX_NONCES => {
                        let known = nonces[lane].filter(|(address, _)| *address == arrived.from);
                        let (address, nonce) = match known {
                            Some(known) => known,
                            None => (
                                arrived.from,
                                random()?[..NONCE].try_into().expect("16 bytes"),
                            ),
                        };
                        nonces[lane] = Some((address, nonce));
                        let body = Body::Nonce(nonce);
                        let answer = Datagram { body, ..datagram };
                        let plain = Codepoint::NotCapable;
                        self.lanes.send_to(address, &answer, TINY as usize, plain)?;
                        sent += 1;
                    }
                    Body::Echo(nonce) if nonces[lane] == Some((arrived.from, nonce)) => {
                        self.lanes.set_peer(datagram.lane, arrived.from);
                    }
                    _ => {}
                }
            }
        }
        self.control.send(&Message::Verified, self.go_on)
    }

    /// Carries out the phases for which the client asks, until it closes the connection.
    fn phases(&mut self) -> Result<(), NetError> {
        for expected in 1..=MAX_PHASES {
            let message = match self.control.receive(IDLE, self.go_on) {
                Ok(message) => message,
                Err(NetError::Refused(_)) => return Ok(()),
                Err(error) => return Err(error),
            };
            let result = match message {
                Message::Phase { number, phase } if number == expected => {
                    self.phase(number, &phase)
                }
                Message::Load {
                    number,
                    up,
                    span_ms,
                } if number == expected => self.load(number, up, span_ms),
                _ => Err(broken("no request for the next phase")),
            };
            if let Err(NetError::Refused(reason)) = &result {
                let reason = reason.clone();
                self.control
                    .send(&Message::Refused { reason }, self.go_on)?;
            }
            result?;
        }
        Err(broken("too many phases"))
    }

    fn phase(&mut self, number: u32, phase: &Phase) -> Result<(), NetError> {
        let refused = phase.check(self.most_bps).err();
        if let Some(error) = refused {
            return Err(NetError::Refused(format!(
                "the server refuses a phase: {error}"
            )));
        }
        self.control.send(&Message::Ready, self.go_on)?;
        let pattern = phase.pattern;
        let (lanes, control) = (&mut self.lanes, &mut self.control);
        let before = lanes.missed();
        let records = match (pattern, phase.path) {
            (Pattern::Pings { .. }, _) => {
                lanes.echo(number, pattern.longest_ns(), control, self.go_on)?;
                Vec::new()
            }
            (_, Path::Up) => {
                let recording = lanes.receive_phase(number, &pattern, control, self.go_on)?;
                recording.records
            }
            (_, Path::Down) => {
                let sent = lanes.send_phase(number, pattern, self.go_on)?;
                return control.send(&Message::Done { sent }, self.go_on);
            }
        };
        let message = Message::Records {
            count: records.len() as u32,
            missed: self.lanes.missed().saturating_sub(before),
        };
        self.control.send(&message, self.go_on)?;
        self.control.write(&write_records(&records), self.go_on)
    }

    /// Sends or receives TCP traffic on a second connection, and answers pings meanwhile.
    fn load(&mut self, number: u32, up: bool, span_ms: u32) -> Result<(), NetError> {
        if !(1..=LONGEST_MS).contains(&span_ms) {
            let reason = format!("a load must last from 1 to {LONGEST_MS} ms");
            return Err(NetError::Refused(reason));
        }
        // A connection that joined outside a load is of no use.
        while self.attaching.try_recv().is_ok() {}
        self.control.send(&Message::Ready, self.go_on)?;
        let connection = self.attached()?;
        let span = Duration::from_millis(span_ms.into());
        let go_on = self.go_on;
        let (lanes, control) = (&mut self.lanes, &mut self.control);
        let (echoed, seen) = scope(|scope| {
            let traffic = scope.spawn(move || {
                if up {
                    let longest = span + Duration::from_secs(10);
                    Ok((read_for(connection, longest, go_on)?, Written::default()))
                } else {
                    Ok::<_, NetError>((Vec::new(), write_for(connection, span, go_on)?))
                }
            });
            let longest = span.as_nanos() as i64;
            let echoed = lanes.echo(number, longest, control, go_on);
            (echoed, traffic.join().expect("no panic"))
        });
        echoed?;
        let (bytes, Written { rtts, .. }) = seen?;
        let message = Message::Counted { bytes, rtts };
        self.control.send(&message, self.go_on)
    }

    /// Waits for the second connection of the client.
    fn attached(&mut self) -> Result<Messages, NetError> {
        let until = Instant::now() + ADDRESSES;
        loop {
            match self.attaching.recv_timeout(Duration::from_millis(50)) {
                Ok(connection) => return Ok(connection),
                Err(RecvTimeoutError::Timeout) if !(self.go_on)() => return Err(NetError::Stopped),
                Err(RecvTimeoutError::Timeout) if Instant::now() < until => {}
                Err(_) => {
                    let reason = "the second connection did not come".to_owned();
                    return Err(NetError::Refused(reason));
                }
            }
        }
    }
}
