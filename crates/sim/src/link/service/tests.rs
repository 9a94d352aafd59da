use super::*;
use crate::measure::link_meter::Window;

const MS: u64 = 1_000_000_000;

fn ms(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn trace(steps: &[(u64, u64)], repeat: Option<u64>) -> ServiceConfig {
    let steps = steps.iter().map(|(millis, rate)| RateStep {
        at: Span::from_millis(*millis),
        rate: Rate(*rate),
    });
    ServiceConfig::Trace(RateTrace {
        steps: steps.collect(),
        repeat: repeat.map(Span::from_millis),
    })
}

fn opportunities(milliseconds: &[u32]) -> ServiceConfig {
    ServiceConfig::Opportunities(DeliveryTrace::new(milliseconds))
}

fn link(config: &ServiceConfig) -> VaryingRate {
    let window = Window {
        from: ms(0),
        to: ms(1_000),
    };
    VaryingRate::new(config, 1, 0, window)
}

#[test]
fn a_transmission_lasts_until_its_stretches_offer_its_bytes() {
    // The rate is a byte each microsecond, two after 10 ms, and zero from 20 ms to 30 ms.
    let config = trace(
        &[(0, 8_000_000), (10, 16_000_000), (20, 0), (30, 8_000_000)],
        None,
    );
    let mut link = link(&config);
    assert_eq!(link.opens(ms(9)), ms(9));
    // The link sends 1000 bytes until 10 ms and 2000 in the next millisecond.
    assert_eq!(link.transmit(ms(9), 3_000), ms(11));
    // The transmission spans the outage, with 2000 bytes before it and 500 after it.
    assert_eq!(link.transmit(ms(19), 2_500), Time(30 * MS + MS / 2));
    assert_eq!(
        config.law().mean_rate(Span::from_millis(40)),
        Rate(8_000_000)
    );
}

#[test]
fn nothing_begins_in_an_outage() {
    let config = trace(&[(0, 8_000_000), (10, 0), (30, 8_000_000)], Some(40));
    let mut link = link(&config);
    assert_eq!(link.opens(ms(10)), ms(30));
    assert_eq!(link.opens(ms(12)), ms(30));
    assert_eq!(link.opens(ms(35)), ms(35));
    // The trace repeats after 40 ms.
    assert_eq!(link.opens(ms(49)), ms(49));
    assert_eq!(link.opens(ms(50)), ms(70));
    assert_eq!(config.law().mean_rate(Span::MAX), Rate(4_000_000));
}

#[test]
fn a_last_rate_of_zero_is_for_ever() {
    let mut link = link(&trace(&[(0, 8_000_000), (10, 0)], None));
    assert_eq!(link.transmit(ms(9), 1_000), ms(10));
    assert_eq!(link.opens(ms(10)), Time::MAX);
}

#[test]
fn the_last_transmission_of_all_may_never_end() {
    let mut link = link(&trace(&[(0, 8_000_000), (10, 0)], None));
    assert_eq!(link.transmit(ms(9), 1_001), Time::MAX);
}

/// Mahimahi's `LinkQueue` does the same with this trace, in whole milliseconds: each opportunity
/// takes 1504 bytes off the packet in transit and continues with the next packet.
#[test]
fn packets_share_opportunities_as_in_mahimahi() {
    let config = opportunities(&[2, 2, 5, 10]);
    let mut link = link(&config);
    let mut send = |now: Time, bytes| {
        let start = link.opens(now);
        let end = link.transmit(start, bytes);
        (start.0 / MS, end.0 / MS, end)
    };
    // Three packets of 1000 bytes fit into the two opportunities at 2 ms, the fourth does not...
    let mut now = ms(0);
    for (start, end) in [(2, 2), (2, 2), (2, 2), (2, 5)] {
        let done = send(now, 1_000);
        assert_eq!((done.0, done.1), (start, end));
        now = done.2;
    }
    // ... and leaves 512 bytes at 5 ms, which no later packet can use.
    assert_eq!(send(ms(6), 1_504).1, 10);
    // In the second and third repetition opportunities come at 12, 12, 15, 20, 22 and 22 ms. A
    // jumbo frame takes them all.
    let jumbo = send(ms(11), 9_000);
    assert_eq!((jumbo.0, jumbo.1), (12, 22));
    // There are 4 opportunities of 1504 bytes in 10 ms.
    assert_eq!(config.law().mean_rate(Span::MAX), Rate(4_812_800));
}

#[test]
fn the_end_of_a_round_and_the_zero_of_the_next_are_one_instant() {
    let stretches: Vec<_> = opportunities(&[0, 5]).stretches(1, 0).take(5).collect();
    let open = |millis, count: u64| Stretch {
        until: Time(millis * MS + count * 1_504),
        rate: Rate(8_000_000_000_000),
    };
    let closed = |millis| Stretch {
        until: ms(millis),
        rate: Rate(0),
    };
    assert_eq!(
        stretches,
        [open(0, 1), closed(5), open(5, 2), closed(10), open(10, 2)]
    );
}

#[test]
fn utilisation_is_the_share_of_the_bytes_that_the_link_offers() {
    // The link offers 100 kB in the first 100 ms, nothing in the next 100 ms, and so on, so 500 kB
    // in the window.
    let config = trace(&[(0, 8_000_000), (100, 0)], Some(200));
    let mut link = link(&config);
    let mut now = ms(0);
    for _ in 0..250 {
        let start = link.opens(now);
        now = link.transmit(start, 1_000);
    }
    assert!((link.utilization() - 0.5).abs() < 1e-12);
    // Transmissions after the end do not count.
    for _ in 0..500 {
        let start = link.opens(now);
        now = link.transmit(start, 1_000);
    }
    assert!((link.utilization() - 1.0).abs() < 1e-12);
}

#[test]
fn chains_and_uniform_rates_have_their_means() {
    let interval = Span::from_millis(1);
    let mean = |config: ServiceConfig| {
        let stretches = config.stretches(7, 3).take(20_000);
        let rates: Vec<u64> = stretches.map(|stretch| stretch.rate.0).collect();
        let mean = rates.iter().sum::<u64>() as f64 / 20_000.0;
        let kept = rates.windows(2).filter(|pair| pair[0] == pair[1]).count();
        (
            mean,
            kept as f64 / 19_999.0,
            config.law().mean_rate(Span(1)).0,
        )
    };
    let (uniform, _, expected) = mean(ServiceConfig::Uniform(UniformRates {
        interval,
        from: Rate(1_000),
        to: Rate(3_000),
    }));
    assert_eq!(expected, 2_000);
    // The tolerance is four standard deviations of 2000/√12 over √20,000 draws.
    assert!((uniform - 2_000.0).abs() < 4.0 * 577.4 / 141.4, "{uniform}");
    let (chain, kept, expected) = mean(ServiceConfig::Markov(MarkovRates {
        interval,
        rates: [Rate(0), Rate(600), Rate(2_400)].into(),
        stay: 0.8,
    }));
    assert_eq!(expected, 1_000);
    // Consecutive rates are correlated by 0.7, which multiplies the variance by 1.7/0.3.
    let deviation = 1_019.8 * f64::sqrt(1.7 / 0.3) / 141.4;
    assert!((chain - 1_000.0).abs() < 4.0 * deviation, "{chain}");
    assert!((kept - 0.8).abs() < 4.0 * 0.4 / 141.4, "{kept}");
}
