use super::*;
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
