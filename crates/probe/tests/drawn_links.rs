//! Probes drawn links in virtual time.

mod bed;
mod drawn;

use bed::{Bed, Policer, Way};
use goodqueue_probe::estimate::{Direction, Discipline};
use goodqueue_probe::{Prober, Report};
use goodqueue_queue::{
    CodelConfig, CodelParams, FqCodelConfig, Limit, PieConfig, PieParams, QueueConfig,
};

/// Returns the report on the way up behind this queue, with 20 ms of base RTT.
fn up(rate_bps: u64, queue: QueueConfig, policer: Option<Policer>, cross: f64) -> Direction {
    report(rate_bps, queue, policer, cross, 0.0)
        .up
        .expect("a ramp")
}

/// Returns the whole report if the server's clock gains `drift`.
fn report(
    rate_bps: u64,
    queue: QueueConfig,
    policer: Option<Policer>,
    cross: f64,
    drift: f64,
) -> Report {
    let way = |rate_bps, queue, policer, cross| Way {
        rate_bps,
        delay_s: 0.01,
        queue,
        policer,
        cross,
        pauses: None,
    };
    let back = way(
        100_000_000,
        QueueConfig::drop_tail(Limit::Packets(1000)),
        None,
        0.0,
    );
    let mut bed = Bed::new([way(rate_bps, queue, policer, cross), back], 5);
    bed.drift = drift;
    let mut prober = Prober::new(1_000_000_000).only_up();
    while let Some(phase) = prober.next() {
        assert_eq!(phase.check(1_000_000_000), Ok(()), "{phase:?}");
        let recording = bed.run(&phase);
        prober.finish(&phase, recording);
    }
    prober.report()
}

#[test]
fn clocks_that_drift_apart_do_not_change_the_buffer() {
    let queue = QueueConfig::drop_tail(Limit::Packets(60));
    let found = report(20_000_000, queue, None, 0.0, 200e-6);
    let ppm = found.clock_drift_ppm.expect("pings at the end").value;
    assert!((ppm - 200.0).abs() < 2.0, "{ppm}");
    // 200 ppm are 4 ms in 20 s, the time of seven packets.
    let up = found.up.expect("a ramp");
    assert_eq!(up.discipline, Discipline::Fifo, "{up:?}");
    let packets = up.buffer.expect("a FIFO").packets.value;
    assert!((packets - 60.0).abs() < 1.5, "{packets}");
}

#[test]
fn drawn_links_are_mostly_recognised_and_never_confidently_wrong() {
    let found: Vec<_> = (0..40).map(|link| drawn::probe(11, link)).collect();
    let right = found.iter().filter(|one| one.is_right()).count();
    let wrong = found.iter().filter(|one| one.is_wrong()).count();
    assert!(right >= 38 && wrong == 0, "{}", drawn::table(&found));
    for one in found.iter().filter_map(|one| one.direction.as_ref()) {
        assert_eq!(one.pauses, 0, "{one:?}");
    }
    for one in found.iter().filter(|one| one.cross == 0.0) {
        assert!(one.rate_error() < Some(0.005), "{}", one.line());
        assert!(one.rtt_error() < Some(0.0005), "{}", one.line());
        let close = one.buffer_error() < Some(0.1) || one.packets_error() < Some(2.0);
        assert!(close, "{}", one.line());
    }
}

#[test]
fn codel_that_overflows_before_it_drops_is_no_fifo() {
    let queue = QueueConfig::Codel(CodelConfig {
        limit: Limit::Packets(1000),
        codel: CodelParams::linux(),
    });
    let found = up(500_000_000, queue, None, 0.0);
    assert_eq!(found.discipline, Discipline::Codel, "{found:?}");
}

#[test]
fn a_policer_whose_burst_is_longer_than_a_train_has_its_sustained_rate() {
    let policer = Policer::new(20e6, 100.0 * 1500.0);
    let line = QueueConfig::drop_tail(Limit::Packets(1000));
    let found = up(200_000_000, line, Some(policer), 0.0);
    assert_eq!(found.discipline, Discipline::Policer, "{found:?}");
    assert!((found.rate_bps.value / 20e6 - 1.0).abs() < 0.01);
    assert!(found.burst_bps.is_some_and(|burst| burst > 100e6));
    assert_eq!(found.buffer, None);
}

#[test]
fn cross_traffic_is_seen_and_does_not_lower_the_rate() {
    let queue = QueueConfig::drop_tail(Limit::Packets(200));
    let found = up(50_000_000, queue, None, 0.25);
    assert!((found.rate_bps.value / 50e6 - 1.0).abs() < 0.01);
    assert!((found.cross_share - 0.25).abs() < 0.1, "{found:?}");
    assert_eq!(found.discipline, Discipline::Fifo);
}

/// Returns the report on the way up of a link of 20 Mb/s that pauses for these times, in seconds.
fn paused(queue: &QueueConfig, pauses: Option<(f64, f64)>, seed: u64) -> Direction {
    let way = |rate_bps, queue, pauses| Way {
        rate_bps,
        delay_s: 0.01,
        queue,
        policer: None,
        cross: 0.0,
        pauses,
    };
    let back = QueueConfig::drop_tail(Limit::Packets(1000));
    let ways = [
        way(20_000_000, queue.clone(), pauses),
        way(100_000_000, back, None),
    ];
    let mut bed = Bed::new(ways, seed);
    let mut prober = Prober::new(1_000_000_000).only_up();
    while let Some(phase) = prober.next() {
        let recording = bed.run(&phase);
        prober.finish(&phase, recording);
    }
    prober.report().up.expect("a ramp")
}

#[test]
fn pauses_of_a_link_do_not_lengthen_its_buffer() {
    let (mut seen, mut missed, mut recognised) = (0, 0, 0);
    for (seed, packets) in (1..13).zip([30, 60, 100].into_iter().cycle()) {
        let queue = QueueConfig::drop_tail(Limit::Packets(packets));
        let calm = paused(&queue, None, seed);
        assert_eq!(calm.pauses, 0, "{calm:?}");
        for pauses in [(0.02, 0.05), (0.05, 0.2), (0.2, 0.2)] {
            let found = paused(&queue, Some(pauses), seed);
            let what = format!("{packets} packets, seed {seed}, {pauses:?}: {found:?}");
            let is_short = (found.longest_wait_s / calm.longest_wait_s - 1.0).abs() < 0.05;
            assert!(is_short || found.buffer.is_none(), "{what}");
            missed += u32::from(!is_short);
            assert!((found.rate_bps.value / 20e6 - 1.0).abs() < 0.005, "{what}");
            assert!(found.longest_pause_s < pauses.1 + 0.001, "{what}");
            assert_eq!(found.pauses > 0, found.paused_packets > 0, "{what}");
            seen += u32::from(found.pauses > 0);
            if let Some(buffer) = found.buffer {
                let error = buffer.packets.value - packets as f64;
                assert!(error.abs() < 3.0, "{error} packets: {what}");
                recognised += 1;
            } else {
                assert_eq!(found.discipline, Discipline::CannotTell, "{what}");
            }
        }
    }
    // Some ramps end before the first pause.
    assert!(seen >= 30 && recognised >= 30, "{seen}, {recognised}");
    assert!(missed <= 1, "{missed}");
}

#[test]
fn pauses_of_a_link_make_no_other_discipline_of_its_queue() {
    let limit = Limit::Packets(1000);
    let codel = QueueConfig::Codel(CodelConfig {
        limit,
        codel: CodelParams::linux(),
    });
    let pie = QueueConfig::Pie(PieConfig {
        limit,
        pie: PieParams::linux(),
    });
    let fair = QueueConfig::FqCodel(FqCodelConfig::linux(limit));
    for (queue, right) in [
        (codel, Discipline::Codel),
        (pie, Discipline::Pie),
        (fair, Discipline::FqCodel),
    ] {
        for seed in 1..9 {
            let found = paused(&queue, Some((0.02, 0.2)), seed);
            let honest = [right, Discipline::CannotTell];
            assert!(honest.contains(&found.discipline), "{right:?}: {found:?}");
        }
    }
}
