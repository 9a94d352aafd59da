use super::*;
use crate::config::InitialSsthresh;
use crate::{InitialWindow, Profile};

fn config(mss: u32, window: u32, ssthresh: InitialSsthresh) -> TcpConfig {
    let mut config = TcpConfig::profile(Profile::Rfc);
    config.mss = mss;
    config.initial_window = InitialWindow::Segments(window);
    config.initial_ssthresh = ssthresh;
    config
}

fn acknowledge(control: &mut Controller, times: u32, acked: u64) {
    for _ in 0..times {
        let after_timeout = false;
        control.on_ack(&AckSample {
            now: Time::ZERO,
            acked,
            rtt: None,
            after_timeout,
            ..AckSample::default()
        });
    }
}

/// ns-3's `tcp-linux-reno`: seven segments from an initial window of two give nine, with or
/// without delayed ACKs. Congestion avoidance from one, with a threshold of two, gives four.
#[test]
fn byte_counting_does_not_care_for_delayed_acks() {
    for mss in [524, 1500] {
        let segment = u64::from(mss);
        let config = config(mss, 2, InitialSsthresh::Unlimited);
        let mut each = Controller::new(&config);
        acknowledge(&mut each, 7, segment);
        assert_eq!(each.cwnd(), 9 * segment);
        let mut second = Controller::new(&config);
        acknowledge(&mut second, 3, 2 * segment);
        acknowledge(&mut second, 1, segment);
        assert_eq!(second.cwnd(), 9 * segment);
    }
    let mut avoidance = Controller::new(&config(524, 1, InitialSsthresh::Segments(2)));
    acknowledge(&mut avoidance, 1 + 2 + 3, 524);
    assert_eq!(avoidance.cwnd(), 4 * 524);
}

/// RFC 5681 equation 3 in whole bytes: the window grows by 536²/W per ACK, and at least by one
/// byte.
#[test]
fn whole_byte_growth() {
    let mut config = config(536, 100, InitialSsthresh::Bytes(536));
    config.byte_counting = false;
    let mut control = Controller::new(&config);
    acknowledge(&mut control, 1, 536);
    assert_eq!(control.cwnd(), 53_600 + 5);
    control.set_window(1e9);
    acknowledge(&mut control, 1, 536);
    assert_eq!(control.cwnd(), 1_000_000_001);
}

/// Growth back to the window W of the last loss takes W/2 round trips for Reno, βW/α for GAIMD,
/// log(0.875)/log(1.01) for Scalable TCP, and K = ∛(0.3 W/0.4) s for CUBIC. The inverse of each
/// law gives the share of that time after which the window is 99 % of W.
#[test]
fn a_flow_may_begin_between_two_losses() {
    let rtt = Span::from_millis(50);
    let peak = 800.0;
    let reno = (CongestionControlConfig::Reno, peak / 2.0, 0.98);
    let gaimd = CongestionControlConfig::Gaimd(GaimdConfig {
        alpha: 1.0,
        beta: 0.15,
    });
    let gaimd = (gaimd, 0.15 * peak, 1.0 - 0.01 / 0.15);
    let scalable = CongestionControlConfig::Scalable(ScalableConfig::default());
    let scalable = (scalable, 13.42, 1.0 - libm::log(0.99) / libm::log(0.875));
    let cubic = CongestionControlConfig::Cubic(CubicConfig::default());
    let k_rounds = libm::cbrt(0.3 * peak / 0.4) / rtt.as_secs_f64();
    let cubic = (cubic, k_rounds, 1.0 - libm::cbrt(0.01 / 0.3));
    for (profile, (control, epoch, nearly_all)) in [
        (Profile::Rfc, reno.clone()),
        (Profile::Linux, reno),
        (Profile::Rfc, gaimd),
        (Profile::Rfc, scalable),
        (Profile::Rfc, cubic.clone()),
        (Profile::Linux, cubic),
    ] {
        for phase in [0.0, 0.3, 0.6] {
            let mut config = TcpConfig::profile(profile);
            config.congestion_control = control.clone();
            let mut path = testbed::Path::beginning(&config, rtt);
            let mss = f64::from(config.mss);
            path.control.begin_between_losses(peak * mss, phase);
            assert_eq!(path.control.cwnd(), path.control.ssthresh());
            let mut back = 0.0;
            while path.window() < 0.99 * peak {
                back += path.send(50);
            }
            let left = (nearly_all - phase) * epoch;
            assert!(
                (back - left).abs() < 0.05 * left + 1.5,
                "{profile:?} {control:?} {phase}: {back} instead of {left}"
            );
        }
    }
}

#[test]
fn between_two_losses_of_small_windows() {
    let mut control = Controller::new(&config(1000, 10, InitialSsthresh::Unlimited));
    control.begin_between_losses(6000.0, 0.5);
    assert_eq!((control.cwnd(), control.ssthresh()), (4000, 4000));
    control.begin_between_losses(1000.0, 0.5);
    assert_eq!((control.cwnd(), control.ssthresh()), (2000, 2000));
}

#[test]
fn reno_halves_and_never_below_two_segments() {
    let mut control = Controller::new(&config(1000, 10, InitialSsthresh::Unlimited));
    let event = |basis| CongestionEvent {
        now: Time::ZERO,
        basis,
        ..CongestionEvent::default()
    };
    control.on_congestion_event(&event(10_000.0));
    assert_eq!((control.ssthresh(), control.cwnd()), (5000, 5000));
    control.on_retransmission_timeout(None);
    assert_eq!((control.ssthresh(), control.cwnd()), (5000, 1000));
    control.on_retransmission_timeout(Some(&event(1000.0)));
    assert_eq!((control.ssthresh(), control.cwnd()), (2000, 1000));
}

#[test]
fn gaimd_adds_alpha_and_leaves_one_minus_beta() {
    let mut config = config(1000, 20, InitialSsthresh::Bytes(1000));
    config.congestion_control = CongestionControlConfig::Gaimd(GaimdConfig {
        alpha: 0.31,
        beta: 0.125,
    });
    let mut control = Controller::new(&config);
    // ACKs of one window add α segments.
    acknowledge(&mut control, 20, 1000);
    assert_eq!(control.cwnd(), 20_310);
    control.on_congestion_event(&CongestionEvent {
        now: Time::ZERO,
        basis: 20_000.0,
        ..CongestionEvent::default()
    });
    assert_eq!((control.ssthresh(), control.cwnd()), (17_500, 17_500));
}

/// RFC 8511: the event decides on the share that remains after an ECN echo.
#[test]
fn an_echo_may_leave_more_than_a_loss() {
    for word in ["reno", "gaimd", "cubic"] {
        let mut config = config(1000, 20, InitialSsthresh::Bytes(1000));
        config.congestion_control = CongestionControlConfig::defaults(word);
        let mut control = Controller::new(&config);
        control.on_congestion_event(&CongestionEvent {
            basis: 20_000.0,
            signal: CongestionSignal::EcnEcho,
            kept: Some(0.85),
            ..CongestionEvent::default()
        });
        assert_eq!(control.cwnd(), 17_000, "{word}");
    }
}

/// ns-2 halves the real window. Only its threshold is a whole number.
#[test]
fn ns2_arithmetic() {
    let mut config = TcpConfig::profile(Profile::Ns2);
    config.initial_ssthresh = InitialSsthresh::Segments(2);
    let mut control = Controller::new(&config);
    acknowledge(&mut control, 2, 1000);
    let window: f64 = 2.5 + 1.0 / 2.5;
    assert!((control.window() - 1000.0 * window).abs() < 1e-9);
    control.set_window(9500.0);
    control.on_congestion_event(&CongestionEvent {
        now: Time::ZERO,
        basis: 9500.0,
        ..CongestionEvent::default()
    });
    assert!((control.window() - 4750.0).abs() < 1e-9);
    assert_eq!(control.ssthresh(), 4000);
}

/// RFC 5681 section 3.1 defines the initial windows.
#[test]
fn initial_windows() {
    let bytes = |mss| InitialWindow::Rfc5681.bytes(mss);
    assert_eq!(
        (bytes(2191), bytes(2190), bytes(1096)),
        (2 * 2191, 3 * 2190, 3 * 1096)
    );
    assert_eq!((bytes(1095), bytes(536)), (4 * 1095, 4 * 536));
}
