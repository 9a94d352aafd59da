use super::*;

const PACKETS: usize = 200_000;

fn fates(config: &Impairments) -> Vec<Fate> {
    let process = ImpairmentProcess::new(config, 7, 3);
    let mut process = process.expect("there are impairments");
    (0..PACKETS).map(|_| process.decide(Time::ZERO)).collect()
}

fn jitter(law: Law) -> Jitter {
    let keeps_order = false;
    Jitter {
        law,
        keeps_order,
        every: None,
    }
}

/// Checks a binomial count to within four standard deviations.
#[track_caller]
fn assert_share(count: usize, probability: f64) {
    let (n, count) = (PACKETS as f64, count as f64);
    let deviation = (n * probability * (1.0 - probability)).sqrt();
    assert!(
        (count - n * probability).abs() <= 4.0 * deviation,
        "{count} of {n} with probability {probability}"
    );
}

#[test]
fn packets_are_held_back_and_copied_as_often_as_said_and_independently() {
    for (p, q) in [(0.01, 0.2), (0.5, 0.001), (0.0, 1.0), (1.0, 0.0)] {
        let delay = Span::from_millis(5);
        let fates = fates(&Impairments {
            jitter: None,
            reorder: Some(Reorder {
                probability: p,
                delay,
            }),
            duplicate: Some(q),
            ..Impairments::default()
        });
        let count = |is: fn(&Fate) -> bool| fates.iter().filter(|fate| is(fate)).count();
        assert_share(count(|fate| fate.held_back.is_some()), p);
        assert_share(count(|fate| fate.copy.is_some()), q);
        let both = count(|fate| fate.held_back.is_some() && fate.copy.is_some());
        assert_share(both, p * q);
        for fate in &fates {
            assert_eq!(fate.jitter, Span::ZERO);
            assert!(fate.held_back.is_none_or(|held_back| held_back == delay));
            assert!(fate.copy.is_none_or(|jitter| jitter == Span::ZERO));
        }
    }
}

/// The test of Kolmogorov and Smirnov is applied to the delays of packets and of their copies.
#[test]
fn jitter_follows_its_law() {
    let mean = 0.002;
    for law in [
        Law::uniform(0.001, 0.003),
        Law::exponential(mean),
        Law::pareto(mean, 2.5),
    ] {
        let fates = fates(&Impairments {
            jitter: Some(jitter(law.clone())),
            duplicate: Some(0.1),
            ..Impairments::default()
        });
        let copies: Vec<Span> = fates.iter().filter_map(|fate| fate.copy).collect();
        let jitters: Vec<Span> = fates.iter().map(|fate| fate.jitter).collect();
        for mut values in [jitters, copies] {
            let distance = distance(&mut values, &law);
            // 1.95 is the 0.1 % point of Kolmogorov's distribution.
            let critical = 1.95 / (values.len() as f64).sqrt();
            assert!(distance < critical, "{law:?}: {distance} >= {critical}");
            let wrong = self::distance(&mut values, &Law::exponential(0.0021));
            assert!(wrong > critical, "{law:?} passes for another law");
        }
    }
}

fn distance(values: &mut [Span], law: &Law) -> f64 {
    values.sort_unstable();
    let n = values.len() as f64;
    let distances = values.iter().enumerate().map(|(rank, value)| {
        let share = law.share_up_to(value.as_secs_f64());
        (share - rank as f64 / n)
            .abs()
            .max((share - (rank + 1) as f64 / n).abs())
    });
    distances.fold(0.0, f64::max)
}

/// Each impairment has a random stream of its own, so that it does not depend on the others.
#[test]
fn one_impairment_does_not_shift_the_draws_of_another() {
    let reorder = Some(Reorder {
        probability: 0.1,
        delay: Span::from_millis(1),
    });
    let duplicate = Some(0.1);
    let alone = fates(&Impairments {
        reorder,
        ..Impairments::default()
    });
    let together = fates(&Impairments {
        jitter: Some(jitter(Law::exponential(0.001))),
        reorder,
        duplicate,
        ..Impairments::default()
    });
    let held_back =
        |fates: &[Fate]| -> Vec<_> { fates.iter().map(|fate| fate.held_back).collect() };
    assert_eq!(held_back(&alone), held_back(&together));
}

#[test]
fn no_impairments_are_no_process() {
    assert!(ImpairmentProcess::new(&Impairments::default(), 1, 0).is_none());
}

/// The first arrival interrupts at once. Those before the end of the interval wait for its end, at
/// which the card hands over all that have come.
#[test]
fn a_card_interrupts_at_an_arrival_or_at_the_end_of_the_interval() {
    let micros = |us| Time::ZERO + Span::from_micros(us);
    let mut process = ImpairmentProcess::new(
        &Impairments {
            interrupts: Some(Interrupts {
                interval: Span::from_micros(50),
            }),
            ..Impairments::default()
        },
        1,
        0,
    )
    .expect("a card");
    let arrivals = [5, 6, 54, 55, 56, 105, 156, 300, 349];
    let handed_over = arrivals.map(|us| process.hand_over(micros(us)));
    assert_eq!(
        handed_over,
        [5, 55, 55, 55, 105, 105, 156, 300, 350].map(micros)
    );
    assert_eq!(process.decide(Time::ZERO).jitter, Span::ZERO);
}

/// Packets of one interval have the same addition, and an interval without packets has one, too.
#[test]
fn an_addition_holds_for_its_interval() {
    let every = Some(Span::from_secs(15));
    let config = Impairments {
        jitter: Some(Jitter {
            every,
            ..jitter(Law::uniform(0.0, 0.02))
        }),
        ..Impairments::default()
    };
    let additions = |seconds: &[u64]| -> Vec<Span> {
        let mut process = ImpairmentProcess::new(&config, 1, 0).expect("it has jitter");
        let at = |second: &u64| Time::ZERO + Span::from_secs(*second);
        seconds
            .iter()
            .map(|second| process.decide(at(second)).jitter)
            .collect()
    };
    let all = additions(&[0, 14, 15, 29, 30, 44, 45]);
    assert_eq!((all[0], all[2], all[4]), (all[1], all[3], all[5]));
    assert!(all[0] != all[2] && all[2] != all[4] && all[4] != all[6]);
    assert_eq!(additions(&[7, 50]), [all[0], all[6]]);
}
