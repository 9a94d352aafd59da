//! Rules about losses: the exit from Startup, the bounds, and what a spurious loss restores.

use super::*;
use crate::cc::rate::bbr3::losses;

/// `IsInflightTooHigh`: more than 2 % of the flight was lost. Two of 100 segments are not.
#[test]
fn a_flight_is_too_large_above_two_percent_of_losses() {
    for (lost, too_high) in [(0, false), (2, false), (3, true)] {
        assert_eq!(
            plain().is_too_high(1_000 * lost, 100_000),
            too_high,
            "{lost}"
        );
    }
}

/// Section 5.3.1.3: six separate ranges, more than 2 % of the flight, and a full round of fast
/// recovery since the first of them.
#[test]
fn startup_ends_after_a_round_of_recovery_with_six_ranges_and_two_percent() {
    struct Case {
        ranges: u64,
        adjoins: bool,
        lost: u64,
        in_recovery: bool,
        has_left: bool,
    }
    let case = Case {
        ranges: 6,
        adjoins: false,
        lost: 6,
        in_recovery: true,
        has_left: true,
    };
    let cases = [
        Case { ..case },
        Case { lost: 3, ..case },
        Case {
            ranges: 5,
            has_left: false,
            ..case
        },
        Case {
            adjoins: true,
            has_left: false,
            ..case
        },
        Case {
            lost: 2,
            has_left: false,
            ..case
        },
        Case {
            in_recovery: false,
            has_left: false,
            ..case
        },
    ];
    for (index, case) in cases.iter().enumerate() {
        let mut bench = Bench::new();
        bench.ack(Ack { newly: 50, ..ACK });
        for n in 0..case.ranges {
            bench.lose(100, n + 1, case.adjoins && n > 0);
        }
        let ack = Ack {
            in_recovery: case.in_recovery,
            lost: case.lost,
            flight_at_send: 100,
            volume: 45,
            // The queue keeps Drain from ending.
            in_flight: 90,
            ..ACK
        };
        // A segment that left before the first of them was known to be lost: no full round.
        bench.ack(Ack { prior: 49, ..ack });
        assert_eq!(bench.bbr.mode, Mode::Startup, "{index}");
        bench.ack(Ack { prior: 50, ..ack });
        let mode = if case.has_left {
            Mode::Drain
        } else {
            Mode::Startup
        };
        assert_eq!(bench.bbr.mode, mode, "{index}");
        // The bound is the larger of the product, 40 segments, and the volume of the round, 45.
        let bound = if case.has_left { 45.0 } else { f64::INFINITY };
        let found = Bench::segments(bench.bbr.inflight_longterm);
        assert!(close(found, bound), "{index}: {found}");
    }
}

/// The ranges of one round do not count in the next.
#[test]
fn the_ranges_of_two_rounds_do_not_add_up() {
    let mut bench = Bench::new();
    bench.ack(ACK);
    let ack = Ack {
        in_recovery: true,
        lost: 6,
        flight_at_send: 100,
        in_flight: 90,
        ..ACK
    };
    // The bandwidth grows, so that only the losses could end Startup.
    for rate in [2_000.0, 4_000.0, 8_000.0] {
        for n in 0..3 {
            bench.lose(100, n + 1, false);
        }
        let prior = bench.delivered;
        bench.ack(Ack { prior, rate, ..ack });
    }
    assert_eq!(bench.bbr.mode, Mode::Startup);
}

/// `HandleLostPacket`: each lost segment is judged with the flight in which it left, and the bound is
/// the flight at which the losses passed 2 %, at least 0.7 of the target.
///
/// `InflightAtLoss` for the third loss of a flight of 120: 119 segments left before it and 2 of them
/// were lost, so (0.02 × 119 − 2)/0.98 = 0.387755 of it fit. The 30th loss of 120 leaves no room: 119.
/// The target is the product of 40 segments, 0.7 of it 28.
#[test]
fn the_long_term_bound_is_the_flight_at_which_losses_passed_the_threshold() {
    let cases = [
        (120, 2, None),
        (120, 3, Some(119.387_755)),
        (120, 30, Some(119.0)),
        (10, 1, Some(28.0)),
    ];
    for (flight, lost, bound) in cases {
        let mut bench = Bench::in_mode(Mode::Up);
        bench.bbr.has_probe_samples = true;
        bench.lose(flight, lost, false);
        let found = Bench::segments(bench.bbr.inflight_longterm);
        assert!(
            close(found, bound.unwrap_or(f64::INFINITY)),
            "{flight} {lost}: {found}"
        );
        let ends = bound.is_some();
        let mode = if ends { Mode::Down } else { Mode::Up };
        assert_eq!(bench.bbr.mode, mode, "{flight} {lost}");
        assert_eq!(bench.bbr.probe_went_too_high, ends);
        assert_eq!(bench.bbr.has_probe_samples, !ends);
    }
}

/// A flight that the application limited says nothing about the bound, but the probe ends.
#[test]
fn an_application_limited_loss_ends_the_probe_and_sets_no_bound() {
    let mut bench = Bench::in_mode(Mode::Up);
    bench.bbr.has_probe_samples = true;
    bench.bbr.on_lost(&LostSegment {
        now: bench.now,
        seq: 0,
        end: 1_000,
        bytes: 1_000,
        in_flight_at_send: 10_000,
        lost: 1_000,
        total_delivered: 1_000,
        is_app_limited: true,
    });
    assert_eq!(bench.bbr.mode, Mode::Down);
    assert!(bench.bbr.inflight_longterm.is_infinite());
}

/// Outside of probes a loss leaves the long-term bound.
#[test]
fn a_loss_while_cruising_leaves_the_long_term_bound() {
    let mut bench = Bench::in_mode(Mode::Cruise);
    bench.lose(10, 1, false);
    assert!(bench.bbr.inflight_longterm.is_infinite());
    assert!(bench.bbr.loss_in_round);
}

/// `NoteLoss` and `LossLowerBounds`: the round starts at its first loss, and at its end the bounds are
/// the larger of what it delivered and 0.7 of the bound: of 1,000 segments a second, and of the window
/// of 80 segments.
#[test]
fn the_short_term_bounds_fall_one_round_after_the_first_loss() {
    let cases = [(600.0, 30, 700.0, 56.0), (800.0, 60, 800.0, 60.0)];
    for (rate, volume, bandwidth, inflight) in cases {
        let mut bench = Bench::in_mode(Mode::Cruise);
        // The round began when 101 segments were delivered and the loss is known at 150.
        bench.ack(Ack {
            newly: 100,
            prior: 1,
            rate: 500.0,
            ..ACK
        });
        bench.delivered = 150;
        bench.bbr.cwnd = 80.0 * SEGMENT;
        bench.lose(80, 1, false);
        let ack = Ack {
            rate,
            volume,
            newly: 0,
            ..ACK
        };
        bench.ack(Ack { prior: 149, ..ack });
        assert!(bench.bbr.inflight_shortterm.is_infinite());
        bench.bbr.cwnd = 80.0 * SEGMENT;
        bench.ack(Ack { prior: 150, ..ack });
        let found = Bench::segments(bench.bbr.bandwidth_shortterm);
        assert!(close(found, bandwidth), "{found}");
        let found = Bench::segments(bench.bbr.inflight_shortterm);
        assert!(close(found, inflight), "{found}");
        assert!(close(bench.bbr.bandwidth, SEGMENT * bandwidth));
    }
}

/// While probing, a round with losses leaves the short-term bounds.
#[test]
fn losses_while_probing_leave_the_short_term_bounds() {
    for mode in [Mode::Startup, Mode::Refill, Mode::Up] {
        let mut bench = Bench::in_mode(mode);
        bench.lose(1_000, 1, false);
        bench.bbr.loss_round_ends_at = 0;
        bench.bbr.round_ends_at = u64::MAX;
        bench.ack(ACK);
        assert!(bench.bbr.inflight_shortterm.is_infinite(), "{mode:?}");
        assert!(!bench.bbr.loss_in_round, "{mode:?}");
    }
}

/// Google's tree without `ecn_low`: the echo of a mark changes neither the bounds nor the window.
#[test]
fn marks_are_ignored() {
    let mut bench = Bench::in_mode(Mode::Cruise);
    let before = bench.bbr.cwnd;
    bench.bbr.on_congestion_event(&CongestionEvent {
        signal: CongestionSignal::EcnEcho,
        ..CongestionEvent::default()
    });
    assert!(close(bench.bbr.cwnd, before));
    bench.round(Ack {
        rate: 100.0,
        volume: 1,
        ..ACK
    });
    assert!(bench.bbr.bandwidth_shortterm.is_infinite());
    assert!(bench.bbr.inflight_shortterm.is_infinite());
    assert!(!bench.bbr.loss_in_cycle);
}

/// After a timeout the window is one segment, and the short-term bound follows from the window before
/// it: 0.7 × 80 = 56 segments.
#[test]
fn the_bound_after_a_timeout_follows_from_the_window_before_it() {
    let mut bench = Bench::in_mode(Mode::Cruise);
    bench.lose(80, 1, false);
    bench.bbr.on_retransmission_timeout(None);
    assert!(close(Bench::segments(bench.bbr.cwnd), 1.0));
    let prior = bench.delivered;
    bench.ack(Ack {
        prior,
        volume: 1,
        ..ACK
    });
    let found = Bench::segments(bench.bbr.inflight_shortterm);
    assert!(close(found, 56.0), "{found}");
}

/// `RestoreCwnd` at the end of recovery; in recovery the window follows the model alone.
#[test]
fn recovery_restores_the_window_at_its_end() {
    let mut bench = Bench::in_mode(Mode::Refill);
    bench.bbr.round_ends_at = u64::MAX;
    bench.bbr.on_congestion_event(&CongestionEvent::default());
    bench.ack(Ack {
        in_recovery: true,
        ..ACK
    });
    // Twice the product of 40 segments, and one segment of aggregation.
    let found = Bench::segments(bench.bbr.cwnd);
    assert!((80.0..=82.0).contains(&found), "{found}");
    bench.bbr.cwnd = 20.0 * SEGMENT;
    bench.ack(Ack {
        in_recovery: true,
        ..ACK
    });
    assert!(close(Bench::segments(bench.bbr.cwnd), 21.0));
    bench.ack(ACK);
    assert!(Bench::segments(bench.bbr.cwnd) > 79.0);
}

/// `HandleSpuriousLossDetection`: the bounds are at least those before the losses, and the probe that
/// they ended starts again.
#[test]
fn a_spurious_loss_gives_the_bounds_and_the_state_back() {
    let cases = [(Mode::Up, Mode::Refill), (Mode::Startup, Mode::Startup)];
    for (before, after) in cases {
        let mut bench = Bench::in_mode(before);
        let bbr = &mut bench.bbr;
        bbr.pipe_is_full = before == Mode::Up;
        bbr.has_probe_samples = true;
        bbr.inflight_longterm = 200.0 * SEGMENT;
        if before == Mode::Startup {
            bbr.undo = losses::Undo::default();
            for n in 0..6 {
                bench.lose(100, 6 + n, false);
            }
            let prior = bench.delivered;
            bench.ack(Ack {
                in_recovery: true,
                lost: 6,
                flight_at_send: 50,
                in_flight: 90,
                prior,
                ..ACK
            });
            assert_eq!(bench.bbr.mode, Mode::Drain);
        } else {
            bench.lose(100, 3, false);
            // A later loss of the same recovery does not replace what is saved.
            bench.lose(100, 4, false);
            assert_eq!(bench.bbr.mode, Mode::Down);
        }
        assert!(bench.bbr.inflight_longterm < 101.0 * SEGMENT);
        bench.bbr.inflight_shortterm = 30.0 * SEGMENT;
        bench.bbr.on_undo(bench.now);
        assert_eq!(bench.bbr.mode, after);
        assert!(close(Bench::segments(bench.bbr.inflight_longterm), 200.0));
        assert!(bench.bbr.inflight_shortterm.is_infinite());
        assert_eq!(bench.bbr.pipe_is_full, before == Mode::Up);
        assert!(!bench.bbr.loss_in_round);
        // Nothing is undone twice.
        bench.bbr.mode = Mode::Cruise;
        bench.bbr.on_undo(bench.now);
        assert_eq!(bench.bbr.mode, Mode::Cruise);
    }
}
