//! Rules about the share of marks, from Google's Linux tree. Numbers were computed by hand.

use super::*;
use crate::cc::MarkSample;

const RESPONDS: Bbr3Config = Bbr3Config {
    ecn_response: true,
    ecn_max_rtt: Span::from_millis(40),
    ..DEFAULT
};

const DEFAULT: Bbr3Config = Bbr3Config {
    loss_threshold: 0.02,
    beta: 0.7,
    headroom: 0.15,
    probe_rtt_interval: Span::from_secs(5),
    probe_rtt_duration: Span::from_millis(200),
    ecn_response: false,
    ecn_max_rtt: Span::from_millis(5),
    seed: 1,
};

/// Ends a round of which `marked` of 16 segments were marked.
fn marked_round(bench: &mut Bench, marked: u64, ack: Ack) {
    bench.bbr.on_marks(&MarkSample {
        acked: 16_000,
        marked: 1_000 * marked,
        ..MarkSample::default()
    });
    // The echo of a mark is no loss here.
    if marked > 0 {
        bench.bbr.on_congestion_event(&CongestionEvent {
            signal: CongestionSignal::EcnEcho,
            ..CongestionEvent::default()
        });
    }
    bench.bbr.loss_round_ends_at = bench.bbr.round_ends_at;
    bench.round(ack);
}

/// Returns a control in `mode` that knows from a round without marks that its round trip is short.
fn responding(mode: Mode) -> Bench {
    let mut bench = Bench::with_in_mode(RESPONDS, mode);
    marked_round(&mut bench, 0, ACK);
    bench.bbr.mode = mode;
    bench.bbr.cwnd = 80.0 * SEGMENT;
    bench
}

/// `bbr_ecn_max_rtt_us`: marks count by their share if the shortest round trip is at most the limit,
/// and are ignored otherwise. ACKs come after 40 ms.
#[test]
fn marks_count_by_their_share_with_short_round_trips() {
    for (limit_ms, counts) in [(39, false), (40, true)] {
        let config = Bbr3Config {
            ecn_max_rtt: Span::from_millis(limit_ms),
            ..RESPONDS
        };
        let mut bench = Bench::with_in_mode(config, Mode::Cruise);
        marked_round(&mut bench, 0, ACK);
        marked_round(&mut bench, 8, ACK);
        assert_eq!(
            bench.bbr.inflight_shortterm.is_finite(),
            counts,
            "{limit_ms}"
        );
        assert!(!bench.bbr.loss_in_cycle, "{limit_ms}");
    }
    let mut classic = Bench::with_in_mode(RESPONDS, Mode::Cruise);
    classic.bbr.on_feedback(false);
    marked_round(&mut classic, 8, ACK);
    assert!(classic.bbr.inflight_shortterm.is_infinite());
}

/// `bbr_ecn_lower_bounds`: the bound on the flight falls by a third of α, and the bandwidth stays. α
/// starts at 1, and is 15/16 after a round without marks. A round of 8 marks in 16 then leaves
/// 225/256 + 1/32 = 0.910156, so 80 segments become 80 (1 − 0.303385) = 55.729167. A second one
/// leaves 0.884521, and 55.729167 (1 − 0.294840) = 39.297952.
#[test]
fn the_flight_falls_by_a_third_of_the_share_of_marks() {
    let mut bench = responding(Mode::Cruise);
    marked_round(&mut bench, 8, ACK);
    let found = Bench::segments(bench.bbr.inflight_shortterm);
    assert!((found - 55.729_167).abs() < 1e-4, "{found}");
    marked_round(&mut bench, 8, ACK);
    let found = Bench::segments(bench.bbr.inflight_shortterm);
    assert!((found - 39.297_952).abs() < 1e-4, "{found}");
    assert!(bench.bbr.bandwidth_shortterm.is_infinite());
    // Rounds without marks leave the bound alone. A loss of this cycle forbids a probe.
    bench.bbr.loss_in_cycle = true;
    marked_round(&mut bench, 0, ACK);
    assert!(close(Bench::segments(bench.bbr.inflight_shortterm), found));
}

/// Marks do not lower the bound while a probe pushes more into the path.
#[test]
fn a_probe_keeps_its_flight_in_spite_of_marks() {
    for mode in [Mode::Refill, Mode::Up] {
        let mut bench = responding(mode);
        marked_round(&mut bench, 8, ACK);
        assert!(bench.bbr.inflight_shortterm.is_infinite(), "{mode:?}");
    }
}

/// `bbr_check_ecn_too_high_in_startup`: two successive rounds of which at least half was marked. The
/// bound is the product, 40 segments.
#[test]
fn startup_ends_after_two_rounds_with_half_of_it_marked() {
    for (rounds, has_left) in [
        (&[8, 8][..], true),
        (&[8, 7, 8][..], false),
        (&[7, 7, 7][..], false),
    ] {
        let mut bench = Bench::with(RESPONDS);
        bench.ack(ACK);
        // The bandwidth grows, so that only the marks could end Startup. The queue keeps Drain from
        // ending.
        let mut rate = 1_000.0;
        for marked in rounds {
            assert!(!bench.bbr.pipe_is_full, "{rounds:?}");
            let ack = Ack {
                rate,
                in_flight: 900,
                ..ACK
            };
            marked_round(&mut bench, *marked, ack);
            rate *= 2.0;
        }
        assert_eq!(bench.bbr.pipe_is_full, has_left, "{rounds:?}");
        assert_eq!(bench.bbr.mode == Mode::Drain, has_left, "{rounds:?}");
    }
}

/// `bbr_is_inflight_too_high`: more than half of the last round was marked. The bound becomes the
/// flight in which the acknowledged segment left, at least 0.7 of the target of 40, and the probe
/// ends.
#[test]
fn a_probe_ends_after_a_round_with_more_than_half_of_it_marked() {
    for (marked, flight, bound) in [(9, 60, 60.0), (9, 20, 28.0), (8, 60, f64::INFINITY)] {
        let mut bench = responding(Mode::Up);
        bench.bbr.has_probe_samples = true;
        let ack = Ack {
            flight_at_send: flight,
            in_flight: 90,
            ..ACK
        };
        marked_round(&mut bench, marked, ack);
        let ended = bound.is_finite();
        assert_eq!(bench.bbr.mode == Mode::Down, ended, "{marked} {flight}");
        let found = Bench::segments(bench.bbr.inflight_longterm);
        assert!(close(found, bound), "{marked} {flight}: {found}");
        assert_eq!(bench.bbr.probe_went_too_high, ended);
    }
}

/// `bbr_check_time_to_probe_bw`: a probe follows the first round without marks, and grows by 2^n
/// segments in its first round, where 2^n is at most half of the long-term bound: 100/2 → 2^5. A
/// loss in the cycle forbids it.
#[test]
fn a_probe_follows_when_marks_cease() {
    for (loses, mode, doublings) in [(false, Mode::Refill, 5), (true, Mode::Cruise, 0)] {
        let mut bench = responding(Mode::Cruise);
        bench.bbr.inflight_longterm = 100.0 * SEGMENT;
        // Its own clock is not due.
        bench.bbr.probe_wait = Span::from_secs(1_000);
        bench.bbr.rounds_since_probe = 0;
        let ack = Ack {
            in_flight: 90,
            ..ACK
        };
        marked_round(&mut bench, 4, ack);
        assert_eq!(bench.bbr.mode, Mode::Cruise);
        if loses {
            bench.lose(1_000, 1, false);
        }
        marked_round(&mut bench, 0, ack);
        assert_eq!(bench.bbr.mode, mode, "{loses}");
        assert_eq!(bench.bbr.up_rounds, doublings, "{loses}");
    }
}

/// A new cycle forgets the marks of the last.
#[test]
fn marks_before_a_cycle_start_no_probe_in_it() {
    let mut bench = responding(Mode::Cruise);
    bench.bbr.probe_wait = Span::from_secs(1_000);
    marked_round(&mut bench, 4, ACK);
    let now = bench.now;
    bench.bbr.start_down(now);
    bench.bbr.probe_wait = Span::from_secs(1_000);
    bench.bbr.rounds_since_probe = 0;
    marked_round(
        &mut bench,
        0,
        Ack {
            in_flight: 90,
            ..ACK
        },
    );
    assert_eq!(bench.bbr.mode, Mode::Down);
}
