//! The result of a run depends on its scenario and its seed alone.

use goodqueue_queue::Limit;
use goodqueue_sim::{Network, Outcome, Record, SourceConfig, WorkloadConfig, run};
use goodqueue_tcp::{Profile, TcpConfig};
use goodqueue_testkit::dumbbell::Dumbbell;
use goodqueue_types::{PacketEventKind, Rate, Span, Time};
use std::sync::Arc;

fn dumbbell(seed: u64) -> Dumbbell {
    Dumbbell {
        seed,
        rate: Rate(10_000_000),
        access_rate: Rate(100_000_000),
        limit: Limit::Packets(20),
        round_trip: Span::from_millis(40),
        warmup: Time::ZERO + Span::from_secs(1),
        end: Time::ZERO + Span::from_secs(4),
    }
}

/// Returns a network in which equal TCP flows start together and compete with a Poisson source and
/// a ping.
fn mixed(seed: u64) -> Network {
    let tcp = Arc::new(TcpConfig::profile(Profile::Rfc));
    let mut flows = vec![WorkloadConfig::bulk(tcp, None); 4];
    flows.push(WorkloadConfig::Source(SourceConfig::Poisson {
        mean_interval: Span::from_millis(5),
        packet: goodqueue_sim::PacketSize::Exponential(500.0),
    }));
    flows.push(WorkloadConfig::Source(SourceConfig::Ping {
        interval: Span::from_millis(10),
        packet: 84,
    }));
    let mut network =
        dumbbell(seed).network(flows.into_iter().map(|flow| (Time::ZERO, flow)).collect());
    network.record = Record {
        series: true,
        packets: true,
        tcp_delays: true,
    };
    network
}

/// Returns a network of three equal sources that send at the same instants, so that only the order
/// of simultaneous events distinguishes them.
fn colliding(seed: u64) -> Network {
    let source = WorkloadConfig::Source(SourceConfig::ConstantBitRate {
        interval: Span::from_millis(1),
        packet: 500,
        spread: 0.0,
    });
    let mut network = dumbbell(seed).network(vec![(Time::ZERO, source); 3]);
    network.record.packets = true;
    network
}

/// Returns the first flows in the order in which their packets enter transmission at the
/// bottleneck.
fn order(outcome: &Outcome) -> Vec<u32> {
    let starts = |kind| matches!(kind, PacketEventKind::ServiceStarted(link, _) if link.0 == 0);
    let served = outcome.packets.iter().filter(|event| starts(event.kind));
    served.map(|event| event.packet.flow.0).take(3).collect()
}

#[test]
fn equal_seeds_give_equal_outcomes_in_one_thread_or_many() {
    let first = run(&mixed(7));
    assert_eq!(run(&mixed(7)), first);
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..8)
            .map(|seed| (seed, scope.spawn(move || run(&mixed(seed)))))
            .collect();
        for (seed, run) in runs {
            let equal = run.join().expect("the run ends") == first;
            assert_eq!(equal, seed == 7, "seed {seed}");
        }
    });
}

#[test]
fn recording_changes_nothing() {
    let mut network = mixed(7);
    let recorded = run(&network);
    // The delays of TCP are results: recording them adds results, so they stay on.
    network.record = Record {
        tcp_delays: network.record.tcp_delays,
        ..Record::default()
    };
    let plain = run(&network);
    assert!(!recorded.packets.is_empty() && !recorded.series.windows.is_empty());
    assert_eq!(
        (plain.links, plain.flows, plain.totals),
        (recorded.links, recorded.flows, recorded.totals)
    );
}

#[test]
fn the_seed_breaks_ties_and_favours_no_flow_for_ever() {
    let mut orders: Vec<_> = (0..60).map(|seed| order(&run(&colliding(seed)))).collect();
    assert_eq!(orders[3], order(&run(&colliding(3))));
    orders.sort_unstable();
    orders.dedup();
    assert_eq!(orders.len(), 6, "all orders of three flows: {orders:?}");
}
