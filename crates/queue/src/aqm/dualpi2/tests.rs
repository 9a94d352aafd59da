use super::*;
use crate::rig::Rig;
use goodqueue_types::Ecn::{Capable0, Capable1, Experienced, NotCapable};

fn dual(change: impl FnOnce(&mut DualPi2Config)) -> Rig<DualPi2> {
    let mut config = DualPi2Config::linux(Limit::Packets(10_000));
    change(&mut config);
    Rig::new(&config)
}

/// Serves `packets` packets at once and returns the ECN field of each, which shows its queue.
fn served(rig: &mut Rig<DualPi2>, packets: usize) -> Vec<Ecn> {
    (0..packets)
        .filter_map(|_| rig.dequeue())
        .map(|packet| packet.ecn)
        .collect()
}

#[test]
fn the_ecn_field_decides_the_queue() {
    let mut rig = dual(|_| ());
    for ecn in [NotCapable, Capable0, Capable1, Experienced] {
        rig.enqueue(1, 1500, ecn);
    }
    assert_eq!(rig.queue.low_latency.backlog().packets, 2);
    assert_eq!(rig.queue.classic.backlog().packets, 2);
}

#[test]
fn while_both_wait_the_classic_queue_gets_its_ten_percent_of_the_bytes() {
    for (percent, sizes) in [(10, (1500, 1500)), (10, (500, 1500)), (50, (1500, 1500))] {
        let mut rig = dual(|config| {
            config.scheduler = DualScheduler::Weighted {
                classic_percent: percent,
            }
        });
        rig.enqueue(1000, sizes.0, NotCapable);
        rig.enqueue(1000, sizes.1, Capable1);
        let (mut classic, mut all) = (0, 0);
        for ecn in served(&mut rig, 500) {
            let size = u64::from(if ecn == NotCapable { sizes.0 } else { sizes.1 });
            classic += if ecn == NotCapable { size } else { 0 };
            all += size;
        }
        // The tolerance is two packets, for the phase of the first turns and of the last.
        let expected = all * u64::from(percent) / 100;
        assert!(classic.abs_diff(expected) <= 3000, "{classic} of {all}");
    }
}

#[test]
fn low_latency_starts_and_an_empty_link_forgets_the_credit() {
    let mut rig = dual(|_| ());
    rig.enqueue(3, 1500, NotCapable);
    rig.enqueue(3, 1500, Capable1);
    assert_eq!(served(&mut rig, 2), [Capable1, Capable1]);
    while rig.dequeue().is_some() {}
    assert_eq!(rig.queue.credit, -80 * 1514);
}

/// `dequeue_packet` of Linux by hand. The credit begins at (10 − 90)·1514 = −121,120. A low-latency
/// packet of 1500 bytes adds 10·1500, a classic one takes 90·1500, and the classic queue is served
/// above 0: after nine packets the credit is 13,880, and one classic packet brings it back.
#[test]
fn the_credit_follows_the_bytes_served() {
    let mut rig = dual(|_| ());
    rig.enqueue(3, 1500, NotCapable);
    rig.enqueue(30, 1500, Capable1);
    for _ in 0..2 {
        assert_eq!(served(&mut rig, 9), [Capable1; 9]);
        assert_eq!(rig.queue.credit, 13_880);
        assert_eq!(served(&mut rig, 1), [NotCapable]);
        assert_eq!(rig.queue.credit, -121_120);
    }
    // The credit stays while the other queue is empty.
    let mut rig = dual(|_| ());
    rig.queue.credit = 7;
    rig.enqueue(3, 1500, Capable1);
    assert_eq!(served(&mut rig, 2), [Capable1; 2]);
    assert_eq!(rig.queue.credit, 7);
}

/// Linux adds the change of the credit only for a packet that it sends. On overload all 1000
/// low-latency packets are dropped before the first classic one, although they would be worth 15
/// million.
#[test]
fn a_dropped_packet_costs_no_credit() {
    let mut rig = overloaded(|_| ());
    rig.queue.credit = -500_000;
    assert_eq!(served(&mut rig, 1), [Capable0]);
    assert!(rig.queue.low_latency.is_empty());
    assert_eq!(rig.queue.credit, -500_000);
}

/// `get_queue_delays` and `calculate_probability` of Linux: the longer wait of both queues counts.
/// A delay of 16 ms lies 1 ms above the target: 41/256·0.001 + 819/256·0.016.
#[test]
fn the_controller_sees_the_longer_wait_of_both_queues() {
    for (first, second) in [(NotCapable, Capable1), (Capable1, NotCapable)] {
        let mut rig = dual(|_| ());
        rig.enqueue(1, 1500, first);
        rig.at(Span::from_millis(10)).enqueue(1, 1500, second);
        let now = Time::ZERO + Span::from_millis(16);
        rig.at(Span::from_millis(16))
            .call(|queue, _| queue.catch_up(now));
        let probability = rig.queue.probability();
        assert!(
            (probability - 0.051_347_656_25).abs() < 1e-12,
            "{probability}"
        );
    }
}

/// Returns the shares of 4000 packets that are marked and dropped with base probability `prob`.
fn shares(ecn: Ecn, prob: f64, change: impl FnOnce(&mut DualPi2Config)) -> [f64; 2] {
    let mut rig = dual(|config| {
        config.pi2.tupdate = Span::from_secs(1000);
        change(config);
    });
    rig.enqueue(4003, 1500, ecn);
    rig.queue.vars = Pi2Vars::with_probability(&rig.queue.config.pi2, prob);
    while rig.waiting() > 2 {
        rig.dequeue();
    }
    [rig.marks(DropReason::Early), rig.drops(DropReason::Early)].map(|n| n as f64 / 4000.0)
}

/// `dualpi2_classic_marking` and `dualpi2_scalable_marking` of Linux with k = 2. Up to p′ = 1/2
/// ECN-capable classic packets are marked and others dropped with p′², and low-latency packets are
/// marked with 2p′. Above, every classic packet that is hit is dropped, and a low-latency packet is
/// dropped with p′² and otherwise marked. The tolerance is four standard deviations.
#[test]
fn each_queue_has_its_law_below_and_on_overload() {
    let cases = [
        (NotCapable, 0.5, [0.0, 0.25]),
        (Capable0, 0.5, [0.25, 0.0]),
        (Capable1, 0.3, [0.6, 0.0]),
        (Capable1, 0.5, [1.0, 0.0]),
        (NotCapable, 0.6, [0.0, 0.36]),
        (Capable0, 0.6, [0.0, 0.36]),
        (Capable1, 0.6, [0.64, 0.36]),
    ];
    for (ecn, prob, expected) in cases {
        let found = shares(ecn, prob, |_| ());
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 0.032, "{ecn:?} {prob}: {found}");
        }
    }
}

#[test]
fn the_limit_holds_for_both_queues_together() {
    let mut rig = dual(|config| config.limit = Limit::Packets(4));
    rig.enqueue(3, 1500, NotCapable);
    rig.enqueue(3, 1500, Capable1);
    assert_eq!((rig.waiting(), rig.drops(DropReason::Overlimit)), (4, 2));
}

#[test]
fn the_time_shifted_fifo_prefers_low_latency_by_its_shift() {
    let mut rig = dual(|config| {
        config.step = StepThreshold::Packets(100);
        config.scheduler = DualScheduler::TimeShifted {
            shift: Span::from_millis(30),
        };
    });
    rig.enqueue(1, 100, NotCapable);
    rig.at(Span::from_millis(30)).enqueue(1, 100, Capable1);
    assert_eq!(served(&mut rig, 1), [Capable1]);
    rig.at(Span::from_millis(31)).enqueue(1, 100, Capable1);
    assert_eq!(served(&mut rig, 2), [NotCapable, Capable1]);
}

#[test]
fn packets_that_waited_longer_than_the_step_are_marked() {
    let mut rig = dual(|_| ());
    rig.enqueue(3, 1500, Capable1);
    rig.at(Span::from_millis(1));
    assert_eq!(served(&mut rig, 1), [Capable1], "not above a millisecond");
    rig.at(Span::from_micros(1001));
    assert_eq!(served(&mut rig, 2), [Experienced, Experienced]);
    assert_eq!(rig.marks(DropReason::Forced), 2);
    let mut rig = dual(|config| config.step = StepThreshold::Packets(1));
    rig.enqueue(3, 1500, Capable1);
    assert_eq!(served(&mut rig, 3), [Experienced, Capable1, Capable1]);
}

/// In Linux 6.18, `apply_step` is set on arrival if `min_qlen_step` packets or more wait in the
/// low-latency queue.
#[test]
fn the_step_spares_packets_that_found_few_waiting() {
    let mut rig = dual(|config| config.least_backlog = 2);
    rig.enqueue(4, 1500, Capable1);
    rig.at(Span::from_millis(2));
    let expected = [Capable1, Capable1, Experienced, Experienced];
    assert_eq!(served(&mut rig, 4), expected);
    // Packets in the classic queue do not count.
    rig.enqueue(9, 1500, NotCapable);
    rig.enqueue(1, 1500, Capable1);
    rig.at(Span::from_millis(5));
    assert_eq!(served(&mut rig, 1), [Capable1]);
}

/// The ramp of RFC 9332 appendix A.1: `minTh` = 800 µs, `range` = 400 µs.
fn ramp(change: impl FnOnce(&mut DualPi2Config)) -> Rig<DualPi2> {
    dual(|config| {
        config.step = StepThreshold::Delay(Span::from_micros(800));
        config.ramp_range = Span::from_micros(400);
        change(config);
    })
}

/// `laqm()` and `recur()` of RFC 9332 appendix A.1 by hand. Packets that waited 800, 900, 1000,
/// 1100, 1200 and 1300 µs have p'_L of 0, 1/4, 1/2, 3/4, 1 and 1. The sums are 0, 0.25, 0.75, 1.5,
/// 1.5 and 1.5 before a mark takes off 1.
#[test]
fn the_ramp_marks_as_the_pseudo_code_by_hand() {
    let mut rig = ramp(|_| ());
    rig.enqueue(10, 1500, Capable1);
    let ecn: Vec<Ecn> = [800, 900, 1000, 1100, 1200, 1300]
        .into_iter()
        .filter_map(|micros| rig.at(Span::from_micros(micros)).dequeue())
        .map(|packet| packet.ecn)
        .collect();
    let expected = [
        Capable1,
        Capable1,
        Capable1,
        Experienced,
        Experienced,
        Experienced,
    ];
    assert_eq!(ecn, expected);
    assert!((rig.queue.due - 0.5).abs() < 1e-12, "{}", rig.queue.due);
}

/// `if (lq.len() > Th_len)` with `Th_len` = 1 packet follows `lq.dequeue(pkt)`, so the last two
/// packets of five are not marked, however long they waited. A sum of exactly 1 is no mark yet.
#[test]
fn a_short_queue_is_not_marked_under_the_rfc() {
    for ramped in [true, false] {
        let mut rig = if ramped {
            ramp(|config| config.min_qlen_left = 2)
        } else {
            dual(|config| config.min_qlen_left = 2)
        };
        rig.enqueue(5, 1500, Capable1);
        rig.at(Span::from_millis(3));
        let first = if ramped { Capable1 } else { Experienced };
        let expected = [first, Experienced, Experienced, Capable1, Capable1];
        assert_eq!(served(&mut rig, 5), expected, "ramp: {ramped}");
    }
}

/// The combining function is the maximum: with p' = 0.3 and k = 2, `p_L` is 0.6 below the ramp and
/// at its half, so the sums are 0.6, 1.2, 0.8, 1.4, 1.0.
#[test]
fn under_the_ramp_the_larger_of_both_probabilities_counts() {
    for micros in [0, 1000] {
        let mut rig = ramp(|config| config.pi2.tupdate = Span::from_secs(100));
        rig.enqueue(9, 1500, Capable1);
        rig.queue.vars = Pi2Vars::with_probability(&rig.queue.config.pi2, 0.3);
        rig.at(Span::from_micros(micros));
        let expected = [Capable1, Experienced, Capable1, Experienced, Capable1];
        assert_eq!(served(&mut rig, 5), expected, "{micros}");
    }
}

/// Linux counts `skb->truesize`, 2304 bytes for a full frame, of both queues together.
#[test]
fn the_memory_limit_holds_for_both_queues_together() {
    let mut rig = dual(|config| config.memory_limit = Some(4 * 2304));
    rig.enqueue(3, 1514, NotCapable);
    rig.enqueue(3, 1514, Capable1);
    assert_eq!((rig.waiting(), rig.drops(DropReason::Overlimit)), (4, 2));
    rig.dequeue();
    rig.enqueue(2, 1514, Capable1);
    assert_eq!((rig.waiting(), rig.drops(DropReason::Overlimit)), (4, 3));
}

/// Returns a queue whose probability has grown to its bound, with packets of both kinds
/// waiting.
fn overloaded(change: impl FnOnce(&mut DualPi2Config)) -> Rig<DualPi2> {
    let mut rig = dual(change);
    rig.enqueue(1000, 1500, Capable0);
    rig.enqueue(1000, 1500, Capable1);
    rig.at(Span::from_secs(10))
        .call(|queue, _| queue.catch_up(Time::ZERO + Span::from_secs(10)));
    rig
}

#[test]
fn on_overload_all_are_dropped_or_the_queue_grows() {
    let mut rig = overloaded(|_| ());
    assert!((rig.queue.probability() - 1.0).abs() < 1e-12);
    while rig.dequeue().is_some() {}
    // All packets are dropped except the last two or so, which are too few for a queue.
    assert!(rig.drops(DropReason::Early) >= 1990);
    let mut rig = overloaded(|config| config.drop_overload = false);
    assert!((rig.queue.probability() - 0.5).abs() < 1e-12);
    let low_latency = served(&mut rig, 2000);
    assert_eq!(
        low_latency
            .iter()
            .filter(|ecn| **ecn == Experienced)
            .count(),
        rig.verdicts.len()
    );
    assert_eq!(rig.drops(DropReason::Early), 0, "marks only");
}

#[test]
fn drops_happen_at_enqueue_or_at_dequeue() {
    for drop_early in [false, true] {
        let mut rig = overloaded(|config| config.drop_early = drop_early);
        rig.enqueue(100, 1500, NotCapable);
        assert_eq!(
            rig.drops(DropReason::Early),
            if drop_early { 100 } else { 0 }
        );
        rig.dequeue();
        assert!(rig.drops(DropReason::Early) > 0);
    }
}

#[test]
fn no_packet_is_dropped_or_marked_if_few_bytes_wait() {
    let mut rig = overloaded(|_| ());
    while rig.waiting() > 0 {
        rig.dequeue();
    }
    rig.verdicts.clear();
    rig.enqueue(3, 1000, NotCapable);
    assert_eq!(served(&mut rig, 3).len(), 3);
    assert!(rig.queue.probability() > 0.9 && rig.verdicts.is_empty());
}

#[test]
fn senseless_parameters_are_refused() {
    let key = |change: fn(&mut DualPi2Config)| {
        let mut config = DualPi2Config::linux(Limit::Packets(10_000));
        change(&mut config);
        config.check(1514).unwrap_err().key
    };
    assert_eq!(key(|config| config.limit = Limit::Bytes(1000)), "limit");
    assert_eq!(key(|config| config.coupling = 0.0), "coupling_factor");
    assert_eq!(key(|config| config.pi2.target = Span::ZERO), "target");
    assert_eq!(
        key(|config| config.memory_limit = Some(2303)),
        "memory_limit"
    );
    assert_eq!(
        key(|config| {
            config.step = StepThreshold::Packets(2);
            config.ramp_range = Span::from_micros(400);
        }),
        "ramp_range"
    );
    assert_eq!(
        key(|config| config.scheduler = DualScheduler::Weighted {
            classic_percent: 101
        }),
        "classic_protection"
    );
}
