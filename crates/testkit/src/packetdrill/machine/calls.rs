//! System calls on the sockets of a script.

use std::collections::BTreeMap;

use goodqueue_tcp::ConnectionState;
use goodqueue_types::Time;

use super::connection::Connection;
use super::settings::Settings;
use crate::packetdrill::script::syntax::{Call, Refusal};

/// Result of a system call: its return value, or the name of its error.
pub type Answer = Result<i64, &'static str>;

/// A socket of the script.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent states, each named"
)]
pub struct Socket {
    pub settings: Settings,
    pub nonblocking: bool,
    pub listening: bool,
    /// True after a shutdown for reading; the next field is the same for writing.
    pub reads_nothing: bool,
    pub writes_nothing: bool,
    /// True if a listener has `TCP_FASTOPEN`.
    pub takes_early_data: bool,
    /// True if `connect` is to wait for the first write (`TCP_FASTOPEN_CONNECT`), and once it does.
    pub connects_late: bool,
    pub is_waiting: bool,
    /// Index of the socket's connection.
    pub connection: Option<usize>,
}

/// Descriptors and connections.
#[derive(Debug, Default)]
pub struct Sockets {
    pub by_descriptor: BTreeMap<i64, Socket>,
    pub connections: Vec<Connection>,
    /// Number of connections that have been accepted.
    pub accepted: usize,
    /// True if no SYN has arrived since `listen` was called.
    pub awaits_syn: bool,
    pub now: Time,
}

/// System calls that the model does not implement.
const NOT_MODELLED: [&str; 15] = [
    "epoll_create",
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
    "poll",
    "splice",
    "pipe",
    "sendfile",
    "open",
    "recvmsg",
    "recvfrom",
    "readv",
    "writev",
    "so_open",
    "mmap",
];

/// Socket options without effect on the modelled behaviour.
const WITHOUT_EFFECT: [&str; 6] = [
    "SO_REUSEADDR",
    "SO_SNDBUF",
    "IP_TOS",
    "IP_MTU_DISCOVER",
    "SO_LINGER",
    "SO_PRIORITY",
];

/// Flags of `send` that the model implements, or that have no effect on the modelled behaviour.
const SEND_FLAGS: [&str; 7] = [
    "0",
    "0x0",
    "MSG_EOR",
    "MSG_MORE",
    "MSG_NOSIGNAL",
    "MSG_DONTWAIT",
    // Without effect on an open connection. Otherwise the driver opens the connection.
    "MSG_FASTOPEN",
];

impl Sockets {
    /// Returns the listening socket, or none.
    pub fn listener(&self) -> Option<&Socket> {
        self.by_descriptor.values().find(|socket| socket.listening)
    }

    /// Returns the connection that packets belong to, which is the newest.
    pub fn current(&mut self) -> Option<&mut Connection> {
        self.connections.last_mut()
    }

    /// Executes a call that does not open a connection. Returns none if the call would block.
    pub fn call(
        &mut self,
        call: &Call,
        line: usize,
        machine: &Settings,
    ) -> Result<Option<Answer>, Refusal> {
        let not_applicable = |what: &str| {
            Err(Refusal::NotApplicable(
                line,
                format!("{what} is not modelled"),
            ))
        };
        let name = call.name.as_str();
        if NOT_MODELLED.contains(&name) {
            return not_applicable(&format!("the call {name}"));
        }
        if call.errno.as_deref() == Some("EFAULT") {
            return not_applicable("a bad pointer");
        }
        if has_no_buffer(call) {
            return Ok(Some(Err("EFAULT")));
        }
        if name == "socket" {
            if call
                .arguments
                .iter()
                .any(|argument| argument.contains("MPTCP"))
            {
                return not_applicable("multipath TCP");
            }
            let nonblocking = call.arguments.iter().any(|a| a.contains("SOCK_NONBLOCK"));
            let socket = Socket {
                settings: machine.clone(),
                nonblocking,
                listening: false,
                reads_nothing: false,
                writes_nothing: false,
                takes_early_data: false,
                connects_late: false,
                is_waiting: false,
                connection: None,
            };
            // The script chooses the descriptors.
            let descriptor = call.returns.unwrap_or(3);
            self.by_descriptor.insert(descriptor, socket);
            return Ok(Some(Ok(descriptor)));
        }
        let descriptor = call.arguments.first().and_then(|text| text.parse().ok());
        let Some(descriptor) = descriptor.filter(|fd| self.by_descriptor.contains_key(fd)) else {
            return Ok(Some(Err("EBADF")));
        };
        match name {
            "bind" => Ok(Some(Ok(0))),
            "listen" => {
                self.socket(descriptor).listening = true;
                self.awaits_syn = true;
                Ok(Some(Ok(0)))
            }
            "accept" => Ok(self.accept(descriptor, call.returns)),
            "setsockopt" => self
                .set_option(descriptor, call, line)
                .map(|()| Some(Ok(0))),
            // Other options are not modelled, so the value that the script expects is returned.
            "getsockopt" => Ok(Some(Ok(call.returns.unwrap_or(0)))),
            "fcntl" => Ok(Some(Ok(self.fcntl(descriptor, call)))),
            "write" | "send" | "sendto" | "sendmsg" => self.write(descriptor, call, line),
            "read" => Ok(self.read(descriptor, call)),
            "recv" => self.receive(descriptor, call, line),
            "ioctl" => self.unread(descriptor, call, line),
            "shutdown" | "close" => {
                self.finish(descriptor, call);
                Ok(Some(Ok(0)))
            }
            _ => Err(Refusal::Malformed(
                line,
                format!("the system call {name} is not known"),
            )),
        }
    }

    fn socket(&mut self, descriptor: i64) -> &mut Socket {
        self.by_descriptor
            .get_mut(&descriptor)
            .expect("looked up before")
    }

    fn connection(&mut self, descriptor: i64) -> Option<&mut Connection> {
        let index = self.by_descriptor.get(&descriptor)?.connection?;
        self.connections.get_mut(index)
    }

    fn accept(&mut self, listener: i64, descriptor: Option<i64>) -> Option<Answer> {
        let socket = self.socket(listener).clone();
        let ready = self
            .connections
            .get(self.accepted)
            .filter(|c| c.endpoint.is_established() || (c.is_reset() && c.was_open));
        if ready.is_none() {
            return socket.nonblocking.then_some(Err("EAGAIN"));
        }
        let connection = Some(self.accepted);
        self.accepted += 1;
        let descriptor = descriptor.unwrap_or(4);
        let socket = Socket {
            nonblocking: false,
            listening: false,
            connection,
            ..socket
        };
        self.by_descriptor.insert(descriptor, socket);
        Some(Ok(descriptor))
    }

    fn set_option(&mut self, descriptor: i64, call: &Call, line: usize) -> Result<(), Refusal> {
        let name = call.arguments.get(2).map_or("", String::as_str);
        let value = call.arguments.get(3).map_or("", String::as_str);
        let number = value.trim_matches(['[', ']']).parse::<u64>().ok();
        let early = self.socket(descriptor).connection.is_none();
        let socket = self.socket(descriptor);
        match (name, number) {
            ("TCP_FASTOPEN", Some(most)) => {
                socket.takes_early_data = most > 0;
                return Ok(());
            }
            ("TCP_FASTOPEN_CONNECT", Some(on)) => {
                socket.connects_late = on != 0;
                return Ok(());
            }
            _ => {}
        }
        let settings = &mut socket.settings;
        match (name, number) {
            ("TCP_NODELAY", Some(on)) if early => settings.nagle = on == 0,
            ("TCP_CONGESTION", None) if early => {
                value
                    .trim_matches('"')
                    .clone_into(&mut settings.congestion_control);
            }
            ("TCP_MAXSEG", Some(bytes)) if early => settings.largest_segment = bytes,
            ("TCP_NODELAY", Some(on)) => {
                if let Some(connection) = self.connection(descriptor) {
                    connection.set_nodelay(on != 0);
                }
            }
            ("TCP_CORK", Some(on)) if !early => {
                if let Some(connection) = self.connection(descriptor) {
                    connection.set_cork(on != 0);
                }
            }
            (name, _) if WITHOUT_EFFECT.contains(&name) => {}
            _ => {
                let reason = format!("the socket option {name} at this point is not modelled");
                return Err(Refusal::NotApplicable(line, reason));
            }
        }
        Ok(())
    }

    fn fcntl(&mut self, descriptor: i64, call: &Call) -> i64 {
        if call
            .arguments
            .get(1)
            .is_some_and(|command| command == "F_SETFL")
        {
            let nonblocking = call
                .arguments
                .iter()
                .any(|flags| flags.contains("O_NONBLOCK"));
            self.socket(descriptor).nonblocking = nonblocking;
            return 0;
        }
        call.returns.unwrap_or(0)
    }

    fn write(
        &mut self,
        descriptor: i64,
        call: &Call,
        line: usize,
    ) -> Result<Option<Answer>, Refusal> {
        let flags = send_flags(call);
        for flag in flags.iter().flat_map(|flags| flags.split('|')) {
            if !SEND_FLAGS.contains(&flag.trim()) {
                let reason = format!("sending with {flag} is not modelled");
                return Err(Refusal::NotApplicable(line, reason));
            }
        }
        let more = flags.is_some_and(|flags| flags.contains("MSG_MORE"));
        let ends_record = flags.is_some_and(|flags| flags.contains("MSG_EOR"));
        let now = self.now;
        let Some(bytes) = size(call) else {
            return Err(Refusal::Malformed(
                line,
                "how many bytes are written?".to_owned(),
            ));
        };
        let closed = self.socket(descriptor).writes_nothing;
        let Some(connection) = self.connection(descriptor).filter(|_| !closed) else {
            return Ok(Some(Err("EPIPE")));
        };
        if connection.is_reset() {
            return Ok(Some(Err(connection.take_reset().unwrap_or("EPIPE"))));
        }
        if ends_record {
            connection.write_record(bytes);
        } else {
            connection.write_bytes(now, bytes, more);
        }
        Ok(Some(Ok(bytes as i64)))
    }

    fn read(&mut self, descriptor: i64, call: &Call) -> Option<Answer> {
        let nonblocking = self.socket(descriptor).nonblocking;
        let closed = self.socket(descriptor).reads_nothing;
        let wanted = size(call).unwrap_or(u64::MAX);
        let now = self.now;
        let connection = self.connection(descriptor)?;
        let over = closed || connection.endpoint.is_peer_finished();
        if connection.endpoint.unread() == 0 && !over && connection.is_reset() {
            return Some(connection.take_reset().map_or(Ok(0), Err));
        }
        if connection.endpoint.unread() == 0 && !over {
            return nonblocking.then_some(Err("EAGAIN"));
        }
        Some(Ok(connection.endpoint.read(now, wanted) as i64))
    }

    /// Executes `recv` with flags that make it equivalent to `read`.
    fn receive(
        &mut self,
        descriptor: i64,
        call: &Call,
        line: usize,
    ) -> Result<Option<Answer>, Refusal> {
        match call.arguments.get(3).map_or("0", String::as_str) {
            "0" => Ok(self.read(descriptor, call)),
            "MSG_DONTWAIT" => Ok(self.read(descriptor, call).or(Some(Err("EAGAIN")))),
            flags => {
                let reason = format!("receiving with {flags} is not modelled");
                Err(Refusal::NotApplicable(line, reason))
            }
        }
    }

    /// Executes `SIOCINQ`: the number of unread bytes must be the one in the script.
    fn unread(
        &mut self,
        descriptor: i64,
        call: &Call,
        line: usize,
    ) -> Result<Option<Answer>, Refusal> {
        let wanted = call
            .arguments
            .get(2)
            .map(|text| text.trim_matches(['[', ']']).parse::<u64>());
        let asks = call.arguments.get(1).is_some_and(|name| name == "SIOCINQ");
        let (Some(Ok(wanted)), true) = (wanted, asks) else {
            let reason = format!("ioctl {:?} is not modelled", call.arguments);
            return Err(Refusal::NotApplicable(line, reason));
        };
        let waiting = self
            .connection(descriptor)
            .map_or(0, |c| c.endpoint.unread());
        if waiting != wanted {
            let complaint = format!("{wanted} bytes expected to wait, there are {waiting}");
            return Err(Refusal::Malformed(line, complaint));
        }
        Ok(Some(Ok(0)))
    }

    /// Executes `close` and `shutdown`.
    fn finish(&mut self, descriptor: i64, call: &Call) {
        let how = call.arguments.get(1).map_or("SHUT_RDWR", String::as_str);
        let socket = self.socket(descriptor);
        socket.reads_nothing |= how != "SHUT_WR";
        socket.writes_nothing |= how != "SHUT_RD";
        if let Some(connection) = self.connection(descriptor).filter(|_| how != "SHUT_RD") {
            let endpoint = &mut connection.endpoint;
            let gives_up =
                endpoint.info().state == ConnectionState::SynSent || endpoint.unread() > 0;
            // RFC 9293 section 3.10.4, and RFC 2525 section 2.17 for data that no application will
            // read.
            if call.name == "close" && gives_up {
                endpoint.abort();
            } else {
                endpoint.close();
            }
        }
        if call.name == "close" {
            let closed = self.by_descriptor.remove(&descriptor);
            if closed.is_some_and(|socket| socket.listening) {
                // Connections that no `accept` has taken end with the listener.
                for connection in &mut self.connections[self.accepted..] {
                    connection.endpoint.abort();
                }
            }
        }
    }

    /// Collects every packet that may leave at `now`.
    pub fn drain(&mut self, now: Time, egress_open: bool) {
        for connection in &mut self.connections {
            connection.drain(now, egress_open);
        }
    }
}

/// Returns the flags of a call that sends.
pub fn send_flags(call: &Call) -> Option<&String> {
    match call.name.as_str() {
        "send" | "sendmsg" => call.arguments.last(),
        "sendto" => call.arguments.get(3),
        _ => None,
    }
}

/// Returns true if a call sends bytes from nowhere.
pub fn has_no_buffer(call: &Call) -> bool {
    let sends = matches!(call.name.as_str(), "write" | "send" | "sendto");
    sends && call.arguments.get(1).is_some_and(|buffer| buffer == "NULL") && size(call) != Some(0)
}

/// Returns the byte count of `read`, `write`, `send` and `sendmsg`.
pub fn size(call: &Call) -> Option<u64> {
    if call.name == "sendmsg" {
        // Each buffer is written as {..., 40}.
        let message = call.arguments.get(1)?;
        let sizes = message
            .split("{...,")
            .skip(1)
            .map(|part| part.split('}').next());
        return sizes.map(|size| size?.trim().parse::<u64>().ok()).sum();
    }
    call.arguments.get(2)?.parse().ok()
}
