//! Runs a script against an endpoint in virtual time.

use goodqueue_tcp::{FastOpen, Profile};
use goodqueue_types::Time;

use super::calls::{Answer, Sockets, size};
use super::clock::{Window, micros, seconds, time};
use super::connection::Connection;
use super::fast_open::{self, Cookies};
use super::info;
use super::settings::{Offer, Settings};
use crate::packetdrill::script::expression::{self, Names};
use crate::packetdrill::script::syntax::{Call, Cookie, Event, PacketSpec, Refusal, Script, Step};

/// Minimum time between inbound packets and calls, in microseconds: no machine processes two at
/// once.
const HANDLING: u64 = 1;

/// Largest number of timer rounds without time passing.
const PATIENCE: u32 = 1000;

/// State of a run.
#[derive(Debug)]
pub struct Driver<'a> {
    pub(super) script: &'a Script,
    pub(super) settings: Settings,
    pub(super) sockets: Sockets,
    pub(super) now: Time,
    /// Time of the last event, in microseconds.
    previous: u64,
    names: Names,
    blocked: Option<Blocked>,
    pub(super) cookies: Cookies,
}

/// A system call that has not returned.
#[derive(Debug)]
struct Blocked {
    call: Call,
    line: usize,
    /// Interval in which the call must return, in microseconds.
    earliest: u64,
    latest: u64,
}

/// Runs `script` on a stack with `profile`, unless the script chooses another one.
pub fn run(script: &Script, profile: Profile) -> Result<(), Refusal> {
    let mut driver = Driver {
        script,
        settings: Settings::new(profile),
        sockets: Sockets::default(),
        now: Time::ZERO,
        previous: 0,
        names: Names::new(),
        blocked: None,
        cookies: Cookies::from_script(script),
    };
    driver.settings.set_up(script)?;
    for index in 0..script.events.len() {
        driver.event(index)?;
    }
    driver.finish()
}

impl Driver<'_> {
    fn event(&mut self, index: usize) -> Result<(), Refusal> {
        let script = self.script;
        let event = &script.events[index];
        let window = self.window(event);
        if let Step::Outbound(spec) = &event.step {
            self.expect(event, spec, window)?;
        } else {
            let start = match event.step {
                Step::Inbound(_) | Step::Call(_) => window.start.max(micros(self.now) + HANDLING),
                _ => window.start,
            };
            self.advance(start, event.line)?;
            self.perform(index, window)?;
        }
        // Relative times count from the time at which the previous event occurred, not from its due
        // time.
        self.previous = micros(self.now);
        Ok(())
    }

    fn perform(&mut self, index: usize, window: Window) -> Result<(), Refusal> {
        let event = &self.script.events[index];
        match &event.step {
            Step::Command(text) => {
                if text.contains("tcp_ecn_option") {
                    let reason = "a change of tcp_ecn_option on an open connection is not modelled";
                    return Err(Refusal::NotApplicable(event.line, reason.to_owned()));
                }
                if text.contains("tcp_metrics flush") {
                    self.cookies.forget();
                }
                self.settings.command(event.line, text)?;
            }
            Step::Code(code) => self.assertions(event.line, code)?,
            Step::Inbound(spec) => self.inject(event.line, spec)?,
            Step::Call(call) => self.call(index, call, window)?,
            Step::Outbound(_) => {}
        }
        self.settle(event.line)
    }

    fn window(&self, event: &Event) -> Window {
        let origin = if event.when.relative {
            self.previous
        } else {
            0
        };
        let Some(start) = event.when.start else {
            return Window {
                start: micros(self.now),
                end: u64::MAX,
                tolerance: 0,
            };
        };
        let end = event.when.end.unwrap_or(start) + origin;
        let start = start + origin;
        // The tolerance is 12.5 % of the time since the previous event, but at least the fixed
        // tolerance.
        let tolerance = (start.saturating_sub(self.previous) / 8).max(self.settings.tolerance);
        Window {
            start,
            end,
            tolerance,
        }
    }

    /// Advances the time to `to` microseconds and fires the timers that are due until then.
    fn advance(&mut self, to: u64, line: usize) -> Result<(), Refusal> {
        let to = time(to);
        while self.fire_next(to, line)? {}
        self.now = self.now.max(to);
        Ok(())
    }

    /// Fires the next timer that is due by `limit`. Returns false if there is none.
    pub(super) fn fire_next(&mut self, limit: Time, line: usize) -> Result<bool, Refusal> {
        let deadlines = self
            .sockets
            .connections
            .iter()
            .filter_map(Connection::poll_timeout);
        let Some(deadline) = deadlines.min().filter(|deadline| *deadline <= limit) else {
            return Ok(false);
        };
        self.now = self.now.max(deadline);
        for connection in &mut self.sockets.connections {
            connection.handle_timeout(self.now);
        }
        self.settle(line)?;
        Ok(true)
    }

    /// Sends the packets that may leave and lets a blocked call return.
    fn settle(&mut self, line: usize) -> Result<(), Refusal> {
        let mut rounds = 0;
        loop {
            self.sockets.drain(self.now, self.settings.egress_open);
            let open = self.settings.egress_open;
            let due = |c: &Connection| c.poll_timeout().is_some_and(|at| at <= self.now);
            if !open || !self.sockets.connections.iter().any(due) {
                break;
            }
            for connection in &mut self.sockets.connections {
                connection.handle_timeout(self.now);
            }
            rounds += 1;
            if rounds > PATIENCE {
                return Err(Refusal::Malformed(
                    line,
                    "a timer fires for ever".to_owned(),
                ));
            }
        }
        self.resume()
    }

    fn assertions(&mut self, line: usize, code: &str) -> Result<(), Refusal> {
        let connection = self.sockets.connections.last();
        if let Some(field) = info::not_modelled(code, connection) {
            let reason = format!("{field} is not modelled");
            return Err(Refusal::NotApplicable(line, reason));
        }
        let now = self.now;
        let look_up = |name: &str| connection.and_then(|c| info::look_up(c, now, name));
        expression::run(code, &mut self.names, &look_up)
            .map_err(|complaint| Refusal::Malformed(line, complaint))
    }

    fn inject(&mut self, line: usize, spec: &PacketSpec) -> Result<(), Refusal> {
        let opens = spec.flags.contains('S') && !spec.flags.contains('.');
        // The first SYN after `listen` opens a connection; later ones go to the newest connection.
        if opens && self.sockets.awaits_syn && self.sockets.listener().is_some() {
            self.sockets.awaits_syn = false;
            self.open_passively(line, spec)?;
        }
        let spec = self.with_fast_open(spec);
        let now = self.now;
        let largest = self.settings.offload_segment;
        let Some(connection) = self.sockets.current() else {
            let complaint = "a packet comes in and no socket is there to take it";
            return Err(Refusal::Malformed(line, complaint.to_owned()));
        };
        for part in super::offload::parts(&spec, largest) {
            connection.receive(now, &part);
        }
        Ok(())
    }

    fn open_passively(&mut self, line: usize, spec: &PacketSpec) -> Result<(), Refusal> {
        let settings = self
            .sockets
            .listener()
            .map(|socket| socket.settings.clone());
        let settings = settings.unwrap_or_else(|| self.settings.clone());
        let peer = Offer::from_options(spec.options.as_deref().unwrap_or_default());
        let fast_open = self.takes_early_data();
        let connection = self.open(line, &settings, &peer, false, fast_open)?;
        connection.cookie = Some(Cookie {
            text: fast_open::ISSUED.to_owned(),
            is_experimental: fast_open::option_of(spec).is_some_and(|it| it.is_experimental),
        });
        connection.endpoint.listen();
        Ok(())
    }

    pub(super) fn open(
        &mut self,
        line: usize,
        settings: &Settings,
        peer: &Offer,
        active: bool,
        fast_open: FastOpen,
    ) -> Result<&mut Connection, Refusal> {
        let offer = settings.offer();
        let agreed = offer.agree(peer);
        let config = settings.config(&agreed, active);
        let mut config = config.map_err(|reason| Refusal::NotApplicable(line, reason))?;
        config.fast_open = fast_open;
        let mut connection = Connection::new(config, offer, agreed, peer);
        connection.endpoint.set_reading(Time::ZERO, false);
        self.sockets.connections.push(connection);
        let last = self.sockets.connections.len() - 1;
        Ok(&mut self.sockets.connections[last])
    }

    fn call(&mut self, index: usize, call: &Call, window: Window) -> Result<(), Refusal> {
        let event = &self.script.events[index];
        let answer = if call.name == "connect" {
            self.connect(index, call)?
        } else if self.opens_by_sending(call) {
            self.send_early(index, call)?
        } else {
            self.sockets.now = self.now;
            self.sockets.call(call, event.line, &self.settings)?
        };
        match (answer, event.when.returns) {
            (Some(answer), _) => verify(call, event.line, answer),
            (None, Some(returns)) => {
                let origin = if event.when.relative {
                    self.previous
                } else {
                    0
                };
                let end = returns + origin;
                let tolerance = (end.saturating_sub(window.start) / 8).max(self.settings.tolerance);
                self.blocked = Some(Blocked {
                    call: call.clone(),
                    line: event.line,
                    earliest: end.saturating_sub(tolerance),
                    latest: end + tolerance,
                });
                Ok(())
            }
            (None, None) => {
                let complaint = format!("{} blocks", call.name);
                Err(Refusal::Malformed(event.line, complaint))
            }
        }
    }

    /// Opens a connection to the peer whose SYN-ACK comes later in the script.
    fn connect(&mut self, index: usize, call: &Call) -> Result<Option<Answer>, Refusal> {
        let descriptor = call
            .arguments
            .first()
            .and_then(|text| text.parse::<i64>().ok());
        let socket = descriptor
            .and_then(|fd| self.sockets.by_descriptor.get(&fd))
            .cloned();
        let (Some(descriptor), Some(socket)) = (descriptor, socket) else {
            return Ok(Some(Err("EBADF")));
        };
        if let Some(connection) = socket.connection {
            let open = self.sockets.connections[connection]
                .endpoint
                .is_established();
            return Ok(Some(if open { Ok(0) } else { Err("EALREADY") }));
        }
        if socket.connects_late && self.may_send_early() {
            let waiting = super::calls::Socket {
                is_waiting: true,
                ..socket
            };
            self.sockets.by_descriptor.insert(descriptor, waiting);
            return Ok(Some(Ok(0)));
        }
        let nonblocking = socket.nonblocking;
        let fast_open = if socket.connects_late {
            FastOpen::Request
        } else {
            FastOpen::Off
        };
        let now = self.now;
        let request = self.cookies.request();
        let connection = self.open_actively(index, descriptor, socket, fast_open)?;
        connection.cookie = Some(request);
        connection.endpoint.connect(now);
        Ok(nonblocking.then_some(Err("EINPROGRESS")))
    }

    /// Creates the connection of a socket to the peer whose SYN-ACK comes later in the script.
    pub(super) fn open_actively(
        &mut self,
        index: usize,
        descriptor: i64,
        socket: super::calls::Socket,
        fast_open: FastOpen,
    ) -> Result<&mut Connection, Refusal> {
        let event = &self.script.events[index];
        let answer = self.script.events[index..]
            .iter()
            .find_map(|event| match &event.step {
                Step::Inbound(spec) if spec.flags.contains('S') => spec.options.clone(),
                _ => None,
            });
        let peer = answer
            .as_deref()
            .map_or_else(|| socket.settings.offer(), Offer::from_options);
        self.open(event.line, &socket.settings, &peer, true, fast_open)?;
        let last = self.sockets.connections.len() - 1;
        self.sockets.accepted = self.sockets.connections.len();
        let connected = super::calls::Socket {
            connection: Some(last),
            is_waiting: false,
            ..socket
        };
        self.sockets.by_descriptor.insert(descriptor, connected);
        Ok(&mut self.sockets.connections[last])
    }

    /// Lets a blocked call return if it can.
    fn resume(&mut self) -> Result<(), Refusal> {
        let Some(blocked) = self.blocked.take() else {
            return Ok(());
        };
        let sends = self.cookies.is_sending;
        let answer = if blocked.call.name == "connect" || sends {
            let connection = self.sockets.current();
            let (open, refused) = connection.map_or((false, false), |connection| {
                let is_open = connection.endpoint.is_established();
                (is_open, connection.is_reset())
            });
            self.cookies.is_sending &= !open && !refused;
            let bytes = if sends { size(&blocked.call) } else { None };
            if refused {
                Some(Err("ECONNREFUSED"))
            } else {
                open.then_some(Ok(bytes.unwrap_or(0) as i64))
            }
        } else {
            self.sockets.now = self.now;
            self.sockets
                .call(&blocked.call, blocked.line, &self.settings)?
        };
        let now = micros(self.now);
        match answer {
            Some(answer) if now >= blocked.earliest && now <= blocked.latest => {
                verify(&blocked.call, blocked.line, answer)
            }
            None if now <= blocked.latest => {
                self.blocked = Some(blocked);
                Ok(())
            }
            _ => {
                let complaint = format!(
                    "{} returns between {} and {} s, not at {}",
                    blocked.call.name,
                    seconds(blocked.earliest),
                    seconds(blocked.latest),
                    seconds(now)
                );
                Err(Refusal::Malformed(blocked.line, complaint))
            }
        }
    }

    /// Checks that a call that still blocks at the end of the script returns in time.
    fn finish(&mut self) -> Result<(), Refusal> {
        if let Some(blocked) = &self.blocked {
            let (to, line) = (blocked.latest + 1, blocked.line);
            self.advance(to, line)?;
            self.resume()?;
        }
        Ok(())
    }
}

/// Checks that a call had the result that the script expects.
fn verify(call: &Call, line: usize, answer: Answer) -> Result<(), Refusal> {
    let matches = match answer {
        Ok(value) => call.returns.is_none_or(|wanted| wanted == value),
        Err(name) => {
            let named = call.errno.as_deref().is_none_or(|wanted| wanted == name);
            call.returns == Some(-1) && named
        }
    };
    if matches {
        return Ok(());
    }
    let wanted = call
        .errno
        .clone()
        .or_else(|| call.returns.map(|value| value.to_string()));
    let wanted = wanted.unwrap_or_default();
    let found = answer.map_or_else(str::to_owned, |value| value.to_string());
    Err(Refusal::Malformed(
        line,
        format!("{}: expected {wanted}, got {found}", call.name),
    ))
}
