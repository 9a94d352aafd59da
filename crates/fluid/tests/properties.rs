//! Properties of every run.

mod common;

use common::{extent, link, packets, run};
use goodqueue_fluid::{Background, FluidControl, FluidQueue, OutOfRange, Stopped, range, simulate};
use goodqueue_types::Span;
use proptest::prelude::*;

fn control() -> impl Strategy<Value = FluidControl> {
    prop_oneof![
        Just(FluidControl::RENO),
        Just(FluidControl::CUBIC),
        Just(FluidControl::LINUX_CUBIC),
        Just(FluidControl::SCALABLE),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn packets_are_conserved_and_shares_are_shares(
        seed in 0_u64..1_000,
        mbps in 5_u64..500,
        flows in 1_u64..60,
        first_ms in 5_u64..40,
        spread in 1_u64..8,
        buffer in 4.0..2_000.0_f64,
        control in control(),
        share in prop_oneof![Just(0.0), 0.05..0.5_f64],
    ) {
        let rtts: Vec<u64> = (0..spread).map(|step| first_ms + 7 * step).collect();
        let mut link = link(mbps * 1_000_000, flows, control, &rtts);
        link.queue = packets(buffer);
        link.background = Background { share, burst_packets: 3.0 };
        let outcome = run(&link, &extent(seed, 1, 5));
        let left = outcome.arrivals - outcome.departures - outcome.drops;
        prop_assert!(left.abs() <= buffer + 2.0, "{left}");
        prop_assert!((0.0..=1.0).contains(&outcome.utilization));
        prop_assert!((0.0..=1.0).contains(&outcome.loss_rate));
        let jain = outcome.jain().unwrap();
        prop_assert!(jain > 0.0 && jain <= 1.0);
        let goodput: f64 = outcome.flows.iter().map(|flow| flow.goodput_packets_per_s).sum();
        prop_assert!(goodput <= 1.001 * link.packets_per_second());
        let longest_s = (buffer + 2.0) / link.packets_per_second();
        prop_assert!(outcome.delay_quantile_s(1.0) <= 1.02 * longest_s);
        prop_assert_eq!(outcome.flows.len() as u64, flows);
    }

    #[test]
    fn the_same_seed_gives_the_same_outcome(seed in 0_u64..1_000, flows in 1_u64..40) {
        let link = link(50_000_000, flows, FluidControl::LINUX_CUBIC, &[20, 50]);
        let (one, two) = (run(&link, &extent(seed, 1, 4)), run(&link, &extent(seed, 1, 4)));
        prop_assert_eq!(one, two);
    }
}

/// A burst of Linux behind a buffer of four packets loses whole windows. Probes follow them. Such
/// buffers lie outside the range of the engine: the packet engine finds a utilisation of 19 %.
#[test]
fn a_flow_that_lost_all_its_packets_sends_again() {
    let mut link = link(208_000_000, 1, FluidControl::RENO, &[5]);
    link.queue = packets(4.0);
    let outcome = run(&link, &extent(0, 1, 5));
    assert!(outcome.utilization > 0.005, "{}", outcome.utilization);
}

/// Windows of a packet, in 16 trains of a class, arrive in pieces smaller than half a packet. So does
/// traffic beside the flows in a short slot. Neither may fill the queue beyond its buffer, the packet in
/// transmission and a part of another one.
#[test]
fn small_pieces_do_not_pass_a_full_queue() {
    let mut link = link(5_000_000, 5, FluidControl::CUBIC, &[5, 12, 19, 26]);
    link.queue = packets(5.839_949_574_179_176);
    let outcome = run(&link, &extent(0, 1, 5));
    let most = outcome.delay_quantile_s(1.0) * link.packets_per_second();
    assert!(most < 7.84, "{most} packets waited");

    link.groups[0].count = 1;
    link.groups[0].rtts.truncate(1);
    link.groups[0].control = FluidControl::RENO;
    link.queue = packets(4.0);
    link.background = Background {
        share: 0.365,
        burst_packets: 3.0,
    };
    let outcome = run(&link, &extent(13, 1, 5));
    let most = outcome.delay_quantile_s(1.0) * link.packets_per_second();
    assert!(most < 6.0, "{most} packets waited");
}

/// The phase of a burst of 15 packets may lie after the end of its slot, and that of the next burst
/// before it.
#[test]
fn a_burst_that_comes_after_its_slot_does_not_wait_in_it() {
    let mut link = link(315_000_000, 2, FluidControl::RENO, &[5]);
    link.queue = packets(4.0);
    let outcome = run(&link, &extent(0, 1, 5));
    let most = outcome.delay_quantile_s(1.0) * link.packets_per_second();
    assert!(most < 6.0, "{most} packets waited");
}

/// Leaps let the queue grow: packets that arrived and were not sent wait.
#[test]
fn leaps_count_the_packets_by_which_the_queue_grows() {
    let mut link = link(267_000_000, 1, FluidControl::RENO, &[5]);
    link.queue = packets(172.0);
    let outcome = run(&link, &extent(1, 1, 5));
    let left = outcome.arrivals - outcome.departures - outcome.drops;
    assert!(left.abs() < 174.0, "{left}");
}

#[test]
fn seeds_differ() {
    let link = link(50_000_000, 10, FluidControl::RENO, &[20, 50]);
    let (one, two) = (run(&link, &extent(1, 1, 4)), run(&link, &extent(2, 1, 4)));
    assert_ne!(one.drops.to_bits(), two.drops.to_bits());
}

#[test]
fn a_larger_buffer_is_busier_and_loses_less() {
    for control in [FluidControl::RENO, FluidControl::LINUX_CUBIC] {
        for rtts in [&[50][..], &[20, 40, 80]] {
            let mut link = link(200_000_000, 30, control, rtts);
            let outcomes: Vec<_> = [20.0, 80.0, 320.0, 1_280.0]
                .iter()
                .map(|buffer| {
                    link.queue = packets(*buffer);
                    run(&link, &extent(1, 20, 120))
                })
                .collect();
            for pair in outcomes.windows(2) {
                assert!(pair[1].utilization > pair[0].utilization - 0.005);
                assert!(pair[1].loss_rate < 1.05 * pair[0].loss_rate);
                assert!(pair[1].mean_delay_s() > pair[0].mean_delay_s());
            }
        }
    }
}

/// Appenzeller and others, 2004: the buffer for a utilisation falls as flows are more.
#[test]
fn many_flows_need_less_than_one() {
    let busy = |flows: u64| {
        let mut link = link(400_000_000, flows, FluidControl::RENO, &[40, 50, 60, 70]);
        link.queue = packets(200.0);
        run(&link, &extent(1, 60, 260)).utilization
    };
    let (one, many) = (busy(1), busy(64));
    assert!(many > one + 0.05, "{one} {many}");
}

#[test]
fn flows_are_in_the_order_of_their_group() {
    let mut link = link(100_000_000, 8, FluidControl::RENO, &[20, 120]);
    link.queue = packets(150.0);
    let outcome = run(&link, &extent(1, 30, 200));
    let short: f64 = (0..8)
        .step_by(2)
        .map(|flow| outcome.flows[flow].goodput_packets_per_s)
        .sum();
    let long: f64 = (1..8)
        .step_by(2)
        .map(|flow| outcome.flows[flow].goodput_packets_per_s)
        .sum();
    assert!(short > 1.5 * long, "{short} {long}");
}

#[test]
fn a_bounded_window_is_never_passed() {
    let mut link = link(100_000_000, 2, FluidControl::RENO, &[50]);
    link.groups[0].max_window = 100.0;
    let outcome = run(&link, &extent(1, 20, 100));
    // 200 packets per 50 ms and 1.2 transmission times.
    assert!(
        (outcome.utilization - 200.0 / 417.9).abs() < 0.01,
        "{}",
        outcome.utilization
    );
    assert_eq!(outcome.drops.to_bits(), 0.0_f64.to_bits());
}

#[test]
fn queues_that_drop_early_hold_less() {
    let mut link = link(100_000_000, 20, FluidControl::RENO, &[50]);
    link.queue = packets(500.0);
    let deep = run(&link, &extent(1, 20, 100));
    link.queue = FluidQueue::CoDel {
        packets: 500.0,
        target: Span::from_millis(5),
        interval: Span::from_millis(100),
    };
    let codel = run(&link, &extent(1, 20, 100));
    // Packets behind CoDel wait for 7.1 ms on average, and 0.26 % are lost.
    let mean_ms = 1e3 * codel.mean_delay_s();
    assert!((6.0..8.5).contains(&mean_ms), "{mean_ms}");
    assert!(
        (0.002..0.0035).contains(&codel.loss_rate),
        "{}",
        codel.loss_rate
    );
    assert!(codel.mean_delay_s() < 0.5 * deep.mean_delay_s());
    assert!(codel.utilization > 0.9, "{}", codel.utilization);
    link.queue = FluidQueue::Red {
        packets: 500.0,
        min_threshold: 40.0,
        max_threshold: 120.0,
        max_probability: 0.1,
        weight: 0.002,
    };
    let red = run(&link, &extent(1, 20, 100));
    // Packets behind ns-2's RED wait for 2.26 ms on average, and 0.56 % are lost.
    let mean_ms = 1e3 * red.mean_delay_s();
    assert!((1.6..3.4).contains(&mean_ms), "{mean_ms}");
    assert!((0.004..0.008).contains(&red.loss_rate), "{}", red.loss_rate);
}

/// Memory is allocated before the first slot. Lists of a slot may grow in the beginning.
#[test]
fn a_longer_run_allocates_no_more() {
    let link = link(200_000_000, 40, FluidControl::LINUX_CUBIC, &[20, 30, 60]);
    let allocations = |duration_s: u64| {
        let extent = extent(1, 5, duration_s);
        allocation_counter::measure(|| drop(run(&link, &extent))).count_total
    };
    let (short, long) = (allocations(10), allocations(60));
    assert!(long <= short + 4, "{short} {long}");
}

#[test]
fn it_stops_when_asked_to() {
    let link = link(1_000_000_000, 100, FluidControl::RENO, &[10]);
    let mut asked = 0;
    let stopped = simulate(&link, &extent(1, 1, 100_000), &mut || {
        asked += 1;
        asked < 3
    });
    assert_eq!(stopped, Err(Stopped));
}

#[test]
fn a_flow_takes_little_memory() {
    let link = link(100_000_000_000, 100_000, FluidControl::LINUX_CUBIC, &[100]);
    let outcome = run(&link, &extent(1, 1, 2));
    let each = outcome.cost.bytes as f64 / 100_000.0;
    assert!(each < 140.0, "{each}");
}

#[test]
fn the_reason_names_the_property_outside_the_range() {
    let mut link = link(10_000_000, 1_000, FluidControl::RENO, &[50]);
    assert!(matches!(range(&link), Err(OutOfRange::SmallWindows { .. })));
    link.groups[0].count = 2;
    assert_eq!(range(&link), Ok(()));
    link.queue = packets(1.0);
    let small = range(&link).unwrap_err();
    assert!(small.to_string().contains("packets, not 1,"), "{small}");
    link.queue = packets(50.0);
    link.groups[0].max_window = 30.0;
    assert!(matches!(range(&link), Err(OutOfRange::Untried { .. })));
    link.groups[0].max_window = 10_000.0;
    assert_eq!(range(&link), Ok(()));
    link.groups[0].control = FluidControl::SCALABLE;
    assert!(matches!(range(&link), Err(OutOfRange::Untried { .. })));
    link.groups.clear();
    assert_eq!(range(&link), Err(OutOfRange::NoFlows));
}

/// Receivers that acknowledge many packets at once hold most of a small window back.
#[test]
fn flows_with_rare_acks_keep_packets_in_flight() {
    for proportional in [true, false] {
        let mut link = link(10_000_000, 4, FluidControl::RENO, &[20]);
        link.groups[0].acks.packets = 20.0;
        link.groups[0].sender.proportional = proportional;
        link.queue = packets(20.0);
        let outcome = run(&link, &extent(1, 5, 30));
        assert!((0.1..=1.0).contains(&outcome.utilization), "{outcome:?}");
        assert!((0.0..=1.0).contains(&outcome.loss_rate), "{outcome:?}");
        assert!(matches!(range(&link), Err(OutOfRange::Untried { .. })));
    }
}
