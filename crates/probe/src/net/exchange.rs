//! The packets of a phase, sent and received in real time.

use super::control::{Message, Messages};
use super::socket::{Arrived, Clock, Port};
use super::token::Key;
use super::wire::{Body, Datagram};
use super::{GoOn, NetError, broken};
use crate::{Codepoint, Pattern, Ping, Receiver, Record, Recording, Sender, Stream, TINY};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::prctl::set_timerslack;
use nix::sys::time::TimeSpec;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::time::Duration;

/// Longest sleep, after which the session may end, in nanoseconds.
const TURN: i64 = 20_000_000;
/// Most packets that are sent or read before other sockets have their turn.
const AT_ONCE: usize = 64;
/// Time for which a packet waits for room in the kernel, in nanoseconds.
const ROOM: i64 = 5_000_000;
/// Time after which feedback is repeated, in nanoseconds.
const REPEAT: i64 = 100_000_000;
/// Pause after a phase beyond the longest queueing delay, in nanoseconds.
const PAUSE: i64 = 2_000_000_000;
/// Longest queueing delay that a pause lets pass, in nanoseconds.
const LONGEST_DELAY: i64 = 5_000_000_000;
/// IP size of feedback in bytes.
const FEEDBACK: usize = 96;
/// Time that the end of a phase may be late, in nanoseconds.
const PATIENCE: i64 = 60_000_000_000;

/// UDP addresses of the main stream and the two sparse ones. The client has a port for each of them,
/// the server one port for all.
#[derive(Debug)]
pub struct Lanes {
    ports: Vec<Port>,
    clock: Clock,
    peers: [Option<SocketAddr>; 3],
    outgoing: Key,
    incoming: Key,
    buffer: Vec<u8>,
    received: Vec<u8>,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// Files that can be read after a wait.
struct Ready {
    ports: Vec<usize>,
    control: bool,
}

impl Lanes {
    /// Returns lanes over these ports.
    pub fn new(ports: Vec<Port>, outgoing: Key, incoming: Key) -> Self {
        // Without it the kernel may delay each wake-up by 50 µs.
        set_timerslack(1).ok();
        Self {
            ports,
            clock: Clock::new(),
            peers: [None; 3],
            outgoing,
            incoming,
            buffer: Vec::new(),
            received: vec![0; 65_536],
        }
    }

    /// Returns the number of lanes whose peer is known.
    pub fn known(&self) -> usize {
        self.peers.iter().flatten().count()
    }

    /// Sets the address of the peer on a lane.
    pub fn set_peer(&mut self, lane: u8, address: SocketAddr) {
        self.peers[usize::from(lane) % 3] = Some(address);
    }

    /// Returns the present time.
    pub fn now(&self) -> i64 {
        self.clock.now()
    }

    /// Returns the number of packets that the sockets dropped because they were not read in time.
    pub fn missed(&self) -> u32 {
        self.ports.iter().map(Port::missed).sum()
    }

    /// Sends a datagram of this IP size to an address. It waits a short time for room in the kernel.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn send_to(
        &mut self,
        to: SocketAddr,
        datagram: &Datagram,
        bytes: usize,
        codepoint: Codepoint,
    ) -> Result<(), NetError> {
        let index = usize::from(datagram.lane) % self.ports.len();
        let size = bytes - self.ports[index].headers();
        datagram.write(&self.outgoing, size, &mut self.buffer);
        let until = self.now() + ROOM;
        while !self.ports[index].send(&self.buffer, to, codepoint)? && self.now() < until {
            let mut files = [PollFd::new(
                self.ports[index].socket().as_fd(),
                PollFlags::POLLOUT,
            )];
            let timeout = TimeSpec::from(Duration::from_nanos(ROOM as u64));
            ppoll(&mut files, Some(timeout), None).ok();
        }
        Ok(())
    }

    /// Sends a datagram to the peer of its lane.
    fn send(
        &mut self,
        datagram: &Datagram,
        bytes: usize,
        codepoint: Codepoint,
    ) -> Result<(), NetError> {
        let peer = self.peers[usize::from(datagram.lane) % 3];
        let peer = peer.ok_or_else(|| broken("a lane has no address"))?;
        self.send_to(peer, datagram, bytes, codepoint)
    }

    /// Receives a datagram with the right tag from any address, and its IP size. Returns none if none
    /// is there.
    pub fn receive_any(
        &mut self,
        index: usize,
    ) -> Result<Option<(Datagram, Arrived, u32)>, NetError> {
        for _ in 0..AT_ONCE {
            let port = &mut self.ports[index];
            let Some(arrived) = port.receive(&mut self.received, &mut self.clock)? else {
                return Ok(None);
            };
            let bytes = &self.received[..arrived.length];
            if let Some(datagram) = Datagram::read(&self.incoming, bytes) {
                let size = (arrived.length + port.headers()) as u32;
                return Ok(Some((datagram, arrived, size)));
            }
        }
        Ok(None)
    }

    /// Receives a datagram of a phase from the peer of its lane.
    fn receive(
        &mut self,
        index: usize,
        phase: u32,
    ) -> Result<Option<(Datagram, Arrived, u32)>, NetError> {
        for _ in 0..AT_ONCE {
            let Some(found) = self.receive_any(index)? else {
                return Ok(None);
            };
            let peer = self.peers[usize::from(found.0.lane)];
            if found.0.phase == phase && peer == Some(found.1.from) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Waits for packets, for a message, or until a time, but not longer than [`TURN`].
    fn wait(&self, control: Option<&Messages>, until: i64) -> Result<Ready, NetError> {
        let ports = self.ports.iter().map(|port| port.socket().as_fd());
        let control = control.map(|control| control.stream().as_fd());
        let files = ports.chain(control);
        let mut files: Vec<_> = files
            .map(|file| PollFd::new(file, PollFlags::POLLIN))
            .collect();
        let sleep = (until - self.now()).clamp(0, TURN);
        let timeout = TimeSpec::from(Duration::from_nanos(sleep as u64));
        match ppoll(&mut files, Some(timeout), None) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_ready = |index: usize| files[index].any().unwrap_or(true);
        let count = self.ports.len();
        Ok(Ready {
            ports: (0..count).filter(|index| is_ready(*index)).collect(),
            control: control.is_some() && is_ready(count),
        })
    }

    /// Waits for datagrams from any address for at most [`TURN`], and returns a few of them.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn listen(&mut self) -> Result<Vec<(Datagram, Arrived, u32)>, NetError> {
        let ready = self.wait(None, self.now() + TURN)?;
        let mut found = Vec::new();
        for index in ready.ports {
            while found.len() < AT_ONCE
                && let Some(one) = self.receive_any(index)?
            {
                found.push(one);
            }
        }
        Ok(found)
    }

    /// Carries out the sender's part of a phase, with the pause after it. Returns the numbers of
    /// packets that were sent.
    ///
    /// # Errors
    /// Returns an error if the session is to end, or the operating system refuses to send.
    pub fn send_phase(
        &mut self,
        number: u32,
        pattern: Pattern,
        go_on: &GoOn<'_>,
    ) -> Result<[u32; 2], NetError> {
        let mut sender = Sender::new(pattern, self.now());
        let (mut least, mut most) = (i64::MAX, i64::MIN);
        while !sender.is_done(self.now()) {
            if !go_on() {
                return Err(NetError::Stopped);
            }
            for _ in 0..AT_ONCE {
                let now = self.now();
                let Some(out) = sender.send(now) else { break };
                let lane = match out.stream {
                    Stream::Main => 0,
                    Stream::Sparse => 1 + (out.sequence % 2) as u8,
                };
                let body = Body::Data {
                    sequence: out.sequence,
                    sent: now,
                };
                let datagram = Datagram {
                    phase: number,
                    lane,
                    body,
                };
                self.send(&datagram, out.bytes as usize, out.codepoint)?;
            }
            let next = sender.next_send().unwrap_or(i64::MAX);
            for index in self.wait(None, next)?.ports {
                while let Some((datagram, _, _)) = self.receive(index, number)? {
                    if let Body::Feedback(feedback) = datagram.body {
                        (least, most) = (least.min(feedback.delay), most.max(feedback.delay));
                        sender.hear(self.now(), feedback);
                    }
                }
            }
        }
        let longest = most.saturating_sub(least).clamp(0, LONGEST_DELAY);
        self.pause(PAUSE + longest, go_on)?;
        Ok(sender.sent())
    }

    /// Lets time pass and discards what is received.
    fn pause(&mut self, time: i64, go_on: &GoOn<'_>) -> Result<(), NetError> {
        let until = self.now() + time;
        while self.now() < until {
            for index in self.wait(None, until)?.ports {
                self.receive_any(index)?;
            }
            if !go_on() {
                return Err(NetError::Stopped);
            }
        }
        Ok(())
    }

    /// Carries out the receiver's part of a phase, until a message says that the sender is done.
    ///
    /// # Errors
    /// Returns an error if the session is to end, or no such message comes.
    pub fn receive_phase(
        &mut self,
        number: u32,
        pattern: &Pattern,
        control: &mut Messages,
        go_on: &GoOn<'_>,
    ) -> Result<Recording, NetError> {
        let mut receiver = Receiver::new(pattern);
        let mut told = i64::MAX;
        let latest = self.now() + pattern.longest_ns() + PATIENCE;
        while self.now() < latest {
            if !go_on() {
                return Err(NetError::Stopped);
            }
            let ready = self.wait(Some(control), self.now() + TURN)?;
            for index in ready.ports {
                while let Some((datagram, arrived, bytes)) = self.receive(index, number)? {
                    let Body::Data { sequence, sent } = datagram.body else {
                        continue;
                    };
                    let feedback = receiver.receive(Record {
                        stream: datagram.stream(),
                        sequence,
                        sent,
                        received: arrived.at,
                        bytes,
                        ecn: arrived.ecn,
                    });
                    told = told.min(self.now());
                    if let Some(feedback) = feedback {
                        told = self.now();
                        self.tell(number, Body::Feedback(feedback))?;
                    }
                }
            }
            if self.now().saturating_sub(told) > REPEAT && receiver.gives_feedback() {
                told = self.now();
                self.tell(number, Body::Feedback(receiver.feedback()))?;
            }
            match control.poll(ready.control)? {
                Some(Message::Done { sent }) => return Ok(receiver.finish(sent)),
                Some(_) => return Err(broken("a message within a phase")),
                None => {}
            }
        }
        Err(NetError::Refused(
            "the other end does not answer".to_owned(),
        ))
    }

    fn tell(&mut self, phase: u32, body: Body) -> Result<(), NetError> {
        let lane = 0;
        let datagram = Datagram { phase, lane, body };
        self.send(&datagram, FEEDBACK, Codepoint::NotCapable)
    }

    /// Sends pings and collects the answers.
    ///
    /// # Errors
    /// Returns an error if the session is to end.
    pub fn ping(
        &mut self,
        number: u32,
        count: u32,
        interval_us: u32,
        go_on: &GoOn<'_>,
    ) -> Result<Recording, NetError> {
        let begun = self.now();
        let due = |next: u32| begun + i64::from(next) * i64::from(interval_us) * 1000;
        let end = due(count) + 3_000_000_000;
        let mut pings = vec![None; count as usize];
        let (mut next, mut back) = (0, 0);
        while self.now() < end && back < count {
            if !go_on() {
                return Err(NetError::Stopped);
            }
            let sent = self.now();
            if next < count && sent >= due(next) {
                let sequence = next;
                self.tell(number, Body::Ping { sequence, sent })?;
                next += 1;
            }
            let until = if next < count { due(next) } else { end };
            for index in self.wait(None, until)?.ports {
                while let Some((datagram, arrived, _)) = self.receive(index, number)? {
                    let Body::Pong {
                        sequence,
                        sent,
                        turned,
                        held,
                    } = datagram.body
                    else {
                        continue;
                    };
                    let Some(place) = pings.get_mut(sequence as usize) else {
                        continue;
                    };
                    back += u32::from(place.is_none());
                    *place = place.or(Some(Ping {
                        sent,
                        turned,
                        received: arrived.at - held.clamp(0, arrived.at.max(0)),
                    }));
                }
            }
        }
        Ok(Recording {
            pings: pings.into_iter().flatten().collect(),
            sent: [next, 0],
            ..Recording::default()
        })
    }

    /// Answers pings with packets of the same size until a message says that no more come.
    ///
    /// # Errors
    /// Returns an error if the session is to end, or no such message comes.
    pub fn echo(
        &mut self,
        number: u32,
        longest_ns: i64,
        control: &mut Messages,
        go_on: &GoOn<'_>,
    ) -> Result<[u32; 2], NetError> {
        let latest = self.now() + longest_ns + PATIENCE;
        while self.now() < latest {
            if !go_on() {
                return Err(NetError::Stopped);
            }
            let ready = self.wait(Some(control), self.now() + TURN)?;
            for index in ready.ports {
                while let Some((datagram, arrived, bytes)) = self.receive(index, number)? {
                    if let Body::Ping { sequence, sent } = datagram.body
                        && bytes >= TINY
                    {
                        let body = Body::Pong {
                            sequence,
                            sent,
                            turned: arrived.at,
                            held: self.now() - arrived.at,
                        };
                        let datagram = Datagram { body, ..datagram };
                        self.send(&datagram, TINY as usize, Codepoint::NotCapable)?;
                    }
                }
            }
            match control.poll(ready.control)? {
                Some(Message::Done { sent }) => return Ok(sent),
                Some(_) => return Err(broken("a message within a phase")),
                None => {}
            }
        }
        Err(NetError::Refused(
            "the other end does not answer".to_owned(),
        ))
    }
}
