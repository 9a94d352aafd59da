//! TCP Fast Open: cookies of peers, SYNs with data, and the calls that send them.

use goodqueue_tcp::FastOpen;

use super::calls::{Answer, send_flags, size};
use super::driver::Driver;
use crate::packetdrill::script::syntax::{Call, OptionSpec, PacketSpec, Refusal};

/// Bit of `tcp_fastopen`: clients may use Fast Open.
pub const CLIENT: u64 = 0x1;
/// Servers may use it.
pub const SERVER: u64 = 0x2;
/// Clients send data in the SYN without a cookie and without the option.
const CLIENT_WITHOUT_COOKIE: u64 = 0x4;
/// Servers accept data without a cookie.
const SERVER_WITHOUT_COOKIE: u64 = 0x200;
/// All listeners use it, without a socket option.
pub const ALL_LISTENERS: u64 = 0x400;

/// Text of a cookie that the model issues, which has no content.
pub const ISSUED: &str = "ISSUED";
/// MSS of a peer that has not told any.
const UNKNOWN_MSS: u64 = 1460;

/// Cookie of the peer and its MSS, as the last SYN-ACK had them.
#[derive(Debug, Default)]
pub struct Cookies {
    cookie: Option<String>,
    mss: Option<u64>,
    /// True while a call that sends waits for the connection to open.
    pub is_sending: bool,
}

impl Driver<'_> {
    /// Returns the use of Fast Open by the listening socket.
    pub fn takes_early_data(&self) -> FastOpen {
        let listener = self.sockets.listener();
        let mask = self.settings.fast_open;
        let asks = listener.is_some_and(|socket| socket.takes_early_data);
        if mask & SERVER != 0 && (asks || mask & ALL_LISTENERS != 0) {
            FastOpen::Request
        } else {
            FastOpen::Off
        }
    }

    /// Returns true if a client may send data in its SYN.
    pub fn may_send_early(&self) -> bool {
        let mask = self.settings.fast_open;
        mask & CLIENT != 0 && (self.cookies.cookie.is_some() || mask & CLIENT_WITHOUT_COOKIE != 0)
    }

    /// Returns true if a call opens a connection by sending data.
    pub fn opens_by_sending(&self, call: &Call) -> bool {
        let descriptor = call.arguments.first().and_then(|text| text.parse().ok());
        let socket = descriptor.and_then(|fd: i64| self.sockets.by_descriptor.get(&fd));
        let asks = send_flags(call).is_some_and(|flags| flags.contains("MSG_FASTOPEN"));
        let sends = matches!(call.name.as_str(), "write" | "send" | "sendto" | "sendmsg");
        let writable = call.errno.as_deref() != Some("EFAULT");
        sends
            && writable
            && socket.is_some_and(|s| s.connection.is_none() && (s.is_waiting || asks))
    }

    /// Executes a call that opens a connection by sending data. Returns none if it blocks.
    pub fn send_early(&mut self, index: usize, call: &Call) -> Result<Option<Answer>, Refusal> {
        let line = self.script.events[index].line;
        let names_no_peer = call.arguments.iter().any(|text| text.contains("AF_UNSPEC"));
        if self.settings.fast_open & CLIENT == 0 || names_no_peer {
            return Ok(Some(Err("EOPNOTSUPP")));
        }
        let descriptor = call.arguments[0].parse().unwrap_or_default();
        let Some(socket) = self.sockets.by_descriptor.get(&descriptor).cloned() else {
            return Ok(Some(Err("EBADF")));
        };
        let Some(bytes) = size(call) else {
            let complaint = "how many bytes are sent?".to_owned();
            return Err(Refusal::Malformed(line, complaint));
        };
        let flags = send_flags(call);
        let returns = socket.nonblocking || flags.is_some_and(|f| f.contains("MSG_DONTWAIT"));
        let is_early = self.may_send_early();
        let largest = socket.settings.largest_segment;
        let mss = self.cookies.mss.unwrap_or(UNKNOWN_MSS).min(largest);
        let cookie = self.cookies.cookie.clone();
        let hides_option = self.settings.fast_open & CLIENT_WITHOUT_COOKIE != 0;
        let now = self.now;
        let connection = self.open_actively(index, descriptor, socket, FastOpen::Request)?;
        if is_early {
            connection.endpoint.hold_cookie(mss as u32);
            connection.cookie = cookie;
            if hides_option {
                connection.cookie = None;
            }
        }
        let early = bytes.min(mss.saturating_sub(40));
        if is_early || !returns {
            connection
                .endpoint
                .write(if returns { early } else { bytes });
        }
        connection.endpoint.connect(now);
        if !returns {
            self.cookies.is_sending = true;
            return Ok(None);
        }
        let sent = Ok(early as i64);
        Ok(Some(if is_early { sent } else { Err("EINPROGRESS") }))
    }

    /// Returns an inbound packet as the machine reads its Fast Open option. The cookie of a SYN-ACK
    /// is remembered if it was requested. Every cookie of a SYN is valid.
    pub fn with_fast_open(&mut self, spec: &PacketSpec) -> PacketSpec {
        let mut spec = spec.clone();
        if !spec.flags.contains('S') {
            return spec;
        }
        let mask = self.settings.fast_open;
        let options = spec.options.get_or_insert_default();
        let cookie = options.iter().find_map(|option| match option {
            OptionSpec::FastOpen(cookie) => Some(cookie.clone()),
            _ => None,
        });
        if spec.flags.contains('.') {
            let mss = options.iter().find_map(|option| match option {
                OptionSpec::Mss(mss) => Some(*mss),
                _ => None,
            });
            self.cookies.mss = mss.or(self.cookies.mss);
            let asked = self.sockets.current().is_some_and(|c| c.cookie.is_some());
            // A cookie has 4 to 16 bytes, and an even number of them (RFC 7413 section 4.1.1).
            let fits = |cookie: &String| {
                (8..=32).contains(&cookie.len()) && cookie.len().is_multiple_of(4)
            };
            if let Some(cookie) = cookie.filter(|cookie| asked && fits(cookie)) {
                self.cookies.cookie = Some(cookie);
            }
            return spec;
        }
        if cookie.is_none() && mask & SERVER_WITHOUT_COOKIE != 0 && spec.payload > 0 {
            options.push(OptionSpec::FastOpen(ISSUED.to_owned()));
        }
        spec
    }
}
