//! Explicit congestion notification as packet conversations (RFC 3168, RFC 8257, RFC 9768).

use crate::common::simple;
use crate::peer::{ACK, MSS, Peer, SYN, config};
use goodqueue_tcp::cc::DctcpConfig;
use goodqueue_tcp::{
    CongestionControlConfig, ENDLESS, EcnMode, InitialSsthresh, InitialWindow, LossDetection,
    Profile, TcpConfig, TcpEndpoint,
};
use goodqueue_types::{Ecn, Segment, SegmentFlags, Span, Time};

const ECE: SegmentFlags = SegmentFlags::ECE;
const CWR: SegmentFlags = SegmentFlags::CWR;
const AE: SegmentFlags = SegmentFlags::AE;
const CE: Ecn = Ecn::Experienced;
const ECT0: Ecn = Ecn::Capable0;

fn with(ecn: EcnMode) -> TcpConfig {
    config(|config| config.ecn = ecn)
}

/// Returns the ECN flags of a segment.
fn ecn_flags(segment: &Segment) -> SegmentFlags {
    SegmentFlags(segment.flags.0 & AE.with(CWR).with(ECE).0)
}

/// Returns a connection that the endpoint opened, whose SYN was answered with these flags besides
/// SYN and ACK.
fn connected(ecn: EcnMode, answer: SegmentFlags) -> Peer {
    connected_as(with(ecn), answer)
}

/// Returns such a connection of an endpoint with this configuration.
fn connected_as(config: TcpConfig, answer: SegmentFlags) -> Peer {
    let ecn = config.ecn;
    let mut peer = Peer::new(config);
    peer.host.connect(peer.now);
    let syn = peer.listen();
    let asks = match ecn {
        EcnMode::Off => SegmentFlags::default(),
        EcnMode::Rfc3168 | EcnMode::Dctcp => CWR.with(ECE),
        EcnMode::AccEcn => AE.with(CWR).with(ECE),
    };
    assert_eq!(syn[0].flags, SYN.with(asks));
    assert_eq!(peer.host.transmit_ecn(), Ecn::NotCapable);
    peer.wait(100);
    peer.say(peer.segment(0, 1, SYN.with(ACK).with(answer), 0));
    peer
}

/// RFC 9331 section 4.1: the L4S identifier is ECT(1), in packets that would otherwise carry
/// ECT(0).
#[test]
fn l4s_data_carry_ect_1() {
    let mut peer = Peer::new(config(|config| {
        config.ecn = EcnMode::Dctcp;
        config.l4s = true;
    }));
    peer.host.connect(peer.now);
    peer.listen();
    peer.wait(100);
    peer.say(peer.segment(0, 1, SYN.with(ACK).with(ECE), 0));
    assert_eq!(sends(&mut peer).1, Ecn::Capable1);
    let (_, again) = peer.expire();
    assert_eq!((again[0].seq, again[0].payload), (1, MSS as u32));
    assert_eq!(peer.host.transmit_ecn(), Ecn::NotCapable);
}

/// RFC 9331 section 4.2 requires a count of marks for ECT(1). If the peer has classic feedback only,
/// data carry ECT(0), and if it has none, they are not ECN-capable.
#[test]
fn l4s_without_counts_falls_back() {
    let answers = [
        (CWR, Ecn::Capable1),
        (ECE, ECT0),
        (SegmentFlags::default(), Ecn::NotCapable),
    ];
    for (answer, expected) in answers {
        let mut peer = connected_as(TcpConfig::profile(Profile::Prague), answer);
        assert_eq!(sends(&mut peer).1, expected);
    }
}

/// Returns a connection that the peer opened with these flags besides SYN, and the ECN flags of the
/// SYN-ACK.
fn accepted(ecn: EcnMode, asks: SegmentFlags, mark: Ecn) -> (Peer, SegmentFlags) {
    let mut peer = Peer::new(with(ecn));
    peer.host.listen();
    let answer = peer.say_marked(peer.segment(0, 0, SYN.with(asks), 0), mark);
    let flags = ecn_flags(&answer[0]);
    peer.wait(100);
    peer.say(peer.segment(1, 1, ACK.with(if flags == ECE { ACK } else { CWR }), 0));
    (peer, flags)
}

/// Sends a segment and returns it with the ECN field of its packet.
fn sends(peer: &mut Peer) -> (Segment, Ecn) {
    peer.host.write(MSS);
    let segment = peer.host.poll_transmit(peer.now).expect("data");
    (segment, peer.host.transmit_ecn())
}

/// Delivers a data segment in a packet with this ECN field. Returns (acknowledgement, ECN flags) of
/// each answer.
fn data(peer: &mut Peer, segment: u64, flags: SegmentFlags, mark: Ecn) -> Vec<(u64, SegmentFlags)> {
    let segment = peer.segment(1 + segment * MSS, 1, ACK.with(flags), MSS as u32);
    let answers = peer.say_marked(segment, mark);
    answers
        .iter()
        .map(|answer| ((answer.ack - 1) / MSS, ecn_flags(answer)))
        .collect()
}

/// RFC 3168 section 6.1.1 and RFC 9768 table 2 define the results of the negotiation.
#[test]
fn negotiation() {
    let none = SegmentFlags::default();
    let is_on = |mut peer: Peer| sends(&mut peer).1 == ECT0;
    let (classic, accurate) = (CWR.with(ECE), AE.with(CWR).with(ECE));
    for ecn in [EcnMode::Rfc3168, EcnMode::Dctcp] {
        assert!(is_on(connected(ecn, ECE)));
        for refusal in [none, CWR, classic] {
            assert!(!is_on(connected(ecn, refusal)));
        }
        for (asks, answer) in [(classic, ECE), (accurate, ECE), (none, none), (ECE, none)] {
            let (peer, flags) = accepted(ecn, asks, Ecn::NotCapable);
            assert_eq!((is_on(peer), flags), (answer == ECE, answer));
        }
    }
    for answer in [CWR, ECE, AE.with(ECE)] {
        assert!(is_on(connected(EcnMode::AccEcn, answer)));
    }
    // These answers report that the ECN field of our SYN, which was not ECN-capable, has changed.
    for altered in [CWR.with(ECE), AE, AE.with(CWR)] {
        assert!(!is_on(connected(EcnMode::AccEcn, altered)));
    }
    for refusal in [none, accurate] {
        assert!(!is_on(connected(EcnMode::AccEcn, refusal)));
    }
    let accepts = |asks, mark| accepted(EcnMode::AccEcn, asks, mark).1;
    assert_eq!(accepts(accurate, Ecn::NotCapable), CWR);
    assert_eq!(accepts(accurate, Ecn::Capable1), CWR.with(ECE));
    assert_eq!(accepts(accurate, ECT0), AE);
    assert_eq!(accepts(accurate, CE), AE.with(CWR));
    assert_eq!(accepts(classic, CE), ECE);
    assert_eq!(accepts(none, ECT0), none);
    // RFC 9768 section 3.1.2: flags of later versions of the protocol request accurate ECN, too.
    assert_eq!(accepts(ECE, ECT0), AE);
    assert!(!is_on(connected(EcnMode::Off, none)));
}

/// RFC 3168 section 6.1.1.1: a SYN that is sent again does not request ECN.
#[test]
fn a_syn_sent_again_does_not_ask() {
    let mut peer = Peer::new(with(EcnMode::Rfc3168));
    peer.host.connect(peer.now);
    peer.listen();
    assert_eq!(peer.expire().1[0].flags, SYN);
}

/// RFC 3168 section 6.1.4 and 6.1.5: pure ACKs and retransmissions are not ECN-capable.
#[test]
fn only_new_data_segments_are_ecn_capable() {
    let mut peer = connected(EcnMode::Rfc3168, ECE);
    let (segment, mark) = sends(&mut peer);
    assert_eq!((segment.seq, mark), (1, ECT0));
    assert_eq!(data(&mut peer, 0, SegmentFlags::default(), ECT0), []);
    let answers = data(&mut peer, 1, SegmentFlags::default(), ECT0);
    assert_eq!(answers, [(2, SegmentFlags::default())]);
    assert_eq!(peer.host.transmit_ecn(), Ecn::NotCapable);
    let (_, again) = peer.expire();
    assert_eq!((again[0].seq, again[0].payload), (1, MSS as u32));
    assert_eq!(peer.host.transmit_ecn(), Ecn::NotCapable);
}

/// RFC 3168 section 6.1.3: ACKs have ECE from the mark until CWR. A mark in the packet with CWR
/// starts again.
#[test]
fn rfc3168_receiver() {
    let none = SegmentFlags::default();
    let (mut peer, _) = accepted(EcnMode::Rfc3168, CWR.with(ECE), Ecn::NotCapable);
    assert_eq!(data(&mut peer, 0, none, ECT0), []);
    assert_eq!(data(&mut peer, 1, none, CE), [(2, ECE)]);
    assert_eq!(data(&mut peer, 2, none, ECT0), []);
    assert_eq!(
        data(&mut peer, 3, none, ECT0),
        [(4, ECE)],
        "the echo goes on"
    );
    // Our own data carry the echo too.
    assert_eq!(ecn_flags(&sends(&mut peer).0), ECE);
    assert_eq!(
        data(&mut peer, 4, CWR, ECT0),
        [(5, none)],
        "the sender has reduced"
    );
    assert_eq!(data(&mut peer, 5, CWR, CE), [(6, ECE)]);
    assert_eq!(data(&mut peer, 6, CWR, CE), [(7, ECE)]);
    assert_eq!(peer.host.stats().marked_packets, 3);
}

/// RFC 3168 section 6.1.2: there is one reduction per window, CWR is in the first new data after
/// it, and the ACK with the echo does not grow the window.
#[test]
fn rfc3168_sender() {
    let mut peer = connected(EcnMode::Rfc3168, ECE);
    peer.host.write(ENDLESS);
    assert_eq!(peer.listen().len(), 10);
    let ack = |peer: &mut Peer, segments: u64, flags| {
        peer.say(peer.segment(1, 1 + segments * MSS, ACK.with(flags), 0))
    };
    // FlightSize is 10, so the window halves to five, and nothing may leave until five are in
    // flight.
    assert_eq!(ack(&mut peer, 1, ECE).len(), 0);
    let (cwnd, ssthresh) = (peer.host.info().cwnd, peer.host.info().ssthresh);
    assert_eq!((cwnd, ssthresh), (5 * MSS, Some(5 * MSS)));
    assert_eq!(peer.host.stats().retransmitted_segments, 0);
    // These are more echoes of the same window.
    for acked in 2..=5 {
        assert_eq!(ack(&mut peer, acked, ECE).len(), 0);
    }
    let sent = ack(&mut peer, 6, ECE);
    assert_eq!((sent.len(), ecn_flags(&sent[0])), (1, CWR));
    assert_eq!(peer.host.transmit_ecn(), ECT0);
    let sent = ack(&mut peer, 7, ECE);
    assert_eq!(
        (sent.len(), ecn_flags(&sent[0])),
        (1, SegmentFlags::default())
    );
    assert_eq!(ack(&mut peer, 10, ECE).len(), 3);
    assert_eq!(
        (peer.host.info().cwnd, peer.host.stats().ecn_reductions),
        (5 * MSS, 1)
    );
    // This is the first ACK of data that left after the reduction, so its mark is of the new
    // window.
    ack(&mut peer, 11, ECE);
    assert_eq!(peer.host.info().cwnd, 2 * MSS + MSS / 2);
    assert_eq!(peer.host.stats().ecn_reductions, 2);
    // Without an echo the window grows.
    for acked in 12..=15 {
        ack(&mut peer, acked, SegmentFlags::default());
    }
    assert!(peer.host.info().cwnd > 2 * MSS + MSS / 2);
}

/// Returns ssthresh after an echo in slow start, and after one in the congestion avoidance that
/// follows.
fn after_two_echoes(loss_detection: LossDetection, beta_ecn: Option<f64>) -> [u64; 2] {
    let config = TcpConfig {
        loss_detection,
        beta_ecn,
        initial_window: InitialWindow::Segments(40),
        ..with(EcnMode::Rfc3168)
    };
    let mut peer = connected_as(config, ECE);
    peer.host.write(ENDLESS);
    peer.listen();
    let mut echo = |segments: u64| {
        peer.say(peer.segment(1, 1 + segments * MSS, ACK.with(ECE), 0));
        peer.host.info().ssthresh.expect("there was an echo")
    };
    let first = echo(1);
    (2..=40).for_each(|segments| assert_eq!(echo(segments), first));
    [first, echo(41)]
}

/// RFC 8511 section 3.1: only in congestion avoidance an echo leaves a share of 0.8, not of a half.
#[test]
fn an_echo_in_congestion_avoidance_leaves_the_share_of_rfc_8511() {
    assert_eq!(
        after_two_echoes(LossDetection::DuplicateAcks, Some(0.8)),
        [20 * MSS, 16 * MSS]
    );
    for loss_detection in [LossDetection::DuplicateAcks, LossDetection::Rack] {
        let [first, second] = after_two_echoes(loss_detection, None);
        let [abe_first, abe_second] = after_two_echoes(loss_detection, Some(0.8));
        assert_eq!(abe_first, first, "{loss_detection:?}");
        assert_eq!(5 * abe_second, 8 * second, "{loss_detection:?}");
    }
}

/// RFC 3168 section 6.1.2: a loss lowers the window too. The echo of that window does not lower it
/// again.
#[test]
fn a_loss_and_an_echo_are_one_reduction() {
    let mut peer = connected(EcnMode::Rfc3168, ECE);
    peer.host.write(ENDLESS);
    peer.listen();
    for last in 2..5 {
        let mut duplicate = peer.segment(1, 1, ACK, 0);
        duplicate.sack.push(1, 1 + MSS, 1 + last * MSS);
        peer.say(duplicate);
    }
    assert_eq!(peer.host.info().cwnd, 5 * MSS);
    peer.say(peer.segment(1, 1 + 10 * MSS, ACK.with(ECE), 0));
    assert_eq!(
        (peer.host.info().cwnd, peer.host.stats().ecn_reductions),
        (5 * MSS, 0)
    );
}

/// RFC 8257 section 3.3: the share of marks includes the window that an ACK ends before that ACK
/// reduces the window. With g = 1 the share is that of the last window alone.
#[test]
fn a_reduction_uses_the_marks_of_the_window_that_its_ack_ends() {
    let mut peer = Peer::new(config(|config| {
        config.ecn = EcnMode::Dctcp;
        config.congestion_control = CongestionControlConfig::Dctcp(DctcpConfig {
            g: 1.0,
            initial_alpha: 0.0,
        });
        config.initial_ssthresh = InitialSsthresh::Bytes(1000);
        config.initial_window = InitialWindow::Segments(10);
    }));
    peer.host.connect(peer.now);
    peer.listen();
    peer.wait(100);
    peer.say(peer.segment(0, 1, SYN.with(ACK).with(ECE), 0));
    peer.host.write(ENDLESS);
    peer.listen();
    peer.say(peer.segment(1, 1 + MSS, ACK, 0));
    // The window of data that ends with the next ACK has nine segments without marks. Then one of
    // two is marked.
    peer.say(peer.segment(1, 1 + 10 * MSS, ACK, 0));
    let before = peer.host.info().cwnd;
    peer.say(peer.segment(1, 1 + 12 * MSS, ACK.with(ECE), 0));
    let expected = before - before * 2 / 11 / 2;
    assert!(peer.host.info().cwnd.abs_diff(expected) <= 1, "{before}");
}

/// Linux 6.18 (`tcp_fastretrans_alert`): the ACK that ends a reduction begins the next one if it
/// carries an echo. The window does not grow in between.
#[test]
fn an_echo_in_the_ack_that_ends_a_reduction_begins_the_next() {
    let mut linux = TcpConfig::profile(Profile::Linux);
    linux.mss = MSS as u32;
    linux.timestamps = None;
    linux.ecn = EcnMode::Dctcp;
    linux.congestion_control = CongestionControlConfig::Dctcp(DctcpConfig::default());
    let mut peer = Peer::new(linux);
    peer.host.connect(peer.now);
    peer.listen();
    peer.wait(100);
    peer.say(peer.segment(0, 1, SYN.with(ACK).with(ECE), 0));
    peer.host.write(ENDLESS);
    peer.listen();
    peer.wait(100);
    peer.say(peer.segment(1, 1 + MSS, ACK.with(ECE), 0));
    assert_eq!(peer.host.stats().ecn_reductions, 1);
    for acked in 2..=10 {
        peer.say(peer.segment(1, 1 + acked * MSS, ACK.with(ECE), 0));
    }
    assert_eq!(peer.host.stats().ecn_reductions, 1);
    peer.say(peer.segment(1, 1 + 11 * MSS, ACK.with(ECE), 0));
    assert_eq!(peer.host.stats().ecn_reductions, 2);
}

/// RFC 8257 section 3.2, figure 1: one ACK is sent for two packets of a kind. At a change of kind,
/// one is sent for the earlier packets, and one at once.
#[test]
fn dctcp_receiver() {
    let none = SegmentFlags::default();
    let (mut peer, _) = accepted(EcnMode::Dctcp, CWR.with(ECE), Ecn::NotCapable);
    assert_eq!(data(&mut peer, 0, none, ECT0), []);
    assert_eq!(data(&mut peer, 1, none, ECT0), [(2, none)]);
    assert_eq!(data(&mut peer, 2, none, ECT0), []);
    assert_eq!(data(&mut peer, 3, none, CE), [(3, none), (4, ECE)]);
    assert_eq!(data(&mut peer, 4, none, CE), []);
    assert_eq!(data(&mut peer, 5, CWR, CE), [(6, ECE)], "CWR means nothing");
    assert_eq!(data(&mut peer, 6, none, ECT0), [(7, none)]);
    assert_eq!(
        data(&mut peer, 7, none, CE),
        [(8, ECE)],
        "nothing was waiting"
    );
}

/// RFC 9768 section 3.2.2: the counter begins at 5 and wraps after eight marks. A change of the ECN
/// field and two marks require an ACK. The handshake's ACK reports the ECN field of the SYN-ACK.
#[test]
fn accurate_receiver() {
    let (mut peer, _) = accepted(EcnMode::AccEcn, AE.with(CWR).with(ECE), Ecn::NotCapable);
    let none = SegmentFlags::default();
    let five = AE.with(ECE);
    assert_eq!(data(&mut peer, 0, none, ECT0), [(1, five)]);
    assert_eq!(data(&mut peer, 1, none, ECT0), []);
    assert_eq!(data(&mut peer, 2, none, ECT0), [(3, five)]);
    assert_eq!(data(&mut peer, 3, none, CE), [(4, AE.with(CWR))]);
    assert_eq!(data(&mut peer, 4, none, CE), []);
    assert_eq!(data(&mut peer, 5, none, CE), [(6, none)]);
    assert_eq!(data(&mut peer, 6, none, ECT0), [(7, none)]);

    let mut peer = Peer::new(with(EcnMode::AccEcn));
    peer.host.connect(peer.now);
    peer.listen();
    let ack = peer.say(peer.segment(0, 1, SYN.with(ACK).with(CWR), 0));
    assert_eq!(ecn_flags(&ack[0]), CWR, "the SYN-ACK was not ECN-capable");
    assert_eq!(ecn_flags(&sends(&mut peer).0), five);
}

/// Accurate ECN has one reduction per window and no CWR.
#[test]
fn accurate_sender() {
    let mut peer = connected(EcnMode::AccEcn, CWR);
    peer.host.write(ENDLESS);
    peer.listen();
    let six = AE.with(CWR);
    for acked in 1..=4 {
        assert_eq!(
            peer.say(peer.segment(1, 1 + acked * MSS, ACK.with(six), 0))
                .len(),
            0
        );
    }
    assert_eq!(peer.host.stats().ecn_reductions, 1);
    let sent = peer.say(peer.segment(1, 1 + 6 * MSS, ACK.with(AE.with(CWR).with(ECE)), 0));
    assert_eq!(ecn_flags(&sent[0]), AE.with(ECE));
    assert_eq!(peer.host.stats().ecn_reductions, 1);
}

/// Every kind of feedback keeps the window small without a single retransmission at a bottleneck
/// that marks instead of dropping.
#[test]
fn marks_replace_losses() {
    for ecn in [EcnMode::Rfc3168, EcnMode::Dctcp, EcnMode::AccEcn] {
        let config = config(|config| {
            config.ecn = ecn;
            config.initial_window = InitialWindow::Segments(2);
        });
        let mut network = simple(&config, 10_000_000, Span::from_millis(20), 1000);
        network.hosts[0].connect(Time::ZERO);
        network.hosts[0].write(ENDLESS);
        let mut packets = 0;
        // Every 500th packet with data is marked.
        network.mark = Box::new(move |segment| {
            packets += u32::from(segment.payload > 0);
            segment.payload > 0 && packets % 500 == 0
        });
        network.run_until(Time::ZERO + Span::from_secs(30));
        let sent = |host: &TcpEndpoint| *host.stats();
        let (sender, receiver) = (sent(&network.hosts[0]), sent(&network.hosts[1]));
        assert_eq!(
            (sender.retransmitted_segments, sender.timeouts),
            (0, 0),
            "{ecn:?}"
        );
        assert_eq!(receiver.duplicate_payload_bytes, 0);
        // Each mark is a reduction, because marks are further apart than a window.
        assert!(receiver.marked_packets > 10);
        assert!(
            receiver.marked_packets - sender.ecn_reductions <= 1,
            "{ecn:?}"
        );
    }
}
