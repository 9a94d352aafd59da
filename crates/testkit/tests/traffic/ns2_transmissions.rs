//! Compares the `ns2` profile with ns-2.35, transmission by transmission to the microsecond: lost
//! SYNs and first segments, several losses in a window, lost retransmissions, timeouts.

use goodqueue_queue::Limit;
use goodqueue_sim::{FlowConfig, Network, Record, WorkloadConfig, run};
use goodqueue_tcp::{InitialSsthresh, Profile, Recovery, TcpConfig};
use goodqueue_testkit::dumbbell::link;
use goodqueue_types::{Body, Direction, Hosts, LinkId, PacketEventKind, Rate, Span, Time};
use std::sync::Arc;

const NS2: &str = include_str!("data/ns2.txt");

/// Phase of the clock with which ns-2 measures round-trip times, which is random; this is the phase
/// of its first agent. Goodqueue's clock has no phase, so the flow starts this much later.
const CLOCK_PHASE: Span = Span(5_558_807_000);

const MSS: u32 = 1460;

/// Time in microseconds, and packet.
type Transmission = (u64, u64);

/// One run of ns-2.
struct Case {
    agent: &'static str,
    drops: Vec<u64>,
    transmissions: Vec<Transmission>,
}

fn cases() -> Vec<Case> {
    let blocks = NS2.split("\n\n").skip(1);
    blocks
        .map(|block| read_case(block).expect("a heading, and pairs of numbers"))
        .collect()
}

fn read_case(block: &'static str) -> Option<Case> {
    let (heading, figures) = block.split_once('\n')?;
    let (agent, drops) = heading.split_once(' ')?;
    let pair = |text: &str| {
        let (time, packet) = text.split_once(':')?;
        Some((time.parse().ok()?, packet.parse().ok()?))
    };
    Some(Case {
        agent,
        drops: drops
            .split(',')
            .map(|index| index.parse().ok())
            .collect::<Option<_>>()?,
        transmissions: figures
            .split_whitespace()
            .map(pair)
            .collect::<Option<_>>()?,
    })
}

fn tcp(agent: &str) -> TcpConfig {
    let mut config = TcpConfig::profile(Profile::Ns2);
    config.recovery = match agent {
        "Tahoe" => Recovery::Tahoe,
        "Reno" => Recovery::Reno,
        "Newreno" => Recovery::NewReno,
        "Sack1" => Recovery::Sack,
        _ => panic!("{agent}?"),
    };
    config.mss = MSS;
    config.receive_window = 10_000 * u64::from(MSS);
    config.initial_ssthresh = InitialSsthresh::Segments(10_000);
    config
}

/// Returns a network of one flow over 0.53 Mb/s with a base RTT of 60.3 ms. The access links have 1
/// Gb/s, and the bottleneck has a one-way delay of 10 ms.
fn network(case: &Case) -> Network {
    let rate = Rate(530_000);
    let start = Time::ZERO + CLOCK_PHASE;
    let slow = link("bottleneck", rate, Span::from_millis(10), Limit::Unlimited);
    let access = link(
        "access",
        Rate(1_000_000_000),
        Span(10_075_000_000),
        Limit::Unlimited,
    );
    let mut links = vec![
        access.clone(),
        slow.clone(),
        access.clone(),
        access.clone(),
        slow,
        access,
    ];
    links[1].drop_list.clone_from(&case.drops);
    let route = |first: u32| (first..first + 3).map(LinkId).collect();
    Network {
        seed: 1,
        warmup: start,
        end: start + Span::from_millis(2500),
        links,
        pools: Vec::new(),
        flows: vec![FlowConfig {
            name: "flow".to_owned(),
            group: 0,
            start,
            forward: route(0),
            reverse: route(3),
            hosts: Hosts::default(),
            dscp: 0,
            between_losses: None,
            interface: None,
            stop: None,
            workload: WorkloadConfig::bulk(Arc::new(tcp(case.agent)), None),
        }],
        record: Record {
            series: false,
            packets: true,
            tcp_delays: true,
        },
    }
}

fn transmissions(case: &Case) -> Vec<Transmission> {
    let outcome = run(&network(case));
    let sent = outcome.packets.into_iter().filter(|event| {
        event.kind == PacketEventKind::Sent && event.packet.direction == Direction::Forward
    });
    sent.map(|event| {
        let Body::Tcp(segment) = event.packet.body else {
            panic!("TCP alone")
        };
        let since_start = event.time - (Time::ZERO + CLOCK_PHASE);
        let packet = segment.seq.div_ceil(u64::from(MSS));
        ((since_start.0 + 500_000) / 1_000_000, packet)
    })
    .collect()
}

#[test]
fn every_transmission_is_that_of_ns2() {
    let cases = cases();
    assert_eq!(cases.len(), 16);
    for case in cases {
        let name = format!("{} without {:?}", case.agent, case.drops);
        let ours = transmissions(&case);
        assert_eq!(ours.len(), case.transmissions.len(), "{name}");
        for (ours, theirs) in ours.iter().zip(&case.transmissions) {
            let same = ours.1 == theirs.1 && ours.0.abs_diff(theirs.0) <= 1;
            assert!(
                same,
                "{name}: we send {ours:?}, ns-2 {theirs:?} (microseconds, packet)"
            );
        }
    }
}
