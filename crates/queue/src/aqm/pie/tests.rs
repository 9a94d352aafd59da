//! The relations of ns-3's `pie-queue-disc` test suite: 400 packets of 1000 bytes arrive, one every
//! 10 ms, and leave at a slower rate.

use super::*;
use crate::rig::Rig;
use goodqueue_types::Ecn::{self, Capable0, NotCapable};

const EARLY: DropReason = DropReason::Early;

struct Outcome {
    drops: usize,
    marks: usize,
    highest: f64,
    /// Largest single increase of a probability above 0.1.
    growth: f64,
}

fn ns3(limit: Limit) -> PieConfig {
    let mut config = PieConfig::ns3(limit);
    config.pie.bytemode = matches!(limit, Limit::Bytes(_));
    config
}

/// ns-3's second case: a target of 20 ms, updates every 30 ms, a burst of 100 ms.
fn second_case(limit: Limit) -> PieConfig {
    let mut config = ns3(limit);
    config.pie.target = Span::from_millis(20);
    config.pie.tupdate = Span::from_millis(30);
    config.pie.max_burst = Span::from_millis(100);
    config
}

fn run(config: PieConfig, departures_ms: u64, ecn: Ecn) -> Outcome {
    let mut rig = Rig::new(&config);
    let (mut highest, mut growth, mut before) = (0.0_f64, 0.0_f64, 0.0_f64);
    for now in 1..=400 * departures_ms {
        rig.at(Span::from_millis(now));
        if now % 10 == 0 && now <= 4000 {
            rig.enqueue(1, 1000, ecn);
            let prob = rig.queue.vars.probability();
            highest = highest.max(prob);
            if before > 0.1 {
                growth = growth.max(prob - before);
            }
            before = prob;
        }
        if now % departures_ms == 0 {
            rig.dequeue();
        }
    }
    assert_eq!(rig.drops(DropReason::Overlimit), 0);
    Outcome {
        drops: rig.drops(EARLY),
        marks: rig.marks(EARLY),
        highest,
        growth,
    }
}

#[test]
fn drops_follow_target_pace_and_period_as_in_ns3() {
    for limit in [Limit::Packets(300), Limit::Bytes(300_000)] {
        let base = run(second_case(limit), 12, NotCapable).drops;
        assert!(base > 0);
        let mut patient = second_case(limit);
        patient.pie.target = Span::from_millis(80);
        assert!(run(patient, 12, NotCapable).drops < base);
        let slower = run(second_case(limit), 15, NotCapable).drops;
        assert!(slower > base);
        let mut lazy = second_case(limit);
        lazy.pie.tupdate = Span::from_millis(90);
        assert!(run(lazy, 15, NotCapable).drops < slower);
    }
}

#[test]
fn the_rate_estimator_drops_too() {
    let mut config = ns3(Limit::Packets(300));
    config.pie.dq_rate_estimator = true;
    assert!(run(config, 14, NotCapable).drops > 0);
}

#[test]
fn the_cap_holds_the_growth_as_in_ns3() {
    let mut config = ns3(Limit::Packets(300));
    let capped = run(config, 14, NotCapable);
    assert!(capped.drops > 0 && capped.growth <= 0.020_000_000_000_000_1);
    config.pie.cap_adjustment = false;
    let free = run(config, 14, NotCapable);
    assert!(free.drops > 0 && free.growth > 0.02, "{}", free.growth);
}

#[test]
fn marks_need_ecn_on_both_sides_and_a_low_probability() {
    let mut config = ns3(Limit::Packets(300));
    config.pie.ecn_threshold = 0.3;
    let off = run(config, 14, Capable0);
    assert!(off.marks == 0 && off.drops > 0);
    config.pie.ecn = true;
    let not_capable = run(config, 14, NotCapable);
    assert!(not_capable.marks == 0 && not_capable.drops > 0);
    let on = run(config, 14, Capable0);
    assert!(on.marks > 0 && on.drops > 0 && on.highest > 0.3);
}

#[test]
fn a_full_queue_drops_whatever_the_probability() {
    let mut rig = Rig::new(&PieConfig::linux(Limit::Packets(500)));
    rig.enqueue(503, 1000, NotCapable);
    assert_eq!((rig.waiting(), rig.drops(DropReason::Overlimit)), (500, 3));
    assert_eq!(rig.drops(EARLY), 0, "the burst allowance lasts");
}

#[test]
fn years_of_idleness_cost_no_time() {
    for config in [
        PieConfig::linux(Limit::Packets(300)),
        ns3(Limit::Packets(300)),
    ] {
        let mut rig = Rig::new(&config);
        for now in 1..2000 {
            rig.at(Span::from_millis(now)).enqueue(2, 1000, NotCapable);
            rig.dequeue();
        }
        assert!(rig.queue.vars.probability() > 0.0);
        while rig.dequeue().is_some() {}
        rig.at(Span::from_secs(10_000_000))
            .enqueue(1, 1000, NotCapable);
        assert!(rig.queue.vars.probability() <= 0.0);
    }
}
