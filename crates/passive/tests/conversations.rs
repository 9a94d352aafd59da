//! Small captures written by hand, all of whose figures are known.

use goodqueue_passive::{Analyzer, Bottleneck, Class, Flow, Place, Report, Tap, Thresholds};
use goodqueue_trace::read::{Datagram, Heading, TcpHeader, Transport};
use goodqueue_types::{Ecn, SegmentFlags};
use std::net::SocketAddr;

const MS: i64 = 1_000_000;
const MSS: u32 = 1000;

/// Client that sends to a server past one or two tapping points.
struct Capture {
    analyzer: Analyzer,
}

impl Capture {
    fn new(two_taps: bool) -> Self {
        Self {
            analyzer: Analyzer::new(Thresholds::default(), two_taps),
        }
    }

    fn packet(&mut self, tap: Tap, time: i64, from_client: bool, tcp: TcpHeader) {
        self.between([5000, 80], tap, time, from_client, tcp);
    }

    fn between(&mut self, ports: [u16; 2], tap: Tap, time: i64, from_client: bool, tcp: TcpHeader) {
        let client = SocketAddr::new([10, 0, 0, 1].into(), ports[0]);
        let server = SocketAddr::new([10, 0, 0, 2].into(), ports[1]);
        let (source, destination) = if from_client {
            (client, server)
        } else {
            (server, client)
        };
        let datagram = Datagram {
            source,
            destination,
            protocol: 6,
            ecn: Ecn::NotCapable,
            id: None,
            ip_bytes: 40 + tcp.payload,
            frame_bytes: 40 + tcp.payload,
            interface: 0,
            cut: false,
            heading: if from_client {
                Heading::In
            } else {
                Heading::Out
            },
            transport: Transport::Tcp(tcp),
        };
        self.analyzer.packet(tap, time, &datagram);
    }

    /// Adds the handshake. `server` is the part of the round trip behind the tapping point,
    /// `client` the part before it.
    fn open(&mut self, server: i64, client: i64) {
        let mut syn = header(0, 0, SegmentFlags::SYN, 0);
        syn.mss = Some(MSS as u16);
        self.packet(Tap::First, 0, true, syn);
        let both = SegmentFlags::SYN.with(SegmentFlags::ACK);
        let mut answer = header(0, 1, both, 0);
        answer.mss = Some(MSS as u16);
        self.packet(Tap::First, server, false, answer);
        self.packet(
            Tap::First,
            server + client,
            true,
            header(1, 1, SegmentFlags::ACK, 0),
        );
    }

    /// Adds the segment with this number, counted from 0.
    fn data(&mut self, tap: Tap, time: i64, number: u32) {
        let tcp = header(1 + number * MSS, 1, SegmentFlags::ACK, MSS);
        self.packet(tap, time, true, tcp);
    }

    /// Adds the ACK of all segments before this one.
    fn ack(&mut self, time: i64, number: u32) {
        self.packet(
            Tap::First,
            time,
            false,
            header(1, 1 + number * MSS, SegmentFlags::ACK, 0),
        );
    }

    /// Adds a flow that never crosses the link: full segments from a port, each acknowledged.
    fn elsewhere(&mut self, port: u16, segments: u32) {
        for number in 0..segments {
            let time = 30 * MS + i64::from(number);
            let tcp = header(1 + number * MSS, 1, SegmentFlags::ACK, MSS);
            self.between([port, 80], Tap::First, time, true, tcp);
            let tcp = header(1, 1 + (number + 1) * MSS, SegmentFlags::ACK, 0);
            self.between([port, 80], Tap::First, time, false, tcp);
        }
    }

    fn finish_by(self, log: &[f64]) -> Report {
        self.analyzer.finish(None, Some(log), 1)
    }

    fn finish(self) -> Report {
        self.analyzer.finish(None, None, 1)
    }
}

fn header(seq: u32, ack: u32, flags: SegmentFlags, payload: u32) -> TcpHeader {
    let mut tcp = TcpHeader::default();
    (tcp.seq, tcp.ack, tcp.flags, tcp.payload) = (seq, ack, flags, payload);
    tcp.window = 60_000;
    tcp
}

fn only_flow(report: &Report) -> &Flow {
    assert_eq!(report.flows.len(), 1);
    &report.flows[0]
}

#[test]
fn the_parts_of_the_round_trip_add_up_to_the_whole() {
    let mut capture = Capture::new(false);
    capture.open(30 * MS, 20 * MS);
    for number in 0..4 {
        let time = 60 * MS + i64::from(number) * 50 * MS;
        capture.data(Tap::First, time, number);
        capture.ack(time + 31 * MS, number + 1);
    }
    let report = capture.finish();
    let flow = only_flow(&report);
    assert_eq!(flow.rtt.handshake, Some(50 * MS));
    assert_eq!(flow.rtt.pairs, Some(51 * MS));
    assert_eq!(flow.rtt.base, Some(50 * MS));
    assert_eq!(
        (flow.counts.bytes, flow.counts.packets, flow.mss),
        (4000, 4, MSS)
    );
    assert_eq!(flow.class, Class::Size);
    assert_eq!(flow.name(), "10.0.0.1:5000 > 10.0.0.2:80/tcp");
}

/// Jiang and Dovrolis, CCR 32(3), 2002: from the SYN to the first ACK of the same end.
#[test]
fn the_handshake_gives_the_round_trip_without_its_answer() {
    let handshake = |times: &[i64], last: i64| {
        let mut capture = Capture::new(false);
        for time in times {
            capture.packet(Tap::First, *time, true, header(0, 0, SegmentFlags::SYN, 0));
        }
        let ends = header(1, 1, SegmentFlags::ACK, 0);
        capture.packet(Tap::First, last, true, ends);
        capture.data(Tap::First, last + 20 * MS, 0);
        only_flow(&capture.finish()).rtt.base
    };
    assert_eq!(handshake(&[0], 50 * MS), Some(50 * MS));
    // An answer or a SYN may have been lost, so they cannot be paired.
    assert_eq!(handshake(&[0], 1050 * MS), None);
    assert_eq!(handshake(&[0, 100 * MS], 150 * MS), None);
}

#[test]
fn first_data_end_a_handshake_of_ns2_alone() {
    let opened = |answer: SegmentFlags| {
        let mut capture = Capture::new(false);
        capture.packet(Tap::First, 0, true, header(0, 0, SegmentFlags::SYN, 0));
        let mine = u32::from(!answer.contains(SegmentFlags::SYN));
        capture.packet(Tap::First, 30 * MS, false, header(mine, 1, answer, 0));
        for number in 0..4 {
            let time = 400 * MS + i64::from(number) * 400 * MS;
            capture.data(Tap::First, time, number);
            capture.ack(time + 30 * MS, number + 1);
        }
        only_flow(&capture.finish()).rtt
    };
    let ns2 = opened(SegmentFlags::ACK);
    assert_eq!(ns2.handshake, Some(400 * MS));
    assert_eq!(ns2.base, Some(400 * MS));
    // A client of other systems may have waited for its application.
    let other = opened(SegmentFlags::SYN.with(SegmentFlags::ACK));
    assert_eq!(other.handshake, None);
}

#[test]
fn a_retransmission_gives_no_sample_and_shows_kind_and_place_of_the_loss() {
    let mut capture = Capture::new(false);
    capture.open(10 * MS, 10 * MS);
    for number in 0..5 {
        capture.data(Tap::First, 30 * MS + i64::from(number), number);
    }
    // The first is lost behind the tapping point, and three duplicate ACKs report it.
    for duplicate in 0..4 {
        capture.ack(40 * MS + duplicate, 0);
    }
    capture.data(Tap::First, 50 * MS, 0);
    capture.ack(60 * MS, 5);
    // The next is lost too, and nothing reports it.
    capture.data(Tap::First, 70 * MS, 5);
    capture.data(Tap::First, 400 * MS, 5);
    capture.ack(410 * MS, 6);
    let report = capture.finish();
    let flow = only_flow(&report);
    let counts = &flow.counts;
    assert_eq!(
        (counts.retransmissions, counts.fast, counts.timeouts),
        (2, 1, 1)
    );
    // With one tapping point, the target link is assumed where packets are lost.
    assert_eq!(counts.lost, [2, 0, 0]);
    assert_eq!(flow.class, Class::Congestion);
    assert_eq!(flow.bottleneck, Some(Bottleneck::Local));
    // Only the ACK of the last of the first five is a sample, because its data were sent once.
    assert_eq!(flow.samples.len(), 1);
    assert_eq!(flow.samples[0].1, 60 * MS - (30 * MS + 4) + 10 * MS);
}

#[test]
fn a_hole_that_is_filled_late_was_lost_before_the_tapping_point() {
    let mut capture = Capture::new(false);
    capture.open(10 * MS, 10 * MS);
    for (time, number) in [(30, 0), (31, 2), (32, 3), (60, 1), (61, 5), (62, 4)] {
        capture.data(Tap::First, time * MS, number);
    }
    capture.ack(80 * MS, 6);
    let report = capture.finish();
    let counts = only_flow(&report).counts;
    // Segment 1 came a round trip later; segment 4 was reordered and came a millisecond after 5.
    assert_eq!((counts.retransmissions, counts.reordered), (1, 1));
    assert_eq!(report.losses.len(), 1);
    assert_eq!(
        (report.losses[0].time, report.losses[0].packets),
        (31 * MS, 1)
    );
}

#[test]
fn two_tapping_points_show_the_queue_and_its_drops() {
    let mut capture = Capture::new(true);
    capture.open(10 * MS, 10 * MS);
    // A frame of 1040 bytes takes 1.04 ms at 8 Mb/s. Ten arrive at once and two are dropped.
    for number in 0..10 {
        capture.data(Tap::First, 30 * MS + i64::from(number), number);
    }
    let mut left = 30 * MS;
    for number in (0..10).filter(|number| !matches!(number, 7 | 8)) {
        capture.data(Tap::Second, left, number);
        left += 1_040_000;
    }
    let report = capture.finish();
    let drops: Vec<_> = report
        .losses
        .iter()
        .map(|loss| (loss.time, loss.place))
        .collect();
    assert_eq!(
        drops,
        [(30 * MS + 7, Place::Target), (30 * MS + 8, Place::Target)]
    );
    let delays = report.link.queueing_delay_s.unwrap();
    assert!((delays[3] - 7.0 * 1.04e-3).abs() < 1e-6, "{delays:?}");
    assert_eq!(report.bursts.len(), 1);
    assert_eq!(
        (report.bursts[0].packets, report.bursts[0].flows_hit),
        (2, Some(1))
    );
    assert_eq!(report.link.lost_packets, 2);
    assert!((report.link.loss_rate.unwrap() - 0.2).abs() < 1e-12);
}

#[test]
fn a_flow_never_seen_behind_the_link_does_not_count() {
    let mut capture = Capture::new(true);
    capture.open(10 * MS, 10 * MS);
    capture.elsewhere(6000, 3000);
    for number in 0..100 {
        let time = 30 * MS + i64::from(number) * MS;
        capture.data(Tap::First, time, number);
        capture.data(Tap::Second, time + MS, number);
    }
    // This flow begins when none of its packets can have arrived yet.
    let tcp = header(1, 1, SegmentFlags::ACK, MSS);
    capture.between([7000, 80], Tap::First, 130 * MS, true, tcp);
    let report = capture.finish();
    let crosses: Vec<_> = report.flows.iter().map(|flow| flow.forward).collect();
    assert_eq!(crosses, [false, true, true]);
    let link = &report.link;
    assert_eq!(link.packets, 101);
    let useful = link.goodput_bps.unwrap() / link.throughput_bps.unwrap();
    assert!((useful - 1000.0 / 1040.0).abs() < 1e-9);
}

/// Returns a capture of ten packets, of which the queue dropped two.
fn ten() -> Capture {
    let mut capture = Capture::new(true);
    capture.open(10 * MS, 10 * MS);
    (0..10).for_each(|number| capture.data(Tap::First, 30 * MS + i64::from(number), number));
    for number in [0, 1, 2, 3, 4, 5, 6, 9] {
        capture.data(Tap::Second, 40 * MS + i64::from(number), number);
    }
    capture
}

#[test]
fn a_log_of_drops_counts_for_the_time_of_the_capture_alone() {
    let counts = |report: &Report| {
        let in_series: u64 = report.series.iter().map(|bin| bin.losses).sum();
        (report.link.lost_packets, in_series, report.losses.len())
    };
    let notes = |report: &Report| report.notes.join("; ");
    let report = ten().finish();
    assert_eq!(counts(&report), (2, 2, 2));
    let report = ten().finish_by(&[0.03, 0.035, 0.039, 0.05, -0.1]);
    assert_eq!(counts(&report), (3, 3, 3));
    assert!(
        notes(&report).contains("are left out: 2 of 5"),
        "{report:?}"
    );
    let report = ten().finish_by(&[1.7e9; 20]);
    assert_eq!((counts(&report), report.by_log), ((2, 2, 2), false));
    assert!(
        notes(&report).contains("no entry (20 in all)"),
        "{report:?}"
    );
    assert_eq!(counts(&ten().finish_by(&[])), (0, 0, 0));
}

#[test]
fn packets_lost_before_a_tap_behind_the_queue_count_as_arrived() {
    let mut capture = Capture::new(false);
    capture.open(10 * MS, 10 * MS);
    for number in (0..10).filter(|number| *number != 5) {
        capture.data(Tap::First, 30 * MS + i64::from(number), number);
    }
    capture.data(Tap::First, 60 * MS, 5);
    capture.ack(80 * MS, 10);
    let report = capture.finish();
    let link = &report.link;
    assert_eq!((link.lost_packets, link.packets), (1, 11));
    assert!((link.loss_rate.unwrap() - 1.0 / 11.0).abs() < 1e-12);
    assert_eq!(only_flow(&report).counts.bytes, 10_000);
}

#[test]
fn the_same_capture_gives_the_same_losses_in_the_same_order() {
    let order = || {
        let mut capture = Capture::new(false);
        for port in 1000..1100 {
            for (time, number) in [(0, 0), (1, 1), (300, 1)] {
                let tcp = header(1 + number * MSS, 1, SegmentFlags::ACK, MSS);
                capture.between([port, 80], Tap::First, MS * time, true, tcp);
            }
        }
        let losses = capture.finish().losses;
        losses.iter().map(|loss| loss.flow).collect::<Vec<_>>()
    };
    let first = order();
    assert_eq!(first.len(), 100);
    assert!(first.is_sorted());
}

#[test]
fn a_queue_that_never_empties_shows_its_rate_and_leaves_base_rtts_right() {
    let mut capture = Capture::new(true);
    capture.open(10 * MS, 10 * MS);
    let service = 1_040_000;
    for number in 0..100_u32 {
        let time = 30 * MS + i64::from(number) * service;
        capture.data(Tap::First, time, number);
    }
    let mut events: Vec<(i64, u32, bool)> = Vec::new();
    for number in 0..100_u32 {
        // The first packet finds an empty queue. All other packets wait for 20 ms.
        let wait = if number == 0 { 0 } else { 20 * MS };
        let left = 30 * MS + i64::from(number) * service + wait;
        events.push((left, number, true));
        events.push((left + 10 * MS, number + 1, false));
    }
    events.sort_unstable();
    for (time, number, leaves) in events {
        if leaves {
            capture.data(Tap::Second, time, number);
        } else {
            capture.ack(time, number);
        }
    }
    let report = capture.finish();
    let rate = report.link.rate_bps.unwrap();
    assert!((rate - 8e6).abs() < 1e4, "{rate}");
    assert_eq!(only_flow(&report).rtt.base, Some(20 * MS));
}

#[test]
fn acks_give_the_rate_of_a_link_that_is_mostly_idle() {
    let mut capture = Capture::new(false);
    capture.open(10 * MS, 10 * MS);
    // The link is busy at 8 Mb/s for 52 ms of each second. Every second segment is acknowledged.
    for burst in 0..60_u32 {
        let time = 1000 * MS * (i64::from(burst) + 1);
        let first = 50 * burst;
        (0..50).for_each(|number| capture.data(Tap::First, time, first + number));
        for number in (2..=50_u32).step_by(2) {
            capture.ack(
                time + 10 * MS + i64::from(number) * 1_040_000,
                first + number,
            );
        }
    }
    let rate = capture.finish().link.rate_bps.unwrap();
    assert!((rate / 8e6 - 1.0).abs() < 0.05, "{rate}");
}

#[test]
fn a_full_window_and_idle_time_are_distinguished_from_congestion() {
    // The receiver's window has 4 segments, which are sent at each ACK.
    let mut capture = Capture::new(false);
    capture.open(10 * MS, 10 * MS);
    let windowed = |capture: &mut Capture, time, number: u32| {
        let mut tcp = header(1, 1 + number * MSS, SegmentFlags::ACK, 0);
        tcp.window = 4 * MSS as u16;
        capture.packet(Tap::First, time, false, tcp);
    };
    windowed(&mut capture, 20 * MS, 0);
    for round in 0..40_u32 {
        let time = 30 * MS + i64::from(round) * 20 * MS;
        for number in round * 4..round * 4 + 4 {
            capture.data(Tap::First, time, number);
        }
        windowed(&mut capture, time + 10 * MS, round * 4 + 4);
    }
    let report = capture.finish();
    let flow = only_flow(&report);
    assert_eq!(flow.class, Class::ReceiverWindow, "{:?}", flow.shares);

    // The application writes two segments every 200 ms.
    let mut capture = Capture::new(false);
    capture.open(10 * MS, 10 * MS);
    for round in 0..40_u32 {
        let time = 30 * MS + i64::from(round) * 200 * MS;
        capture.data(Tap::First, time, round * 2);
        capture.data(Tap::First, time, round * 2 + 1);
        capture.ack(time + 10 * MS, round * 2 + 2);
    }
    let report = capture.finish();
    let flow = only_flow(&report);
    assert_eq!(flow.class, Class::Application, "{:?}", flow.shares);
}

#[test]
fn memory_does_not_grow_with_connections_without_data() {
    let mut analyzer = Analyzer::new(Thresholds::default(), false);
    for index in 0..300_000_u32 {
        let [_, b, c, d] = index.to_be_bytes();
        let source = SocketAddr::new([10, b, c, d].into(), 1234);
        let datagram = Datagram {
            source,
            destination: "192.0.2.1:80".parse().unwrap(),
            protocol: 6,
            ecn: Ecn::NotCapable,
            id: None,
            ip_bytes: 40,
            frame_bytes: 40,
            heading: Heading::Unknown,
            interface: 0,
            cut: false,
            transport: Transport::Tcp(header(0, 0, SegmentFlags::SYN, 0)),
        };
        analyzer.packet(Tap::First, i64::from(index), &datagram);
    }
    let report = analyzer.finish(None, None, 1);
    assert_eq!(
        (report.flows.len(), report.totals.connections),
        (0, 300_000)
    );
    assert!(report.totals.evicted > 100_000);
}
