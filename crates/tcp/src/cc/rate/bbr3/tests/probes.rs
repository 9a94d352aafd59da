//! Rules about states: when they end, and what the probes for bandwidth and round-trip time change.

use super::*;

/// Section 5.3.1.2: only the sample at the start of a round shows growth, and three rounds below 125 %
/// of the last growth show a full pipe. The samples between, of 130 segments a second, do not count.
#[test]
fn growth_counts_at_the_start_of_a_round() {
    let mut bench = Bench::new();
    for (rate, rounds) in [
        (100.0, 0),
        (110.0, 1),
        (124.0, 2),
        (125.0, 0),
        (150.0, 1),
        (156.0, 2),
    ] {
        bench.round(Ack { rate, ..ACK });
        assert_eq!(bench.bbr.full_rounds, rounds, "{rate}");
        bench.ack(Ack {
            rate: 1.3 * rate,
            ..ACK
        });
        assert_eq!(bench.bbr.full_rounds, rounds, "{rate}");
    }
    assert!(!bench.bbr.pipe_is_full);
    bench.round(Ack {
        rate: 120.0,
        is_app_limited: true,
        ..ACK
    });
    assert!(
        !bench.bbr.pipe_is_full,
        "an application-limited round does not count"
    );
    bench.round(Ack { rate: 120.0, ..ACK });
    assert!(bench.bbr.pipe_is_full);
}

/// `CheckDrainDone`: Drain ends with 40 segments in flight, the product, or in the fourth round.
#[test]
fn drain_ends_with_the_queue_or_after_three_rounds() {
    let drain = || {
        let mut bench = Bench::in_mode(Mode::Drain);
        bench.bbr.drain_started_in = bench.bbr.rounds;
        bench
    };
    // The flight that ends Drain ends Down too.
    for (in_flight, mode) in [(41, Mode::Drain), (40, Mode::Cruise)] {
        let mut bench = drain();
        bench.ack(Ack { in_flight, ..ACK });
        assert_eq!(bench.bbr.mode, mode, "{in_flight}");
    }
    let mut bench = drain();
    for round in 1..=4 {
        assert_eq!(bench.bbr.mode, Mode::Drain, "{round}");
        bench.round(Ack {
            in_flight: 100,
            ..ACK
        });
    }
    assert_eq!(bench.bbr.mode, Mode::Down);
}

/// `IsTimeToCruise`: the flight is at most the product at the largest bandwidth, 40 segments, and
/// leaves the headroom: 34 of a bound of 40. Lost bandwidth does not lower the first limit.
#[test]
fn down_ends_below_the_product_and_with_headroom() {
    let none = f64::INFINITY;
    for (bound, in_flight, mode) in [
        (none, 41, Mode::Down),
        (none, 40, Mode::Cruise),
        (40.0, 35, Mode::Down),
        (40.0, 34, Mode::Cruise),
    ] {
        let mut bench = Bench::in_mode(Mode::Down);
        bench.bbr.round_ends_at = u64::MAX;
        bench.bbr.inflight_longterm = bound * SEGMENT;
        bench.bbr.bandwidth_shortterm = 700.0 * SEGMENT;
        bench.ack(ACK);
        bench.bbr.mode = Mode::Down;
        bench.ack(Ack { in_flight, ..ACK });
        assert_eq!(bench.bbr.mode, mode, "{bound} {in_flight}");
    }
}

/// `IsTimeToProbeBW`: after the drawn wait of 2 to 3 s, or after as many rounds as the product has
/// segments, here 40, and 63 at most.
#[test]
fn a_probe_is_due_by_the_clock_or_by_rounds() {
    let mut waits = Vec::new();
    for n in 0..100 {
        let mut bench = Bench::in_mode(Mode::Cruise);
        bench.bbr.start_down(bench.now + Span::from_micros(n));
        assert!(bench.bbr.rounds_since_probe <= 1);
        waits.push(bench.bbr.probe_wait.as_secs_f64());
    }
    assert!(waits.iter().all(|wait| (2.0..3.0).contains(wait)));
    let mean = waits.iter().sum::<f64>() / 100.0;
    // The mean of 100 uniform draws has a standard error of 0.029 s.
    assert!((mean - 2.5).abs() < 0.12, "{mean}");
    for (rate, rounds) in [(1_000.0, 40), (10_000.0, 63)] {
        for (since, mode) in [(rounds - 1, Mode::Cruise), (rounds, Mode::Refill)] {
            let mut bench = Bench::in_mode(Mode::Cruise);
            bench.ack(Ack { rate, ..ACK });
            bench.bbr.mode = Mode::Cruise;
            bench.bbr.cwnd = 1_000.0 * SEGMENT;
            bench.bbr.round_ends_at = u64::MAX;
            bench.bbr.rounds_since_probe = since;
            bench.ack(ACK);
            assert_eq!(bench.bbr.mode, mode, "{rate} {since}");
        }
    }
}

/// `IsTimeToGoDown`: a bandwidth that has stopped growing ends Up, unless the window limits sending
/// and is at the long-term bound.
#[test]
fn up_goes_on_while_the_bound_limits_sending() {
    for (bound, is_window_limited, mode) in [
        (500.0, true, Mode::Down),
        (60.0, false, Mode::Down),
        (60.0, true, Mode::Up),
    ] {
        let mut bench = Bench::in_mode(Mode::Up);
        bench.bbr.cwnd = 60.0 * SEGMENT;
        bench.bbr.inflight_longterm = bound * SEGMENT;
        bench.bbr.is_full_now = true;
        bench.ack(Ack {
            is_window_limited,
            ..ACK
        });
        assert_eq!(bench.bbr.mode, mode, "{bound} {is_window_limited}");
        assert_eq!(bench.bbr.is_full_now, mode == Mode::Down);
    }
}

/// After a probe with high losses the next one ends when its flight reaches the bound, and if it loses
/// little, another follows a round later and lasts (section 5.3.3.6).
#[test]
fn the_probe_after_high_losses_is_cautious() {
    for (bound, reached) in [(50.0, 50), (49.5, 49)] {
        let mut bench = Bench::in_mode(Mode::Up);
        bench.bbr.probe_went_too_high = true;
        bench.bbr.inflight_longterm = bound * SEGMENT;
        bench.bbr.round_ends_at = u64::MAX;
        bench.ack(Ack {
            prior_in_flight: reached - 1,
            ..ACK
        });
        assert_eq!(bench.bbr.mode, Mode::Up, "{bound}");
        bench.ack(Ack {
            prior_in_flight: reached,
            ..ACK
        });
        assert_eq!(bench.bbr.mode, Mode::Down, "{bound}");
        assert!(bench.bbr.probe_was_cautious && !bench.bbr.probe_went_too_high);
    }
    for loses in [false, true] {
        let mut bench = Bench::in_mode(Mode::Up);
        bench.bbr.has_probe_samples = true;
        bench.bbr.probe_went_too_high = true;
        bench.bbr.inflight_longterm = 50.0 * SEGMENT;
        bench.ack(Ack {
            prior_in_flight: 50,
            ..ACK
        });
        assert_eq!(bench.bbr.mode, Mode::Down);
        if loses {
            bench.lose(50, 2, false);
        }
        // The queue keeps Down from ending.
        bench.round(Ack {
            in_flight: 48,
            ..ACK
        });
        let mode = if loses { Mode::Down } else { Mode::Refill };
        assert_eq!(bench.bbr.mode, mode, "{loses}");
        assert!(!bench.bbr.has_probe_samples);
        if !loses {
            bench.round(ACK);
            assert_eq!(bench.bbr.mode, Mode::Up);
            bench.ack(Ack {
                prior_in_flight: 50,
                ..ACK
            });
            assert_eq!(bench.bbr.mode, Mode::Up, "it may stay at the bound now");
        }
    }
}

/// `ProbeInflightLongtermUpward`: with a window of 100 segments at the bound, the ACKs of a round raise
/// the bound by 1 segment in the first round of Up, by 2 in the next and by 4 in the third: the slopes
/// are one segment in 100, 50 and 25.5 ACKs. A window that does not limit sending raises nothing.
#[test]
fn the_long_term_bound_grows_by_doubling_steps() {
    let mut bench = Bench::in_mode(Mode::Refill);
    bench.bbr.inflight_longterm = 100.0 * SEGMENT;
    bench.bbr.cwnd = 100.0 * SEGMENT;
    let fast = Ack {
        rate: 10_000.0,
        is_window_limited: true,
        ..ACK
    };
    bench.round(fast);
    assert_eq!(bench.bbr.mode, Mode::Up);
    for _ in 0..500 {
        bench.ack(Ack {
            is_window_limited: false,
            ..fast
        });
    }
    for (acks, bound) in [(100, 101.0), (100, 103.0), (102, 107.0)] {
        for _ in 1..acks {
            bench.ack(fast);
        }
        bench.round(fast);
        let found = Bench::segments(bench.bbr.inflight_longterm);
        assert!(close(found, bound), "{found}");
        assert!(close(Bench::segments(bench.bbr.cwnd), bound));
    }
}

/// `UpdateACKAggregation`: five segments at once are five ahead of 1,000 a second. In Startup they
/// count for their round only, and for ten rounds when the pipe is full.
#[test]
fn aggregation_counts_for_one_round_in_startup_and_ten_later() {
    for (is_full, rounds) in [(false, 1), (true, 10)] {
        let mut bench = Bench::new();
        bench.ack(ACK);
        bench.bbr.pipe_is_full = is_full;
        bench.bbr.mode = if is_full { Mode::Refill } else { Mode::Startup };
        bench.bbr.cwnd = 80.0 * SEGMENT;
        let calm = Ack {
            after_ms: 50,
            ..ACK
        };
        bench.round(Ack { newly: 5, ..calm });
        assert!(close(Bench::segments(bench.bbr.aggregation.max()), 5.0));
        for round in 1..=11 {
            bench.bbr.mode = if is_full { Mode::Refill } else { Mode::Startup };
            bench.bbr.pipe_is_full = is_full;
            bench.round(calm);
            let expected = if round < rounds { 5.0 } else { 1.0 };
            let found = Bench::segments(bench.bbr.aggregation.max());
            assert!(close(found, expected), "{is_full} {round}: {found}");
        }
    }
}

/// `SetSendQuantum`: 1 ms at the pace, at least two segments and at most 64 KiB; three of them are the
/// least flight.
#[test]
fn a_burst_has_at_least_two_segments() {
    for (pace, segments) in [(1e3, 2.0), (149_999.0, 2.0), (5e6, 5.0), (1e9, 65.536)] {
        let mut bench = Bench::new();
        bench.bbr.pace = Some(pace);
        assert_eq!(bench.bbr.least_burst(), 2);
        let found = Bench::segments(bench.bbr.quantise(0.0));
        assert!(close(found, 3.0 * segments), "{pace}: {found}");
    }
}

/// `bbr_tso_segs_generic` of Google's tree: 64 KiB, halved for each 512 us of the shortest round trip, are
/// added to 1 ms at the pace of 5 MB/s, up to 64 KiB.
#[test]
fn bursts_are_longer_on_short_paths() {
    for (micros, segments) in [
        (16_384, 5.0),
        (2_000, 5.0 + 8.192),
        (1_024, 5.0 + 16.384),
        (100, 65.536),
    ] {
        let mut bench = Bench::new();
        bench.bbr.pace = Some(5e6);
        bench.bbr.min_rtt = Some(Span::from_micros(micros));
        let found = Bench::segments(bench.bbr.quantise(0.0));
        assert!(close(found, 3.0 * segments), "{micros}: {found}");
    }
}

/// `UpdateMinRTT`: after five seconds without a shorter round trip the next one counts, whatever its
/// length, and measuring is due. The product keeps the shortest of ten seconds.
#[test]
fn the_shortest_round_trip_is_kept_for_ten_seconds() {
    let mut bench = Bench::in_mode(Mode::Cruise);
    let min_rtt = |bench: &Bench| bench.bbr.min_rtt.map(Span::as_secs_f64);
    bench.ack(Ack {
        after_ms: 4_998,
        rtt_ms: 60,
        ..ACK
    });
    assert_ne!(bench.bbr.mode, Mode::ProbeRtt);
    bench.ack(Ack {
        after_ms: 3,
        rtt_ms: 60,
        in_flight: 30,
        ..ACK
    });
    assert_eq!(bench.bbr.mode, Mode::ProbeRtt);
    assert_eq!(min_rtt(&bench), Some(0.040));
    bench.ack(Ack {
        after_ms: 4_900,
        rtt_ms: 70,
        in_flight: 30,
        ..ACK
    });
    assert_eq!(min_rtt(&bench), Some(0.040));
    bench.ack(Ack {
        after_ms: 100,
        rtt_ms: 70,
        in_flight: 30,
        ..ACK
    });
    assert_eq!(min_rtt(&bench), Some(0.060));
}

/// `CheckProbeRTTDone`: after 200 ms at half the product and a round, the short-term bounds are lifted
/// and the flow cruises, or returns to Startup if its pipe was never full.
#[test]
fn measuring_ends_after_its_duration_and_a_round() {
    for is_full in [true, false] {
        let mut bench = Bench::in_mode(Mode::Cruise);
        bench.bbr.pipe_is_full = is_full;
        bench.ack(Ack {
            after_ms: 5_001,
            in_flight: 20,
            ..ACK
        });
        assert_eq!(bench.bbr.mode, Mode::ProbeRtt);
        bench.bbr.inflight_shortterm = 30.0 * SEGMENT;
        bench.ack(Ack {
            after_ms: 199,
            in_flight: 20,
            ..ACK
        });
        bench.round(Ack {
            after_ms: 1,
            in_flight: 20,
            ..ACK
        });
        assert_eq!(bench.bbr.mode, Mode::ProbeRtt, "200 ms have not passed");
        assert!(close(Bench::segments(bench.bbr.cwnd), 20.0));
        bench.ack(Ack {
            in_flight: 20,
            ..ACK
        });
        let mode = if is_full { Mode::Cruise } else { Mode::Startup };
        assert_eq!(bench.bbr.mode, mode);
        assert!(bench.bbr.inflight_shortterm.is_infinite());
        assert!(Bench::segments(bench.bbr.cwnd) >= 79.0);
    }
}

/// Packets that leave in `ProbeRTT` give application-limited samples, those that left before do not.
#[test]
fn samples_of_the_emptied_pipe_count_as_limited() {
    let mut bench = Bench::in_mode(Mode::Cruise);
    bench.delivered = 99;
    bench.ack(Ack {
        after_ms: 5_001,
        in_flight: 20,
        ..ACK
    });
    assert_eq!(bench.bbr.mode, Mode::ProbeRtt);
    for (prior, limited) in [(99, false), (100, true), (120, true), (121, false)] {
        let rate = RateSample {
            delivered: 1_000,
            interval: Span::from_millis(1),
            prior_delivered: 1_000 * prior,
            total_delivered: 1_000 * 200,
            in_flight_at_send: 1_000,
            lost: 0,
            is_app_limited: false,
        };
        assert_eq!(bench.bbr.is_limited(&rate), limited, "{prior}");
    }
}
