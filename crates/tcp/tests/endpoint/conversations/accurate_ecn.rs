//! Accurate ECN and its option as packet conversations (RFC 9768). The numbers are those that Linux
//! sends and expects.

use crate::peer::{ACK, MSS, Peer, SYN};
use goodqueue_tcp::{AccEcnCounts, AccEcnReports, EcnMode, Profile, TcpConfig};
use goodqueue_types::{AccEcnOption, AccEcnOrder, Ecn, Segment, SegmentFlags};

const ECE: SegmentFlags = SegmentFlags::ECE;
const CWR: SegmentFlags = SegmentFlags::CWR;
const AE: SegmentFlags = SegmentFlags::AE;
const ALL: SegmentFlags = SegmentFlags(AE.0 | CWR.0 | ECE.0);
const NONE: SegmentFlags = SegmentFlags(0);
const FIVE: SegmentFlags = SegmentFlags(AE.0 | ECE.0);
const SIX: SegmentFlags = SegmentFlags(AE.0 | CWR.0);
const CE: Ecn = Ecn::Experienced;
const ECT0: Ecn = Ecn::Capable0;
const ECT1: Ecn = Ecn::Capable1;

/// Returns the `linux` profile with accurate ECN and segments of 1000 bytes, without timestamps.
fn config(adjust: impl FnOnce(&mut TcpConfig)) -> TcpConfig {
    let mut config = TcpConfig::profile(Profile::Linux);
    config.ecn = EcnMode::AccEcn;
    config.mss = MSS as u32;
    config.timestamps = None;
    adjust(&mut config);
    config
}

/// Returns the option that a peer sends: ECT(0) first.
fn option(ect0: u32, ce: u32, ect1: u32) -> AccEcnOption {
    AccEcnOption::new(AccEcnOrder::Capable0First, &[ect0, ce, ect1])
}

/// Returns the counters of a segment's option, ECT(1) first.
fn counters(segment: &Segment) -> Vec<u32> {
    segment
        .accecn()
        .counters()
        .map(|(_, bytes)| bytes)
        .collect()
}

fn ecn_flags(segment: &Segment) -> SegmentFlags {
    SegmentFlags(segment.flags.0 & ALL.0)
}

/// Returns a connection that the peer opened. The ACK that ends the handshake carries the option.
fn accepted(config: TcpConfig) -> Peer {
    let mut peer = Peer::new(config);
    peer.host.listen();
    let answer = peer.say(peer.segment(0, 0, SYN.with(ALL), 0));
    assert_eq!(ecn_flags(&answer[0]), CWR);
    peer.wait(50);
    let ack = peer
        .segment(1, 1, ACK.with(CWR), 0)
        .with_accecn(option(1, 0, 1));
    peer.say_marked(ack, ECT0);
    assert!(peer.host.is_established());
    peer
}

/// Delivers the n-th segment of data in a packet with this ECN field. Returns the answers.
fn data(peer: &mut Peer, n: u64, mark: Ecn) -> Vec<Segment> {
    let segment = peer.segment(1 + n * MSS, 1, ACK.with(FIVE), MSS as u32);
    peer.say_marked(segment, mark)
}

/// Delivers an acknowledgement with this counter of packets and option.
fn ack(peer: &mut Peer, ack: u64, flags: SegmentFlags, accecn: AccEcnOption) -> Vec<Segment> {
    let segment = peer.segment(1, ack, ACK.with(flags), 0);
    peer.say_marked(segment.with_accecn(accecn), ECT0)
}

/// RFC 9768 section 3.2.3.2.1: the SYN-ACK carries the option with the initial values, and a SYN-ACK
/// that is sent again does not. The third has no flags of ECN either (section 3.2.3.2.2).
#[test]
fn a_syn_ack_tests_the_path() {
    let mut peer = Peer::new(config(|_| {}));
    peer.host.listen();
    let answer = peer.say(peer.segment(0, 0, SYN.with(ALL), 0));
    assert_eq!(counters(&answer[0]), [1, 0, 1]);
    assert_eq!(answer[0].accecn().kind(), 174);
    let plain = {
        let mut peer = Peer::new(config(|config| config.accecn_option = AccEcnReports::Off));
        peer.host.listen();
        peer.say(peer.segment(0, 0, SYN.with(ALL), 0))[0]
    };
    assert_eq!(
        (plain.accecn().is_present(), ecn_flags(&plain)),
        (false, CWR)
    );
    assert_eq!(answer[0].header, plain.header + 12);
    for flags in [CWR, NONE, NONE] {
        let again = peer.expire().1[0];
        assert_eq!(ecn_flags(&again), flags);
        assert_eq!(
            (again.accecn().is_present(), again.header),
            (false, plain.header)
        );
    }
}

/// RFC 9768 section 3.1.4: a SYN requests accurate ECN twice. Whether the connection has it
/// depends on the answer alone.
#[test]
fn a_syn_asks_twice() {
    let mut peer = Peer::new(config(|_| {}));
    peer.host.connect(peer.now);
    assert_eq!(ecn_flags(&peer.listen()[0]), ALL);
    assert_eq!(ecn_flags(&peer.expire().1[0]), ALL);
    assert_eq!(ecn_flags(&peer.expire().1[0]), NONE);
    let mut answer = peer.segment(0, 1, SYN.with(ACK).with(CWR), 0);
    answer.set_accecn(option(1, 0, 1));
    let third = peer.say(answer)[0];
    assert_eq!((ecn_flags(&third), counters(&third)), (CWR, vec![1, 0, 1]));
    assert_eq!(peer.host.transmit_ecn(), ECT0);
}

/// Each ACK reports the bytes of each ECN field. A change of the field and the counter of packets
/// show in an ACK at once.
#[test]
fn acks_count_bytes() {
    let mut peer = accepted(config(|_| {}));
    for (n, mark, flags, bytes) in [
        (0, CE, SIX, [1, 1000, 1]),
        (1, ECT0, SIX, [1, 1000, 1001]),
        (2, CE, ALL, [1, 2000, 1001]),
        (3, ECT1, ALL, [1001, 2000, 1001]),
        (4, CE, NONE, [1001, 3000, 1001]),
    ] {
        let answer = data(&mut peer, n, mark);
        assert_eq!(answer.len(), 1, "{n}");
        assert_eq!(
            (ecn_flags(&answer[0]), counters(&answer[0])),
            (flags, bytes.to_vec())
        );
        assert_eq!((answer[0].header, peer.host.transmit_ecn()), (52, ECT0));
    }
}

/// The control receives the bytes of the option, and its counter of packets without one.
#[test]
fn a_sender_counts_marked_bytes() {
    let mut peer = accepted(config(|_| {}));
    let mut acked = 1;
    for (flags, bytes, packets) in [
        (SIX, Some((1, 300, 1)), 1),
        (SIX, Some((1001, 300, 1)), 1),
        (ALL, None, 2),
        (ALL, Some((1001, 300, 1501)), 2),
    ] {
        peer.host.write(MSS);
        let sent = peer.listen();
        assert_eq!(
            (sent[0].payload, counters(&sent[0])),
            (MSS as u32, vec![1, 0, 1])
        );
        acked += MSS;
        let carried = bytes.map_or(AccEcnOption::default(), |(a, b, c)| option(a, b, c));
        ack(&mut peer, acked, flags, carried);
        let counts = peer.host.accecn_counts().expect("accurate ECN");
        assert_eq!(counts.ce_packets, packets);
        if let Some((ect0, ce, ect1)) = bytes {
            let expected = AccEcnCounts {
                ce_packets: packets,
                ce_bytes: ce,
                ect0_bytes: ect0 - 1,
                ect1_bytes: ect1 - 1,
            };
            assert_eq!(counts, expected);
        }
    }
}

/// An ACK without progress or a newer timestamp may be old, so it reports nothing.
#[test]
fn an_ack_without_progress_is_not_read() {
    let mut peer = accepted(config(|_| {}));
    peer.host.write(MSS);
    peer.listen();
    ack(&mut peer, 1, SIX, option(1, 1000, 1));
    assert_eq!(peer.host.accecn_counts(), Some(AccEcnCounts::default()));
}

/// SACK blocks give way to the option down to two, or the option lacks counters without news.
#[test]
fn the_option_shares_the_header_with_sack_blocks() {
    let mut peer = accepted(config(|_| {}));
    let mut row = |n, mark| {
        let answer = data(&mut peer, n, mark)[0];
        (counters(&answer), answer.sack.len(), answer.header)
    };
    assert_eq!(row(1, ECT1), (vec![1001, 0, 1], 1, 40 + 12 + 12));
    assert_eq!(row(3, ECT0), (vec![1001, 0, 1001], 2, 40 + 20 + 12));
    assert_eq!(row(5, CE), (vec![1001, 1000, 1001], 3, 40 + 28 + 12));
    assert_eq!(row(6, ECT1), (vec![2001, 1000, 1001], 3, 40 + 28 + 12));
}

/// If the ACK of data that came again carried the option, and the same data come once more, the path
/// drops segments with the option (Linux).
#[test]
fn a_path_that_drops_the_option_gets_no_more() {
    let mut peer = accepted(config(|_| {}));
    let has_option = |answers: Vec<Segment>| answers[0].accecn().is_present();
    assert!(has_option(data(&mut peer, 0, ECT0)));
    assert!(has_option(data(&mut peer, 0, ECT0)));
    assert!(!has_option(data(&mut peer, 0, ECT0)));
    assert!(!has_option(data(&mut peer, 1, ECT0)));
}

/// No option is sent before the peer's has come through.
#[test]
fn the_option_waits_for_that_of_the_peer() {
    let mut peer = Peer::new(config(|_| {}));
    peer.host.connect(peer.now);
    peer.listen();
    let third = peer.say(peer.segment(0, 1, SYN.with(ACK).with(CWR), 0))[0];
    assert!(!third.accecn().is_present());
    peer.host.write(MSS);
    assert!(!peer.listen()[0].accecn().is_present());
    ack(&mut peer, 1 + MSS, FIVE, option(1001, 0, 1));
    peer.host.write(MSS);
    assert_eq!(counters(&peer.listen()[0]), [1, 0, 1]);
}

/// RFC 9768 section 3.2.3.3: with `minimum` the option is in the two segments after a change, and
/// three times per round trip.
#[test]
fn the_minimum_is_changes_and_three_options_per_round_trip() {
    let mut peer = accepted(config(|config| {
        config.accecn_option = AccEcnReports::Minimum;
    }));
    let mut has_option = |n, wait, mark| {
        peer.wait(wait);
        data(&mut peer, n, mark)[0].accecn().is_present()
    };
    // The handshake took 50 ms, of which a third is 16.7 ms.
    assert!(has_option(0, 1, CE));
    assert!(has_option(1, 1, ECT0));
    assert!(has_option(2, 1, ECT0));
    assert!(!has_option(3, 1, ECT0));
    assert!(!has_option(4, 15, ECT0));
    assert!(has_option(5, 1, ECT0));
    assert!(!has_option(6, 16, ECT0));
}

/// RFC 9768 section 3.2.2.4: if the first report is 0, packets are no longer ECN-capable. Our own
/// reports go on.
#[test]
fn a_first_report_of_zero_ends_ecn_capability() {
    let mut peer = accepted(config(|_| {}));
    peer.host.write(MSS);
    peer.listen();
    assert_eq!(peer.host.transmit_ecn(), ECT0);
    ack(&mut peer, 1 + MSS, NONE, option(1001, 0, 1));
    peer.host.write(MSS);
    let sent = peer.listen()[0];
    assert_eq!(
        (peer.host.transmit_ecn(), ecn_flags(&sent)),
        (Ecn::NotCapable, FIVE)
    );
    assert_eq!(counters(&sent), [1, 0, 1]);
}

/// RFC 9768 section 3.1.5: if one of two SYNs requests no accurate ECN, the server reports marks, but
/// its packets are not ECN-capable.
#[test]
fn a_syn_without_ecn_after_one_with_it() {
    let mut peer = Peer::new(config(|_| {}));
    peer.host.listen();
    let answer = peer.say_marked(peer.segment(0, 0, SYN.with(ALL), 0), ECT0);
    assert_eq!(ecn_flags(&answer[0]), AE);
    peer.wait(50);
    let answer = peer.say(peer.segment(0, 0, SYN, 0));
    assert_eq!(
        (ecn_flags(&answer[0]), answer[0].accecn().is_present()),
        (CWR, false)
    );
    peer.wait(50);
    ack(&mut peer, 1, CWR, option(1, 0, 1));
    peer.host.write(MSS);
    let sent = peer.listen()[0];
    assert_eq!(
        (peer.host.transmit_ecn(), ecn_flags(&sent)),
        (Ecn::NotCapable, FIVE)
    );
}

/// A SYN-ACK that comes again is answered with a report of its ECN field.
#[test]
fn a_second_syn_ack_is_reported() {
    let mut peer = Peer::new(config(|_| {}));
    peer.host.connect(peer.now);
    peer.listen();
    let answer = peer.segment(0, 1, SYN.with(ACK).with(CWR), 0);
    assert_eq!(ecn_flags(&peer.say(answer)[0]), CWR);
    peer.wait(100);
    assert_eq!(ecn_flags(&peer.say_marked(answer, ECT0)[0]), AE);
}

/// Pure ACKs and retransmissions are ECN-capable with accurate ECN, as in Linux.
#[test]
fn every_packet_after_the_handshake_is_ecn_capable() {
    let mut peer = accepted(config(|config| config.l4s = true));
    assert_eq!(data(&mut peer, 0, ECT1).len(), 1);
    assert_eq!(peer.host.transmit_ecn(), ECT1);
    peer.host.write(MSS);
    peer.listen();
    let (_, again) = peer.expire();
    assert_eq!((again[0].seq, peer.host.transmit_ecn()), (1, ECT1));
}

/// The ACE field counts marked pure ACKs, too.
#[test]
fn marks_of_pure_acks_count() {
    let mut peer = accepted(config(|_| {}));
    peer.say_marked(peer.segment(1, 1, ACK.with(FIVE), 0), CE);
    peer.host.write(MSS);
    let sent = peer.listen()[0];
    assert_eq!((ecn_flags(&sent), counters(&sent)), (SIX, vec![1, 0, 1]));
}
