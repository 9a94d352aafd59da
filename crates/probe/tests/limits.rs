//! A server gives no client more than its limits allow, and nothing to an address that is not known.
#![cfg(target_os = "linux")]

mod served;

use goodqueue_probe::net::client::probe;
use goodqueue_probe::net::server::Limits;
use goodqueue_probe::net::{
    Body, Datagram, Message, Messages, NetError, SECRET, SessionKeys, VERSION,
};
use goodqueue_probe::{Feedback, Path, Pattern, Phase, TINY};
use served::{
    FREE, LIMITS, SOON, ask, connect, enter, loopback, patient, refusal, send_proof, token,
    with_server,
};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::thread::scope;
use std::time::Duration;

/// Limits under which several sessions run at once.
const SEVERAL: Limits = Limits {
    sessions: 4,
    ..LIMITS
};

/// Returns a datagram of the client for a session, of this size without IP and UDP.
fn datagram(keys: &SessionKeys, lane: u8, phase: u32, body: Body, size: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    Datagram { phase, lane, body }.write(&keys.datagrams[0], size, &mut bytes);
    bytes
}

/// Size without IP and UDP of the smallest datagram that is answered.
const SMALL: usize = TINY as usize - 28;

/// Asks for a nonce and returns it.
fn nonce(port: &UdpSocket, server: SocketAddr, keys: &SessionKeys, lane: u8) -> [u8; 16] {
    let answer = ask(port, server, &datagram(keys, lane, 0, Body::Open, SMALL)).expect("a nonce");
    match Datagram::read(&keys.datagrams[1], &answer) {
        Some(Datagram {
            body: Body::Nonce(nonce),
            ..
        }) => nonce,
        other => panic!("{other:?}"),
    }
}

/// Returns the three ports of a client, whose addresses the server knows then.
fn verify(control: &mut Messages, keys: &SessionKeys, server: SocketAddr) -> Vec<UdpSocket> {
    let ports = (0..3).map(|lane| {
        let port = UdpSocket::bind("127.0.0.1:0").unwrap();
        let echo = Body::Echo(nonce(&port, server, keys, lane));
        port.send_to(&datagram(keys, lane, 0, echo, SMALL), server)
            .unwrap();
        port
    });
    let ports = ports.collect();
    assert_eq!(control.receive(SOON, &|| true).unwrap(), Message::Verified);
    ports
}

#[test]
fn a_nonce_opens_only_the_address_that_got_it() {
    with_server(LIMITS, |server, _| {
        let (mut control, keys, port) = enter(server);
        let server = SocketAddr::new(server.ip(), port);
        let ports: Vec<_> = (0..4)
            .map(|_| UdpSocket::bind("127.0.0.1:0").unwrap())
            .collect();
        let echoes = [0, 1, 2].map(|lane| {
            let echo = Body::Echo(nonce(&ports[usize::from(lane)], server, &keys, lane));
            datagram(&keys, lane, 0, echo, SMALL)
        });
        // Another port of the same host sends the first nonce back.
        ports[3].send_to(&echoes[0], server).unwrap();
        for lane in 1..3 {
            ports[lane].send_to(&echoes[lane], server).unwrap();
        }
        let early = control.receive(Duration::from_millis(500), &|| true);
        assert!(early.is_err(), "{early:?}");
        ports[0].send_to(&echoes[0], server).unwrap();
        let verified = control.receive(SOON, &|| true).unwrap();
        assert_eq!(verified, Message::Verified);
    });
}

#[test]
fn packets_of_a_phase_get_no_answer_before_the_address_is_known() {
    with_server(LIMITS, |server, _| {
        let (_control, keys, port) = enter(server);
        let server = SocketAddr::new(server.ip(), port);
        let client = UdpSocket::bind("127.0.0.1:0").unwrap();
        let (sequence, sent) = (1, 1);
        let bodies = [
            Body::Ping { sequence, sent },
            Body::Data { sequence, sent },
            Body::Nonce([0; 16]),
            Body::Feedback(Feedback::default()),
        ];
        for phase in 0..2 {
            for body in bodies {
                let bytes = datagram(&keys, 0, phase, body, 1372);
                assert_eq!(ask(&client, server, &bytes), None, "{body:?}");
            }
        }
    });
}

#[test]
fn a_session_gets_a_limited_number_of_nonces() {
    with_server(LIMITS, |server, _| {
        let (_control, keys, port) = enter(server);
        let server = SocketAddr::new(server.ip(), port);
        let client = UdpSocket::bind("127.0.0.1:0").unwrap();
        let request = datagram(&keys, 0, 0, Body::Open, SMALL);
        let answered = |_: &u32| ask(&client, server, &request).is_some();
        assert_eq!((0..103).filter(answered).count(), 100);
    });
}

#[test]
fn an_answer_to_a_ping_is_no_larger_than_the_ping() {
    with_server(LIMITS, |server, _| {
        let (mut control, keys, port) = enter(server);
        let server = SocketAddr::new(server.ip(), port);
        let ports = verify(&mut control, &keys, server);
        let pattern = Pattern::Pings {
            count: 10,
            interval_us: 1000,
        };
        let path = Path::Up;
        let phase = Phase { path, pattern };
        let request = Message::Phase { number: 1, phase };
        control.send(&request, &|| true).unwrap();
        assert_eq!(control.receive(SOON, &|| true).unwrap(), Message::Ready);
        let ping = Body::Ping {
            sequence: 1,
            sent: 1,
        };
        assert_eq!(
            ask(&ports[1], server, &datagram(&keys, 1, 1, ping, 0)),
            None
        );
        for size in [SMALL, SMALL + 1, 1372] {
            let answer = ask(&ports[1], server, &datagram(&keys, 1, 1, ping, size));
            assert!(answer.expect("a pong").len() <= size);
        }
        // An address that is not the one of the lane gets nothing.
        assert_eq!(
            ask(&ports[0], server, &datagram(&keys, 1, 1, ping, SMALL)),
            None
        );
    });
}

#[test]
fn phases_beyond_the_limits_of_the_server_are_refused() {
    let trains = |interval_us| Message::Phase {
        number: 1,
        phase: Phase {
            path: Path::Down,
            pattern: Pattern::Trains {
                count: 2,
                length: 100,
                interval_us,
            },
        },
    };
    let load = |span_ms| Message::Load {
        number: 1,
        up: false,
        span_ms,
    };
    let pings = Message::Phase {
        number: 1,
        phase: Phase {
            path: Path::Up,
            pattern: Pattern::Pings {
                count: u32::MAX,
                interval_us: 1,
            },
        },
    };
    // 100 packets of 1400 bytes in 50 ms are 22.4 Mb/s.
    let requests = [
        (trains(50_000), "rate of the trains"),
        (trains(0), "rate of the trains"),
        (trains(u32::MAX), "time of the trains"),
        (pings, "number of pings"),
        (load(20_001), "a load must last"),
        (load(u32::MAX), "a load must last"),
    ];
    with_server(SEVERAL, |server, _| {
        for (request, reason) in requests {
            let (mut control, keys, port) = enter_soon(server);
            let ports = verify(&mut control, &keys, SocketAddr::new(server.ip(), port));
            control.send(&request, &|| true).unwrap();
            let refused = refusal(&mut control);
            assert!(refused.contains(reason), "{refused}");
            ports[0]
                .set_read_timeout(Some(Duration::from_millis(50)))
                .unwrap();
            assert!(ports[0].recv(&mut [0; 2048]).is_err());
        }
    });
}

/// Returns a new session as soon as there is a free place.
fn enter_soon(server: SocketAddr) -> (Messages, SessionKeys, u16) {
    // The server frees the place of a session after it has sent the refusal.
    std::thread::sleep(Duration::from_millis(100));
    enter(server)
}

#[test]
fn a_connection_joins_a_session_only_with_the_proof_of_its_own_challenge() {
    with_server(LIMITS, |server, _| {
        let (mut first, challenge) = connect(server);
        let nonce = [7; SECRET];
        send_proof(&mut first, nonce, token().client_proof(&challenge, &nonce));
        let Ok(Message::Welcome { session, .. }) = first.receive(SOON, &|| true) else {
            panic!("no welcome");
        };
        let keys = token().session(&challenge, &nonce);
        let attach = |session: u64, sign: &dyn Fn(&[u8; SECRET]) -> [u8; SECRET]| {
            let (mut second, challenge) = connect(server);
            let proof = sign(&challenge);
            let message = Message::Attach { session, proof };
            second.send(&message, &|| true).unwrap();
            second.receive(Duration::from_millis(300), &|| true)
        };
        let place = session.to_be_bytes();
        let right = |challenge: &[u8; SECRET]| keys.connections.sign(&[challenge, &place]);
        let old = |_: &[u8; SECRET]| keys.connections.sign(&[&challenge, &place]);
        let other = |challenge: &[u8; SECRET]| keys.datagrams[0].sign(&[challenge, &place]);
        let is_refused = |answer: Result<Message, NetError>| matches!(answer, Err(NetError::Refused(reason)) if reason.contains("no such session"));
        assert!(
            is_refused(attach(session, &old)),
            "the proof of another connection"
        );
        assert!(is_refused(attach(session, &other)), "another key");
        assert!(
            is_refused(attach(session.wrapping_add(1), &right)),
            "another session"
        );
        assert!(!is_refused(attach(session, &right)));
    });
}

#[test]
fn a_client_leaves_a_server_that_does_not_know_the_token() {
    let listener = TcpListener::bind(loopback()).unwrap();
    let server = listener.local_addr().unwrap();
    scope(|scope| {
        scope.spawn(|| {
            let (stream, _) = listener.accept().unwrap();
            let mut control = Messages::new(stream).unwrap();
            let challenge = [1; SECRET];
            let version = VERSION;
            let hello = Message::Hello { version, challenge };
            control.send(&hello, &|| true).unwrap();
            let Ok(Message::Proof { proof, .. }) = control.receive(SOON, &|| true) else {
                panic!("no proof");
            };
            // It has only the client's own proof to send back.
            let welcome = Message::Welcome {
                proof,
                session: 1,
                port: 9,
                most_bps: 1_000_000,
                longest_s: 60,
            };
            control.send(&welcome, &|| true).unwrap();
        });
        let error = probe(server, &token(), FREE, &patient()).unwrap_err();
        assert_eq!(error.to_string(), "the server does not know the token");
    });
}
