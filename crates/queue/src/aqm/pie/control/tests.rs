//! The controller against RFC 8033's arithmetic and bounds, computed by hand.

use super::*;

fn with(flavour: PieFlavour) -> (PieParams, PieVars) {
    let params = PieParams {
        flavour,
        max_burst: Span::ZERO,
        ..PieParams::rfc8033()
    };
    (params, PieVars::new(&params))
}

#[test]
fn six_updates_of_rfc_8033_by_hand() {
    // Delays of 30, 50, 50, 40, 30 and 20 ms against a target of 15 ms: the steps are divided by
    // 2048, 128, 32, 32, 128 and 512 as the probability rises and falls.
    let expected = [1.9226e-5, 2.48718e-4, 3.85437e-4, 9.2468e-5, 9.460e-6, 0.0];
    for flavour in [PieFlavour::Rfc8033, PieFlavour::Linux] {
        let (params, mut vars) = with(flavour);
        for (delay, expected) in [30, 50, 50, 40, 30, 20].into_iter().zip(expected) {
            vars.delay = Span::from_millis(delay);
            vars.update(&params, 100_000);
            let error = (vars.prob - expected).abs();
            assert!(error <= 5e-10, "{delay} ms: {} {expected}", vars.prob);
        }
    }
}

#[test]
fn steps_are_scaled_by_the_probability() {
    // RFC 8033 section 4.3 has these divisors.
    let at = [1e-7, 5e-6, 5e-5, 5e-4, 5e-3, 0.05, 0.1, 0.5];
    let expected = [2048.0, 512.0, 128.0, 32.0, 8.0, 2.0, 1.0, 1.0];
    assert_eq!(at.map(scale).map(f64::to_bits), expected.map(f64::to_bits));
}

#[test]
fn an_idle_queues_probability_decays_by_two_percent_or_by_a_64th() {
    for (flavour, factor) in [
        (PieFlavour::Rfc8033, 0.98),
        (PieFlavour::Ns3, 0.98),
        (PieFlavour::Linux, 63.0 / 64.0),
    ] {
        let (params, mut vars) = with(flavour);
        vars.prob = 0.5;
        vars.update(&params, 0);
        let expected = (0.5 - 0.125 * 0.015) * factor;
        assert!((vars.prob - expected).abs() < 1e-12, "{flavour:?}");
    }
    let (params, mut vars) = with(PieFlavour::Linux);
    vars.prob = 0.5;
    vars.update(&params, 1000);
    assert!(
        (vars.prob - (0.5 - 0.125 * 0.015)).abs() < 1e-12,
        "too small to measure"
    );
}

#[test]
fn a_high_probability_grows_by_two_percent_at_most_unless_the_delay_is_very_long() {
    for (flavour, cap, delay, expected) in [
        (PieFlavour::Rfc8033, true, 300, 0.02),
        (PieFlavour::Linux, true, 300, 0.04),
        (PieFlavour::Linux, true, 250, 0.02),
        (PieFlavour::Rfc8033, false, 215, 1.25 * 0.215 + 0.125 * 0.2),
    ] {
        let (mut params, mut vars) = with(flavour);
        params.cap_adjustment = cap;
        vars.prob = 0.2;
        vars.delay = Span::from_millis(delay);
        vars.update(&params, 100_000);
        assert!((vars.prob - 0.2 - expected).abs() < 1e-12, "{}", vars.prob);
    }
}

#[test]
fn accumulated_probability_bounds_the_gap_between_drops() {
    // RFC 8033 section 5.4 bounds the gap to 0.85/p to 8.5/p arrivals.
    let (params, mut vars) = with(PieFlavour::Rfc8033);
    (vars.prob, vars.delay_old) = (0.01, params.target);
    vars.delay = params.target;
    let backlog = Backlog {
        packets: 100,
        bytes: 150_000,
    };
    let mut random = RandomStream::new(1, "test", 0);
    let (mut gap, mut gaps) = (0u32, Vec::new());
    for _ in 0..400_000 {
        gap += 1;
        if vars.drop_early(&params, &mut random, backlog, 1500) {
            vars.dropped();
            gaps.push(std::mem::take(&mut gap));
        }
    }
    let (least, most) = (gaps.iter().min(), gaps.iter().max());
    assert!(
        least >= Some(&85) && most <= Some(&851),
        "{least:?} {most:?}"
    );
    // 84 arrivals pass without a drop. The gap is then geometrically distributed with a mean of
    // 100, cut off at 8.5/p.
    let mean = f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
    assert!((mean - 184.0).abs() < 6.0, "{mean}");
    // Every arrival is dropped from 8.5 on (ns-3's test).
    vars.accu_prob = 8.6;
    assert!(vars.drop_early(&params, &mut random, backlog, 1500));
    vars.accu_prob = -0.16;
    vars.prob = 0.9;
    assert!(!vars.drop_early(&params, &mut random, backlog, 1500));
}

#[test]
fn nothing_is_dropped_in_a_burst_or_while_the_queue_is_calm() {
    let mut random = RandomStream::new(1, "test", 0);
    let backlog = |packets| Backlog {
        packets,
        bytes: packets * 1514,
    };
    for flavour in [PieFlavour::Rfc8033, PieFlavour::Linux, PieFlavour::Ns3] {
        let (mut params, mut vars) = with(flavour);
        params.derandomize = false;
        vars.prob = 1.0;
        let mut drops = |vars: &mut PieVars, packets| {
            vars.drop_early(&params, &mut random, backlog(packets), 1514)
        };
        assert!(drops(&mut vars, 9), "{flavour:?}");
        assert!(!drops(&mut vars, 1), "{flavour:?}: hardly anything waits");
        // Two packets exactly count as few for ns-3 and the RFC, but not for Linux.
        assert_eq!(drops(&mut vars, 2), flavour == PieFlavour::Linux);
        vars.prob = 0.19;
        assert!(
            (0..100).all(|_| !drops(&mut vars, 9)),
            "{flavour:?}: low delay"
        );
        (vars.prob, vars.burst_allowance) = (1.0, Span(1));
        assert!(!drops(&mut vars, 9), "{flavour:?}: in a burst");
    }
}

#[test]
fn timers_are_those_of_the_flavour() {
    let timers = |flavour| {
        let (params, _) = with(flavour);
        (params.first_update(), params.period())
    };
    let millis = |first, period| {
        (
            Time::ZERO + Span::from_millis(first),
            Span::from_millis(period),
        )
    };
    assert_eq!(timers(PieFlavour::Linux), millis(500, 16));
    assert_eq!(timers(PieFlavour::Rfc8033), millis(15, 15));
    assert_eq!(timers(PieFlavour::Ns3), millis(0, 15));
}

#[test]
fn the_departure_rate_is_measured_over_16384_bytes() {
    let mut params = PieParams::rfc8033();
    params.dq_rate_estimator = true;
    let mut vars = PieVars::new(&params);
    // The queue sends 1500 bytes every millisecond.
    for packet in 0..60 {
        let now = Time::ZERO + Span::from_millis(packet);
        vars.departed(&params, now, Span::ZERO, 1500, 100_000);
    }
    // The first measurement counts one departure more than it has intervals.
    assert!(
        (vars.dq_rate / 1.5e6 - 1.0).abs() < 0.08,
        "{}",
        vars.dq_rate
    );
    vars.update(&params, 30_000);
    assert!(
        (vars.delay.as_secs_f64() - 0.02).abs() < 0.002,
        "{:?}",
        vars.delay
    );
}

#[test]
fn senseless_parameters_are_refused() {
    let key = |change: fn(&mut PieParams)| {
        let mut params = PieParams::linux();
        change(&mut params);
        params.check().unwrap_err().key
    };
    assert_eq!(PieParams::linux().check(), Ok(()));
    assert_eq!(key(|params| params.target = Span::ZERO), "target");
    assert_eq!(
        key(|params| params.tupdate = Span::from_secs(101)),
        "tupdate"
    );
    assert_eq!(key(|params| params.alpha = 0.0), "alpha");
    assert_eq!(key(|params| params.beta = f64::NAN), "beta");
    assert_eq!(key(|params| params.ecn_threshold = 1.1), "ecn_threshold");
    assert_eq!(key(|params| params.mtu = 0), "mtu");
}

/// FQ-PIE leaves out the updates of a queue after one that returned false.
#[test]
fn after_an_update_without_effect_another_has_none() {
    let millis = [0, 3, 7, 8, 15, 20, 300].map(Span::from_millis);
    let mut still = 0;
    for flavour in [PieFlavour::Rfc8033, PieFlavour::Linux, PieFlavour::Ns3] {
        for (dq_rate_estimator, prob) in [(false, 0.0), (true, 0.0), (false, 0.3), (true, 1e-9)] {
            let (mut params, vars) = with(flavour);
            params.dq_rate_estimator = dq_rate_estimator;
            params.max_burst = Span::from_millis(150);
            for (delay, delay_old) in millis
                .into_iter()
                .flat_map(|delay| millis.map(|old| (delay, old)))
            {
                for (accu_prob, dq_rate, backlog) in [(0.0, 0.0, 0), (0.5, 1e6, 3000)] {
                    let mut vars = PieVars {
                        prob,
                        accu_prob,
                        delay,
                        delay_old,
                        dq_rate,
                        dq_start: Some(Time::ZERO),
                        ..vars
                    };
                    if !vars.update(&params, backlog) {
                        still += 1;
                        let before = vars;
                        assert!(!vars.update(&params, backlog), "{before:?}");
                        assert_eq!(vars, before);
                    }
                }
            }
        }
    }
    assert!(still > 10, "{still}");
}
