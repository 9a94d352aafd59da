//! The fast engine and the reference engine have the same results, packet for packet, and the
//! comparison finds an error in any single rule.

use std::sync::Arc;

use goodqueue_queue::Limit;
use goodqueue_sim::{
    BetweenLosses, LinkConfig, Network, Outcome, PauseOutcome, WorkloadConfig, run,
};
use goodqueue_testkit::{Mutation, compare, run_mutant, run_reference};
use goodqueue_testkit::{coincidences, graphs, interrupt_some, networks, pause_some};
use goodqueue_types::{LinkId, Rate, Span};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Smallest number of cases of the property test. The environment variable `PROPTEST_CASES` can
/// raise it.
const CASES: u32 = 400;
/// Number of networks within which every mutation must be found.
const MUTANT_CASES: usize = 100;

proptest! {
    #![proptest_config(Config {
        cases: CASES.max(Config::default().cases),
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn engines_agree_packet_for_packet(mut network in networks()) {
        pause_some(&mut network);
        interrupt_some(&mut network);
        let (fast, reference) = (run(&network), run_reference(&network));
        prop_assert_eq!(compare(&fast, &reference), Ok(()));
    }

    /// The engines also agree if nearly all events are simultaneous.
    #[test]
    fn engines_agree_on_simultaneous_events(mut network in coincidences()) {
        pause_some(&mut network);
        interrupt_some(&mut network);
        let (fast, reference) = (run(&network), run_reference(&network));
        prop_assert_eq!(compare(&fast, &reference), Ok(()));
    }

    /// The engines also agree if links feed each other in circles.
    #[test]
    fn engines_agree_packet_for_packet_around_rings(mut network in graphs()) {
        pause_some(&mut network);
        interrupt_some(&mut network);
        let (fast, reference) = (run(&network), run_reference(&network));
        prop_assert_eq!(compare(&fast, &reference), Ok(()));
    }
}

/// Iterates over networks that are the same in every run of the tests.
fn fixed_networks() -> impl Iterator<Item = Network> {
    fixed(networks())
}

fn fixed(networks: impl Strategy<Value = Network>) -> impl Iterator<Item = Network> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    std::iter::from_fn(move || Some(networks.new_tree(&mut runner).ok()?.current()))
}

#[test]
fn every_mutation_of_a_rule_is_found() {
    let mut networks: Vec<Network> = fixed_networks().take(MUTANT_CASES).collect();
    networks.iter_mut().for_each(pause_some);
    networks.iter_mut().for_each(interrupt_some);
    let fast: Vec<_> = networks.iter().map(run).collect();
    for mutation in Mutation::ALL {
        let found = networks
            .iter()
            .zip(&fast)
            .filter(|(network, fast)| compare(fast, &run_mutant(network, mutation)).is_err())
            .count();
        println!("{mutation:?}: found in {found} of {MUTANT_CASES} networks");
        assert!(
            found > 0,
            "{mutation:?} was not found in {MUTANT_CASES} networks"
        );
    }
}

/// Network cards hold packets back in both engines.
#[test]
fn interrupts_agree_packet_for_packet() {
    let mut changed = 0;
    for (place, mut network) in fixed_networks().take(100).enumerate() {
        let before = run(&network).totals;
        interrupt_some(&mut network);
        let fast = run(&network);
        changed += u32::from(fast.totals != before);
        assert_eq!(compare(&fast, &run_reference(&network)), Ok(()), "{place}");
    }
    assert!(changed > 20, "{changed} of 100 networks noticed");
}

/// Windows that open at a limited rate need timers of their own.
#[test]
fn paced_windows_agree_packet_for_packet() {
    let mut changed = 0;
    for (place, mut network) in fixed_networks().take(40).enumerate() {
        let before = run(&network).totals;
        for flow in &mut network.flows {
            if flow.workload.is_bulk()
                && let Some(tcp) = flow.workload.tcp_mut()
            {
                Arc::make_mut(tcp).receive_window_pace = Some(Rate(200_000 * (1 + place as u64)));
            }
        }
        let fast = run(&network);
        changed += u32::from(fast.totals != before);
        assert_eq!(compare(&fast, &run_reference(&network)), Ok(()), "{place}");
    }
    assert!(changed > 10, "{changed} of 40 networks noticed");
}

/// The engines agree on flows that begin between two losses.
#[test]
fn flows_between_losses_agree_packet_for_packet() {
    let mut changed = 0;
    for (place, mut network) in fixed_networks().take(60).enumerate() {
        let before = run(&network).totals;
        for (index, flow) in network.flows.iter_mut().enumerate() {
            flow.between_losses = Some(BetweenLosses {
                peak: 2 + (7 * (place + index) % 40) as u32,
                phase: (place % 5) as f64 / 4.0,
            });
        }
        let fast = run(&network);
        changed += u32::from(fast.totals != before);
        assert_eq!(compare(&fast, &run_reference(&network)), Ok(()), "{place}");
    }
    assert!(changed > 15, "{changed} of 60 networks noticed");
}

/// The engines agree on bulk flows that stop at a time, also at the time of a packet or a timer.
#[test]
fn flows_that_stop_agree_packet_for_packet() {
    let mut changed = 0;
    for (place, mut network) in fixed_networks().take(100).enumerate() {
        let before = run(&network).totals;
        let end = network.end;
        for (index, flow) in network.flows.iter_mut().enumerate() {
            let Some((tcp, _)) = flow.workload.as_bulk() else {
                continue;
            };
            flow.workload = WorkloadConfig::bulk(Arc::clone(tcp), None);
            let lasts = end.saturating_since(flow.start);
            let share = 1 + ((place + 3 * index) % 9) as u64;
            flow.stop = Some(flow.start + lasts * share / 10 + Span(1));
        }
        let fast = run(&network);
        changed += u32::from(fast.totals != before);
        assert_eq!(compare(&fast, &run_reference(&network)), Ok(()), "{place}");
    }
    assert!(changed > 40, "{changed} of 100 networks noticed");
}

/// If one direction has no delay, timers of both ends fire at the same instant and one may cause
/// the other.
#[test]
fn paths_without_delay_agree_packet_for_packet() {
    for (place, mut network) in fixed_networks().take(200).enumerate() {
        let at_once = LinkId(network.links.len() as u32);
        let config = LinkConfig::drop_tail(Rate::UNLIMITED, Span::ZERO, Limit::Unlimited);
        network.links.push(config);
        for flow in &mut network.flows {
            let keeps_apart = |way: &[LinkId]| {
                way.iter()
                    .any(|l| !network.links[l.0 as usize].only_delays())
            };
            if place.is_multiple_of(2) && keeps_apart(&flow.forward) {
                flow.reverse = vec![at_once];
            } else if keeps_apart(&flow.reverse) {
                flow.forward = vec![at_once];
            }
        }
        assert_eq!(
            compare(&run(&network), &run_reference(&network)),
            Ok(()),
            "{place}"
        );
    }
}

/// The random networks must reach the cases that they were made for.
#[test]
fn the_random_networks_lose_queue_and_cut_packets_short() {
    let totals: Vec<_> = fixed_networks()
        .take(100)
        .map(|network| run(&network).totals)
        .collect();
    let share = |has: fn(&goodqueue_sim::Totals) -> bool| {
        totals.iter().filter(|totals| has(totals)).count()
    };
    assert!(share(|totals| totals.dropped > 0) > 50);
    assert!(share(|totals| totals.queued > 0) > 30);
    assert!(share(|totals| totals.in_flight > 0) > 30);
    assert!(share(|totals| totals.delivered > 100) > 30);
}

/// The random flow control must reach the cases that it was made for.
#[test]
fn the_random_flow_control_pauses_blocks_and_counts_split_packets() {
    let graphs = fixed(graphs()).take(400);
    let outcomes: Vec<_> = (fixed_networks().take(400).chain(graphs))
        .map(|mut network| {
            pause_some(&mut network);
            run(&network)
        })
        .collect();
    let share = |has: &dyn Fn(&Outcome, PauseOutcome) -> bool| {
        let has = |outcome: &&Outcome| {
            let mut pauses = outcome.links.iter().filter_map(|link| link.pause);
            pauses.any(|pause| has(outcome, pause))
        };
        outcomes.iter().filter(has).count()
    };
    let paused = |pause: PauseOutcome| pause.pauses > 1 && pause.paused > Span::ZERO;
    let (stopped, cycles) = (
        share(&|_, pause| paused(pause)),
        share(&|_, pause| pause.in_cycle),
    );
    let splits = share(&|outcome, pause| paused(pause) && outcome.totals.split > 0);
    println!("of 800 networks {stopped} pause, {cycles} in a circle, {splits} with split packets");
    assert!(stopped > 60 && cycles > 5 && splits > 0);
}

/// Returns whether links feed each other in a circle. The function removes links that no other link
/// feeds until there are none: only circles and the links that they feed remain.
fn has_circle(network: &Network) -> bool {
    let ways = network
        .flows
        .iter()
        .flat_map(|flow| [&flow.forward, &flow.reverse]);
    let mut feeds: Vec<(u32, u32)> = ways
        .flat_map(|way| way.windows(2).map(|pair| (pair[0].0, pair[1].0)))
        .collect();
    loop {
        let fed: Vec<u32> = feeds.iter().map(|(_, fed)| *fed).collect();
        let before = feeds.len();
        feeds.retain(|(feeder, _)| fed.contains(feeder));
        if feeds.len() == before {
            return before > 0;
        }
    }
}

#[test]
fn the_random_graphs_have_cycles_and_traffic_in_both_directions() {
    let networks: Vec<Network> = fixed(graphs()).take(100).collect();
    let count = |has: &dyn Fn(&Network) -> bool| networks.iter().filter(|n| has(n)).count();
    assert!(count(&has_circle) > 20, "{}", count(&has_circle));
    // The data of one flow share a link with the ACKs of another.
    let meets = |network: &Network| {
        let ahead: Vec<_> = network
            .flows
            .iter()
            .flat_map(|flow| &flow.forward)
            .collect();
        let back = network.flows.iter().flat_map(|flow| &flow.reverse);
        back.into_iter().any(|link| ahead.contains(&link))
    };
    assert!(count(&meets) > 50, "{}", count(&meets));
    let long = |network: &Network| network.flows.iter().any(|flow| flow.forward.len() > 2);
    assert!(count(&long) > 50, "{}", count(&long));
    let lossy = |network: &Network| run(network).totals.dropped > 0;
    assert!(count(&lossy) > 50, "{}", count(&lossy));
}
