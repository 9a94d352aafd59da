//! Connections whose SYN or SYN-ACK is lost, compared with RFCs and with the observed behaviour of
//! Linux 6.18.

use crate::peer::{ACK, MSS, Peer, SYN, config};
use goodqueue_tcp::{ENDLESS, SynLossRule, TcpConfig};

fn linux() -> TcpConfig {
    config(|config| {
        config.syn_loss = SynLossRule::Linux;
        config.details.linear_syn_timeouts = 4;
    })
}

/// Opens a connection from the endpoint. The peer answers its SYN number `lost` + 1. Returns the
/// times of the SYNs in milliseconds, and the connection.
fn active(config: TcpConfig, lost: u32) -> (Vec<u64>, Peer) {
    let mut peer = Peer::new(config);
    peer.host.connect(peer.now);
    peer.host.write(ENDLESS);
    assert_eq!(peer.listen()[0].flags, SYN);
    let times = (0..lost)
        .map(|_| {
            let (time, sent) = peer.expire();
            assert_eq!((sent.len(), sent[0].flags), (1, SYN));
            time
        })
        .collect();
    peer.wait(100);
    let sent = peer.say(peer.segment(0, 1, SYN.with(ACK), 0));
    assert_eq!((sent[0].payload, sent[0].ack), (0, 1));
    assert_eq!(sent.len() as u64 - 1, peer.host.info().cwnd / MSS);
    (times, peer)
}

/// Opens a connection from the peer, which acknowledges the SYN-ACK number `lost` + 1.
fn passive(config: TcpConfig, lost: u32) -> (Vec<u64>, Peer) {
    let mut peer = Peer::new(config);
    peer.host.listen();
    peer.host.write(ENDLESS);
    assert_eq!(peer.say(peer.segment(0, 0, SYN, 0))[0].flags, SYN.with(ACK));
    let times = (0..lost)
        .map(|_| {
            let (time, sent) = peer.expire();
            assert_eq!((sent.len(), sent[0].flags), (1, SYN.with(ACK)));
            time
        })
        .collect();
    peer.wait(100);
    let sent = peer.say(peer.segment(1, 1, ACK, 0));
    assert_eq!(sent.len() as u64, peer.host.info().cwnd / MSS);
    (times, peer)
}

/// Returns the window in segments, ssthresh in segments and the RTO in milliseconds.
fn start(peer: &Peer) -> (u64, Option<u64>, u64) {
    let info = peer.host.info();
    let rto = (info.rto.0 + 500_000_000) / 1_000_000_000;
    (info.cwnd / MSS, info.ssthresh.map(|bytes| bytes / MSS), rto)
}

/// Observed on Linux 6.18 (no timestamps): one retransmission only sets the RTO of RFC 6298 (5.7).
/// Two or three leave a window of one segment. ssthresh stays.
#[test]
fn linux_forgives_one_timeout() {
    for (lost, cwnd) in [(1, 10), (2, 1), (3, 1)] {
        assert_eq!(
            start(&active(linux(), lost).1),
            (cwnd, None, 3000),
            "SYN {lost}"
        );
        assert_eq!(
            start(&passive(linux(), lost).1),
            (cwnd, None, 3000),
            "SYN-ACK {lost}"
        );
    }
    assert_eq!(start(&active(linux(), 0).1).0, 10);
    assert_eq!(start(&passive(linux(), 0).1).0, 10);
}

/// SYN-ACKs are sent again after 1, 3 and 7 s. SYNs of Linux since 6.5 are sent again after 1, 2, 3
/// and 4 s, and then at doubling intervals.
#[test]
fn handshake_timeouts() {
    assert_eq!(passive(linux(), 3).0, [1000, 3000, 7000]);
    assert_eq!(active(linux(), 6).0, [1000, 2000, 3000, 4000, 5000, 7000]);
    let rfc = || config(|_| {});
    assert_eq!(active(rfc(), 3).0, [1000, 3000, 7000]);
    let old = config(|config| config.rto.initial = goodqueue_types::Span::from_secs(3));
    assert_eq!(active(old, 2).0, [3000, 9000]);
}

/// RFC 5681 section 3.1: "the initial window … MUST be one segment"; RFC 6298 (5.7): 3 s.
#[test]
fn rfc5681_starts_with_one_segment() {
    for lost in [1, 2] {
        assert_eq!(start(&active(config(|_| {}), lost).1), (1, None, 3000));
        assert_eq!(start(&passive(config(|_| {}), lost).1), (1, None, 3000));
    }
}

/// A SYN that comes again shows that the SYN-ACK was lost, although no timer of ours expired.
#[test]
fn a_repeated_syn_counts_as_a_lost_syn_ack() {
    for (rule, cwnd) in [(SynLossRule::Rfc5681, 1), (SynLossRule::Linux, 10)] {
        let mut peer = Peer::new(config(|config| config.syn_loss = rule));
        peer.host.listen();
        assert_eq!(peer.say(peer.segment(0, 0, SYN, 0)).len(), 1);
        peer.wait(900);
        assert_eq!(peer.say(peer.segment(0, 0, SYN, 0)).len(), 1);
        peer.say(peer.segment(1, 1, ACK, 0));
        assert_eq!(peer.host.info().cwnd, cwnd * MSS);
    }
}

/// The study varies the initial window (1, 3) and the threshold (2, 16, 1000 segments). Without
/// loss the start is the usual one.
#[test]
fn tsl_sets_both_numbers() {
    for initial_window in [1, 3] {
        for ssthresh in [2, 16, 1000] {
            let tsl = || {
                config(|config| {
                    config.syn_loss = SynLossRule::Tsl;
                    config.details.tsl_initial_window = initial_window;
                    config.details.tsl_ssthresh = ssthresh;
                })
            };
            let expected = (u64::from(initial_window), Some(u64::from(ssthresh)), 3000);
            assert_eq!(start(&active(tsl(), 1).1), expected);
            assert_eq!(start(&passive(tsl(), 1).1), expected);
            let (cwnd, none, _) = start(&passive(tsl(), 0).1);
            assert_eq!((cwnd, none), (10, None));
        }
    }
}
