//! The end of connections: FINs in every order, resets, and segments that are not acceptable.

use crate::peer::{ACK, MSS, Peer, SYN, config};
use goodqueue_tcp::{AckRule, ConnectionState, ENDLESS, Profile, TcpConfig};
use goodqueue_types::{Segment, SegmentFlags};

const FIN: SegmentFlags = SegmentFlags::FIN;
const RST: SegmentFlags = SegmentFlags::RST;

/// Returns sequence number, payload and acknowledgement of each segment, and true if it carries a
/// FIN.
fn shape(segments: &[Segment]) -> Vec<(u64, u32, u64, bool)> {
    segments
        .iter()
        .map(|s| (s.seq, s.payload, s.ack, s.flags.contains(FIN)))
        .collect()
}

fn connections() -> [Peer; 2] {
    let mut linux = TcpConfig::profile(Profile::Linux);
    linux.mss = MSS as u32;
    // The scripted peer does not use timestamps.
    linux.timestamps = None;
    [Peer::accepted(config(|_| {})), Peer::accepted(linux)]
}

/// Both FINs cross (RFC 9293 figure 13). Each is acknowledged, and both ends finish.
#[test]
fn both_close_at_once() {
    for mut peer in connections() {
        peer.host.close();
        assert_eq!(shape(&peer.listen()), [(1, 0, 1, true)]);
        // The peer's FIN does not acknowledge ours.
        let answer = peer.say(peer.segment(1, 1, ACK.with(FIN), 0));
        assert_eq!(shape(&answer), [(2, 0, 2, false)]);
        assert!(peer.host.is_peer_finished() && !peer.host.is_finished());
        assert_eq!(peer.say(peer.segment(2, 2, ACK, 0)), []);
        assert!(peer.host.is_finished());
        assert_eq!(peer.host.poll_timeout(), None);
    }
}

/// The last data carry the FIN. The other direction may continue for any time (RFC 9293 section
/// 3.6, case 1).
#[test]
fn a_half_closed_connection_receives() {
    for mut peer in connections() {
        peer.host.write(MSS + 500);
        peer.host.close();
        let sent = shape(&peer.listen());
        assert_eq!(sent, [(1, 1000, 1, false), (1001, 500, 1, true)]);
        assert_eq!(peer.say(peer.segment(1, 1502, ACK, 0)), []);
        assert!(peer.host.is_finished());
        let answers: Vec<_> = (0..8)
            .flat_map(|n| peer.say(peer.segment(1 + n * MSS, 1502, ACK, MSS as u32)))
            .collect();
        assert_eq!(answers.last().expect("an ACK").ack, 8001);
        let answer = peer.say(peer.segment(8001, 1502, ACK.with(FIN), 0));
        assert_eq!(shape(&answer), [(1502, 0, 8002, false)]);
        assert_eq!(peer.host.stats().delivered_bytes, 8000);
        assert_eq!(peer.host.poll_timeout(), None);
    }
}

/// A FIN that is lost is sent again. One that arrives again is acknowledged again.
#[test]
fn fins_are_repeated() {
    for mut peer in connections() {
        peer.host.close();
        peer.listen();
        let (_, again) = peer.expire();
        assert_eq!(shape(&again), [(1, 0, 1, true)]);
        for _ in 0..2 {
            let answer = peer.say(peer.segment(1, 2, ACK.with(FIN), 0));
            assert_eq!(shape(&answer), [(2, 0, 2, false)]);
        }
        assert!(peer.host.is_finished() && peer.host.is_peer_finished());
        assert_eq!(peer.host.poll_timeout(), None);
    }
}

/// A FIN ahead of lost data waits for them.
#[test]
fn a_fin_out_of_order_waits() {
    for mut peer in connections() {
        let answer = peer.say(peer.segment(1001, 1, ACK.with(FIN), 500));
        assert_eq!(shape(&answer), [(1, 0, 1, false)]);
        assert!(!peer.host.is_peer_finished());
        assert_eq!(shape(&peer.data(1, 1001)), [(1, 0, 1502, false)]);
        assert!(peer.host.is_peer_finished());
    }
}

/// A FIN without data is accepted although the window is closed.
#[test]
fn a_fin_needs_no_window() {
    let mut peer = Peer::accepted(config(|config| config.receive_window = 2 * MSS));
    peer.host.set_reading(goodqueue_types::Time::ZERO, false);
    let full = peer.data(1, 2001);
    assert!(full.iter().all(|ack| ack.window == 0));
    let answer = peer.say(peer.segment(2001, 1, ACK.with(FIN), 0));
    assert_eq!(shape(&answer), [(1, 0, 2002, false)]);
    assert!(peer.host.is_peer_finished());
}

/// RFC 5961 section 3.2: a reset at the next sequence number closes the connection. Elsewhere in
/// the window it is answered with an ACK. Outside it has no effect.
#[test]
fn resets() {
    for mut peer in connections() {
        peer.host.write(ENDLESS);
        let sent = peer.listen().len() as u64;
        let challenge = [(1 + sent * MSS, 0, 1, false)];
        assert_eq!(shape(&peer.say(peer.segment(2, 1, RST, 0))), challenge);
        assert_eq!(peer.say(peer.segment(0, 1, RST, 0)), []);
        assert_eq!(peer.say(peer.segment(1 << 30, 1, RST, 0)), []);
        assert!(peer.host.is_established());
        assert_eq!(peer.say(peer.segment(1, 1, RST, 0)), []);
        assert_eq!(peer.host.info().state, ConnectionState::Closed);
        assert_eq!(peer.host.poll_timeout(), None);
        let answer = peer.say(peer.segment(1, 1 + MSS, ACK, 500));
        assert_eq!((answer[0].flags, answer[0].seq), (RST, 1 + MSS));
    }
}

/// RFC 9293 section 3.10.7.3: a reset refuses a SYN only if it acknowledges it.
#[test]
fn a_refused_connection() {
    let mut peer = Peer::new(config(|_| {}));
    peer.host.connect(peer.now);
    peer.listen();
    peer.say(peer.segment(0, 5, RST.with(ACK), 0));
    peer.say(peer.segment(0, 1, RST, 0));
    assert_eq!(peer.host.info().state, ConnectionState::SynSent);
    peer.say(peer.segment(0, 1, RST.with(ACK), 0));
    assert_eq!(peer.host.info().state, ConnectionState::Closed);
    assert_eq!(peer.host.poll_timeout(), None);
}

/// Linux 6.18 answers and drops a segment that acknowledges data which were never sent, and its
/// data too.
#[test]
fn an_ack_of_the_future_is_challenged() {
    for mut peer in connections() {
        peer.host.write(2 * MSS);
        assert_eq!(peer.listen().len(), 2);
        let answer = peer.say(peer.segment(1, 2002, ACK, 500));
        assert_eq!(shape(&answer), [(2001, 0, 1, false)]);
        assert_eq!(peer.host.stats().delivered_bytes, 0);
        assert_eq!(peer.host.info().bytes_in_flight, 2 * MSS);
        assert_eq!(peer.say(peer.segment(1, 2001, ACK, 0)), []);
    }
}

/// RFC 5961 section 4.2: a SYN on an open connection is only answered with an ACK.
#[test]
fn a_syn_on_an_open_connection_is_challenged() {
    for mut peer in connections() {
        for seq in [0, 1, 5000] {
            let answer = peer.say(peer.segment(seq, 0, SYN, 0));
            assert_eq!(shape(&answer), [(1, 0, 1, false)]);
        }
        assert!(peer.host.is_established());
    }
}

/// The window of an old segment is ignored (RFC 9293 section 3.10.7.4). A segment that acknowledges
/// more brings a new window, even with data sent again.
#[test]
fn the_window_of_data_sent_again() {
    for mut peer in connections() {
        peer.host.write(ENDLESS);
        let sent = peer.listen().len() as u64;
        peer.data(1, 1001);
        peer.data(1001, 2001);
        let mut again = peer.segment(1, 1, ACK, MSS as u32);
        again.window = 5000;
        peer.say(again);
        assert_eq!(peer.host.info().send_window, 10_000_000);
        again.ack = 1 + 2 * MSS;
        again.window = 10_000_000 - 2000;
        peer.say(again);
        let info = peer.host.info();
        assert_eq!(info.send_window, 10_000_000 - 2000);
        assert!(info.bytes_in_flight > (sent - 2) * MSS);
    }
}

/// The end that closes last forgets the connection and answers later segments with a reset (RFC
/// 9293 section 3.10.7.1).
#[test]
fn the_last_to_close_forgets() {
    for mut peer in connections() {
        // The ACK of the FIN leaves at once, or waits for our FIN to carry it (Linux).
        let waits = peer.host.config().ack_rule == AckRule::Linux;
        let answer = peer.say(peer.segment(1, 1, ACK.with(FIN), 0));
        assert_eq!(answer.len(), usize::from(!waits));
        peer.host.close();
        assert_eq!(shape(&peer.listen()), [(1, 0, 2, true)]);
        assert_eq!(peer.say(peer.segment(2, 2, ACK, 0)), []);
        assert_eq!(peer.host.info().state, ConnectionState::Closed);
        let answer = peer.say(peer.segment(2, 2, ACK, 0));
        assert_eq!((answer.len(), answer[0].flags, answer[0].seq), (1, RST, 2));
        assert_eq!(peer.say(peer.segment(2, 2, RST, 0)), []);
    }
}

/// An abort sends a reset to a connected peer, and to no other.
#[test]
fn aborts() {
    for mut peer in connections() {
        peer.host.write(2 * MSS);
        peer.listen();
        peer.host.abort();
        let reset = peer.listen();
        assert_eq!(reset[0].flags, RST.with(ACK));
        assert_eq!(shape(&reset), [(2001, 0, 1, false)]);
        assert_eq!(peer.host.poll_timeout(), None);
    }
    let mut peer = Peer::new(config(|_| {}));
    peer.host.connect(peer.now);
    peer.listen();
    peer.host.abort();
    assert_eq!(peer.listen(), []);
    let answer = peer.say(peer.segment(0, 1, SYN.with(ACK), 0));
    assert_eq!((answer[0].flags, answer[0].seq), (RST, 1));
}

/// The end that closed first stays, even if its FIN is sent again after the other's. The other end
/// may have seen only the first FIN, which did not acknowledge its own.
#[test]
fn the_first_to_close_stays() {
    for mut peer in connections() {
        peer.host.close();
        peer.listen();
        assert_eq!(peer.say(peer.segment(1, 1, ACK.with(FIN), 0)).len(), 1);
        assert_eq!(shape(&peer.expire().1), [(1, 0, 2, true)]);
        assert_eq!(peer.say(peer.segment(2, 2, ACK, 0)), []);
        let answer = peer.say(peer.segment(1, 2, ACK.with(FIN), 0));
        assert_eq!(shape(&answer), [(2, 0, 2, false)]);
        assert_eq!(answer[0].flags, ACK);
    }
}

/// The TIME-WAIT state gives the same answers as an endpoint that stays: to a FIN that comes again,
/// with data or without, to old data and to a SYN, but not to an ACK that has no news.
#[test]
fn time_wait_answers_like_the_endpoint() {
    let mut linux = TcpConfig::profile(Profile::Linux);
    linux.mss = MSS as u32;
    // The endpoint continues both of these: it reports duplicates and lets the window grow.
    linux.dsack = false;
    linux.receive_window_moderation = None;
    let stamped = |millis, segment: Segment| Segment {
        timestamps: goodqueue_types::Timestamps {
            value: 1000 + millis,
            echo: 1,
        },
        ..segment
    };
    for (config, stamps) in [(config(|_| {}), false), (linux, true)] {
        let mut peer = Peer::new(config.clone());
        let as_sent = |segment, millis| {
            if stamps {
                stamped(millis, segment)
            } else {
                segment
            }
        };
        peer.host.listen();
        peer.say(as_sent(peer.segment(0, 0, SYN, 0), 0));
        peer.wait(100);
        peer.say(as_sent(peer.segment(1, 1, ACK, 0), 100));
        peer.say(as_sent(peer.segment(1, 1, ACK, 1000), 100));
        assert_eq!(peer.host.time_wait(), None);
        peer.host.close();
        peer.listen();
        peer.wait(100);
        peer.say(as_sent(peer.segment(1001, 2, ACK, 0), 200));
        assert_eq!(peer.host.time_wait(), None, "the peer has not closed");
        let last = as_sent(peer.segment(1001, 2, ACK.with(FIN), 500), 200);
        peer.host.handle_segment(peer.now, &last);
        assert_eq!(peer.host.time_wait(), None, "an ACK is owed");
        assert_eq!(peer.listen().len(), 1);
        let mut left = peer.host.time_wait().expect("TIME-WAIT");
        for (millis, segment) in [
            (10, last),
            (250, peer.segment(1001, 2, ACK.with(FIN), 500)),
            (260, peer.segment(1501, 2, ACK.with(FIN), 0)),
            (300, peer.segment(1, 2, ACK, 1000)),
            (500, peer.segment(0, 0, SYN, 0)),
            (600, peer.segment(1502, 2, ACK, 0)),
        ] {
            peer.wait(millis);
            let segment = as_sent(segment, 200 + millis as u32);
            let answers = left.handle_segment(&segment);
            let answer = answers.then(|| left.answer(peer.now, &config));
            let expected = peer.say(segment);
            assert_eq!(answer.as_slice(), expected, "{segment:?}");
            assert_eq!(answers, segment.seq < 1502);
        }
        // RFC 1337: a reset does not end TIME-WAIT.
        assert!(!left.handle_segment(&peer.segment(1502, 2, RST, 0)));
    }
}
