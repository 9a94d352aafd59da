//! TCP Fast Open: cookies of peers, SYNs with data, and the calls that send them.

use goodqueue_tcp::FastOpen;

use super::calls::{Answer, has_no_buffer, send_flags, size};
use super::driver::Driver;
use crate::packetdrill::script::syntax::{
    Call, Cookie, OptionSpec, PacketSpec, Refusal, Script, Step,
};

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

/// Options by which a client has requested a cookie in vain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Tried {
    #[default]
    Nothing,
    /// The standardized one, so that the next request has the experimental one.
    Standard,
    /// Both. Requests have the standardized one from then on (`try_exp` of Linux).
    Both,
}

/// Cookies of the script.
#[derive(Debug, Default)]
pub struct Cookies {
    /// Cookie of the peer and its MSS, as the last SYN-ACK had them.
    cookie: Option<Cookie>,
    mss: Option<u64>,
    tried: Tried,
    /// Cookies that the endpoint issues in the script. If it issues any, no other one is valid.
    issued: Vec<String>,
    /// True while a call that sends waits for the connection to open.
    pub is_sending: bool,
}

impl Cookies {
    /// Returns the state at the beginning of a script.
    pub fn from_script(script: &Script) -> Self {
        let issued = script.events.iter().filter_map(|event| match &event.step {
            Step::Outbound(spec) => option_of(spec).filter(|_| spec.ack.is_some()),
            _ => None,
        });
        Self {
            issued: issued.map(|cookie| cookie.text.clone()).collect(),
            ..Self::default()
        }
    }

    /// Forgets what is known of the peer (`ip tcp_metrics flush`).
    pub fn forget(&mut self) {
        (self.cookie, self.mss, self.tried) = (None, None, Tried::Nothing);
    }

    /// Returns the option with which a client requests a cookie.
    pub fn request(&self) -> Cookie {
        Cookie {
            text: String::new(),
            is_experimental: self.tried == Tried::Standard,
        }
    }

    /// Takes the cookie of a SYN-ACK. `sent` is the option of the SYN, and `lone` is true if that
    /// SYN had no data and was not sent again.
    fn learn(&mut self, answer: Option<&Cookie>, sent: &Cookie, lone: bool) {
        // A cookie has 4 to 16 bytes, and an even number of them (RFC 7413 section 4.1.1).
        let fits = |text: &str| (8..=32).contains(&text.len()) && text.len().is_multiple_of(4);
        match answer {
            Some(cookie) if fits(&cookie.text) => self.cookie = Some(cookie.clone()),
            None if lone && self.cookie.is_none() => {
                let tried = if sent.is_experimental {
                    Tried::Both
                } else {
                    Tried::Standard
                };
                self.tried = self.tried.max(tried);
            }
            _ => {}
        }
    }
}

/// Returns the Fast Open option of a packet.
pub fn option_of(spec: &PacketSpec) -> Option<&Cookie> {
    spec.options
        .iter()
        .flatten()
        .find_map(|option| match option {
            OptionSpec::FastOpen(cookie) => Some(cookie),
            _ => None,
        })
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
        let writable = call.errno.as_deref() != Some("EFAULT") && !has_no_buffer(call);
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
        let request = self.cookies.request();
        let cookie = self.cookies.cookie.clone();
        let hides_option = self.settings.fast_open & CLIENT_WITHOUT_COOKIE != 0;
        let now = self.now;
        let connection = self.open_actively(index, descriptor, socket, FastOpen::Request)?;
        connection.cookie = Some(request);
        let early = bytes.min(mss.saturating_sub(40));
        if is_early {
            connection.endpoint.hold_cookie(mss as u32);
            connection.cookie = cookie.filter(|_| !hides_option);
            connection.early = early;
        }
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
        let is_sent = is_early && early > 0;
        Ok(Some(if is_sent {
            Ok(early as i64)
        } else {
            Err("EINPROGRESS")
        }))
    }

    /// Returns an inbound packet as the machine reads its Fast Open option. The cookie of a SYN-ACK
    /// is remembered if it was requested. A SYN whose cookie is wrong requests one.
    pub fn with_fast_open(&mut self, spec: &PacketSpec) -> PacketSpec {
        let mut spec = spec.clone();
        if !spec.flags.contains('S') {
            return spec;
        }
        let mask = self.settings.fast_open;
        let cookie = option_of(&spec).cloned();
        let options = spec.options.get_or_insert_default();
        if spec.flags.contains('.') {
            let mss = options.iter().find_map(|option| match option {
                OptionSpec::Mss(mss) => Some(*mss),
                _ => None,
            });
            let Some(connection) = self.sockets.current() else {
                return spec;
            };
            if !connection.acknowledges_syn(spec.ack) {
                return spec;
            }
            self.cookies.mss = mss.or(self.cookies.mss);
            if let Some(sent) = &connection.cookie
                && connection.endpoint.config().fast_open != FastOpen::Off
            {
                let lone = connection.early == 0 && connection.endpoint.stats().timeouts == 0;
                self.cookies.learn(cookie.as_ref(), sent, lone);
            }
            return spec;
        }
        if mask & SERVER_WITHOUT_COOKIE != 0 {
            if cookie.is_none() && spec.payload > 0 {
                options.push(OptionSpec::FastOpen(Cookie {
                    text: ISSUED.to_owned(),
                    is_experimental: false,
                }));
            }
            return spec;
        }
        let issued = &self.cookies.issued;
        for option in options {
            if let OptionSpec::FastOpen(cookie) = option
                && !issued.is_empty()
                && !issued.contains(&cookie.text)
            {
                cookie.text.clear();
            }
        }
        spec
    }
}
