//! A server of probes on the loopback device, and what clients of it do.

use goodqueue_probe::Cost;
use goodqueue_probe::net::client::{User, Wanted};
use goodqueue_probe::net::server::{Limits, Server};
use goodqueue_probe::net::{Message, Messages, NetError, SECRET, SessionKeys, Token, VERSION};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::scope;
use std::time::{Duration, Instant};

/// Limits of a server of one session.
pub const LIMITS: Limits = Limits {
    most_bps: 20_000_000,
    longest: Duration::from_secs(60),
    sessions: 1,
};
/// Time in which an answer comes.
pub const SOON: Duration = Duration::from_secs(5);

/// Returns the token of both ends.
pub fn token() -> Token {
    Token::new(b"a token of tests").unwrap()
}

/// Returns a free port of the loopback device.
pub fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

/// Runs a server during `test`, which gets its address and the lines of its log.
pub fn with_server(limits: Limits, test: impl FnOnce(SocketAddr, &Mutex<Vec<String>>)) {
    with_server_at(loopback(), limits, test);
}

/// Runs a test beside a server at an address, as [`with_server`] does on the loopback address.
pub fn with_server_at(
    address: SocketAddr,
    limits: Limits,
    test: impl FnOnce(SocketAddr, &Mutex<Vec<String>>),
) {
    let server = Server::bind(address, token(), limits).unwrap();
    let address = server.address().unwrap();
    let lines = Mutex::new(Vec::new());
    let going = AtomicBool::new(true);
    let go_on = || going.load(Ordering::Relaxed);
    let log = |line| lines.lock().unwrap().push(line);
    scope(|scope| {
        let thread = scope.spawn(|| server.serve(&go_on, &log));
        // A failed test must end the server too.
        let ended =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test(address, &lines)));
        going.store(false, Ordering::Relaxed);
        let begun = Instant::now();
        thread.join().unwrap().unwrap();
        assert!(
            begun.elapsed() < Duration::from_secs(1),
            "the server ends late"
        );
        if let Err(panic) = ended {
            std::panic::resume_unwind(panic);
        }
    });
}

/// Returns a new connection, and the server's challenge.
pub fn connect(server: SocketAddr) -> (Messages, [u8; SECRET]) {
    let mut control = Messages::new(TcpStream::connect(server).unwrap()).unwrap();
    let Message::Hello { challenge, .. } = control.receive(SOON, &|| true).unwrap() else {
        panic!("no greeting");
    };
    (control, challenge)
}

/// Returns the connection, the keys and the UDP port of a new session.
pub fn enter(server: SocketAddr) -> (Messages, SessionKeys, u16) {
    let (mut control, challenge) = connect(server);
    let nonce = [7; SECRET];
    let proof = token().client_proof(&challenge, &nonce);
    send_proof(&mut control, nonce, proof);
    let Message::Welcome { port, .. } = control.receive(SOON, &|| true).unwrap() else {
        panic!("no welcome");
    };
    (control, token().session(&challenge, &nonce), port)
}

/// Sends the proof that a client knows the token.
pub fn send_proof(control: &mut Messages, nonce: [u8; SECRET], proof: [u8; SECRET]) {
    let version = VERSION;
    let message = Message::Proof {
        version,
        nonce,
        proof,
    };
    control.send(&message, &|| true).unwrap();
}

/// Returns the reason for which a server refuses.
pub fn refusal(control: &mut Messages) -> String {
    match control.receive(SOON, &|| true) {
        Err(NetError::Refused(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

/// User who agrees to nothing, and perhaps ends the probe at once.
pub struct Cautious {
    pub until: Instant,
}

impl User for Cautious {
    fn go_on(&self) -> bool {
        Instant::now() < self.until
    }

    fn begins(&self, _what: &str) {}

    fn agrees(&self, _cost: &Cost) -> bool {
        false
    }
}

/// Probe that needs no consent.
pub const FREE: Wanted = Wanted {
    most_bps: 20_000_000,
    tcp_ms: 1000,
};

/// Returns a user who waits for the end of the probe.
pub fn patient() -> Cautious {
    Cautious {
        until: Instant::now() + Duration::from_secs(60),
    }
}

/// Sends a datagram from a port, and returns the bytes of the answer if one comes soon.
pub fn ask(port: &UdpSocket, server: SocketAddr, bytes: &[u8]) -> Option<Vec<u8>> {
    port.set_read_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    port.send_to(bytes, server).unwrap();
    let mut answer = [0; 2048];
    let length = port.recv(&mut answer).ok()?;
    Some(answer[..length].to_vec())
}
