//! A probe of the path to a server.

use super::control::{Message, Messages, is_closed, read_records, records_length};
use super::exchange::Lanes;
use super::load::{Loaded, PING_US, Written, read_for, write_for};
use super::socket::Port;
use super::token::{Secret, SessionKeys, Token, random};
use super::wire::{Body, Datagram};
use super::{GoOn, NetError, VERSION, broken};
use crate::estimate::Direction;
use crate::{Codepoint, Cost, Path, Pattern, Phase, Prober, Recording, Report, TINY};
use serde::Serialize;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::thread::scope;
use std::time::{Duration, Instant};

/// Time that the server has to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time between two requests for a nonce.
const AGAIN: Duration = Duration::from_millis(200);

/// Limits of a probe.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Largest rate of UDP packets, in bits of IP per second.
    pub most_bps: u64,
    /// Duration of the TCP traffic in each direction, in milliseconds; 0 for none.
    pub tcp_ms: u32,
}

/// The user of a probe.
pub trait User: Sync {
    /// Returns true until the probe is to end.
    fn go_on(&self) -> bool;
    /// Is told that a part of the probe begins.
    fn begins(&self, what: &str);
    /// Returns true if the user agrees to the phases that fill the bottleneck's buffer.
    fn agrees(&self, cost: &Cost) -> bool;
}

/// Results of a probe.
#[derive(Clone, Debug, Serialize)]
pub struct Probed {
    /// Estimates from UDP packets.
    #[serde(flatten)]
    pub report: Report,
    /// Paths under the load of a TCP flow.
    pub tcp: Vec<Loaded>,
    /// True if the user agreed to the phases that fill the buffer.
    pub consented: bool,
    /// Packets that were not read in time on this machine or on the server, by direction. Such
    /// packets look like lost ones.
    pub missed: [u32; 2],
    /// Time that the probe took, in seconds.
    pub duration_s: f64,
    /// IP bytes of UDP packets that arrived, by direction.
    pub bytes: [u64; 2],
    /// RTTs of pings on the idle path, in seconds.
    #[serde(skip)]
    pub idle_rtts: Vec<f64>,
}

/// Probes the path to a server.
///
/// # Errors
/// Returns the reason if the server cannot be reached, refuses, or breaks the protocol.
pub fn probe(
    server: SocketAddr,
    token: &Token,
    wanted: Wanted,
    user: &dyn User,
) -> Result<Probed, NetError> {
    let begun = Instant::now();
    let mut session = Session::open(server, token, user)?;
    let most_bps = wanted.most_bps.min(session.most_bps);
    let mut prober = Prober::new(most_bps);
    let mut found = Probed {
        report: prober.report(),
        tcp: Vec::new(),
        consented: false,
        missed: [0; 2],
        duration_s: 0.0,
        bytes: [0; 2],
        idle_rtts: Vec::new(),
    };
    let mut asked = false;
    while let Some(phase) = prober.next() {
        if phase.fills_buffer() && !asked {
            asked = true;
            if wanted.tcp_ms > 0 {
                let idle = found.idle_rtts.iter().copied();
                let base_s = idle.min_by(f64::total_cmp).unwrap_or(0.0);
                for path in [Path::Up, Path::Down] {
                    user.begins(&format!("TCP {}", path.word()));
                    found.tcp.extend(session.load(path, wanted.tcp_ms, base_s)?);
                }
            }
            let mut tcp_bps = [f64::INFINITY; 2];
            for load in &found.tcp {
                tcp_bps[load.path as usize] = load.goodput_bps;
            }
            found.consented = user.agrees(&prober.cost(tcp_bps));
            if !found.consented {
                break;
            }
        }
        user.begins(&phase.to_string());
        let (recording, missed) = session.phase(&phase)?;
        found.missed[phase.path as usize] += missed;
        let bytes = recording
            .records
            .iter()
            .map(|record| u64::from(record.bytes));
        found.bytes[phase.path as usize] += bytes.sum::<u64>();
        let rtts = recording.pings.iter();
        let rtts = rtts.map(|ping| (ping.received - ping.sent) as f64 * 1e-9);
        // The pings at the end follow a load.
        if found.idle_rtts.is_empty() {
            found.idle_rtts.extend(rtts);
        }
        prober.finish(&phase, recording);
    }
    found.report = prober.report();
    let [up, down] = found.missed;
    let ways = [(&mut found.report.up, up), (&mut found.report.down, down)];
    for (way, _) in ways.into_iter().filter(|(_, missed)| *missed > 0) {
        // Losses of the network cannot be told from those of a busy machine.
        *way = way.take().map(Direction::without_losses);
    }
    found.duration_s = begun.elapsed().as_secs_f64();
    Ok(found)
}

/// The client's end of a session.
struct Session<'a> {
    server: SocketAddr,
    control: Messages,
    lanes: Lanes,
    keys: SessionKeys,
    name: u64,
    most_bps: u64,
    number: u32,
    user: &'a dyn User,
}

impl<'a> Session<'a> {
    /// Connects to a server and shows it the addresses of this end.
    fn open(server: SocketAddr, token: &Token, user: &'a dyn User) -> Result<Self, NetError> {
        let (control, keys, name, port, most_bps) = prove(server, token, user).map_err(busy)?;
        let any: IpAddr = match server {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let ports = (0..3).map(|_| Port::open(SocketAddr::new(any, 0)));
        let ports = ports.collect::<Result<Vec<_>, _>>()?;
        let [up, down] = keys.datagrams.clone();
        let mut lanes = Lanes::new(ports, up, down);
        let mut address = server;
        address.set_port(port);
        for lane in 0..3 {
            lanes.set_peer(lane, address);
        }
        let mut session = Self {
            server,
            control,
            lanes,
            keys,
            name,
            most_bps,
            number: 0,
            user,
        };
        session.show_addresses(address)?;
        Ok(session)
    }

    /// Sends the nonces of the server back until it has seen all three addresses.
    fn show_addresses(&mut self, server: SocketAddr) -> Result<(), NetError> {
        let mut asked: Option<Instant> = None;
        loop {
            if !self.user.go_on() {
                return Err(NetError::Stopped);
            }
            if asked.is_none_or(|asked| asked.elapsed() > AGAIN) {
                asked = Some(Instant::now());
                for lane in 0..3 {
                    let body = Body::Open;
                    self.show(
                        server,
                        Datagram {
                            phase: 0,
                            lane,
                            body,
                        },
                    )?;
                }
            }
            for (datagram, arrived, _) in self.lanes.listen()? {
                if let Body::Nonce(nonce) = datagram.body
                    && arrived.from == server
                {
                    let body = Body::Echo(nonce);
                    self.show(server, Datagram { body, ..datagram })?;
                }
            }
            match self.control.poll(has_input(&self.control)?)? {
                Some(Message::Verified) => return Ok(()),
                Some(_) => return Err(broken("a message before the addresses are known")),
                None => {}
            }
        }
    }

    fn show(&mut self, server: SocketAddr, datagram: Datagram) -> Result<(), NetError> {
        let none = Codepoint::NotCapable;
        self.lanes.send_to(server, &datagram, TINY as usize, none)
    }

    fn expect(&mut self, wanted: &Message) -> Result<(), NetError> {
        let go_on = || self.user.go_on();
        let found = self.control.receive(PATIENCE, &go_on)?;
        (found == *wanted)
            .then_some(())
            .ok_or_else(|| broken("another message than expected"))
    }

    /// Carries out a phase. Returns it with the number of packets that a machine did not read in time.
    fn phase(&mut self, phase: &Phase) -> Result<(Recording, u32), NetError> {
        let user = self.user;
        let go_on = || user.go_on();
        self.number += 1;
        let number = self.number;
        let request = Message::Phase {
            number,
            phase: *phase,
        };
        self.control.send(&request, &go_on)?;
        self.expect(&Message::Ready)?;
        let pattern = phase.pattern;
        let before = self.lanes.missed();
        let mut recording = match (pattern, phase.path) {
            (Pattern::Pings { count, interval_us }, _) => {
                self.lanes.ping(number, count, interval_us, &go_on)?
            }
            (_, Path::Up) => Recording {
                sent: self.lanes.send_phase(number, pattern, &go_on)?,
                ..Recording::default()
            },
            (_, Path::Down) => {
                let control = &mut self.control;
                let recording = self
                    .lanes
                    .receive_phase(number, &pattern, control, &go_on)?;
                let missed = self.lanes.missed().saturating_sub(before);
                return Ok((recording, missed));
            }
        };
        let sent = recording.sent;
        self.control.send(&Message::Done { sent }, &go_on)?;
        let (records, missed) = self.records(&go_on)?;
        recording.records = records;
        Ok((recording, missed))
    }

    /// Waits for the records of the server.
    fn records(&mut self, go_on: &GoOn<'_>) -> Result<(Vec<crate::Record>, u32), NetError> {
        let Message::Records { count, missed } = self.control.receive(PATIENCE, go_on)? else {
            return Err(broken("no records"));
        };
        let length = records_length(count).ok_or_else(|| broken("too many records"))?;
        let bytes = self.control.read_bytes(length, go_on)?;
        let records = read_records(&bytes).ok_or_else(|| broken("a damaged record"))?;
        Ok((records, missed))
    }

    /// Loads the path with a TCP flow and sends pings meanwhile. `base_s` is the RTT of the idle path.
    fn load(&mut self, path: Path, span_ms: u32, base_s: f64) -> Result<Option<Loaded>, NetError> {
        let user = self.user;
        let go_on = || user.go_on();
        self.number += 1;
        let number = self.number;
        let up = path == Path::Up;
        let request = Message::Load {
            number,
            up,
            span_ms,
        };
        self.control.send(&request, &go_on)?;
        self.expect(&Message::Ready)?;
        let connection = self.join(&go_on)?;
        let span = Duration::from_millis(span_ms.into());
        let lanes = &mut self.lanes;
        let (recording, traffic) = scope(|scope| {
            let traffic = scope.spawn(move || {
                let go_on = || user.go_on();
                if up {
                    let written = write_for(connection, span, &go_on)?;
                    Ok::<_, NetError>((Vec::new(), written))
                } else {
                    let longest = span + Duration::from_secs(5);
                    Ok((read_for(connection, longest, &go_on)?, Written::default()))
                }
            });
            let recording = lanes.ping(number, span_ms * 1000 / PING_US, PING_US, &go_on);
            (recording, traffic.join().expect("no panic"))
        });
        let recording = recording?;
        let (mut counts, mut written) = traffic?;
        let sent = recording.sent;
        self.control.send(&Message::Done { sent }, &go_on)?;
        let Message::Counted { bytes, rtts } = self.control.receive(PATIENCE * 2, &go_on)? else {
            return Err(broken("no counts"));
        };
        if up {
            counts = bytes;
        } else {
            written.rtts = rtts;
        }
        let pings = (&recording.pings[..], sent[0]);
        Ok(Loaded::new(path, counts, written, pings, base_s))
    }

    /// Opens a second connection of the session.
    fn join(&self, go_on: &GoOn<'_>) -> Result<Messages, NetError> {
        let (mut connection, challenge) = connect(self.server, go_on)?;
        let session = self.name;
        let parts: [&[u8]; 2] = [&challenge, &session.to_be_bytes()];
        let proof = self.keys.connections.sign(&parts);
        connection.send(&Message::Attach { session, proof }, go_on)?;
        Ok(connection)
    }
}

/// Connects to a server and proves that this end knows the token. Returns the connection, the keys
/// and the number of a new session, its UDP port and its largest rate.
fn prove(
    server: SocketAddr,
    token: &Token,
    user: &dyn User,
) -> Result<(Messages, SessionKeys, u64, u16, u64), NetError> {
    let go_on = || user.go_on();
    let (mut control, challenge) = connect(server, &go_on)?;
    let nonce = random()?;
    let proof = token.client_proof(&challenge, &nonce);
    let version = VERSION;
    let message = Message::Proof {
        version,
        nonce,
        proof,
    };
    control.send(&message, &go_on)?;
    let Message::Welcome {
        proof,
        session,
        port,
        most_bps,
        ..
    } = control.receive(PATIENCE, &go_on)?
    else {
        return Err(broken("no welcome"));
    };
    if !token.is_server(&challenge, &nonce, &proof) {
        let reason = "the server does not know the token".to_owned();
        return Err(NetError::Refused(reason));
    }
    let keys = token.session(&challenge, &nonce);
    Ok((control, keys, session, port, most_bps))
}

/// Explains a connection that ends before a session begins: a server with too many connections
/// closes some.
fn busy(error: NetError) -> NetError {
    if is_closed(&error) {
        let reason = "the server closed the connection before a session began: it may be busy, \
                      try again later";
        return NetError::Refused(reason.to_owned());
    }
    error
}

/// Connects to a server. Returns the connection and the challenge of the server.
fn connect(server: SocketAddr, go_on: &GoOn<'_>) -> Result<(Messages, Secret), NetError> {
    let stream = TcpStream::connect_timeout(&server, PATIENCE)?;
    let mut control = Messages::new(stream)?;
    match control.receive(PATIENCE, go_on)? {
        Message::Hello { version, challenge } if version == VERSION => Ok((control, challenge)),
        Message::Hello { .. } => {
            let reason = "the server has another version of goodqueue".to_owned();
            Err(NetError::Refused(reason))
        }
        _ => Err(broken("no greeting")),
    }
}

/// Returns true if a message, or the end of the connection, can be read at once.
fn has_input(control: &Messages) -> Result<bool, NetError> {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use std::os::fd::AsFd;
    let mut files = [PollFd::new(control.stream().as_fd(), PollFlags::POLLIN)];
    Ok(poll(&mut files, PollTimeout::ZERO)? > 0)
}
