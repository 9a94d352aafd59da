//! The memory that a run allocates: nothing per packet, and little per idle flow.
//!
//! The counting allocator is that of `allocation-counter`, which counts the current thread alone.

use goodqueue_queue::{Configuration, Limit, Sharing};
use goodqueue_sim::{
    Impairments, Jitter, Law, Network, NoProbe, PoolConfig, RateStep, RateTrace, Reorder,
    ServiceConfig, Simulation, SourceConfig, WorkloadConfig,
};
use goodqueue_tcp::{Profile, TcpConfig};
use goodqueue_testkit::dumbbell::Dumbbell;
use goodqueue_types::parameters::{Parameters, Value};
use goodqueue_types::{RandomStream, Rate, Span, Time};
use std::sync::Arc;

const BYTES_PER_IDLE_FLOW: i64 = 2048;

fn bulk(profile: Profile) -> WorkloadConfig {
    WorkloadConfig::bulk(Arc::new(TcpConfig::profile(profile)), None)
}

fn dumbbell(seed: u64, end: Time) -> Dumbbell {
    Dumbbell {
        seed,
        rate: Rate(10_000_000),
        access_rate: Rate(100_000_000),
        limit: Limit::Packets(50),
        round_trip: Span::from_millis(40),
        warmup: Time::ZERO,
        end,
    }
}

/// Containers that may double after the warm-up, because a burst of losses or of overtaking ACKs
/// sets a new record. Random bursts have no largest size, so some seeds allocate nothing and others
/// allocate several times.
const NEW_RECORDS: u64 = 12;

#[test]
fn no_packet_allocates_after_the_warm_up() {
    for seed in 1..=8 {
        allocations_after_the_warm_up(seed);
    }
}

/// Runs one seed. More than 25,000 packets are delivered after the warm-up.
fn allocations_after_the_warm_up(seed: u64) {
    let (half, end) = (
        Time::ZERO + Span::from_secs(30),
        Time::ZERO + Span::from_secs(60),
    );
    let cbr = WorkloadConfig::Source(SourceConfig::ConstantBitRate {
        interval: Span::from_millis(10),
        packet: 500,
        spread: 0.0,
    });
    let ping = WorkloadConfig::Source(SourceConfig::Ping {
        interval: Span::from_millis(10),
        packet: 84,
    });
    let mut flows = vec![cbr, ping];
    for profile in [Profile::Rfc, Profile::Inet2011, Profile::Ns2] {
        flows.extend(vec![bulk(profile); 2]);
    }
    let mut network =
        dumbbell(seed, end).network(flows.into_iter().map(|flow| (Time::ZERO, flow)).collect());
    // On the reverse link, ACKs overtake one another and some arrive twice.
    network.links[1].impairments = Impairments {
        jitter: Some(Jitter {
            law: Law::exponential(0.005),
            keeps_order: false,
            every: None,
        }),
        reorder: Some(Reorder {
            probability: 0.01,
            delay: Span::from_millis(20),
        }),
        duplicate: Some(0.01),
        ..Impairments::default()
    };
    let mut simulation = Simulation::new(&network, NoProbe);
    simulation.run_until(half);
    let cost = allocation_counter::measure(|| simulation.run_until(end));
    let (outcome, _) = simulation.complete();
    assert!(
        outcome.totals.dropped > 100 && outcome.totals.delivered > 50_000,
        "nothing happened"
    );
    assert!(cost.count_total <= NEW_RECORDS, "seed {seed}: {cost:?}");
    assert!(cost.bytes_current <= 4096, "seed {seed}: {cost:?}");
}

/// Returns a network of flows that start after the end of the run, to measure the memory of each.
fn idle_flows(count: usize) -> Network {
    let end = Time::ZERO + Span::from_secs(1);
    dumbbell(1, end).network(vec![(end + Span::from_secs(1), bulk(Profile::Rfc)); count])
}

/// Returns the bytes that a simulation of these flows holds, without the network's description.
fn simulation_bytes(network: &Network) -> i64 {
    let mut simulation = None;
    let cost = allocation_counter::measure(|| simulation = Some(Simulation::new(network, NoProbe)));
    assert!(simulation.is_some());
    cost.bytes_current
}

#[test]
fn an_idle_flow_costs_at_most_two_kibibytes() {
    let (n, twice_n) = (idle_flows(1000), idle_flows(2000));
    let per_flow = (simulation_bytes(&twice_n) - simulation_bytes(&n)) / 1000;
    println!("{per_flow} bytes per idle flow");
    assert!(per_flow > 0);
    assert!(
        per_flow <= BYTES_PER_IDLE_FLOW,
        "{per_flow} bytes per idle flow"
    );
}

/// The counter counts an allocation, so the other tests can fail.
#[test]
fn an_allocation_is_counted() {
    let cost = allocation_counter::measure(|| drop(std::hint::black_box(vec![0_u8; 100])));
    assert_eq!(
        (cost.count_total, cost.bytes_total, cost.bytes_current),
        (1, 100, 0)
    );
}

/// The bytes of an empty queue's tables are those that it allocates. The largest tables are tried, too.
#[test]
fn the_tables_of_queues_have_the_stated_bytes() {
    let mut queues = goodqueue_queue::examples();
    for (name, queue) in goodqueue_queue::examples() {
        let mut larger = queue.clone();
        for (key, value) in [
            ("flows", 32_768),
            ("divisor", 65_536),
            ("count_bits", 1 << 24),
        ] {
            if larger.key(key).is_some() {
                larger.set(key, Value::Integer(value));
            }
        }
        queues.push((name, larger));
    }
    for (name, queue) in queues {
        let mut built = None;
        let mut random = RandomStream::new(1, "test", 0);
        let cost = allocation_counter::measure(|| built = Some(queue.build(&mut random)));
        let (stated, found) = (queue.table_bytes() as i64, cost.bytes_current);
        println!("{name}: {stated} B stated, {found} B allocated");
        assert!(built.is_some());
        assert!(
            stated >= found - 4_096 && stated <= found + found / 4 + 4_096,
            "{name}"
        );
    }
}

/// Under overload by all flows, no queue discipline allocates memory once its queue has been full.
#[test]
fn no_queue_allocates_after_the_warm_up() {
    let (half, end) = (
        Time::ZERO + Span::from_secs(20),
        Time::ZERO + Span::from_secs(40),
    );
    for (name, queue) in goodqueue_queue::examples() {
        let cbr = WorkloadConfig::Source(SourceConfig::ConstantBitRate {
            interval: Span::from_millis(3),
            packet: 1000,
            spread: 0.0,
        });
        let flows = vec![cbr; 8].into_iter().map(|flow| (Time::ZERO, flow));
        let mut network = dumbbell(1, end).network(flows.collect());
        network.links[0].queue = queue;
        // The rate varies, and the reverse direction uses the same shared buffer.
        network.pools.push(PoolConfig {
            name: "shared".to_owned(),
            capacity: 1_000_000,
            sharing: Sharing::Dynamic { alpha: 1.0 },
            headroom: 10_000,
            cell: 256,
            gap: 20,
        });
        network.links[0].pool = Some(0);
        network.links[1].pool = Some(0);
        network.links[0].service = Some(ServiceConfig::Trace(RateTrace {
            steps: [
                (Span::ZERO, Rate(0)),
                (Span::from_millis(500), Rate(20_000_000)),
            ]
            .map(|(at, rate)| RateStep { at, rate })
            .into(),
            repeat: Some(Span::from_secs(1)),
        }));
        let mut simulation = Simulation::new(&network, NoProbe);
        simulation.run_until(half);
        let cost = allocation_counter::measure(|| simulation.run_until(end));
        let (outcome, _) = simulation.complete();
        assert!(outcome.totals.dropped > 1000, "{name}: nothing happened");
        assert_eq!(cost.count_total, 0, "{name}: {cost:?}");
    }
}
