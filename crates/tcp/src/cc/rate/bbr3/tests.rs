use super::*;
use crate::Profile;
use crate::cc::testbed::Bottleneck;
use crate::config::CongestionControlConfig;

fn bottleneck(limit: u64) -> Bottleneck {
    let mut config = TcpConfig::profile(Profile::Rfc);
    config.congestion_control = CongestionControlConfig::Bbr3(Bbr3Config::default());
    Bottleneck::new(&config, Rate(10_000_000), Span::from_millis(40), limit)
}

#[test]
fn a_deep_buffer_stays_nearly_empty() {
    let mut path = bottleneck(400);
    path.run(Span::from_secs(5));
    let outcome = path.run(Span::from_secs(30));
    assert!(outcome.utilization > 0.95, "{outcome:?}");
    assert!(outcome.delay < 0.25 * 0.040, "{outcome:?}");
    assert!(outcome.loss == 0.0, "{outcome:?}");
}

/// Version 1 loses two per cent permanently here. The long-term bound of version 3 learns the
/// buffer's size.
#[test]
fn a_shallow_buffer_is_learnt() {
    let mut path = bottleneck(9);
    path.run(Span::from_secs(5));
    let outcome = path.run(Span::from_secs(30));
    assert!(outcome.utilization > 0.93, "{outcome:?}");
    assert!(outcome.loss < 0.005, "{outcome:?}");
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

#[test]
fn a_timeout_gives_the_window_back() {
    let mut path = bottleneck(400);
    path.run(Span::from_secs(4));
    let before = path.control.window();
    path.control.on_retransmission_timeout(None);
    assert!((path.control.window() - 1460.0).abs() < 1e-9);
    path.run(Span::from_millis(500));
    assert!(path.control.window() > 0.7 * before);
}
