//! TCP Fast Open as packet conversations (RFC 7413).

use crate::peer::{ACK, MSS, Peer, SYN, config};
use goodqueue_tcp::{EcnMode, FastOpen, TcpConfig};
use goodqueue_types::{Ecn, FastOpenOption, Segment, SegmentFlags};

const FIN: SegmentFlags = SegmentFlags::FIN;
/// Largest payload of a SYN: 40 bytes are left for options, as in Linux.
const LARGEST: u64 = MSS - 40;

fn with(fast_open: FastOpen) -> TcpConfig {
    config(|config| config.fast_open = fast_open)
}

/// Returns a client with a cookie that has written so many bytes, and its SYN.
fn client(bytes: u64) -> (Peer, Segment) {
    let mut peer = Peer::new(with(FastOpen::Cookie));
    peer.host.write(bytes);
    peer.host.connect(peer.now);
    let sent = peer.listen();
    assert_eq!((sent.len(), sent[0].flags), (1, SYN));
    (peer, sent[0])
}

/// Returns the SYN-ACK of the peer for a SYN whose data it acknowledges up to `ack`.
fn answer(peer: &Peer, ack: u64) -> Segment {
    peer.segment(0, ack, SYN.with(ACK), 0)
}

/// Returns a server that has a SYN with this option and payload, and its answers.
fn server(fast_open: FastOpenOption, payload: u32) -> (Peer, Vec<Segment>) {
    let mut peer = Peer::new(with(FastOpen::Request));
    peer.host.listen();
    let syn = Segment {
        fast_open,
        ..peer.segment(0, 0, SYN, payload)
    };
    let answers = peer.say(syn);
    (peer, answers)
}

/// RFC 7413 section 4.1.2: a client without a cookie requests one in a SYN without data, and the
/// server issues it in the SYN-ACK. The option takes 4 bytes of the SYN and 12 of the SYN-ACK.
#[test]
fn a_client_requests_a_cookie() {
    let plain = {
        let mut peer = Peer::new(with(FastOpen::Off));
        peer.host.connect(peer.now);
        peer.listen()[0]
    };
    let mut peer = Peer::new(with(FastOpen::Request));
    peer.host.write(500);
    peer.host.connect(peer.now);
    let syn = peer.listen()[0];
    assert_eq!((syn.fast_open, syn.payload), (FastOpenOption::Request, 0));
    assert_eq!(syn.header, plain.header + 4);
    let (_, answers) = server(FastOpenOption::Request, 0);
    assert_eq!(answers[0].fast_open, FastOpenOption::Cookie);
    assert_eq!((answers[0].ack, answers[0].header), (1, plain.header + 12));
}

/// RFC 7413 section 4.2.1: a client with a cookie sends data in its SYN.
#[test]
fn a_client_with_a_cookie_sends_data_in_its_syn() {
    let (mut peer, syn) = client(500);
    assert_eq!(
        (syn.fast_open, syn.seq, syn.payload),
        (FastOpenOption::Cookie, 0, 500)
    );
    peer.wait(100);
    let sent = peer.say(answer(&peer, 501));
    assert_eq!(
        (sent.len(), sent[0].flags, sent[0].seq, sent[0].ack),
        (1, ACK, 501, 1)
    );
    assert_eq!(peer.host.stats().acked_bytes, 500);
    assert_eq!(peer.host.stats().retransmitted_segments, 0);
    let (_, syn) = client(10 * MSS);
    assert_eq!(u64::from(syn.payload), LARGEST);
}

/// The rest of the data follows the acknowledgement of the SYN, and a FIN after the data.
#[test]
fn the_rest_follows_the_handshake() {
    let (mut peer, _) = client(LARGEST + 300);
    peer.host.close();
    peer.wait(100);
    let sent = peer.say(answer(&peer, 1 + LARGEST));
    let last = sent.last().expect("data");
    assert_eq!(
        (last.seq, last.payload, last.flags),
        (1 + LARGEST, 300, ACK.with(FIN))
    );
    peer.say(peer.segment(1, 1 + LARGEST + 301, ACK, 0));
    assert!(peer.host.is_finished());
}

/// A server that does not accept the data, or only a part of them, gets the rest at once (Linux).
#[test]
fn data_that_the_server_did_not_accept_are_sent_again() {
    for accepted in [0, 100] {
        let (mut peer, _) = client(500);
        peer.wait(100);
        let sent = peer.say(answer(&peer, 1 + accepted));
        let [data] = sent[..] else {
            panic!("the data carry the ACK of the SYN-ACK")
        };
        assert_eq!(
            (data.seq, u64::from(data.payload)),
            (1 + accepted, 500 - accepted)
        );
        assert_eq!(peer.host.stats().retransmitted_segments, 1);
        assert_eq!(peer.host.stats().retransmitted_bytes, 500 - accepted);
        assert_eq!(peer.host.stats().segments_sent, 2);
    }
}

/// RFC 7413 section 4.1.3.1 and Linux: a SYN that is sent again has neither data nor the option, but
/// a SYN-ACK may still acknowledge the data of the first.
#[test]
fn a_syn_sent_again_is_plain() {
    let (mut peer, first) = client(500);
    let (_, sent) = peer.expire();
    assert_eq!((sent[0].flags, sent[0].payload), (SYN, 0));
    assert_eq!(
        (sent[0].fast_open, sent[0].header),
        (FastOpenOption::None, first.header - 12)
    );
    peer.wait(100);
    peer.say(answer(&peer, 501));
    assert_eq!(peer.host.stats().acked_bytes, 500);
}

/// RFC 7413 section 4.2.2: a server accepts the data of a SYN with a cookie, and may answer before
/// the handshake ends.
#[test]
fn a_server_answers_at_once() {
    let (mut peer, answers) = server(FastOpenOption::Cookie, 500);
    assert_eq!(
        (answers.len(), answers[0].flags, answers[0].ack),
        (1, SYN.with(ACK), 501)
    );
    assert_eq!(answers[0].fast_open, FastOpenOption::None);
    assert_eq!(peer.host.stats().delivered_bytes, 500);
    assert!(peer.host.is_established());
    peer.host.write(2 * MSS);
    let sent = peer.listen();
    assert_eq!(sent.len(), 2);
    assert_eq!((sent[0].seq, sent[0].ack, sent[0].flags), (1, 501, ACK));
    peer.wait(100);
    peer.say(peer.segment(501, 1 + 2 * MSS, ACK, 0));
    assert_eq!(peer.host.stats().acked_bytes, 2 * MSS);
    assert_eq!(peer.timer(), None);
}

/// A server takes no data without a cookie, and none if it does not permit Fast Open.
#[test]
fn a_server_without_a_cookie_takes_no_data() {
    for option in [FastOpenOption::None, FastOpenOption::Request] {
        let (peer, answers) = server(option, 500);
        assert_eq!((answers[0].ack, peer.host.stats().delivered_bytes), (1, 0));
    }
    let mut peer = Peer::new(with(FastOpen::Off));
    peer.host.listen();
    let syn = Segment {
        fast_open: FastOpenOption::Cookie,
        ..peer.segment(0, 0, SYN, 500)
    };
    let answers = peer.say(syn);
    assert_eq!(
        (answers[0].ack, answers[0].fast_open),
        (1, FastOpenOption::None)
    );
}

/// The SYN-ACK is sent again until it is acknowledged, not the data behind it (Linux). A plain SYN
/// that comes because the SYN-ACK was lost gets it again, too.
#[test]
fn a_lost_syn_ack_is_repeated() {
    let (mut peer, _) = server(FastOpenOption::Cookie, 500);
    peer.host.write(MSS);
    assert_eq!(peer.listen().len(), 1);
    let (at, sent) = peer.expire();
    assert_eq!((at, sent.len()), (1000, 1));
    assert_eq!((sent[0].flags, sent[0].ack), (SYN.with(ACK), 501));
    let sent = peer.say(peer.segment(0, 0, SYN, 0));
    assert_eq!((sent[0].flags, sent[0].ack), (SYN.with(ACK), 501));
    peer.wait(100);
    peer.say(peer.segment(501, 1, ACK, 0));
    let (_, sent) = peer.expire();
    assert_eq!((sent[0].seq, u64::from(sent[0].payload)), (1, MSS));
}

/// SYNs with data are not ECN-capable, and Fast Open changes nothing in the negotiation of accurate
/// ECN (RFC 9768 section 5.2).
#[test]
fn fast_open_and_accurate_ecn() {
    let both = config(|config| {
        config.fast_open = FastOpen::Cookie;
        config.ecn = EcnMode::AccEcn;
    });
    let mut peer = Peer::new(both.clone());
    peer.host.write(500);
    peer.host.connect(peer.now);
    let syn = peer.listen()[0];
    assert_eq!(
        (syn.payload, peer.host.transmit_ecn()),
        (500, Ecn::NotCapable)
    );
    let mut server = Peer::new(both);
    server.host.listen();
    let syn_ack = server.say(syn)[0];
    assert_eq!((syn_ack.ack, syn_ack.accecn().counters().count()), (501, 3));
    assert_eq!(server.host.transmit_ecn(), Ecn::NotCapable);
    let third = peer.say(syn_ack)[0];
    assert!(third.accecn().is_present());
    assert_eq!(peer.host.transmit_ecn(), Ecn::Capable0);
    server.say(third);
    server.host.write(MSS);
    assert!(server.listen()[0].accecn().is_present());
    assert_eq!(server.host.transmit_ecn(), Ecn::Capable0);
}
