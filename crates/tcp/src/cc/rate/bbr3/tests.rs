use super::*;
use crate::cc::RateSample;
use crate::cc::testbed::Bottleneck;
use crate::config::CongestionControlConfig;

fn bottleneck(limit: u64) -> Bottleneck {
    super::super::tests::bottleneck(CongestionControlConfig::Bbr3(Bbr3Config::default()), limit)
}

/// Section 5.3.4: the window is half the bandwidth-delay product for 200 ms, every five seconds.
#[test]
fn the_round_trip_is_measured_every_five_seconds() {
    let mut path = bottleneck(400);
    path.run(Span::from_secs(3));
    let (mut starts, mut was_low) = (Vec::new(), false);
    while path.now < Time::ZERO + Span::from_secs(33) {
        path.run(Span(1));
        // The product is 34.2 segments.
        let is_low = path.control.cwnd() < 18 * 1460;
        if is_low && !was_low {
            starts.push(path.now.as_secs_f64());
        }
        was_low = is_low;
    }
    assert!((5..=6).contains(&starts.len()), "{starts:?}");
    let mut apart = starts.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(apart.all(|gap| (5.0..5.5).contains(&gap)), "{starts:?}");
}

fn plain() -> Bbr3 {
    Bbr3::new(&TcpConfig::default(), Bbr3Config::default())
}

/// The table of section 5.6.1 of draft 06: pacing gain and window gain of each state.
#[test]
fn the_gains_are_those_of_the_drafts_table() {
    let gains = [
        (Mode::Startup, 2.77, 2.0),
        (Mode::Drain, 0.5, 2.0),
        (Mode::Down, 0.9, 2.0),
        (Mode::Cruise, 1.0, 2.0),
        (Mode::Refill, 1.0, 2.0),
        (Mode::Up, 1.25, 2.25),
        (Mode::ProbeRtt, 1.0, 0.5),
    ];
    for (mode, pacing, window) in gains {
        assert!((mode.pacing_gain() - pacing).abs() < 1e-12, "{mode:?}");
        assert!((mode.cwnd_gain() - window).abs() < 1e-12, "{mode:?}");
    }
}

/// `InflightWithHeadroom`: 15 % of the bound or one segment is left free, and four segments are the
/// least.
#[test]
fn the_headroom_is_fifteen_percent_or_a_segment() {
    let mut bbr = plain();
    let mss = bbr.mss;
    assert!(bbr.inflight_with_headroom().is_infinite());
    for (bound, left) in [(100.0, 85.0), (6.0, 5.0), (4.0, 4.0)] {
        bbr.inflight_hi = bound * mss;
        let found = bbr.inflight_with_headroom() / mss;
        assert!((found - left).abs() < 1e-9, "{bound}: {found}");
    }
}

/// `BoundCwndForModel`: which bound holds in which state. The long-term bound is 100 segments, the
/// short-term bound 90.
#[test]
fn the_window_is_bounded_as_the_state_asks() {
    let (hi, room, none) = (100.0, 85.0, 500.0);
    for (mode, long_term) in [
        (Mode::Startup, none),
        (Mode::Drain, none),
        (Mode::Down, hi),
        (Mode::Cruise, room),
        (Mode::Refill, hi),
        (Mode::Up, hi),
        (Mode::ProbeRtt, room),
    ] {
        for short_term in [f64::INFINITY, 90.0] {
            let mut bbr = plain();
            let mss = bbr.mss;
            bbr.mode = mode;
            bbr.cwnd = none * mss;
            bbr.inflight_hi = hi * mss;
            bbr.inflight_lo = short_term * mss;
            bbr.bound_by_model();
            let expected = long_term.min(short_term);
            assert!((bbr.cwnd / mss - expected).abs() < 1e-9, "{mode:?}");
        }
    }
}

/// `IsInflightTooHigh`: more than 2 % of the flight was lost. Two of 100 segments are not.
#[test]
fn a_flight_is_too_large_above_two_percent_of_losses() {
    for (lost, too_high) in [(0, false), (2, false), (3, true)] {
        let rate = RateSample {
            delivered: 1_000,
            interval: Span::from_millis(10),
            prior_delivered: 0,
            total_delivered: 1_000,
            in_flight_at_send: 100 * 1_000,
            lost: lost * 1_000,
            is_app_limited: false,
        };
        assert_eq!(plain().is_too_high(&rate), too_high, "{lost}");
    }
}
