//! A server and clients on the loopback device: who gets a session, and what a session is given.
#![cfg(target_os = "linux")]

mod served;

use goodqueue_probe::net::client::probe;
use goodqueue_probe::net::server::Limits;
use goodqueue_probe::net::{Body, Datagram, Message, NetError, SECRET, SessionKeys, Token};
use goodqueue_probe::{Path, Pattern, Phase};
use served::{
    Cautious, FREE, LIMITS, SOON, ask, connect, enter, loopback, patient, refusal, send_proof,
    token, with_server, with_server_at,
};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

#[test]
fn a_client_with_the_token_probes_the_path() {
    check_probe(loopback());
}

#[test]
fn a_client_probes_the_path_by_ipv6() {
    // A machine without IPv6 has no such address.
    if UdpSocket::bind("[::1]:0").is_err() {
        eprintln!("skipped: this machine has no IPv6");
        return;
    }
    check_probe("[::1]:0".parse().unwrap());
}

#[test]
fn a_server_of_ipv6_also_serves_clients_of_ipv4() {
    if UdpSocket::bind("[::1]:0").is_err() {
        eprintln!("skipped: this machine has no IPv6");
        return;
    }
    with_server_at("[::]:0".parse().unwrap(), LIMITS, |server, _| {
        let server = SocketAddr::new([127, 0, 0, 1].into(), server.port());
        let found = probe(server, &token(), FREE, &patient()).unwrap();
        assert!(found.report.base_rtt_s.is_some());
        assert_eq!(found.tcp.len(), 2);
    });
}

/// Checks what a probe without consent finds of a server at this address.
fn check_probe(address: SocketAddr) {
    with_server_at(address, LIMITS, |server, _| {
        let found = probe(server, &token(), FREE, &patient()).unwrap();
        let rtt = found.report.base_rtt_s.expect("pings").value;
        assert!(rtt < 0.05, "{rtt} s");
        assert!(!found.consented);
        assert_eq!(found.tcp.len(), 2);
        for load in &found.tcp {
            assert!(load.goodput_bps > 1e6, "{load:?}");
            let rtt = load.flow_rtt_p50_s.expect("the kernel's RTT");
            assert!(rtt > 0.0 && rtt < 0.5, "{rtt} s");
        }
    });
}

#[test]
fn a_client_with_another_token_is_refused() {
    with_server(LIMITS, |server, lines| {
        let other = Token::new(b"another token of tests").unwrap();
        let error = probe(server, &other, FREE, &patient()).unwrap_err();
        assert_eq!(error.to_string(), "the client has another token");
        // The server logs the refusal after it has sent it.
        let logged = || lines.lock().unwrap().concat().contains("another token");
        let until = Instant::now() + SOON;
        while !logged() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(logged());
    });
}

#[test]
fn a_replayed_proof_is_refused() {
    with_server(LIMITS, |server, _| {
        let (mut first, challenge) = connect(server);
        let nonce = [7; SECRET];
        let proof = token().client_proof(&challenge, &nonce);
        send_proof(&mut first, nonce, proof);
        assert!(matches!(
            first.receive(SOON, &|| true),
            Ok(Message::Welcome { .. })
        ));
        drop(first);
        let (mut second, _) = connect(server);
        send_proof(&mut second, nonce, proof);
        assert_eq!(refusal(&mut second), "the client has another token");
    });
}

#[test]
fn a_second_session_is_refused_until_the_first_has_ended() {
    with_server(LIMITS, |server, _| {
        let (first, _, _) = enter(server);
        let (mut second, challenge) = connect(server);
        let nonce = [9; SECRET];
        let proof = token().client_proof(&challenge, &nonce);
        send_proof(&mut second, nonce, proof);
        assert!(refusal(&mut second).contains("busy"));
        drop(first);
    });
}

#[test]
fn a_session_ends_after_its_longest_duration() {
    let limits = Limits {
        longest: Duration::from_millis(300),
        ..LIMITS
    };
    with_server(limits, |server, lines| {
        let (mut control, _, _) = enter(server);
        assert!(refusal(&mut control).contains("closed"));
        let until = Instant::now() + SOON;
        while Instant::now() < until && !lines.lock().unwrap().concat().contains("longest") {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(lines.lock().unwrap().concat().contains("longest duration"));
    });
}

fn open(keys: &SessionKeys, size: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let datagram = Datagram {
        phase: 0,
        lane: 0,
        body: Body::Open,
    };
    datagram.write(&keys.datagrams[0], size, &mut bytes);
    bytes
}

#[test]
fn a_nonce_is_no_larger_than_its_request_and_others_get_none() {
    with_server(LIMITS, |server, _| {
        let (_control, keys, port) = enter(server);
        let server = SocketAddr::new(server.ip(), port);
        let client = UdpSocket::bind("127.0.0.1:0").unwrap();
        let request = open(&keys, 68);
        let answer = ask(&client, server, &request).expect("a nonce");
        assert!(answer.len() <= request.len());
        // A request that is smaller than the answer gets none.
        assert_eq!(ask(&client, server, &open(&keys, 40)), None);
        // Requests with a wrong tag and from another address get none.
        let mut wrong = request.clone();
        wrong[0] ^= 1;
        assert_eq!(ask(&client, server, &wrong), None);
        let spoofed = UdpSocket::bind("127.0.0.2:0").unwrap();
        assert_eq!(ask(&spoofed, server, &request), None);
        // Damaged packets of any length are ignored.
        for length in 0..request.len() {
            client.send_to(&request[..length], server).unwrap();
        }
        assert!(ask(&client, server, &request).is_some());
    });
}

#[test]
fn a_wrong_nonce_opens_no_address_and_no_phase() {
    with_server(LIMITS, |server, _| {
        let (mut control, keys, port) = enter(server);
        let server = SocketAddr::new(server.ip(), port);
        let clients: Vec<_> = (0..3)
            .map(|_| UdpSocket::bind("127.0.0.1:0").unwrap())
            .collect();
        for (lane, client) in clients.iter().enumerate() {
            let lane = lane as u8;
            let mut bytes = Vec::new();
            let body = Body::Echo([0; 16]);
            let datagram = Datagram {
                phase: 0,
                lane,
                body,
            };
            datagram.write(&keys.datagrams[0], 68, &mut bytes);
            assert_eq!(ask(client, server, &bytes), None);
        }
        let pattern = Pattern::Trains {
            count: 1,
            length: 10,
            interval_us: 100_000,
        };
        let phase = Phase {
            path: Path::Down,
            pattern,
        };
        let request = Message::Phase { number: 1, phase };
        control.send(&request, &|| true).unwrap();
        assert_eq!(ask(&clients[0], server, b"anything"), None);
        // The server refuses ten seconds later, and has sent nothing until then.
        let refused = control.receive(Duration::from_secs(15), &|| true);
        assert!(refused.is_err(), "{refused:?}");
        let mut bytes = [0; 100];
        assert!(clients[0].recv(&mut bytes).is_err());
    });
}

#[test]
fn a_line_that_is_no_message_ends_the_connection() {
    with_server(LIMITS, |server, lines| {
        use std::io::Write;
        let (control, _) = connect(server);
        let mut stream = control.into_stream();
        // The server may close before everything is written.
        stream.write_all(&vec![b'x'; 100_000]).ok();
        let until = Instant::now() + SOON;
        while Instant::now() < until && lines.lock().unwrap().is_empty() {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(
            lines
                .lock()
                .unwrap()
                .concat()
                .contains("a line is too long")
        );
    });
}

#[test]
fn an_interrupted_client_ends_within_a_second() {
    with_server(LIMITS, |server, _| {
        let begun = Instant::now();
        let hasty = Cautious {
            until: begun + Duration::from_millis(500),
        };
        let error = probe(server, &token(), FREE, &hasty).unwrap_err();
        assert!(matches!(error, NetError::Stopped), "{error}");
        assert!(begun.elapsed() < Duration::from_millis(1500));
    });
}
