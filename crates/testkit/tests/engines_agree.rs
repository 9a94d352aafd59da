//! The fast engine and the reference engine tell the same story, packet for packet, and a
//! difference in a single rule is seen.

use goodqueue_sim::{Network, run};
use goodqueue_testkit::random_network::networks;
use goodqueue_testkit::{Mutation, compare, run_mutant, run_reference};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Cases of the property test; the environment's `PROPTEST_CASES` asks for more.
const CASES: u32 = 400;
/// Within so many networks every mutation must be found.
const MUTANT_CASES: usize = 100;

proptest! {
    #![proptest_config(Config {
        cases: CASES.max(Config::default().cases),
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn packet_for_packet(network in networks()) {
        let (fast, reference) = (run(&network), run_reference(&network));
        prop_assert_eq!(compare(&fast, &reference), Ok(()));
    }
}

/// The same networks at every run of the tests.
fn fixed_networks() -> impl Iterator<Item = Network> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let networks = networks();
    std::iter::from_fn(move || Some(networks.new_tree(&mut runner).ok()?.current()))
}

#[test]
fn every_mutation_of_a_rule_is_found() {
    let networks: Vec<Network> = fixed_networks().take(MUTANT_CASES).collect();
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

/// The networks must reach what they are for.
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
