//! Connections without a proof do not keep others out of a server.
#![cfg(target_os = "linux")]

#[allow(dead_code, reason = "other tests send datagrams")]
mod served;

use goodqueue_probe::net::client::probe;
use goodqueue_probe::net::{Message, Messages, NetError, SECRET};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, bind, connect, socket};
use served::{FREE, LIMITS, SOON, enter, patient, refusal, send_proof, token, with_server};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::thread::scope;
use std::time::Duration;

/// Returns a connection from an address of the loopback network, after the server's greeting.
fn from_host(host: u8, server: SocketAddr) -> (Messages, [u8; SECRET]) {
    let SocketAddr::V4(server) = server else {
        panic!("the server has an IPv4 address");
    };
    let own = SockaddrIn::from(std::net::SocketAddrV4::new(
        Ipv4Addr::new(127, 0, 0, host),
        0,
    ));
    let port = socket(
        AddressFamily::Inet,
        SockType::Stream,
        SockFlag::empty(),
        None,
    )
    .unwrap();
    bind(port.as_raw_fd(), &own).unwrap();
    connect(port.as_raw_fd(), &SockaddrIn::from(server)).unwrap();
    let mut control = Messages::new(TcpStream::from(port)).unwrap();
    let Message::Hello { challenge, .. } = control.receive(SOON, &|| true).unwrap() else {
        panic!("no greeting");
    };
    (control, challenge)
}

/// Checks that a client gets a session beside 40 silent connections from these hosts.
fn check_flood(host: impl Fn(u8) -> u8) {
    with_server(LIMITS, |server, _| {
        let silent: Vec<_> = (0..40)
            .map(|number| from_host(host(number), server))
            .collect();
        enter(server);
        drop(silent);
    });
}

#[test]
fn silent_connections_of_one_host_keep_no_other_host_out() {
    check_flood(|_| 2);
}

#[test]
fn silent_connections_of_many_hosts_keep_no_other_host_out() {
    check_flood(|number| 2 + number);
}

#[test]
fn silent_connections_of_the_same_host_keep_no_client_out() {
    check_flood(|_| 1);
}

/// 4 connections of one host, and 16 of all hosts, stay open without a proof.
#[test]
fn connections_without_a_proof_are_few() {
    for (host, most) in [((|_| 2) as fn(u8) -> u8, 4), (|number| 2 + number, 16)] {
        with_server(LIMITS, |server, _| {
            let all: Vec<_> = (0..40)
                .map(|number| from_host(host(number), server))
                .collect();
            let wait = Duration::from_millis(20);
            let is_open = |(mut control, _): (Messages, _)| {
                matches!(control.receive(wait, &|| true), Err(NetError::Refused(reason))
                    if reason.contains("does not answer"))
            };
            assert_eq!(
                all.into_iter().map(is_open).filter(|open| *open).count(),
                most
            );
        });
    }
}

/// A host with many connections loses its own before those of other hosts.
#[test]
fn a_flood_from_one_host_closes_no_connection_of_another() {
    with_server(LIMITS, |server, _| {
        let (mut slow, challenge) = from_host(3, server);
        let others: Vec<_> = (4..14).map(|host| from_host(host, server)).collect();
        let flood: Vec<_> = (0..40).map(|_| from_host(2, server)).collect();
        let nonce = [7; SECRET];
        send_proof(&mut slow, nonce, token().client_proof(&challenge, &nonce));
        let answer = slow.receive(SOON, &|| true);
        assert!(matches!(answer, Ok(Message::Welcome { .. })), "{answer:?}");
        drop((others, flood));
    });
}

/// The oldest connection without a proof makes room and is told the reason.
#[test]
fn a_client_whose_place_was_taken_is_told_that_the_server_is_busy() {
    with_server(LIMITS, |server, lines| {
        let (mut oldest, _) = from_host(2, server);
        let (mut second, challenge) = from_host(2, server);
        let more: Vec<_> = (0..3).map(|_| from_host(2, server)).collect();
        assert!(refusal(&mut oldest).contains("busy with other connections"));
        let nonce = [7; SECRET];
        send_proof(&mut second, nonce, token().client_proof(&challenge, &nonce));
        let answer = second.receive(SOON, &|| true);
        assert!(matches!(answer, Ok(Message::Welcome { .. })), "{answer:?}");
        assert!(!lines.lock().unwrap().concat().contains("refused"));
        drop(more);
    });
}

/// A server that closes connections at once, as one without room for them does.
#[test]
fn a_closed_connection_is_explained_as_a_busy_server() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = listener.local_addr().unwrap();
    scope(|scope| {
        scope.spawn(move || drop(listener.accept().unwrap()));
        let error = probe(server, &token(), FREE, &patient()).unwrap_err();
        assert!(error.to_string().contains("it may be busy"), "{error}");
    });
}
