//! The receiving half as packet conversations: duplicate SACK, quick and delayed ACKs, the window.

use crate::common::simple;
use crate::peer::{ACK, MSS, Peer, config};
use goodqueue_tcp::{AckRule, ENDLESS, Profile, Recovery, TcpConfig};
use goodqueue_types::{Rate, Segment, SegmentFlags, Span, Time};

fn dsack() -> TcpConfig {
    config(|config| config.dsack = true)
}

/// Returns acknowledgement and blocks of the only answer.
fn report(answers: &[Segment]) -> (u64, Vec<(u64, u64)>) {
    assert_eq!(answers.len(), 1);
    let answer = &answers[0];
    (answer.ack, answer.sack.ranges(answer.ack).collect())
}

/// Observed answers of Linux 6.18: SACK blocks by recency, then duplicates that cover two ranges,
/// one range, and an old segment.
#[test]
fn duplicates_as_linux_reports_them() {
    let mut peer = Peer::accepted(dsack());
    let told = [
        ((1001, 2001), 1, vec![(1001, 2001)]),
        ((2001, 3001), 1, vec![(1001, 3001)]),
        ((4001, 5001), 1, vec![(4001, 5001), (1001, 3001)]),
        (
            (7001, 8001),
            1,
            vec![(7001, 8001), (4001, 5001), (1001, 3001)],
        ),
        ((1, 6001), 6001, vec![(1001, 3001), (7001, 8001)]),
        ((6001, 8001), 8001, vec![(7001, 8001)]),
        ((1, 1001), 8001, vec![(1, 1001)]),
    ];
    for ((from, to), ack, blocks) in told {
        assert_eq!(report(&peer.data(from, to)), (ack, blocks), "{from}:{to}");
    }
    // Each is reported once.
    assert_eq!(peer.data(8001, 9001), []);
    assert_eq!(report(&peer.data(9001, 10_001)), (10_001, vec![]));
}

/// The examples of RFC 2883 section 4.1: the ACKs of a whole segment are lost; a segment out of
/// order is sent twice; the same with a larger segment. Section 4.2: partial segments. Numbers are
/// as in the RFC.
#[test]
fn rfc2883_examples() {
    let talk = |arrivals: &[(u64, u64)]| {
        let mut config = dsack();
        config.ack_every = 1;
        let mut peer = Peer::accepted(config);
        // The RFC counts from 500 on.
        peer.data(1, 500);
        let answers: Vec<_> = arrivals
            .iter()
            .map(|&(from, to)| report(&peer.data(from, to)))
            .collect();
        answers.last().expect("an answer").clone()
    };
    // 4.1.1: 3000-3499 and 3500-3999 are received, their ACKs dropped, and 3000-3499 sent again.
    let full = |tail: &[(u64, u64)]| [&[(500, 3000), (3000, 3500), (3500, 4000)], tail].concat();
    assert_eq!(talk(&full(&[(3000, 3500)])), (4000, vec![(3000, 3500)]));
    // 4.1.2: 3500-3999 is lost, 4000-4499 received, and 3000-3499 sent again.
    let hole = [(500, 3500), (4000, 4500), (3000, 3500)];
    assert_eq!(talk(&hole), (3500, vec![(3000, 3500), (4000, 4500)]));
    // 4.1.3: 5000-5499 arrives twice while 4000 is awaited. The larger block is the second.
    let twice = [(500, 4000), (4500, 5000), (5000, 5500), (5000, 5500)];
    assert_eq!(talk(&twice), (4000, vec![(5000, 5500), (4500, 5500)]));
    // 4.2.1: the first half of a segment had arrived.
    let partial = [(500, 1000), (1500, 2000), (2000, 2500), (1000, 2000)];
    assert_eq!(talk(&partial), (2500, vec![(1500, 2000)]));
    // 4.2.3: two pieces had arrived, and only the lower one is reported.
    let pieces = [
        (500, 1000),
        (1500, 2000),
        (2500, 3000),
        (3500, 4000),
        (1000, 3500),
    ];
    assert_eq!(talk(&pieces), (4000, vec![(1500, 2000)]));
}

#[test]
fn without_the_switch_nothing_is_reported() {
    let mut peer = Peer::accepted(config(|_| {}));
    peer.data(1, 2001);
    assert_eq!(report(&peer.data(1, 1001)), (2001, vec![]));
}

fn linux() -> TcpConfig {
    config(|config| config.ack_rule = AckRule::Linux)
}

/// Linux's budget of quick ACKs is 16 segments. Then every second segment is acknowledged, or after
/// 40 ms.
#[test]
fn sixteen_quick_acks_then_every_second_segment() {
    let mut peer = Peer::accepted(linux());
    for segment in 0..16 {
        let acks = peer.data(1 + segment * MSS, 1 + (segment + 1) * MSS);
        assert_eq!(acks.len(), 1, "quick ACK {segment}");
    }
    for segment in 16..20 {
        let acks = peer.data(1 + segment * MSS, 1 + (segment + 1) * MSS);
        assert_eq!(acks.len() as u64, segment % 2);
    }
    peer.data(1 + 20 * MSS, 1 + 21 * MSS);
    assert_eq!(peer.timer(), Some(40));
    assert_eq!(peer.expire().1[0].ack, 1 + 21 * MSS);
}

/// Linux's `tcp_measure_rcv_mss` and `__tcp_cleanup_rbuf`: a full segment with PSH is acknowledged
/// as soon as the application has read everything.
#[test]
fn a_pushed_segment_is_acknowledged_when_it_is_read() {
    let pushed = |peer: &mut Peer, number: u64, payload: u64| {
        let segment = peer.segment(
            1 + number * MSS,
            1,
            ACK.with(SegmentFlags::PSH),
            payload as u32,
        );
        peer.say(segment)
    };
    let begun = || {
        let mut peer = Peer::accepted(linux());
        for segment in 0..16 {
            peer.data(1 + segment * MSS, 1 + (segment + 1) * MSS);
        }
        peer
    };
    let mut peer = begun();
    assert_eq!(peer.data(1 + 16 * MSS, 1 + 17 * MSS), []);
    assert_eq!(pushed(&mut peer, 17, MSS).len(), 1);
    assert_eq!(pushed(&mut peer, 18, MSS).len(), 1);
    assert_eq!(peer.data(1 + 19 * MSS, 1 + 20 * MSS), []);
    assert_eq!(peer.timer(), Some(40));
    // Unread data are acknowledged later.
    let mut peer = begun();
    peer.host.set_reading(peer.now, false);
    assert_eq!(pushed(&mut peer, 16, MSS), []);
    // Data that answers may carry the ACK of are acknowledged later, too.
    let mut peer = begun();
    peer.host.write(200);
    peer.listen();
    assert_eq!(pushed(&mut peer, 16, MSS), []);
}

/// A capture of Linux 6.18 with a receive buffer of 8 MB (`tests/data/captures/cubic4`) shows that
/// every segment is acknowledged until the window has grown in 400 steps, and then every second one.
#[test]
fn segments_that_open_the_window_are_acknowledged_one_by_one() {
    let mut config = linux();
    config.opening_acks = 400;
    let mut peer = Peer::accepted(config);
    let acks =
        |peer: &mut Peer, segment: u64| peer.data(1 + segment * MSS, 1 + (segment + 1) * MSS).len();
    assert_eq!((0..400).map(|n| acks(&mut peer, n)).sum::<usize>(), 400);
    assert_eq!((400..500).map(|n| acks(&mut peer, n)).sum::<usize>(), 50);
}

/// The budget is half the window in segments, so a window of 8 gives 4.
#[test]
fn a_small_window_gives_fewer_quick_acks() {
    let mut config = linux();
    config.receive_window = 8 * MSS;
    let mut peer = Peer::accepted(config);
    let acks =
        |peer: &mut Peer, segment: u64| peer.data(1 + segment * MSS, 1 + (segment + 1) * MSS).len();
    assert_eq!((0..4).map(|n| acks(&mut peer, n)).sum::<usize>(), 4);
    assert_eq!(acks(&mut peer, 4), 0);
}

/// Small segments wait until they exceed a full one together.
#[test]
fn small_segments_do_not_count_as_full_ones() {
    let mut peer = Peer::accepted(linux());
    for segment in 0..16 {
        peer.data(1 + segment * MSS, 1 + (segment + 1) * MSS);
    }
    let start = 1 + 16 * MSS;
    for small in 0..10 {
        assert_eq!(
            peer.data(start + small * 100, start + (small + 1) * 100),
            []
        );
    }
    assert_eq!(peer.data(start + 1000, start + 1100).len(), 1);
}

/// Observed on Linux 6.18: data that follow our own data are acknowledged after 40 ms (43 ms in its
/// ticks of 4 ms), and the first data of a connection at once.
#[test]
fn a_conversation_delays() {
    let mut peer = Peer::accepted(linux());
    assert_eq!(peer.data(1, 501).len(), 1, "first data");
    peer.wait(10);
    peer.host.write(200);
    assert_eq!(peer.listen().len(), 1);
    peer.wait(100);
    let reply = peer.segment(501, 201, ACK, 500);
    assert_eq!(peer.say(reply), []);
    assert_eq!(peer.timer(), Some(40));
    // The delay passed without data, so quick ACKs resume.
    assert_eq!(peer.expire().1.len(), 1);
    let more = peer.segment(1001, 201, ACK, 500);
    assert_eq!(peer.say(more).len(), 1);
}

/// An answer within the delay carries the ACK.
#[test]
fn an_answer_carries_the_ack() {
    let mut peer = Peer::accepted(linux());
    peer.data(1, 501);
    peer.host.write(200);
    peer.listen();
    peer.say(peer.segment(501, 201, ACK, 500));
    peer.host.write(200);
    let answer = peer.listen();
    assert_eq!(
        (answer.len(), answer[0].payload, answer[0].ack),
        (1, 200, 1001)
    );
    assert_eq!(peer.say(peer.segment(1001, 401, ACK, 0)), []);
    assert_eq!(peer.timer(), None);
}

/// The delay follows the gaps between slow data, up to 200 ms, and doubles when it passes without
/// data.
#[test]
fn the_delay_adapts() {
    let mut config = linux();
    config.receive_window = 2 * MSS;
    let mut peer = Peer::accepted(config);
    // After one quick ACK (half the window), a delay without data doubles it from 40 to 80 ms.
    assert_eq!(peer.data(1, 501).len(), 1);
    peer.wait(100);
    peer.data(501, 1001);
    assert_eq!(peer.timer(), Some(40));
    peer.expire();
    peer.wait(60);
    // The gap of 100 ms is longer than the delay, which stays at 80 ms.
    peer.data(1001, 1501);
    assert_eq!(peer.timer(), Some(80));
    peer.expire();
    // Another delay without data gives 160 ms. A gap of 120 ms gives 80 + 120 = 200 ms, but the
    // delay is at most the round trip of 100 ms.
    peer.wait(40);
    peer.data(1501, 2001);
    assert_eq!(peer.timer(), Some(100));
    peer.expire();
}

/// Old data show that our ACKs are lost or late, so quick ACKs resume.
#[test]
fn old_data_bring_quick_acks_back() {
    let mut peer = Peer::accepted(linux());
    for segment in 0..17 {
        peer.data(1 + segment * MSS, 1 + (segment + 1) * MSS);
    }
    peer.expire();
    assert_eq!(peer.data(1, 1001).len(), 1);
    for segment in 17..25 {
        let acks = peer.data(1 + segment * MSS, 1 + (segment + 1) * MSS);
        assert_eq!(acks.len(), 1);
    }
}

/// A segment that leaves a hole or fills one is acknowledged at once, and so is the second of two
/// holes.
#[test]
fn holes_are_reported_at_once() {
    for rule in [AckRule::EveryNth, AckRule::Linux] {
        let mut peer = Peer::accepted(config(|config| config.ack_rule = rule));
        for segment in 0..17 {
            peer.data(1 + segment * MSS, 1 + (segment + 1) * MSS);
        }
        peer.expire();
        for (from, to) in [(18, 19), (20, 21), (17, 18), (19, 20)] {
            let acks = peer.data(1 + from * MSS, 1 + to * MSS);
            assert_eq!(acks.len(), 1, "{rule:?} {from}");
        }
        assert_eq!(peer.data(1 + 21 * MSS, 1 + 22 * MSS).len(), 0);
    }
}

/// Linux's `__tcp_ack_snd_check`: behind a hole, three ACKs leave at once, later ones after 1.1 ms
/// together. Each segment that moves the acknowledgement is acknowledged at once, and three
/// duplicate ACKs after it.
#[test]
fn selective_acks_are_compressed() {
    let mut peer = Peer::accepted(config(|config| {
        config.ack_rule = AckRule::Linux;
        config.recovery = Recovery::Sack;
        config.details.sack_compression = true;
    }));
    let acks =
        |peer: &mut Peer, segment: u64| peer.data(1 + segment * MSS, 1 + (segment + 1) * MSS).len();
    for segment in 0..17 {
        acks(&mut peer, segment);
    }
    peer.expire();
    for segment in [19, 20, 21] {
        assert_eq!(acks(&mut peer, segment), 1);
    }
    for segment in [22, 23] {
        assert_eq!(acks(&mut peer, segment), 0);
    }
    let due = peer.host.poll_timeout().expect("a timer");
    assert_eq!((due - peer.now), Span::from_micros(1100));
    let (_, late) = peer.expire();
    assert_eq!(late.len(), 1);
    assert_eq!(
        report(&late),
        (1 + 17 * MSS, vec![(1 + 19 * MSS, 1 + 24 * MSS)])
    );
    assert_eq!(acks(&mut peer, 24), 0);
    // One of two lost segments arrives, and its ACK reports what waited.
    assert_eq!(acks(&mut peer, 17), 1);
    assert_eq!(peer.host.poll_timeout(), None);
    for (segment, count) in [(25, 1), (26, 1), (27, 0)] {
        assert_eq!(acks(&mut peer, segment), count, "{segment}");
    }
    // The end of the hole is acknowledged at once.
    assert_eq!(acks(&mut peer, 18), 1);
    assert_eq!(peer.host.poll_timeout(), None);
}

/// Runs one bulk transfer over a path of 50 ms with a queue of `limit` packets. Returns the window
/// that the receiver offers at the end, and the goodput in bits per second.
fn transfer(config: &TcpConfig, rate: u64, limit: usize) -> (u64, f64) {
    let mut network = simple(config, rate, Span::from_millis(25), limit);
    network.hosts[0].connect(Time::ZERO);
    network.hosts[0].write(ENDLESS);
    let seconds = 5;
    network.run_until(Time::ZERO + Span::from_secs(seconds));
    let bits = network.hosts[1].stats().delivered_bytes * 8;
    (
        network.hosts[0].info().send_window,
        bits as f64 / seconds as f64,
    )
}

/// Right-sizing: the window follows the rate. It does not limit a fast path, whose bandwidth-delay
/// product is 76 times its start, and grows no further than a slow path needs.
#[test]
fn the_window_follows_the_rate() {
    let moderated = |initial| {
        config(|config| {
            config.receive_window = 16 << 20;
            config.receive_window_moderation = initial;
        })
    };
    let (window, goodput) = transfer(&moderated(Some(8192)), 100_000_000, 100_000);
    assert!(goodput > 85e6, "{goodput}");
    // The window is twice the product of 625 kB, plus the overshoot of slow start.
    assert!((1_250_000..=16 << 20).contains(&window), "{window}");
    let (window, goodput) = transfer(&moderated(Some(8192)), 2_000_000, 10);
    assert!(goodput > 1.8e6, "{goodput}");
    // The path and its queue hold 28 kB. The window is at most ten times that, of 16 MiB allowed.
    assert!(window <= 280_000, "{window}");
    // Without moderation a window of that size limits the fast path to 64 KiB per 50 ms.
    let fixed = config(|config| config.receive_window = 65_536);
    let (window, goodput) = transfer(&fixed, 100_000_000, 100_000);
    assert_eq!(window, 65_536 >> 1 << 1);
    assert!(goodput < 65_536.0 * 8.0 / 0.05, "{goodput}");
}

/// The window offered never exceeds `receive_window`.
#[test]
fn the_maximum_holds() {
    let small = config(|config| {
        config.receive_window = 200_000;
        config.receive_window_moderation = Some(20_000);
    });
    let (window, _) = transfer(&small, 100_000_000, 100_000);
    assert!((199_000..=200_000).contains(&window), "{window}");
}

/// A remedy at the receiver: a fixed window of the path's bandwidth-delay product keeps the queue
/// of an oversized buffer short at full rate. The ordinary window fills the buffer.
#[test]
fn a_limited_receive_window_keeps_the_queue_short() {
    let longest_rtt = |receive_window| {
        let mut config = config(|config| config.receive_window = receive_window);
        config.option_bytes = false;
        let mut network = simple(&config, 10_000_000, Span::from_millis(20), 2000);
        network.hosts[0].connect(Time::ZERO);
        network.hosts[0].write(ENDLESS);
        network.run_until(Time::ZERO + Span::from_secs(10));
        let srtt = network.hosts[0].info().srtt.expect("samples").as_secs_f64();
        (
            network.hosts[1].stats().delivered_bytes as f64 * 8.0 / 10.0,
            srtt,
        )
    };
    // 10 Mbit/s times 40 ms are 50 kB.
    let (goodput, srtt) = longest_rtt(60_000);
    assert!(goodput > 9.4e6 && srtt < 0.055, "{goodput} {srtt}");
    let (goodput, srtt) = longest_rtt(2_000_000);
    assert!(goodput > 9.4e6 && srtt > 0.5, "{goodput} {srtt}");
}

/// A receiver that opens its window at nine tenths of the path's rate limits the sender to that
/// rate for any window and buffer: no queue, no loss. At more than the path's rate the buffer fills
/// as usual.
#[test]
fn a_window_opened_at_a_pace_keeps_the_queue_empty() {
    for profile in [Profile::Rfc, Profile::Linux] {
        let paced = |rate: Option<Rate>| {
            let mut config = TcpConfig::profile(profile);
            config.receive_window = 2_000_000;
            config.receive_window_moderation = None;
            config.receive_window_pace = rate;
            let mut network = simple(&config, 10_000_000, Span::from_millis(20), 2000);
            network.hosts[0].connect(Time::ZERO);
            network.hosts[0].write(ENDLESS);
            network.run_until(Time::ZERO + Span::from_secs(10));
            let srtt = network.hosts[0].info().srtt.expect("samples").as_secs_f64();
            let bits = network.hosts[1].stats().delivered_bytes as f64 * 8.0;
            (bits / 10.0, srtt)
        };
        let (goodput, srtt) = paced(Some(Rate(9_000_000)));
        // The window starts with two segments, which costs hardly anything in ten seconds.
        assert!((8.9e6..9.0e6).contains(&goodput), "{profile:?}: {goodput}");
        // The round trip has two propagation delays, a segment's time, and the wait of an ACK for a
        // second segment.
        assert!(srtt < 0.040 + 0.005, "{profile:?}: {srtt}");
        let (goodput, srtt) = paced(Some(Rate(12_000_000)));
        assert!(
            goodput > 9.0e6 && srtt > 0.3,
            "{profile:?}: {goodput} {srtt}"
        );
    }
}

/// Timestamps give the round-trip time for any window. A window that starts above the capacity of
/// the path grows no further than its memory of 400 kB allows, 162/256 of it.
#[test]
fn timestamps_give_the_round_trip() {
    let config = config(|config| {
        config.receive_window = 16 << 20;
        config.receive_window_moderation = Some(200_000);
        config.timestamps = Some(Span::from_millis(1));
    });
    // The path and its queue hold 28 kB. The window is twice that, plus twice its growth from ten
    // segments.
    let (window, goodput) = transfer(&config, 2_000_000, 10);
    assert!(goodput > 1.8e6, "{goodput}");
    assert_eq!(window, 253_125 >> 9 << 9);
    let (window, goodput) = transfer(&config, 100_000_000, 100_000);
    assert!(goodput > 85e6 && window > 1_250_000, "{goodput} {window}");
}

/// RFC 7323 section 5.3: new data that are older than the last data in order are answered and
/// dropped. Data with later timestamps are accepted.
#[test]
fn data_out_of_date_are_dropped() {
    let mut peer = Peer::accepted(config(|config| {
        config.timestamps = Some(Span::from_millis(1));
        config.ack_every = 1;
    }));
    for (from, stamp, ack) in [(1, 2000, 1001), (1001, 1999, 1001), (1001, 2000, 2001)] {
        let mut data = peer.segment(from, 1, ACK, MSS as u32);
        data.timestamps.value = stamp;
        assert_eq!(report(&peer.say(data)).0, ack, "{stamp}");
    }
}

/// RFC 2018 section 3: four blocks fit into an ACK, three with timestamps.
#[test]
fn as_many_blocks_as_fit() {
    for (timestamps, blocks) in [(None, 4), (Some(Span::from_millis(1)), 3)] {
        let mut peer = Peer::accepted(config(|config| config.timestamps = timestamps));
        let mut last = Vec::new();
        for hole in 1..=5 {
            last = peer.data(2 * hole * MSS + 1, (2 * hole + 1) * MSS + 1);
        }
        assert_eq!(report(&last).1.len(), blocks);
    }
}

/// A FIN that came early is reported with the data before it (Linux).
#[test]
fn an_early_fin_is_part_of_a_sack_block() {
    let mut peer = Peer::accepted(dsack());
    let fin = peer.segment(1001, 1, ACK.with(SegmentFlags::FIN), MSS as u32);
    assert_eq!(report(&peer.say(fin)), (1, vec![(1001, 2002)]));
    assert_eq!(report(&peer.data(1, 1001)), (2002, vec![]));
}
