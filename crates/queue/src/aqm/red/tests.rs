use super::*;
use crate::rig::Rig;
use crate::{Configuration, Limit};
use goodqueue_types::{Ecn, RandomStream, Rate, Span, Time};

/// Returns RED without memory: the average equals the backlog.
fn forgetful(min: f64, max: f64, max_probability: f64) -> RedConfig {
    RedConfig {
        min,
        max,
        weight: 1.0,
        max_probability,
        ..RedConfig::floyd_jacobson(Rate(8_000_000), 1000, Limit::Packets(1000))
    }
}

/// Returns the chi-square statistic of counts that should all be equal.
pub fn chi_square(counts: &[u64]) -> f64 {
    let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let square = |count: &u64| (*count as f64 - mean) * (*count as f64 - mean) / mean;
    counts.iter().map(square).sum()
}

/// Returns the gaps between drops while `waiting` packets wait, counted by their length.
fn gaps(config: RedConfig, waiting: u64, drops: usize) -> Vec<u64> {
    let (mut law, mut random) = (RedLaw::new(config), RandomStream::new(3, "gaps", 0));
    let backlog = Backlog {
        packets: waiting,
        bytes: 1000 * waiting,
    };
    let (mut counts, mut gap, mut seen) = (vec![0; 64], 0, 0);
    while seen <= drops {
        gap += 1;
        if let RedDecision::Early(_) = law.arrive(Time(seen as u64), backlog, 1000, &mut random) {
            // The first drop has no gap before it.
            counts[gap] += u64::from(seen > 0);
            (gap, seen) = (0, seen + 1);
        }
    }
    counts
}

/// Floyd and Jacobson (1993), section 7: with p = 1/16 the gaps are uniform over 1 to 15 packets.
/// Distances are uniform over 16 to 31 with ns-2's `wait`. Quantiles of chi-square: 0.999.
#[test]
fn gaps_between_drops_are_uniform() {
    let config = forgetful(10.0, 30.0, 0.125);
    let counts = gaps(config, 20, 30_000);
    assert_eq!(counts[1..16].iter().sum::<u64>(), 30_000, "{counts:?}");
    assert!(chi_square(&counts[1..16]) < 36.12, "{counts:?}");
    let waiting = RedConfig {
        wait: true,
        ..config
    };
    let counts = gaps(waiting, 20, 30_000);
    assert_eq!(counts[16..32].iter().sum::<u64>(), 30_000, "{counts:?}");
    assert!(chi_square(&counts[16..32]) < 37.70, "{counts:?}");
}

/// The probability, if gentle, grows from its maximum at `max` to 1 at twice `max`. Otherwise it
/// jumps to 1 at `max`.
#[test]
fn the_probability_runs_along_its_straight_lines() {
    let at = |gentle, waiting| {
        let config = RedConfig {
            gentle,
            mark_below: Some(1.0),
            ..forgetful(10.0, 30.0, 0.1)
        };
        let (mut law, mut random) = (RedLaw::new(config), RandomStream::new(5, "line", 0));
        let backlog = Backlog {
            packets: waiting,
            bytes: 1000 * waiting,
        };
        (0..2000).find_map(
            |_| match law.arrive(Time::ZERO, backlog, 1000, &mut random) {
                RedDecision::Early(probability) => Some(probability),
                _ => None,
            },
        )
    };
    for (waiting, gentle, cliff) in [
        (9, None, None),
        (20, Some(0.05), Some(0.05)),
        (30, Some(0.1), Some(1.0)),
        (45, Some(0.55), Some(1.0)),
        (60, Some(1.0), Some(1.0)),
    ] {
        for (found, expected) in [(at(true, waiting), gentle), (at(false, waiting), cliff)] {
            let near = match (found, expected) {
                (Some(found), Some(expected)) => f64::abs(found - expected) < 1e-12,
                (found, expected) => found == expected,
            };
            assert!(near, "{waiting}: {found:?}, not {expected:?}");
        }
    }
}

/// Byte mode with p = 1/4 and packets of half the mean size. By ns-2's formula the first packet
/// after a drop is dropped with probability 1/8, the next two with 1/6, two with 1/4, and the sixth
/// for certain.
#[test]
fn byte_mode_counts_whole_mean_packets_and_weighs_by_size() {
    let config = RedConfig {
        by_size: true,
        ..forgetful(10.0, 30.0, 0.5)
    };
    let (mut law, mut random) = (RedLaw::new(config), RandomStream::new(7, "bytes", 0));
    let backlog = Backlog {
        packets: 20,
        bytes: 20_000,
    };
    let (mut counts, mut gap, mut seen) = ([0_u32; 7], 0, 0);
    while seen <= 20_000 {
        gap += 1;
        if let RedDecision::Early(_) = law.arrive(Time(seen), backlog, 500, &mut random) {
            counts[gap] += u32::from(seen > 0);
            (gap, seen) = (0, seen + 1);
        }
    }
    let hazards = [1.0 / 8.0, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 4.0, 1.0 / 4.0, 1.0];
    let (mut left, mut square) = (20_000.0, 0.0);
    for (count, hazard) in counts[1..].iter().zip(hazards) {
        let expected: f64 = left * hazard;
        square += (f64::from(*count) - expected) * (f64::from(*count) - expected) / expected;
        left -= expected;
    }
    assert!(square < 20.52, "{square}: {counts:?}");
}

/// The averages that ns-2.35 traces (`ave_`) on a link of 1 Mb/s under bursts with idle times
/// between them. The thresholds are out of reach, so nothing is random.
#[test]
fn the_average_is_ns_2s() {
    let mut config = RedConfig {
        weight: 0.25,
        max_probability: 1e-6,
        ..RedConfig::ns2(
            RedLink {
                rate: Rate(1_000_000),
                delay: Span::from_millis(10),
                mean_packet: 1000,
            },
            Limit::Bytes(100_000),
        )
    };
    (config.min, config.max) = (2000.0, 6000.0);
    let mut rig = Rig::new(&config);
    let mut free_at = Time::ZERO;
    let mut averages = Vec::new();
    let bursts = [
        (500_000, 4, 1000),
        (506_300, 3, 500),
        (600_300, 1, 1000),
        (601_300, 6, 700),
        (1_200_300, 2, 1000),
    ];
    for (micros, packets, size) in bursts {
        let now = Time::ZERO + Span::from_micros(micros);
        while free_at <= now && free_at > Time::ZERO {
            rig.now = free_at;
            free_at = transmit(&mut rig);
        }
        rig.now = now;
        for _ in 0..packets {
            rig.enqueue(1, size, Ecn::NotCapable);
            if free_at <= now {
                free_at = transmit(&mut rig);
            }
            averages.push(rig.queue.average().unwrap());
        }
    }
    let ns2 = [
        0.0, 0.0, 250.0, 687.5, 1265.62, 1824.22, 2368.16, 237.084, 177.813, 308.36, 581.27,
        960.952, 1420.71, 1940.54, 3.48506e-6, 2.61379e-6,
    ];
    assert_eq!(averages.len(), ns2.len());
    for (ours, theirs) in averages.iter().zip(ns2) {
        assert!(
            (ours - theirs).abs() <= 5e-6 * theirs,
            "{ours}, not {theirs}"
        );
    }
}

/// Starts a transmission at 1 Mb/s. Returns its end, or zero if no packet waits.
fn transmit(rig: &mut Rig<Red>) -> Time {
    let packet = rig.dequeue();
    packet.map_or(Time::ZERO, |packet| {
        rig.now + Span::from_micros(8 * u64::from(packet.size))
    })
}

/// The link has 50 Mb/s, a delay of 10 ms and packets of 1500 bytes.
#[test]
fn automatic_values_are_ns_2s() {
    let link = RedLink {
        rate: Rate(50_000_000),
        delay: Span::from_millis(10),
        mean_packet: 1500,
    };
    let config = RedConfig::ns2(link, Limit::Bytes(688 * 1500));
    assert!((config.weight - 0.000_239_97).abs() < 5e-9);
    assert!((config.min / 1500.0 - 10.417).abs() < 5e-4);
    assert!((config.max / 1500.0 - 31.25).abs() < 1e-9);
    // `min` is five packets on a slow link. On a long link the average covers ten of its round
    // trips.
    let slow = RedLink {
        rate: Rate(1_500_000),
        delay: Span::from_millis(90),
        mean_packet: 500,
    };
    let target_delay = Span::from_millis(5);
    assert!((slow.min_packets(target_delay) - 5.0).abs() < f64::EPSILON);
    let round_trip = 3.0 * (0.09 + 1.0 / 375.0);
    let expected = 1.0 - (-1.0 / (10.0 * round_trip * 375.0_f64)).exp();
    assert!((slow.weight() - expected).abs() < 1e-15);
    let least = |rate| match RedAdaptation::ns2(Rate(rate)) {
        RedAdaptation::Floyd { least, .. } => least,
        RedAdaptation::Feng { .. } => f64::NAN,
    };
    assert!((least(50_000_000) - 0.0016).abs() < 1e-15);
    assert!((least(1_000_000) - 0.01).abs() < 1e-15);
}

/// Returns the maximum probability after each half second at a constant backlog.
fn adapted(adaptation: RedAdaptation, start: f64, waiting: &[u64]) -> Vec<f64> {
    let config = RedConfig {
        adaptation: Some(adaptation),
        ..forgetful(10.0, 30.0, start)
    };
    let (mut law, mut random) = (RedLaw::new(config), RandomStream::new(1, "adapt", 0));
    let mut now = Time::ZERO;
    let step = |packets: &u64| {
        // ns-2 changes the maximum after the interval, not at its end, so one picosecond is added.
        now = now + Span::from_millis(500) + Span(1);
        let backlog = Backlog {
            packets: *packets,
            bytes: 1000 * packets,
        };
        law.arrive(now, backlog, 1000, &mut random);
        law.arrive(now, backlog, 1000, &mut random);
        law.max_probability()
    };
    waiting.iter().map(step).collect()
}

fn assert_near(found: &[f64], expected: &[f64]) {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
    let all = found.len() == expected.len() && found.iter().zip(expected).all(near);
    assert!(all, "{found:?}, not {expected:?}");
}

/// "Adaptive RED" (2001): up by a quarter in steps of at most 0.01, down by a tenth, no change in
/// the middle fifth, bounds of 0.01 and 0.5.
#[test]
fn adaptive_red_turns_the_maximum() {
    let floyd = RedAdaptation::FLOYD_2001;
    assert_near(
        &adapted(floyd, 0.02, &[29, 29, 29, 29, 29, 20, 20, 12]),
        &[
            0.025,
            0.03125,
            0.039_062_5,
            0.048_828_125,
            0.058_828_125,
            0.058_828_125,
            0.058_828_125,
            0.052_945_312_5,
        ],
    );
    assert_near(&adapted(floyd, 0.01, &[12, 12]), &[0.01, 0.01]);
    assert_near(&adapted(floyd, 0.011, &[12, 12]), &[0.0099, 0.0099]);
    assert_near(&adapted(floyd, 0.495, &[29, 29]), &[0.505, 0.505]);
    let feng = RedAdaptation::FENG_1999;
    assert_near(
        &adapted(feng, 0.09, &[5, 5, 20, 5, 20, 31, 31, 20, 31]),
        &[0.03, 0.03, 0.03, 0.01, 0.01, 0.02, 0.02, 0.02, 0.04],
    );
}

/// Offers 300 packets at once, as ns-3's `red-queue-disc` tests do. Returns drops and marks summed
/// over ten seeds.
fn ns3_drops(change: impl Fn(&mut RedConfig)) -> (u64, u64) {
    let mut config = RedConfig {
        min: 70.0,
        max: 150.0,
        weight: 0.02,
        max_probability: 1.0 / 50.0,
        gentle: true,
        wait: true,
        ..RedConfig::floyd_jacobson(Rate(1_500_000), 500, Limit::Packets(300))
    };
    change(&mut config);
    let (mut dropped, mut marked) = (0, 0);
    for seed in 0..10 {
        let mut rig = Rig::seeded(&config, seed);
        let ecn = if config.ecn {
            Ecn::Capable0
        } else {
            Ecn::NotCapable
        };
        rig.enqueue(300, 500, ecn);
        dropped += 300 - rig.waiting();
        marked += rig.marks(DropReason::Early) as u64;
    }
    (dropped, marked)
}

/// ns-3.37's `red-queue-disc`. With a weight of 0.002 no packet is lost with any random numbers:
/// the average exceeds `min` by only 4 packets, and `wait` lets 1/p packets pass first. With 0.02
/// packets are lost. More are lost with a lower `max`, a higher maximum, without the gentle part
/// and without waiting. With ECN none is lost.
#[test]
fn drops_order_as_in_ns_3() {
    assert_eq!(ns3_drops(|config| config.weight = 0.002), (0, 0));
    let (base, _) = ns3_drops(|_| {});
    assert!(base > 0);
    for (what, (drops, _)) in [
        ("max", ns3_drops(|config| config.max = 100.0)),
        (
            "probability",
            ns3_drops(|config| config.max_probability = 0.2),
        ),
        ("gentle", ns3_drops(|config| config.gentle = false)),
        ("wait", ns3_drops(|config| config.wait = false)),
    ] {
        assert!(drops > base, "{what}: {drops} and {base}");
    }
    let (dropped, marked) = ns3_drops(|config| config.ecn = true);
    assert_eq!(dropped, 0);
    assert!(marked > 0);
}

/// A packet whose probability is above `mark_below` is dropped although it could be marked. Without
/// `mark_below` the average forces drops from `max` on.
#[test]
fn marks_end_at_mark_below() {
    let run = |mark_below, waiting: usize| {
        let config = RedConfig {
            ecn: true,
            mark_below,
            ..forgetful(10.0, 30.0, 0.2)
        };
        let mut rig = Rig::new(&config);
        while rig.waiting() < waiting as u64 {
            rig.enqueue(1, 1000, Ecn::Capable0);
        }
        rig.verdicts.clear();
        for _ in 0..200 {
            rig.enqueue(1, 1000, Ecn::Capable0);
            if rig.waiting() > waiting as u64 {
                rig.dequeue();
            }
        }
        let early = (rig.marks(DropReason::Early), rig.drops(DropReason::Early));
        (early, rig.drops(DropReason::Forced))
    };
    let ((marks, drops), forced) = run(Some(0.15), 20);
    assert!(marks > 5 && drops == 0 && forced == 0);
    let ((marks, drops), forced) = run(Some(0.15), 27);
    assert!(marks == 0 && drops > 5 && forced == 0);
    assert_eq!(run(None, 29).1, 0);
}

/// ns-2's `queue-limit 5` is 2500 bytes, and an arrival that finds less is accepted. Of 592-byte
/// packets the fifth is accepted, at 2368 bytes, and the sixth is not, at 2960.
#[test]
fn the_last_packet_may_exceed_a_limit_in_bytes() {
    let config = RedConfig {
        limit: Limit::Bytes(2500),
        ..forgetful(1e6, 2e6, 0.1)
    };
    let mut rig = Rig::new(&config);
    rig.enqueue(7, 592, Ecn::NotCapable);
    assert_eq!((rig.waiting(), rig.drops(DropReason::Overlimit)), (5, 2));
}

#[test]
fn bad_parameters_are_refused() {
    let good = forgetful(5.0, 15.0, 0.1);
    let key = |config: RedConfig| config.check(1500).unwrap_err().key;
    assert_eq!(good.check(1500), Ok(()));
    assert_eq!(key(RedConfig { min: 15.0, ..good }), "min");
    assert_eq!(
        key(RedConfig {
            max: f64::NAN,
            ..good
        }),
        "min"
    );
    assert_eq!(
        key(RedConfig {
            weight: 0.0,
            ..good
        }),
        "weight"
    );
    assert_eq!(
        key(RedConfig {
            max_probability: 1.5,
            ..good
        }),
        "max_probability"
    );
    assert_eq!(
        key(RedConfig {
            mean_packet: 0,
            ..good
        }),
        "mean_packet"
    );
    assert_eq!(
        key(RedConfig {
            limit: Limit::Bytes(1499),
            ..good
        }),
        "limit"
    );
    let adaptation = Some(RedAdaptation::Feng {
        decrease: 0.5,
        increase: 2.0,
    });
    assert_eq!(key(RedConfig { adaptation, ..good }), "adaptation");
    let linux = LinuxRedConfig::tc(400_000, 1000);
    let key = |config: LinuxRedConfig| config.check(1514).unwrap_err().key;
    assert_eq!(linux.check(1514), Ok(()));
    assert_eq!(key(LinuxRedConfig { burst: 10, ..linux }), "burst");
    assert_eq!(key(LinuxRedConfig { max: 3000, ..linux }), "min");
    assert_eq!(key(LinuxRedConfig { avpkt: 0, ..linux }), "avpkt");
    // Even the smallest burst, one packet, would exceed such a threshold.
    let min = 999;
    assert_eq!(key(LinuxRedConfig { min, ..linux }), "min");
    let (min, burst) = (1000, 1);
    let least = LinuxRedConfig {
        min,
        burst,
        ..linux
    };
    assert_eq!(least.check(1514), Ok(()));
    let bandwidth = Rate(0);
    assert_eq!(key(LinuxRedConfig { bandwidth, ..linux }), "bandwidth");
    assert_eq!(
        key(LinuxRedConfig {
            probability: 0.0,
            ..linux
        }),
        "probability"
    );
}
