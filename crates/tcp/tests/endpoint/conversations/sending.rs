//! TCP as packet conversations: a real endpoint and a scripted peer. The MSS is 1000 throughout.

use std::sync::Arc;

use goodqueue_tcp::{
    DecreaseBasis, ENDLESS, InitialWindow, Phase, Profile, Recovery, TcpConfig, TcpEndpoint,
};
use goodqueue_types::{SackBlocks, Segment, SegmentFlags, Span, Time};

const MSS: u64 = 1000;

/// The endpoint under test and the clock.
struct Talk {
    host: TcpEndpoint,
    now: Time,
    window: u32,
}

fn config(recovery: Recovery, initial_window: u32) -> TcpConfig {
    let mut config = TcpConfig::profile(Profile::Rfc);
    config.recovery = recovery;
    config.mss = MSS as u32;
    config.initial_window = InitialWindow::Segments(initial_window);
    config
}

fn segment(seq: u64, ack: u64, window: u32, flags: SegmentFlags) -> Segment {
    Segment {
        seq,
        ack,
        window,
        payload: 0,
        header: 40,
        flags,
        sack: SackBlocks::default(),
        ..Segment::default()
    }
}

impl Talk {
    /// Returns a connection opened at 0 s and answered after 100 ms.
    fn open(config: TcpConfig) -> Self {
        let mut talk = Self::unopened(config);
        talk.host.connect(talk.now);
        assert_eq!(talk.poll_all()[0].flags, SegmentFlags::SYN);
        talk.wait(100);
        talk.answer_syn();
        talk
    }

    fn unopened(config: TcpConfig) -> Self {
        Self {
            host: TcpEndpoint::new(Arc::new(config)),
            now: Time::ZERO,
            window: 10_000_000,
        }
    }

    fn answer_syn(&mut self) {
        let flags = SegmentFlags::SYN.with(SegmentFlags::ACK);
        self.host
            .handle_segment(self.now, &segment(0, 1, self.window, flags));
        // The test uses the SYN-ACK's window unscaled.
        let ack = self.poll_all();
        assert_eq!((ack[0].payload, ack[0].ack, ack[0].seq), (0, 1, 1));
    }

    fn wait(&mut self, millis: u64) {
        self.now += Span::from_millis(millis);
    }

    fn poll_all(&mut self) -> Vec<Segment> {
        std::iter::from_fn(|| self.host.poll_transmit(self.now)).collect()
    }

    /// Returns the segments that leave now, by index from 0.
    fn sent(&mut self) -> Vec<u64> {
        let data = self.poll_all();
        data.iter()
            .filter(|s| s.payload > 0)
            .map(|s| (s.seq - 1) / MSS)
            .collect()
    }

    /// Sends an ACK of `segments` segments, with SACK blocks. Returns the segments that leave.
    fn ack(&mut self, segments: u64, blocks: &[(u64, u64)]) -> Vec<u64> {
        let ack = 1 + segments * MSS;
        let mut incoming = segment(1, ack, self.window, SegmentFlags::ACK);
        for &(start, end) in blocks {
            assert!(incoming.sack.push(ack, 1 + start * MSS, 1 + end * MSS));
        }
        self.host.handle_segment(self.now, &incoming);
        self.sent()
    }

    /// Lets the next timer expire and returns the time until then in milliseconds.
    fn next_timer(&mut self) -> u64 {
        let deadline = self.host.poll_timeout().expect("a timer");
        let waited = deadline - self.now;
        self.now = deadline;
        self.host.handle_timeout(deadline);
        waited.0 / Span::from_millis(1).0
    }

    fn cwnd(&self) -> u64 {
        self.host.info().cwnd
    }

    fn pipe(&self) -> u64 {
        self.host.info().pipe / MSS
    }
}

fn range(from: u64, to: u64) -> Vec<u64> {
    (from..to).collect()
}

/// Slow start from ten segments with an ACK for each sends two new segments per ACK and takes cwnd
/// from 10 to 20.
#[test]
fn slow_start_one_ack_per_segment() {
    let mut talk = Talk::open(config(Recovery::Sack, 10));
    talk.host.write(ENDLESS);
    assert_eq!(talk.sent(), range(0, 10));
    talk.wait(100);
    for acked in 1..=10 {
        assert_eq!(talk.ack(acked, &[]), [8 + 2 * acked, 9 + 2 * acked]);
    }
    assert_eq!(talk.cwnd(), 20 * MSS);
}

/// An ACK for each two segments grows the window as fast, by byte counting (RFC 3465, L = 2).
#[test]
fn slow_start_one_ack_per_two_segments() {
    let mut talk = Talk::open(config(Recovery::Sack, 10));
    talk.host.write(ENDLESS);
    talk.sent();
    talk.wait(100);
    for acked in [2, 4, 6, 8, 10] {
        assert_eq!(talk.ack(acked, &[]).len(), 4);
    }
    assert_eq!(talk.cwnd(), 20 * MSS);
}

/// The window grows to twice the part used: twenty after ten segments, eighteen after nine.
#[test]
fn an_application_that_sends_little_does_not_earn_a_large_window() {
    for (sent, cwnd) in [(10, 20), (9, 18)] {
        let mut talk = Talk::open(config(Recovery::Sack, 10));
        talk.host.write(sent * MSS);
        talk.sent();
        for acked in 1..=sent {
            talk.ack(acked, &[]);
        }
        assert_eq!(talk.cwnd(), cwnd * MSS);
    }
}

/// RFC 3042: each of the first two duplicate ACKs sends one new segment. A new ACK removes the
/// extra room.
#[test]
fn limited_transmit() {
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        let mut talk = Talk::open(config(recovery, 4));
        talk.host.write(ENDLESS);
        assert_eq!(talk.sent(), range(0, 4));
        let block = |n| {
            if recovery == Recovery::Sack {
                vec![(1, n)]
            } else {
                vec![]
            }
        };
        assert_eq!(talk.ack(0, &block(2)), [4]);
        assert_eq!(talk.ack(0, &block(3)), [5]);
        assert_eq!(talk.cwnd(), 4 * MSS);
        // Segments were only reordered: 0..3 are acknowledged, 4 and 5 are in flight and cwnd is 6,
        // so four more leave.
        assert_eq!(talk.ack(4, &[]), range(6, 10));
        assert_eq!(talk.host.info().phase, Phase::Open);
        // Without limited transmit nothing leaves.
        let mut silent = config(recovery, 4);
        silent.limited_transmit = false;
        let mut talk = Talk::open(silent);
        talk.host.write(ENDLESS);
        talk.sent();
        assert_eq!(talk.ack(0, &block(2)), []);
        assert_eq!(talk.ack(0, &block(3)), []);
    }
}

/// RFC 6937 section 3.1, the column of RFC 6675: of segments 0..19 the first fifteen are lost. The
/// sender sends N, N, 7 R, R, R with cwnd 20 20 11 11 11 and pipe 19 19 4 10 10.
#[test]
fn rfc6675_with_fifteen_lost() {
    let mut talk = talk_of_twenty();
    let mut sent = Vec::new();
    let mut cwnd = Vec::new();
    for sacked in 15..20 {
        sent.push(talk.ack(0, &[(15, sacked + 1)]));
        cwnd.push(talk.cwnd() / MSS);
    }
    assert_eq!(sent, [vec![20], vec![21], range(0, 7), vec![7], vec![8]]);
    assert_eq!(cwnd, [20, 20, 11, 11, 11]);
    // After each ACK the window is full again.
    assert_eq!(talk.pipe(), 11);
}

/// The same table with only segment 0 lost: pipe before sending is 19 19 18 18 17 16 … 11 10 10 ….
/// New data leave at ACKs 1, 2 and 12..19, and the retransmission at 3.
#[test]
fn rfc6675_with_one_lost() {
    let mut talk = talk_of_twenty();
    let mut sent = Vec::new();
    for sacked in 1..20 {
        sent.push(talk.ack(0, &[(1, sacked + 1)]));
        let pipe = if sacked < 3 {
            20
        } else {
            (22 - sacked).max(11)
        };
        assert_eq!(talk.pipe(), pipe, "ACK {sacked}");
    }
    let mut expected = vec![vec![20], vec![21], vec![0]];
    expected.extend((4..12).map(|_| vec![]));
    expected.extend((12..20).map(|ack| vec![10 + ack]));
    assert_eq!(sent, expected);
}

fn talk_of_twenty() -> Talk {
    let mut config = config(Recovery::Sack, 20);
    // The RFC's example counts the two segments of limited transmit.
    config.details.decrease_basis = DecreaseBasis::Outstanding;
    let mut talk = Talk::open(config);
    talk.host.write(ENDLESS);
    assert_eq!(talk.sent(), range(0, 20));
    talk
}

/// RFC 5681 section 3.2: the segments of limited transmit are not part of FlightSize.
#[test]
fn limited_transmit_is_not_halved() {
    let mut talk = Talk::open(config(Recovery::Sack, 20));
    talk.host.write(ENDLESS);
    talk.sent();
    for sacked in 2..5 {
        talk.ack(0, &[(1, sacked)]);
    }
    assert_eq!(talk.host.info().ssthresh, Some(10 * MSS));
}

/// RFC 6675 section 5: `NextSeg` takes lost holes first, then new data, then holes that are not
/// lost.
#[test]
fn next_segment_rules() {
    let mut config = config(Recovery::Sack, 10);
    config.receive_window = 1 << 20;
    let mut talk = Talk::open(config);
    talk.host.write(11 * MSS);
    assert_eq!(talk.sent(), range(0, 10));
    // Segment 0 is lost. Segment 4 is missing, but too little is SACKed above it to count as lost.
    assert_eq!(
        talk.ack(0, &[(1, 3)]),
        [10],
        "two dups' worth of room, one segment left"
    );
    assert_eq!(talk.ack(0, &[(1, 4)]), [0]);
    // cwnd is 5 segments, and 4..10 and the retransmission are in flight.
    assert_eq!(talk.ack(0, &[(5, 7), (1, 4)]), []);
    assert_eq!(
        talk.ack(0, &[(5, 8), (1, 4)]),
        [4],
        "rule 1: three segments above 4"
    );
    assert_eq!(
        talk.ack(0, &[(9, 10), (5, 8), (1, 4)]),
        [8],
        "rule 3: nothing new is left"
    );
    // Rule 4 sends the tail, once, after the cumulative ACK moved.
    assert_eq!(talk.ack(4, &[(9, 10), (5, 8)]), [10], "rescue");
    assert_eq!(talk.ack(5, &[(9, 10)]), []);
    assert_eq!(talk.host.info().phase, Phase::FastRecovery);
    assert_eq!(talk.ack(11, &[]), []);
    assert_eq!(talk.host.info().phase, Phase::Open);
}

/// RFC 6582: each partial ACK retransmits the next hole. The full ACK ends recovery.
#[test]
fn newreno_partial_acks() {
    let mut talk = Talk::open(config(Recovery::NewReno, 10));
    talk.host.write(ENDLESS);
    talk.sent();
    // Segments 0 and 5 are lost, which gives eight duplicates.
    assert_eq!(talk.ack(0, &[]), [10]);
    assert_eq!(talk.ack(0, &[]), [11]);
    assert_eq!(talk.ack(0, &[]), [0]);
    // ssthresh is 5 (limited transmit does not count). cwnd is 5 + 3, then one more per duplicate.
    assert_eq!(
        (talk.host.info().ssthresh, talk.cwnd()),
        (Some(5 * MSS), 8 * MSS)
    );
    for _ in 0..4 {
        assert_eq!(talk.ack(0, &[]), []);
    }
    assert_eq!(talk.cwnd(), 12 * MSS);
    assert_eq!(talk.ack(0, &[]), [12]);
    // A partial ACK subtracts the five segments acknowledged and adds the one that leaves.
    assert_eq!(talk.ack(5, &[]), [5, 13]);
    assert_eq!(talk.cwnd(), 9 * MSS);
    assert_eq!(talk.ack(12, &[]), [14]);
    // The window is min(ssthresh, flight + 1), and 12 and 13 were in flight.
    assert_eq!(
        (talk.host.info().phase, talk.cwnd()),
        (Phase::Open, 3 * MSS)
    );
    assert_eq!(talk.host.stats().retransmitted_segments, 2);
}

/// Classic recovery: cwnd becomes ssthresh + 3 and grows by one per duplicate ACK. (ns-3's
/// `tcp-classic-recovery` has cwnd 6 segments and ssthresh 5 by its own rule; ours halves.)
#[test]
fn reno_inflates_and_deflates() {
    let mut talk = Talk::open(config(Recovery::Reno, 6));
    talk.host.write(ENDLESS);
    talk.sent();
    talk.ack(0, &[]);
    talk.ack(0, &[]);
    assert_eq!(talk.ack(0, &[]), [0]);
    assert_eq!(talk.cwnd(), (3 + 3) * MSS);
    talk.ack(0, &[]);
    assert_eq!(talk.cwnd(), (3 + 4) * MSS);
    talk.ack(6, &[]);
    assert_eq!(
        (talk.cwnd(), talk.host.info().phase),
        (3 * MSS, Phase::Open)
    );
}

/// Tahoe restarts with slow start at the third duplicate.
#[test]
fn tahoe_slow_starts() {
    let mut talk = Talk::open(config(Recovery::Tahoe, 8));
    talk.host.write(ENDLESS);
    talk.sent();
    talk.ack(0, &[]);
    talk.ack(0, &[]);
    assert_eq!(talk.ack(0, &[]), [0]);
    assert_eq!(
        (talk.cwnd(), talk.host.info().ssthresh),
        (MSS, Some(4 * MSS))
    );
    assert_eq!(talk.ack(1, &[]), [1, 2], "go-back-N");
    assert_eq!(talk.ack(10, &[]), [10, 11, 12]);
}

/// RFC 6298 (5.1)–(5.6), RFC 5681: timeouts double, the first one lowers ssthresh, and go-back-N in
/// slow start skips SACKed data.
#[test]
fn timeouts() {
    let mut talk = Talk::open(config(Recovery::Sack, 10));
    talk.host.write(ENDLESS);
    talk.sent();
    assert_eq!(talk.ack(0, &[(1, 2)]), [10]);
    // The round-trip time is 100 ms, so the RTO is its minimum, 1 s.
    assert_eq!(talk.next_timer(), 1000);
    assert_eq!(talk.sent(), [0]);
    let info = talk.host.info();
    // Eleven segments are sent, one of them by limited transmit for the one that was SACKed.
    assert_eq!((info.ssthresh, info.cwnd), (Some(5 * MSS), MSS));
    assert_eq!(talk.next_timer(), 2000);
    assert_eq!(talk.sent(), [0]);
    assert_eq!(
        talk.host.info().ssthresh,
        Some(5 * MSS),
        "the same data timed out again"
    );
    assert_eq!(talk.ack(2, &[(4, 6)]), [2, 3]);
    assert_eq!(talk.ack(6, &[]), [6, 7, 8]);
    assert_eq!(talk.host.stats().timeouts, 2);
    // Go-back-N data are not measured (Karn), so the timeout stays doubled.
    assert_eq!(talk.host.info().rto, Span::from_secs(4));
}

/// A SYN without answer is sent again after the initial timeout, and then after twice that. The
/// window is then one segment (RFC 5681 section 3.1), and the timeout 3 s (RFC 6298 (5.7)).
#[test]
fn lost_syn() {
    let mut talk = Talk::unopened(config(Recovery::Sack, 10));
    talk.host.write(ENDLESS);
    talk.host.connect(talk.now);
    assert_eq!(talk.poll_all().len(), 1);
    assert_eq!(talk.next_timer(), 1000);
    assert_eq!(talk.poll_all()[0].flags, SegmentFlags::SYN);
    assert_eq!(talk.next_timer(), 2000);
    assert_eq!(talk.poll_all()[0].flags, SegmentFlags::SYN);
    let flags = SegmentFlags::SYN.with(SegmentFlags::ACK);
    talk.host
        .handle_segment(talk.now, &segment(0, 1, 65_535, flags));
    assert_eq!(talk.sent(), [0]);
    let info = talk.host.info();
    assert_eq!(
        (info.cwnd, info.rto, info.srtt),
        (MSS, Span::from_secs(3), None)
    );
}

/// A lost SYN-ACK is sent again. The ACK that completes the handshake may carry data.
#[test]
fn lost_syn_ack() {
    let mut talk = Talk::unopened(config(Recovery::Sack, 10));
    talk.host.listen();
    talk.host
        .handle_segment(talk.now, &segment(0, 0, 65_535, SegmentFlags::SYN));
    let answer = SegmentFlags::SYN.with(SegmentFlags::ACK);
    assert_eq!(talk.poll_all()[0].flags, answer);
    assert_eq!(talk.next_timer(), 1000);
    assert_eq!(talk.poll_all()[0].flags, answer);
    let mut data = segment(1, 1, 65_535, SegmentFlags::ACK);
    data.payload = 500;
    talk.host.handle_segment(talk.now, &data);
    assert!(talk.host.is_established());
    assert_eq!(talk.host.stats().delivered_bytes, 500);
}

/// The FIN follows the data, is sent again when lost, and takes a sequence number.
#[test]
fn lost_fin() {
    let mut talk = Talk::open(config(Recovery::Sack, 10));
    talk.host.write(1500);
    talk.host.close();
    let sent = talk.poll_all();
    assert_eq!(sent.len(), 2);
    let fin = SegmentFlags::ACK.with(SegmentFlags::FIN);
    assert_eq!(
        (sent[1].seq, sent[1].payload, sent[1].flags),
        (1001, 500, fin)
    );
    let ack = |host: &mut TcpEndpoint, now, ack| {
        host.handle_segment(now, &segment(1, ack, 65_535, SegmentFlags::ACK));
    };
    ack(&mut talk.host, talk.now, 1501);
    assert!(!talk.host.is_finished());
    assert_eq!(talk.next_timer(), 1000);
    let again = talk.poll_all();
    assert_eq!(
        (again[0].seq, again[0].payload, again[0].flags),
        (1501, 0, fin)
    );
    ack(&mut talk.host, talk.now, 1502);
    assert!(talk.host.is_finished());
    assert_eq!(talk.host.poll_timeout(), None);
    assert_eq!(talk.host.stats().acked_bytes, 1500);
}

/// A closed window is probed at RTO, 2·RTO and 4·RTO with one byte. A window update restarts the
/// flow.
#[test]
fn zero_window_probes() {
    let mut slow = config(Recovery::Sack, 10);
    slow.rto.minimum = Span::from_millis(300);
    let mut talk = Talk::open(slow);
    talk.host.write(ENDLESS);
    assert_eq!(talk.sent(), range(0, 10));
    talk.wait(100);
    talk.window = 0;
    assert_eq!(talk.ack(10, &[]), []);
    for expected in [300, 600, 1200] {
        assert_eq!(talk.next_timer(), expected);
        let probe = talk.poll_all();
        assert_eq!(
            (probe.len(), probe[0].seq, probe[0].payload),
            (1, 10_001, 1)
        );
        // The receiver rejects the probe.
        assert_eq!(talk.ack(10, &[]), []);
    }
    talk.window = 5000;
    assert_eq!(talk.ack(10, &[]), range(10, 15));
    assert_eq!(talk.host.stats().timeouts, 0);
}

/// Nagle's algorithm: a small segment waits while data are outstanding (RFC 1122 section 4.2.3.4).
#[test]
fn nagle() {
    let payloads = |talk: &mut Talk| -> Vec<u32> {
        talk.poll_all()
            .iter()
            .map(|segment| segment.payload)
            .collect()
    };
    let mut talk = Talk::open(config(Recovery::Sack, 10));
    talk.host.write(100);
    assert_eq!(payloads(&mut talk), [100]);
    talk.host.write(100);
    talk.host.write(100);
    assert_eq!(payloads(&mut talk), []);
    talk.host.write(1000);
    assert_eq!(payloads(&mut talk), [1000], "a full segment leaves");
    talk.host
        .handle_segment(talk.now, &segment(1, 1101, 65_535, SegmentFlags::ACK));
    assert_eq!(payloads(&mut talk), [200]);
    let mut at_once = config(Recovery::Sack, 10);
    at_once.nagle = false;
    let mut talk = Talk::open(at_once);
    for _ in 0..2 {
        talk.host.write(100);
        assert_eq!(payloads(&mut talk), [100]);
    }
}

/// Sender silly-window avoidance: the last bytes of the window are not filled with a small segment,
/// unless they are half of the largest window ever offered.
#[test]
fn sender_avoids_silly_windows() {
    let mut talk = Talk::open(config(Recovery::Sack, 10));
    talk.host.write(ENDLESS);
    talk.sent();
    talk.window = 2700;
    assert_eq!(talk.ack(10, &[]), [10, 11]);
    let mut narrow = Talk::unopened(config(Recovery::Sack, 10));
    narrow.window = 600;
    narrow.host.connect(narrow.now);
    narrow.poll_all();
    narrow.answer_syn();
    narrow.host.write(ENDLESS);
    let sent = narrow.poll_all();
    assert_eq!((sent.len(), sent[0].payload), (1, 600));
}

/// RFC 5681 section 4.1: after an RTO without sending the window falls back to the initial one.
#[test]
fn restart_after_idle() {
    let mut talk = Talk::open(config(Recovery::Sack, 2));
    talk.host.write(20 * MSS);
    talk.sent();
    for acked in 1..=20 {
        talk.ack(acked, &[]);
    }
    assert!(talk.cwnd() > 8 * MSS);
    talk.wait(1500);
    talk.host.write(ENDLESS);
    assert_eq!(talk.sent(), [20, 21]);
}

/// A segment that leaves or fills a hole is acknowledged at once. Pure ACKs carry the SACK blocks.
#[test]
fn receiver_answers_disorder_at_once() {
    let mut talk = Talk::open(config(Recovery::Sack, 10));
    let data = |index: u64| {
        let mut data = segment(1 + index * MSS, 1, 65_535, SegmentFlags::ACK);
        data.payload = MSS as u32;
        data
    };
    talk.host.handle_segment(talk.now, &data(0));
    assert_eq!(talk.poll_all().len(), 0, "delayed");
    talk.host.handle_segment(talk.now, &data(2));
    let ack = talk.poll_all();
    assert_eq!((ack[0].ack, ack[0].header), (1001, 40 + 4 + 8));
    assert_eq!(
        ack[0].sack.ranges(ack[0].ack).collect::<Vec<_>>(),
        [(2001, 3001)]
    );
    talk.host.handle_segment(talk.now, &data(1));
    let ack = talk.poll_all();
    assert_eq!(
        (ack[0].ack, ack[0].header, ack[0].sack.len()),
        (3001, 40, 0)
    );
}

/// Sizes of SYNs at IP: MSS 4, window scale 4 if needed, SACK-permitted 4.
#[test]
fn option_bytes() {
    let syn = |adjust: fn(&mut TcpConfig)| {
        let mut config = config(Recovery::Sack, 10);
        adjust(&mut config);
        let mut talk = Talk::unopened(config);
        talk.host.connect(talk.now);
        talk.poll_all()[0].header
    };
    assert_eq!(syn(|_| {}), 40 + 4 + 4 + 4);
    assert_eq!(
        syn(|config| config.recovery = Recovery::NewReno),
        40 + 4 + 4
    );
    assert_eq!(syn(|config| config.receive_window = 65_535), 40 + 4 + 4);
    assert_eq!(syn(|config| config.option_bytes = false), 40);
    let ns2 = TcpConfig::profile(Profile::Ns2);
    let mut talk = Talk::unopened(ns2);
    talk.host.connect(talk.now);
    assert_eq!(talk.poll_all()[0].ip_bytes(), 40);
}

/// Two endpoints and their share of a flow must stay far below 2 KiB.
#[test]
fn endpoints_are_small() {
    assert!(std::mem::size_of::<TcpEndpoint>() <= 768);
}
