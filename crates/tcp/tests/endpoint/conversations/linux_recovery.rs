//! Recovery under the `linux` profile with a scripted peer, and with Reno so that the numbers are
//! those of the RFCs. Segments have 1000 bytes and the handshake takes 100 ms.

use crate::peer::{ACK, MSS, Peer};
use goodqueue_tcp::cc::BbrConfig;
use goodqueue_tcp::{
    CaState, CongestionControlConfig, ENDLESS, InitialWindow, Profile, RecoveryWindow, TcpConfig,
};
use goodqueue_types::{Segment, Span, Timestamps};

fn config(window: u32) -> TcpConfig {
    let mut config = TcpConfig {
        congestion_control: CongestionControlConfig::Reno,
        mss: MSS as u32,
        initial_window: InitialWindow::Segments(window),
        timestamps: None,
        ..TcpConfig::profile(Profile::Linux)
    };
    // In the RFCs each segment leaves as soon as the window allows it.
    config.details.segmentation_offload = false;
    config
}

/// Returns the numbers of the data segments among those that left.
fn numbers(sent: &[Segment]) -> Vec<u64> {
    let data = sent.iter().filter(|segment| segment.payload > 0);
    data.map(|segment| (segment.seq - 1) / MSS).collect()
}

fn write(peer: &mut Peer, segments: u64) -> Vec<u64> {
    peer.host.write(segments * MSS);
    numbers(&peer.listen())
}

/// Sends an ACK of the first `segments` segments with SACK blocks. Returns the segments that leave.
fn ack(peer: &mut Peer, segments: u64, blocks: &[(u64, u64)], echo: u32) -> Vec<u64> {
    let ack = 1 + segments * MSS;
    let mut segment = peer.segment(1, ack, ACK, 0);
    for (start, end) in blocks {
        assert!(segment.sack.push(ack, 1 + start * MSS, 1 + end * MSS));
    }
    if echo > 0 {
        segment.timestamps = Timestamps { value: 1, echo };
    }
    numbers(&peer.say(segment))
}

fn state(peer: &Peer) -> (CaState, u64, Option<u64>) {
    let info = peer.host.info();
    let ssthresh = info.ssthresh.map(|bytes| bytes / MSS);
    (info.ca_state, info.cwnd / MSS, ssthresh)
}

/// RFC 6298 with Linux's minimum: SRTT 100 ms, RTTVAR 50 ms, RTO 100 + max(4 · 50, 200) ms.
#[test]
fn the_handshake_sets_the_timeout() {
    let peer = Peer::connected(config(10));
    let info = peer.host.info();
    let millis = |n| Some(Span::from_millis(n));
    assert_eq!((info.srtt, info.rttvar), (millis(100), millis(50)));
    assert_eq!(info.rto, Span::from_millis(300));
}

/// RFC 8985 section 6.2: one SACKed segment does not show a loss before a quarter of the shortest
/// round-trip time has passed (the kernel adds two ticks). Then the segments sent before it are
/// lost.
#[test]
fn a_quarter_of_the_round_trip_settles_reordering() {
    let mut peer = Peer::connected(config(10));
    write(&mut peer, 10);
    peer.wait(100);
    assert_eq!(ack(&mut peer, 0, &[(7, 8)], 0), [0; 0]);
    assert_eq!(state(&peer), (CaState::Disorder, 10, None));
    assert_eq!(peer.timer(), Some(25));
    let (_, sent) = peer.expire();
    assert_eq!(numbers(&sent), [0]);
    assert_eq!(peer.host.info().lost, 7);
    assert_eq!(state(&peer), (CaState::Recovery, 3, Some(5)));
}

/// Three SACKed segments are enough, as in RFC 5681 (section 6.2 step 4).
#[test]
fn three_sacked_segments_do_not_wait() {
    let mut peer = Peer::connected(config(10));
    write(&mut peer, 10);
    peer.wait(100);
    ack(&mut peer, 0, &[(2, 3)], 0);
    ack(&mut peer, 0, &[(6, 7), (2, 3)], 0);
    let sent = ack(&mut peer, 0, &[(8, 9), (6, 7), (2, 3)], 0);
    assert_eq!(sent, [0]);
    assert_eq!(peer.host.info().lost, 6);
    // A segment that arrives late increases the tolerance to 9 − 3 segments.
    ack(&mut peer, 0, &[(2, 4), (6, 7), (8, 9)], 0);
    assert_eq!(peer.host.info().reordering, 6);
    assert_eq!(peer.host.info().lost, 5);
}

/// RFC 8985 section 7: after two round trips the last segment is sent again, and the RTO starts
/// there. A single segment waits for a delayed ACK too, but not longer than the timeout.
#[test]
fn the_tail_is_probed() {
    let mut peer = Peer::connected(config(10));
    write(&mut peer, 4);
    assert_eq!(peer.timer(), Some(200));
    assert_eq!(numbers(&peer.expire().1), [3]);
    assert_eq!(state(&peer), (CaState::Open, 10, None));
    assert_eq!(peer.timer(), Some(300));
    assert_eq!(numbers(&peer.expire().1), [0]);
    assert_eq!(state(&peer), (CaState::Loss, 1, Some(5)));
    let mut alone = Peer::connected(config(10));
    write(&mut alone, 1);
    assert_eq!(alone.timer(), Some(300));
}

/// Section 7.4: a probe repaired a loss if its ACK covers everything. A duplicate ACK shows that
/// nothing was lost.
#[test]
fn a_probe_that_repaired_a_loss_halves_the_window() {
    for (duplicate, window, ssthresh) in [(false, 5, Some(5)), (true, 10, None)] {
        let mut peer = Peer::connected(config(10));
        write(&mut peer, 4);
        peer.expire();
        peer.wait(100);
        if duplicate {
            ack(&mut peer, 4, &[(3, 4)], 0);
        } else {
            ack(&mut peer, 4, &[], 0);
            write(&mut peer, 1);
            ack(&mut peer, 5, &[], 0);
        }
        let expected = (CaState::Open, window, ssthresh);
        assert_eq!(state(&peer), expected, "duplicate: {duplicate}");
    }
}

/// RFC 6937 section 3.1: of 20 segments in flight the first is lost. New data leave at ACKs 1 and
/// 2, the retransmission at 3, and then data at every second ACK.
#[test]
fn one_loss_of_rfc6937() {
    let mut peer = Peer::connected(config(20));
    peer.host.write(ENDLESS);
    assert_eq!(peer.listen().len(), 20);
    peer.wait(100);
    let sent: Vec<Vec<u64>> = (1..=11u64)
        .map(|n| ack(&mut peer, 0, &[(1, n + 1)], 0))
        .collect();
    let expected: [&[u64]; 11] = [
        &[20],
        &[21],
        &[0],
        &[],
        &[22],
        &[],
        &[23],
        &[],
        &[24],
        &[],
        &[25],
    ];
    assert_eq!(sent, expected);
}

/// RFC 6937 section 3.1: segments 0 to 14 are lost. The rows are the ACKs of 15 to 19.
#[test]
fn fifteen_losses_of_rfc6937() {
    let run = |rule| {
        let mut config = config(20);
        config.recovery_window = rule;
        let mut peer = Peer::connected(config);
        peer.host.write(ENDLESS);
        peer.listen();
        peer.wait(100);
        let count = |n: u64| {
            (
                ack(&mut peer, 0, &[(15, n + 1)], 0),
                peer.host.info().pipe / MSS,
            )
        };
        (15..20).map(count).collect::<Vec<_>>()
    };
    // The pairs are the segments that leave and the pipe after them.
    let slow_start = run(RecoveryWindow::PrrSsrb);
    assert_eq!(slow_start[0], (vec![20], 20));
    assert_eq!(slow_start[1], (vec![21], 20));
    assert_eq!(slow_start[2], (vec![0, 1], 6));
    assert_eq!(slow_start[3], (vec![2, 3], 7));
    assert_eq!(slow_start[4], (vec![4, 5], 8));
    for rule in [RecoveryWindow::PrrCrb, RecoveryWindow::Prr] {
        let conserved = run(rule);
        assert_eq!(conserved[2], (vec![0], 5));
        assert_eq!(conserved[3], (vec![1], 5));
        assert_eq!(conserved[4], (vec![2], 5));
    }
    let at_once = run(RecoveryWindow::Ssthresh);
    assert_eq!(at_once[2], (vec![0, 1, 2, 3, 4, 5], 10));
    assert_eq!((&at_once[3], &at_once[4]), (&(vec![6], 10), &(vec![7], 10)));
}

/// RFC 4015: after a timeout, an ACK of a segment sent before the retransmission shows that the
/// segment was late, and the window is restored.
#[test]
fn timestamps_undo_a_timeout() {
    for (echo, expected) in [(101, CaState::Open), (602, CaState::Loss)] {
        let mut with_timestamps = config(10);
        with_timestamps.timestamps = Some(Span::from_millis(1));
        let mut peer = Peer::connected(with_timestamps);
        let sent = write(&mut peer, 10);
        assert_eq!(sent.len(), 10);
        // The probe expires first, then the retransmission timer.
        peer.expire();
        assert_eq!(numbers(&peer.expire().1), [0]);
        assert_eq!(state(&peer), (CaState::Loss, 1, Some(5)));
        peer.wait(50);
        ack(&mut peer, 1, &[], echo);
        assert_eq!(state(&peer).0, expected);
        assert_eq!(state(&peer).1 >= 10, expected == CaState::Open);
    }
}

/// RFC 5682 section 2.1: new data follow the first ACK. If the second ACK covers data that were not
/// sent again, the timeout was spurious. If duplicates come instead, the losses are real.
#[test]
fn new_data_show_whether_a_timeout_was_spurious() {
    for spurious in [true, false] {
        let mut peer = Peer::connected(config(10));
        peer.host.write(ENDLESS);
        peer.listen();
        peer.wait(199);
        // The probe timer expires first. The probe is segment 10, which is new data.
        let (_, probe) = peer.expire();
        assert_eq!(numbers(&probe), [10]);
        assert_eq!(numbers(&peer.expire().1), [0]);
        peer.wait(100);
        assert_eq!(ack(&mut peer, 1, &[], 0), [11, 12], "step 2b");
        if spurious {
            ack(&mut peer, 2, &[], 0);
            assert_eq!(state(&peer).0, CaState::Open, "step 3b");
            assert!(state(&peer).1 >= 10);
        } else {
            ack(&mut peer, 1, &[(11, 12)], 0);
            assert_eq!(state(&peer).0, CaState::Loss, "step 3a");
            assert!(peer.host.info().retrans > 0);
        }
    }
}

/// RFC 3708: DSACKs of every retransmission undo the reduction.
#[test]
fn dsacks_undo_a_recovery() {
    let mut peer = Peer::connected(config(10));
    write(&mut peer, 10);
    peer.wait(100);
    assert_eq!(ack(&mut peer, 0, &[(1, 4)], 0), [0]);
    assert_eq!(state(&peer).0, CaState::Recovery);
    // The original was late, and everything is acknowledged.
    ack(&mut peer, 10, &[], 0);
    assert!(state(&peer).1 <= 6);
    assert_eq!(state(&peer).2, Some(5));
    // The retransmission has arrived too.
    ack(&mut peer, 10, &[(0, 1)], 0);
    assert_eq!(state(&peer), (CaState::Open, 10, None));
}

/// 20 segments in 100 ms at twice the pace: the first ten leave unpaced, then bursts leave 10 ms
/// apart.
#[test]
fn the_window_leaves_at_a_pace() {
    let mut paced = config(20);
    paced.pacing = true;
    let mut peer = Peer::connected(paced);
    peer.host.write(20 * MSS);
    let at_once = peer.listen().len();
    let mut total = at_once;
    let start = peer.now;
    while total < 20 {
        let (_, sent) = peer.expire();
        assert!((1..=2).contains(&sent.len()), "{}", sent.len());
        total += sent.len();
    }
    let millis = (peer.now - start).0 / Span::from_millis(1).0;
    assert!((10..=13).contains(&at_once), "{at_once}");
    // Eight more segments leave at 400 per second.
    assert!((15..=20).contains(&millis), "{millis}");
}

/// Linux's BBR: the first round of recovery sends as much as is delivered (in flight and newly
/// delivered, here 6 and 1), and its end restores the window.
#[test]
fn bbr_conserves_packets_for_a_round() {
    let mut bbr = config(10);
    bbr.congestion_control = CongestionControlConfig::Bbr(BbrConfig::default());
    let mut peer = Peer::connected(bbr);
    write(&mut peer, 10);
    peer.wait(100);
    ack(&mut peer, 0, &[(1, 2)], 0);
    ack(&mut peer, 0, &[(1, 3)], 0);
    let before = state(&peer).1;
    assert!(before >= 10, "{before}");
    ack(&mut peer, 0, &[(1, 4)], 0);
    assert_eq!(state(&peer).0, CaState::Recovery);
    assert_eq!(state(&peer).1, 7);
    peer.wait(100);
    ack(&mut peer, 10, &[], 0);
    ack(&mut peer, 10, &[], 0);
    assert_eq!(state(&peer).0, CaState::Open);
    assert!(state(&peer).1 >= before, "{}", state(&peer).1);
}
