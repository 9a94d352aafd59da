//! What runs report, against counting by hand on networks of a few links.

use goodqueue_queue::Limit;
use goodqueue_sim::{FlowConfig, LinkConfig, Network, Outcome, Record, WorkloadConfig, run};
use goodqueue_testkit::{compare, run_reference};
use goodqueue_types::{Hosts, LinkId, Rate, Span, Time};

/// An observed link of 1 Mb/s and 10 ms: 1000 bytes take 8 ms.
fn link() -> LinkConfig {
    LinkConfig {
        observed: true,
        burst_gap: Some(Span::from_millis(20)),
        ..LinkConfig::drop_tail(Rate(1_000_000), Span::from_millis(10), Limit::Unlimited)
    }
}

/// A flow over the first link, and back over the second.
fn flow(start: Span, workload: WorkloadConfig) -> FlowConfig {
    FlowConfig {
        name: String::new(),
        group: 0,
        start: Time::ZERO + start,
        forward: vec![LinkId(0)],
        reverse: vec![LinkId(1)],
        hosts: Hosts::default(),
        dscp: 0,
        workload,
    }
}

/// 1000 bytes each so many milliseconds.
fn every(millis: u64) -> WorkloadConfig {
    WorkloadConfig::ConstantBitRate {
        interval: Span::from_millis(millis),
        packet: 1000,
    }
}

/// A run of so many milliseconds, measured from `warmup`, in which both engines agree.
fn measured(links: Vec<LinkConfig>, flows: Vec<FlowConfig>, warmup: u64, end: u64) -> Outcome {
    let network = Network {
        seed: 1,
        end: Time::ZERO + Span::from_millis(end),
        warmup: Time::ZERO + Span::from_millis(warmup),
        links,
        pools: Vec::new(),
        flows,
        record: Record::default(),
    };
    let outcome = run(&network);
    assert_eq!(compare(&outcome, &run_reference(&network)), Ok(()));
    outcome
}

#[test]
fn a_drop_list_gives_the_bursts_that_it_names() {
    let mut links = vec![link(), link()];
    links[0].drop_list = vec![10, 11, 12, 500];
    // Every 10 ms: less than the 20 ms within which losses belong together.
    let flows = vec![flow(Span::ZERO, every(10))];
    let outcome = measured(links, flows, 0, 10_000);
    let bursts = outcome.links[0].loss_bursts.expect("there is a gap");
    assert_eq!((bursts.count, bursts.packets.mean), (2, Some(2.0)));
    assert_eq!(
        (bursts.packets.p50, bursts.packets.max),
        (Some(1.0), Some(3.0))
    );
    assert_eq!(
        (bursts.mean_flows_hit, bursts.synchronization),
        (Some(1.0), None)
    );
    // 1001 packets from 0 to 10 s, less four lost ones and the last, which only begins.
    let busy = outcome.links[0].busy_periods;
    assert_eq!(
        (busy.count, busy.mean_s, busy.max_s),
        (996, Some(0.008), Some(0.008))
    );
    assert_eq!(outcome.links[0].shares, [(0, 1.0)]);
}

#[test]
fn groups_share_a_link_by_their_bytes() {
    let mut flows = vec![
        flow(Span::ZERO, every(20)),
        flow(Span::from_millis(1), every(60)),
    ];
    flows[1].group = 1;
    flows.push(flow(Span::from_millis(2), every(20)));
    flows[2].group = 2;
    let outcome = measured(vec![link(), link()], flows, 600, 6_600);
    // 3 to 1 to 3, over whole cycles.
    let shares = &outcome.links[0].shares;
    for ((group, share), expected) in shares.iter().zip([3.0, 1.0, 3.0]) {
        assert!((share - expected / 7.0).abs() < 1e-12, "{group}: {share}");
    }
    assert_eq!(shares.len(), 3);
    // Three packets at 0, 1 and 2 ms take 24 ms from 0; at 20 and 22 ms two more: to 40 ms; and at
    // 40 and 42 ms again: the transmitter never pauses for long enough before 56 ms.
    assert_eq!(outcome.links[1].busy_periods.count, 0);
    let busy = outcome.links[0].busy_periods;
    assert_eq!((busy.count, busy.max_s), (100, Some(0.056)));
}
