//! Bounds of the metrics on random networks: shares lie in [0, 1], no link exceeds its rate, and no
//! round-trip time is shorter than the propagation delay. Losses are recounted from the packet
//! events.

use std::collections::HashMap;

use goodqueue_sim::{LinkConfig, LinkOutcome, Network, Outcome, WorkloadConfig, run};
use goodqueue_tcp::TimingRule;
use goodqueue_testkit::{graphs, networks};
use goodqueue_types::{Direction, FlowId, LinkId, PacketEventKind, Span, Time};
use proptest::prelude::*;
use proptest::test_runner::Config;

/// A packet of a flow, in one direction, at one link.
type Visit = (LinkId, FlowId, Direction, u64);

/// Counts the packets that arrived at `link` in the measured window, and those of them that it
/// lost, from the packet events. Returns none if a packet and its copy visited the link, because
/// their events are ambiguous.
fn recounted(network: &Network, outcome: &Outcome, link: LinkId) -> Option<(u64, u64)> {
    let mut arrived: HashMap<Visit, Time> = HashMap::new();
    let (mut arrivals, mut drops) = (0, 0);
    for event in &outcome.packets {
        let packet = &event.packet;
        let visit = (link, packet.flow, packet.direction, packet.number);
        match event.kind {
            PacketEventKind::Arrived(at) if at == link => {
                if arrived.insert(visit, event.time).is_some() {
                    return None;
                }
                arrivals += u64::from(event.time >= network.warmup);
            }
            PacketEventKind::Dropped(at, _) if at == link => {
                drops += u64::from(arrived[&visit] >= network.warmup);
            }
            _ => {}
        }
    }
    Some((arrivals, drops))
}

/// Returns the propagation delay of a path, in seconds.
fn propagation_s(network: &Network, path: &[LinkId]) -> f64 {
    path.iter()
        .map(|link| network.links[link.0 as usize].delay.as_secs_f64())
        .sum()
}

/// Returns by how much a sample of the round-trip time may be shorter than the propagation delay,
/// in seconds: one tick of TCP's timestamps. Returns none for INET's rule, which takes samples from
/// retransmissions and so violates Karn's.
fn earliness_s(workload: &WorkloadConfig) -> Option<f64> {
    let Some(tcp) = workload.tcp() else {
        return Some(0.0);
    };
    let tick = tcp.timestamps.map_or(0.0, Span::as_secs_f64);
    (tcp.details.timing != TimingRule::Anything).then_some(tick)
}

fn check_link(config: &LinkConfig, link: &LinkOutcome) -> Result<(), TestCaseError> {
    prop_assert!(
        link.drops <= link.arrivals,
        "{} of {}",
        link.drops,
        link.arrivals
    );
    prop_assert!((0.0..=1.0).contains(&link.loss_rate), "{}", link.loss_rate);
    prop_assert!(
        (0.0..=1.0).contains(&link.utilization),
        "{}",
        link.utilization
    );
    if config.service.is_none() && !config.only_delays() {
        // Seconds are rounded to a floating-point number, whereas bytes are whole.
        let rate = config.rate.0 as f64 * (1.0 + f64::EPSILON);
        prop_assert!(
            link.throughput_bps <= rate,
            "{} at {rate}",
            link.throughput_bps
        );
    }
    let shares: f64 = link.shares.iter().map(|(_, share)| share).sum();
    prop_assert!(shares <= 1.0 + 1e-9, "{shares}");
    if let Some(bursts) = &link.loss_bursts {
        let lost = bursts.packets.mean.unwrap_or(0.0) * bursts.count as f64;
        prop_assert!(
            (lost - link.drops as f64).abs() < 1e-6,
            "{lost}, {}",
            link.drops
        );
        prop_assert!(
            bursts
                .synchronization
                .is_none_or(|share| (0.0..=1.0).contains(&share))
        );
    }
    Ok(())
}

fn check(network: &Network) -> Result<(), TestCaseError> {
    let outcome = run(network);
    let observed = (0..).map(LinkId).zip(&network.links);
    let observed = observed.filter(|(_, config)| config.observed);
    for ((index, config), link) in observed.zip(&outcome.links) {
        check_link(config, link)?;
        // The packets that a queue makes of a super-segment have no arrivals of their own.
        let counts = (outcome.totals.split == 0).then(|| recounted(network, &outcome, index));
        let counts = counts.flatten();
        // A link that only delays packets has no events of its own.
        if let Some(counts) = counts.filter(|_| !config.only_delays()) {
            prop_assert_eq!((link.arrivals, link.drops), counts);
        }
    }
    for (config, flow) in network.flows.iter().zip(&outcome.flows) {
        let round_trip =
            propagation_s(network, &config.forward) + propagation_s(network, &config.reverse);
        if let Some(early) = earliness_s(&config.workload) {
            for rtt in [flow.rtt_s.p50, flow.rtt_s.p99, flow.rtt_s.max] {
                prop_assert!(
                    rtt.is_none_or(|rtt| rtt >= round_trip - early - 1e-9),
                    "{rtt:?} for {round_trip}"
                );
            }
        }
        let one_way = propagation_s(network, &config.forward);
        for delay in [
            flow.one_way().min_s,
            flow.one_way().delay_s.p50,
            flow.one_way().delay_s.p99,
        ] {
            prop_assert!(
                delay.is_none_or(|delay| delay >= one_way - 1e-9),
                "{delay:?} {one_way}"
            );
        }
        prop_assert!((0.0..=1.0).contains(&flow.duplicate_share));
        let copies = outcome.totals.duplicated;
        prop_assert!(
            flow.packets_lost <= flow.packets_sent + copies,
            "{} lost of {}",
            flow.packets_lost,
            flow.packets_sent
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(Config {
        cases: 400.max(Config::default().cases),
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn figures_of_random_networks_keep_their_bounds(network in networks()) {
        check(&network)?;
    }

    #[test]
    fn figures_of_random_graphs_keep_their_bounds(network in graphs()) {
        check(&network)?;
    }
}
