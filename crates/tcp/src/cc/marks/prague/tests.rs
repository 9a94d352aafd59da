use super::*;
use crate::{AccEcnReports, Profile};

const MSS: u64 = 1000;

/// Returns a control in congestion avoidance with a window of `segments`, whose round trips have
/// always lasted `rtt`.
fn control(segments: f64, rtt: Span, prague: PragueConfig) -> Prague {
    let mut config = TcpConfig::profile(Profile::Prague);
    config.mss = MSS as u32;
    config.accecn_option = AccEcnReports::Off;
    let mut control = Prague::new(&config, prague);
    control.set_window(segments * MSS as f64);
    control.set_ssthresh(2 * MSS);
    control.srtt = Some(rtt.as_secs_f64());
    control
}

fn plain(segments: f64) -> Prague {
    control(segments, Span::from_millis(50), PragueConfig::default())
}

/// Returns the time `millis` milliseconds after the start.
fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// Delivers an ACK of `acked` segments, `marked` of them marked, at a time in milliseconds. A round
/// ends with it if `ends` is true.
fn ack(control: &mut Prague, millis: u64, acked: u64, marked: u64, ends: bool) {
    control.on_marks(&MarkSample {
        acked: acked * MSS,
        marked: marked * MSS,
        ..MarkSample::default()
    });
    let reached = control.round_ends_at.max(1);
    control.on_ack(&AckSample {
        now: at(millis),
        acked: acked * MSS,
        is_window_limited: true,
        acked_to: if ends { reached } else { reached - 1 },
        sent_to: reached + 1,
        ..AckSample::default()
    });
}

fn echo(control: &mut Prague, millis: u64) {
    control.on_congestion_event(&CongestionEvent {
        now: at(millis),
        signal: CongestionSignal::EcnEcho,
        ..CongestionEvent::default()
    });
}

/// Returns the window with its fraction, in segments.
fn window(control: &Prague) -> f64 {
    control.cwnd / MSS as f64
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-5, "{found} {expected}");
}

/// The draft, section "Moving Average of ECN Feedback": α ← (1 − g)·α + g·F with g = 1/16, from α =
/// 1. With a quarter of the packets marked: 15/16 + 1/64, then 15/16 of that + 1/64, and so on.
#[test]
fn alpha_follows_the_share_of_marked_packets() {
    let mut control = plain(100.0);
    ack(&mut control, 0, 16, 4, true);
    near(control.share(), 0.953_125);
    ack(&mut control, 50, 16, 4, true);
    near(control.share(), 0.909_179_687_5);
    ack(&mut control, 100, 16, 4, true);
    near(control.share(), 0.867_980_957);
    // Within a round α stays. The round then has 2 marks in 32 packets.
    ack(&mut control, 150, 16, 2, false);
    near(control.share(), 0.867_980_957);
    ack(&mut control, 200, 16, 0, true);
    near(control.share(), 0.817_638_397);
    // No remainder is lost: after many rounds with one mark in 4096, α is 2⁻¹².
    for round in 0..400 {
        ack(&mut control, 250 + 50 * round, 4096, 1, true);
    }
    near(control.share(), 1.0 / 4096.0);
}

/// Before the first mark nothing shows that the path marks at all (Linux `saw_ce`).
#[test]
fn alpha_waits_for_the_first_mark() {
    let mut control = plain(100.0);
    ack(&mut control, 0, 16, 0, true);
    near(control.share(), 1.0);
}

/// Section "Multiplicative Decrease on ECN Feedback": the window loses α/2, with fractions of a
/// segment. The bytes in flight follow by a segment per ACK.
#[test]
fn an_echo_takes_half_of_alpha() {
    let mut control = plain(10.0);
    ack(&mut control, 0, 16, 16, true);
    ack(&mut control, 50, 16, 4, false);
    control.alpha = (MAX_ALPHA >> 2) * 3; // α = 3/4
    control.set_window(10_000.0);
    echo(&mut control, 60);
    near(window(&control), 6.25);
    let mut allowed = Vec::new();
    for _ in 0..5 {
        // All packets are marked, so that the window does not grow.
        ack(&mut control, 70, 1, 1, false);
        allowed.push(control.window() / MSS as f64);
    }
    assert_eq!(allowed, [9.0, 8.0, 7.0, 7.0, 7.0]);
    // Two segments may be in flight even if the window is smaller.
    for _ in 0..40 {
        echo(&mut control, 80);
        ack(&mut control, 90, 1, 1, false);
    }
    near(control.window(), 2000.0);
    near(window(&control), 1.0 / 64.0);
}

/// Linux 5.13 (`MIN_CWND`): many flows on a short queue keep two segments each, and the pace is that
/// of these segments.
#[test]
fn the_window_is_never_below_its_minimum() {
    let prague = PragueConfig {
        min_window: 2.0,
        ..PragueConfig::default()
    };
    let mut control = control(5.0, Span::from_millis(50), prague);
    for round in 0..20 {
        control.on_congestion_event(&CongestionEvent {
            now: at(1_000 * round),
            signal: CongestionSignal::Loss,
            ..CongestionEvent::default()
        });
        ack(&mut control, 1_000 * round + 500, 1, 1, false);
        assert!(window(&control) >= 2.0);
    }
    near(window(&control), 2.0);
    near(control.window(), 2000.0);
    let pace = control.pacing_rate().map_or(0, |pace| pace.0);
    assert_eq!(pace, (8.0 * 2.0 * control.packet / 0.05) as u64);
}

/// Section "Additive Increase and ECN Feedback": one segment per round trip, earned by unmarked
/// packets alone, also while the window is being reduced.
#[test]
fn unmarked_packets_increase_the_window() {
    let mut control = plain(10.0);
    ack(&mut control, 0, 1, 0, false);
    near(window(&control), 10.1);
    ack(&mut control, 1, 2, 1, false);
    near(window(&control), 10.1 + 1.0 / 11.0);
    ack(&mut control, 2, 2, 2, false);
    near(window(&control), 10.1 + 1.0 / 11.0);
    echo(&mut control, 3); // α = 1
    let reduced = 0.5 * (10.1 + 1.0 / 11.0);
    near(window(&control), reduced);
    ack(&mut control, 4, 1, 0, false);
    near(window(&control), reduced + 1.0 / 6.0);
}

/// Section "Reduced RTT-Dependence": a round trip of 10 ms counts as one of 25 ms. The window grows
/// by (10 / 25)² = 0.16 segments per round trip, α and window change once in 25 ms.
#[test]
fn short_round_trips_count_as_longer_ones() {
    let prague = PragueConfig {
        transition: 2,
        ..PragueConfig::default()
    };
    let mut control = control(10.0, Span::from_millis(10), prague);
    ack(&mut control, 0, 1, 0, true);
    near(window(&control), 10.1);
    ack(&mut control, 10, 1, 1, true);
    near(control.share(), 1.0);
    ack(&mut control, 20, 1, 0, false);
    near(window(&control), 10.1 + 0.16 / 11.0);
    // The rounds that end 10 and 20 ms after the last change of α do not change it.
    ack(&mut control, 30, 1, 0, true);
    near(control.share(), 1.0);
    ack(&mut control, 35, 1, 0, true);
    near(control.share(), 0.9375);
    let before = window(&control);
    echo(&mut control, 40);
    let after = before * (1.0 - 0.9375 / 2.0);
    near(window(&control), after);
    echo(&mut control, 60);
    near(window(&control), after);
    echo(&mut control, 65);
    near(window(&control), after * (1.0 - 0.9375 / 2.0));
}

/// A round trip above the target is not changed.
#[test]
fn long_round_trips_grow_by_a_segment() {
    let prague = PragueConfig {
        transition: 0,
        ..PragueConfig::default()
    };
    let mut control = control(10.0, Span::from_millis(40), prague);
    ack(&mut control, 0, 1, 0, true);
    near(window(&control), 10.1);
}

/// The first mark ends slow start, in which the window grows by the packets delivered.
#[test]
fn slow_start_ends_with_the_first_mark() {
    let mut control = plain(10.0);
    control.set_ssthresh(u64::MAX);
    ack(&mut control, 0, 10, 0, true);
    near(window(&control), 20.0);
    echo(&mut control, 50);
    near(window(&control), 10.0);
    ack(&mut control, 50, 1, 1, false);
    near(control.window(), 19_000.0);
    assert!(!control.in_slow_start());
}

/// Section "Packet Pacing": 10 packets of 1052 bytes in 50 ms are 1.6832 Mb/s, twice that in the
/// first half of slow start. Half a segment per round trip is a twentieth. A burst has at most 0.25
/// ms.
#[test]
fn the_pace_is_the_window_per_round_trip() {
    let pace = |control: &Prague| control.pacing_rate().expect("it paces").0;
    let mut control = plain(10.0);
    assert_eq!(pace(&control), 1_683_200);
    assert_eq!(control.burst(), Some(1));
    control.set_ssthresh(20_001);
    assert_eq!(pace(&control), 2 * 1_683_200);
    control.set_ssthresh(2000);
    control.cwnd = 500.0;
    assert_eq!(pace(&control), 84_160);
    control.set_window(3_000_000.0);
    // 3000 packets in 50 ms are 14.6 in 1/4096 s.
    assert_eq!(control.burst(), Some(14));
}

/// Section "Fall-Back on Loss": the window halves, and does not grow until all is repaired.
#[test]
fn a_loss_halves_the_window() {
    let mut control = plain(10.0);
    control.on_congestion_event(&CongestionEvent {
        now: at(0),
        ..CongestionEvent::default()
    });
    near(window(&control), 5.0);
    assert_eq!(control.ssthresh(), 5000);
    control.on_ack(&AckSample {
        now: at(50),
        acked: MSS,
        is_window_limited: true,
        in_recovery: true,
        ..AckSample::default()
    });
    near(window(&control), 5.0);
    near(control.window(), 9000.0);
    control.on_undo(at(60));
    near(window(&control), 10.0);
}

/// Without a count of marks the control is Reno: an echo halves the window, and round trips are not
/// changed.
#[test]
fn without_counts_it_is_reno() {
    let prague = PragueConfig {
        transition: 0,
        ..PragueConfig::default()
    };
    let mut control = control(10.0, Span::from_millis(10), prague);
    control.on_feedback(false);
    ack(&mut control, 0, 1, 0, true);
    near(window(&control), 10.1);
    echo(&mut control, 10);
    near(window(&control), 5.05);
    echo(&mut control, 12);
    near(window(&control), 2.525);
}

/// Linux `prague_classic_ecn_fallback`: behind a queue that counts as classic a mark takes at least
/// 0.625/2 of the window, whatever α is, and no α above that is changed. The detection is off by
/// default.
#[test]
fn a_classic_queue_takes_more_of_the_window() {
    let fallback = PragueConfig {
        ecn_fallback: true,
        ..PragueConfig::default()
    };
    for (prague, alpha, kept) in [
        (fallback, MAX_ALPHA / 16, 0.6875),
        (fallback, MAX_ALPHA, 0.5),
        (PragueConfig::default(), MAX_ALPHA / 16, 0.968_75),
    ] {
        let mut control = control(64.0, Span::from_millis(20), prague);
        // Round-trip times of 20 and 50 ms in turns give a mean deviation and a depth of milliseconds.
        echo(&mut control, 0);
        control.set_ssthresh(64 * MSS);
        echo(&mut control, 0);
        for index in 0..4000 {
            control.on_marks(&MarkSample {
                acked: MSS,
                marked: u64::from(index == 0) * MSS,
                ..MarkSample::default()
            });
            let millis = if index % 64 < 32 { 20 } else { 50 };
            control.on_ack(&AckSample {
                now: at(index),
                acked: MSS,
                rtt: Some(Span::from_millis(millis)),
                acked_to: index,
                sent_to: index + 64,
                ..AckSample::default()
            });
        }
        control.alpha = alpha;
        control.set_window(64_000.0);
        echo(&mut control, 5000);
        near(window(&control), 64.0 * kept);
    }
}

/// Linux: a target of zero switches the rule off (`RTT_CONTROL_NONE`).
#[test]
fn without_a_target_each_round_trip_counts_as_it_is() {
    let prague = PragueConfig {
        rtt_target: Span::ZERO,
        transition: 0,
        ..PragueConfig::default()
    };
    let mut control = control(10.0, Span::from_millis(1), prague);
    ack(&mut control, 0, 1, 0, true);
    near(window(&control), 10.1);
    echo(&mut control, 1);
    near(window(&control), 5.05);
    echo(&mut control, 2);
    near(window(&control), 2.525);
}
