use super::*;
use crate::rig::Rig;
use goodqueue_types::{FlowId, Time};

fn packet(flow: u32) -> Packet {
    Packet {
        flow: FlowId(flow),
        size: 1000,
        ..Packet::default()
    }
}

fn offer(rig: &mut Rig<Fpq>, flow: u32) {
    rig.call(|queue, context| queue.enqueue(context, packet(flow)));
}

/// Whang et al. (1990), section 2: the count of n flows in m bits has a standard error of sqrt(m
/// (e^t - t - 1)), t = n / m.
#[test]
fn flows_are_counted_within_the_error_of_linear_counting() {
    let mut random = RandomStream::new(4, "test", 0);
    let mut count = FlowCount::new(5000, Span::from_secs(4), &mut random);
    for flow in (0..500).chain(0..500) {
        count.see(Time::ZERO, &packet(flow));
    }
    let (bits, load) = (5000.0_f64, 0.1_f64);
    let error = (bits * (load.exp() - load - 1.0)).sqrt();
    assert!(
        (count.flows() - 500.0).abs() < 4.0 * error,
        "{}",
        count.flows()
    );
    // Without the correction the estimate misses some twenty flows, whose bits other flows also
    // set.
    let expected = bits * (1.0 - (-load).exp());
    assert!((count.bits_set() as f64 - expected).abs() < 4.0 * error);
}

#[test]
fn a_flow_is_forgotten_after_one_round_and_not_before_the_hand_comes_by() {
    let mut random = RandomStream::new(4, "test", 0);
    let mut count = FlowCount::new(1000, Span::from_secs(4), &mut random);
    for flow in 0..100 {
        count.see(Time::ZERO, &packet(flow));
    }
    let start = count.bits_set();
    count.see(Time::ZERO + Span::from_secs(2), &packet(0));
    let half = count.bits_set();
    // Half of the bits are cleared: 50 of 100, with a standard error of 5.
    assert!((30..=70).contains(&half) && half < start, "{half}");
    count.see(Time::ZERO + Span::from_secs(4), &packet(0));
    assert_eq!(count.bits_set(), 1, "only the flow that still sends");
    count.see(Time::ZERO + Span::from_secs(4000), &packet(0));
    assert_eq!(count.bits_set(), 1);
}

#[test]
fn a_full_vector_represents_many_flows() {
    let mut random = RandomStream::new(4, "test", 0);
    let mut count = FlowCount::new(64, Span::from_secs(4), &mut random);
    (0..2000).for_each(|flow| count.see(Time::ZERO, &packet(flow)));
    assert_eq!(count.bits_set(), 64);
    assert!((count.flows() - 64.0 * 128.0_f64.ln()).abs() < 1e-9);
}

#[test]
fn the_queue_is_as_long_as_there_are_flows() {
    for (flows, expected) in [(1, 6), (10, 60), (20, 100)] {
        let mut rig = Rig::new(&FpqConfig::new(Limit::Packets(100)));
        (0..300).for_each(|n| offer(&mut rig, n % flows));
        assert_eq!(rig.waiting(), expected, "{flows} flows");
        let (forced, overlimit) = (
            rig.drops(DropReason::Forced),
            rig.drops(DropReason::Overlimit),
        );
        assert_eq!((forced + overlimit) as u64, 300 - expected);
        assert_eq!(overlimit > 0, flows == 20, "memory ends first");
    }
    let mut rig = Rig::new(&FpqConfig {
        least_packets: 40.0,
        ..FpqConfig::new(Limit::Packets(100))
    });
    (0..300).for_each(|_| offer(&mut rig, 7));
    assert_eq!(rig.waiting(), 40);
}

/// Morris gives (0.87 / 6)² = 0.021. 0.87 / 8.7 gives 1 % and 0.87 / 6.15 gives 2 %.
#[test]
fn the_target_loss_is_that_of_the_target_window() {
    for (window, loss) in [(6.0, 0.021), (8.7, 0.01), (6.15, 0.02)] {
        assert!((target_loss(window) - loss).abs() < 5e-5);
    }
    assert!((target_loss(0.5) - 1.0).abs() < f64::EPSILON);
}

/// The variation of RED loses the target share with the average at the target. With the average at
/// half the target it loses half of that.
#[test]
fn the_variation_of_red_loses_its_target_at_its_target() {
    for (waiting, expected) in [(60, 0.021), (30, 0.0105)] {
        let mut config = FpqConfig::red(Limit::Unlimited, Rate(10_000_000), 1000);
        if let FpqControl::Red { weight, .. } = &mut config.control {
            *weight = 1.0;
        }
        let mut rig = Rig::new(&config);
        (0..10).for_each(|flow| rig.queue.flows.see(Time::ZERO, &packet(flow)));
        for _ in 0..waiting {
            rig.call(|queue, context| queue.waiting.push(context, Limit::Unlimited, packet(0)))
                .unwrap();
        }
        let offered = 200_000;
        for n in 0..offered {
            offer(&mut rig, n % 10);
            if rig.waiting() > waiting {
                rig.dequeue();
            }
        }
        let share = rig.drops(DropReason::Early) as f64 / f64::from(offered);
        // Gaps uniform over 1 to n - 1 make the share vary less than independent losses would.
        let error = (expected / f64::from(offered)).sqrt();
        assert!(
            (share - expected).abs() < 4.0 * error,
            "{share}, not {expected}"
        );
    }
}

#[test]
fn nonsense_is_refused() {
    let good = FpqConfig::red(Limit::Packets(100), Rate(10_000_000), 1000);
    let key = |config: FpqConfig| config.check(1500).unwrap_err().key;
    assert_eq!(good.check(1500), Ok(()));
    assert_eq!(
        key(FpqConfig {
            packets_per_flow: 0.0,
            ..good
        }),
        "packets_per_flow"
    );
    assert_eq!(
        key(FpqConfig {
            least_packets: f64::NAN,
            ..good
        }),
        "least_packets"
    );
    assert_eq!(
        key(FpqConfig {
            count_bits: 0,
            ..good
        }),
        "count_bits"
    );
    let control = FpqControl::Red {
        target_loss: 0.0,
        weight: 0.002,
        mean_packet: 1000,
        bandwidth: Rate(1),
    };
    assert_eq!(key(FpqConfig { control, ..good }), "target_loss");
}
