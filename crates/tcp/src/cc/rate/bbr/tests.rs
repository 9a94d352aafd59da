use super::*;
use crate::Profile;
use crate::cc::testbed::Bottleneck;
use crate::config::CongestionControlConfig;

fn bottleneck(limit: u64) -> Bottleneck {
    super::super::tests::bottleneck(CongestionControlConfig::Bbr(BbrConfig::default()), limit)
}

/// The window falls to four segments for 200 ms every ten seconds.
#[test]
fn the_round_trip_is_measured_every_ten_seconds() {
    let mut path = bottleneck(400);
    path.run(Span::from_secs(3));
    let (mut starts, mut low_since) = (Vec::new(), None);
    while path.now < Time::ZERO + Span::from_secs(43) {
        path.run(Span(1));
        let is_low = path.control.cwnd() <= 4 * 1460;
        match low_since {
            None if is_low => low_since = Some(path.now),
            Some(since) if !is_low => {
                let lasted = (path.now - since).as_secs_f64();
                // The low window lasts 200 ms, and one or two round trips more to reach and leave
                // it.
                assert!((0.2..0.33).contains(&lasted), "{lasted}");
                starts.push(since.as_secs_f64());
                low_since = None;
            }
            _ => {}
        }
    }
    assert!((3..=4).contains(&starts.len()), "{starts:?}");
    let apart = starts.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(
        apart.clone().all(|gap| (10.0..10.5).contains(&gap)),
        "{starts:?}"
    );
}

/// Linux's `bbr_min_tso_segs` is one below 1.2 Mbit/s and two above. Other controls always have
/// two.
#[test]
fn a_slow_pace_sends_single_segments() {
    let config = TcpConfig::profile(Profile::Rfc);
    let mut bbr = Bbr::new(&config, BbrConfig::default());
    for (bits, least) in [(1_199_999.0, 1), (1_200_000.0, 2)] {
        bbr.pace = Some(bits / 8.0);
        assert_eq!(bbr.least_burst(), least);
    }
    assert_eq!(crate::cc::Controller::new(&config).least_burst(), 2);
}

/// Linux's `bbr_packets_in_net_at_edt`: whole segments are delivered while the next burst waits.
/// The burst itself is counted while the gain is above 1.
#[test]
fn the_flight_is_that_of_the_next_departure() {
    let config = TcpConfig::profile(Profile::Linux);
    let mut bbr = Bbr::new(&config, BbrConfig::default());
    bbr.bandwidth.update(0, 1448.0 * 1000.0);
    bbr.pace = Some(1448.0 * 1000.0);
    let mut segments = |mode: Mode, ahead: u64| {
        bbr.mode = mode;
        let sample = AckSample {
            pace_ahead: Span::from_micros(ahead),
            ..AckSample::default()
        };
        bbr.in_flight_at_departure(&sample, 40 * 1448) / 1448.0
    };
    for (mode, ahead, expected) in [
        (Mode::ProbeBandwidth(0), 0, 42.0),
        (Mode::ProbeBandwidth(0), 2400, 40.0),
        (Mode::ProbeBandwidth(1), 0, 40.0),
        (Mode::ProbeBandwidth(1), 999, 40.0),
        (Mode::ProbeBandwidth(1), 2400, 38.0),
        (Mode::Drain, 50_000, 0.0),
    ] {
        let found = segments(mode, ahead);
        assert!((found - expected).abs() < 1e-9, "{mode:?} {ahead}: {found}");
    }
}
