//! The class of a queue from its first packet until it is idle again.

use super::*;
use crate::fair::cake::{Cake, CakeDiffserv};
use crate::fair::flows::rig::packet;
use crate::rig::Rig;
use goodqueue_types::{Hosts, RandomStream, Span};

fn rig() -> Rig<Cake> {
    Rig::new(&CakeConfig {
        diffserv: CakeDiffserv::BestEffort,
        isolation: CakeIsolation::DualSrcHost,
        ..CakeConfig::linux(None)
    })
}

/// Returns a full packet of a flow. All flows belong to one host.
fn packet_of(flow: u32) -> Packet {
    Packet {
        hosts: Hosts {
            client: 1,
            server: 2,
        },
        ..packet(flow, 0, 1514)
    }
}

/// Returns the class of the flow's queue, with the numbers of sparse and of bulk flows.
fn load(rig: &mut Rig<Cake>, flow: u32) -> (Load, u32, u32) {
    let hash = rig.queue.hash;
    let tin = &mut rig.queue.tins[0];
    let queue = tin.queue_of(hash, &packet_of(flow));
    (tin.states[queue as usize].load, tin.sparse, tin.bulk)
}

/// Returns the mean quantum of a flow of the host.
fn share(rig: &mut Rig<Cake>, flow: u32) -> f64 {
    let hash = rig.queue.hash;
    let tin = &mut rig.queue.tins[0];
    let queue = tin.queue_of(hash, &packet_of(flow));
    let hosts = tin.states[queue as usize].hosts;
    let random = &mut RandomStream::new(1, "test", 0);
    let total: i64 = (0..1000)
        .map(|_| tin.hosts.quantum(hosts, 1514, random))
        .sum();
    total as f64 / 1000.0
}

/// Flow 0 has sent its quantum and is empty. Flow 1 has sent the first of 20 packets.
fn one_waits_in_the_bulk_round() -> Rig<Cake> {
    let mut rig = rig();
    rig.at(Span::from_secs(1));
    rig.offer(packet_of(0));
    assert_eq!(load(&mut rig, 0), (Load::Sparse, 1, 0));
    assert_eq!(rig.next(), Some((0, 0)));
    for _ in 0..20 {
        rig.offer(packet_of(1));
    }
    assert_eq!(rig.next(), Some((1, 0)));
    assert_eq!(load(&mut rig, 0), (Load::SparseWaiting, 2, 0));
    rig
}

#[test]
fn a_flow_that_returns_within_a_round_is_bulk() {
    let mut rig = one_waits_in_the_bulk_round();
    rig.offer(packet_of(0));
    assert_eq!(load(&mut rig, 0), (Load::Bulk, 1, 1));
    rig.next();
    rig.next();
    assert_eq!(load(&mut rig, 1), (Load::Bulk, 0, 2));
    assert!((share(&mut rig, 1) - 757.0).abs() < 1.0, "two of one host");
}

#[test]
fn an_empty_queue_decays_for_an_interval_and_no_longer_counts_for_its_host() {
    let mut rig = one_waits_in_the_bulk_round();
    rig.offer(packet_of(0));
    for _ in 0..6 {
        rig.next();
    }
    assert_eq!(load(&mut rig, 0), (Load::Decaying, 0, 1));
    assert!((share(&mut rig, 1) - 1514.0).abs() < 1.0, "one of its host");
    // COBALT keeps a queue's state for one interval after its last packet.
    rig.at(Span::from_millis(1_099)).next();
    assert_eq!(load(&mut rig, 0), (Load::Decaying, 0, 1));
    rig.at(Span::from_millis(1_101)).next();
    assert_eq!(load(&mut rig, 0), (Load::Idle, 0, 1));
}

#[test]
fn a_decaying_queue_becomes_sparse_again() {
    let mut rig = one_waits_in_the_bulk_round();
    for _ in 0..4 {
        rig.next();
    }
    assert_eq!(load(&mut rig, 0), (Load::Decaying, 0, 1));
    rig.offer(packet_of(0));
    assert_eq!(load(&mut rig, 0), (Load::Sparse, 1, 1));
    assert_eq!(rig.next(), Some((0, 0)), "and goes first");
}

/// Gives quanta to the flows one after the other, as `serve` does without `skip_rounds`.
fn walk(tin: &mut Tin, context: &mut Context<'_>) -> u32 {
    let mut steps = 0;
    while let Some(flow) = tin.flows.first(Round::Old)
        && tin.flows.deficit(flow) <= 0
        && tin.states[flow as usize].load != Load::Sparse
    {
        tin.next_round(context, flow);
        steps += 1;
    }
    steps
}

/// Returns the flows of a tin in the order of their turns, each with its deficit.
fn turns(tin: &Tin) -> Vec<(u32, i64)> {
    let flows = tin.flows.active();
    flows.map(|flow| (flow, tin.flows.deficit(flow))).collect()
}

#[test]
fn skipped_rounds_end_where_a_walk_ends_with_the_same_random_numbers() {
    let mut rig = rig();
    let mut charges = RandomStream::new(2, "test", 0);
    let mut steps = 0;
    for round in 0..300 {
        for _ in 0..2 {
            let client = (charges.bits() % 3) as u16;
            rig.offer(Packet {
                hosts: Hosts { client, server: 9 },
                ..packet((charges.bits() % 60) as u32, 0, 1514)
            });
        }
        rig.at(Span::from_millis(round)).next();
        let mut skipped = rig.queue.tins[0].clone();
        for flow in skipped.flows.active().collect::<Vec<_>>() {
            skipped.flows.charge(flow, charges.bits() % 5_000);
        }
        let mut walked = skipped.clone();
        rig.call(|_, context| {
            let before = context.random.clone();
            steps += walk(&mut walked, context);
            let after = std::mem::replace(context.random, before).bits();
            skipped.skip_rounds(context.random);
            assert_eq!(context.random.clone().bits(), after);
        });
        assert_eq!(turns(&skipped), turns(&walked));
    }
    assert!(steps > 3_000, "{steps}");
}
