//! Links of unlimited rate, which only delay packets. A series of such links equals one delay in
//! both engines, however many links it has and whether they are observed.

use goodqueue_queue::Limit;
use goodqueue_sim::{Impairments, LinkConfig, LinkOutcome, Network, Outcome, run};
use goodqueue_testkit::networks;
use goodqueue_testkit::{compare, run_reference};
use goodqueue_types::{LinkId, Rate, Span};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::Config;

/// A series of links to insert into a flow's route: the flow, the position, and the delays in
/// microseconds. They are multiples of other delays, so that packets meet.
type Stretch = (prop::sample::Index, prop::sample::Index, Vec<u64>);

fn stretches() -> impl Strategy<Value = Vec<Stretch>> {
    let delays = prop::collection::vec(select(vec![0, 100, 500, 5_000]), 2..4);
    prop::collection::vec(
        (
            any::<prop::sample::Index>(),
            any::<prop::sample::Index>(),
            delays,
        ),
        1..5,
    )
}

/// Returns the network with series of links in some routes. Each becomes one link or several. The
/// new links come after the others, which therefore keep their random streams.
fn with_stretches(
    network: &Network,
    stretches: &[Stretch],
    in_one: bool,
    observed: bool,
) -> Network {
    let (links_before, mut network) = (network.links.len(), network.clone());
    for (way, position, delays) in stretches {
        let sum = [delays.iter().sum()];
        let delays = if in_one { &sum[..] } else { &delays[..] };
        let first = network.links.len() as u32;
        for micros in delays {
            let delay = Span::from_micros(*micros);
            network.links.push(LinkConfig {
                name: format!("stretch {}", network.links.len()),
                observed,
                ..LinkConfig::drop_tail(Rate::UNLIMITED, delay, Limit::Unlimited)
            });
        }
        let way = way.index(2 * network.flows.len());
        let flow = &mut network.flows[way / 2];
        let route = if way % 2 == 0 {
            &mut flow.forward
        } else {
            &mut flow.reverse
        };
        // The position counts only the links of the original network.
        let is_link = |id: &LinkId| (id.0 as usize) < links_before;
        let before = position.index(route.iter().filter(|id| is_link(id)).count() + 1);
        let mut places = route.iter().enumerate().filter(|(_, id)| is_link(id));
        let at = before.checked_sub(1).and_then(|before| places.nth(before));
        let at = at.map_or(0, |(place, _)| place + 1);
        let links = first..network.links.len() as u32;
        route.splice(at..at, links.map(LinkId));
    }
    network
}

/// Separates the results of the inserted links from those of the original links.
fn without_stretches(mut outcome: Outcome) -> (Outcome, Vec<LinkOutcome>) {
    let is_stretch = |link: &LinkOutcome| link.name.starts_with("stretch");
    let (stretches, links) = outcome.links.into_iter().partition(is_stretch);
    outcome.links = links;
    (outcome, stretches)
}

proptest! {
    #![proptest_config(Config {
        cases: 200.max(Config::default().cases),
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn consecutive_delays_equal_one_delay(network in networks(), stretches in stretches()) {
        let of = |in_one, observed| with_stretches(&network, &stretches, in_one, observed);
        let (folded, _) = without_stretches(run(&of(true, false)));
        for (in_one, observed) in [(true, false), (false, false), (false, true)] {
            let network = of(in_one, observed);
            let (fast, judge) = (run(&network), run_reference(&network));
            // The measurements of the inserted links agree, too.
            prop_assert_eq!(compare(&fast, &judge), Ok(()));
            let (fast, links) = without_stretches(fast);
            prop_assert_eq!(compare(&folded, &fast), Ok(()));
            prop_assert_eq!(links.is_empty(), !observed);
        }
    }

    /// If only one route uses a link, a series of links after it equals additional propagation
    /// delay of that link.
    #[test]
    fn a_stretch_behind_a_link_is_its_propagation(network in networks(), micros in 0_u64..3_000) {
        let delay = Span::from_micros(micros);
        let mut folded = network.clone();
        let mut unfolded = network.clone();
        let users = |link: LinkId| {
            let flows = network.flows.iter();
            flows.flat_map(|flow| flow.forward.iter().chain(&flow.reverse)).filter(|l| **l == link).count()
        };
        for (index, flow) in network.flows.iter().enumerate() {
            let last = flow.forward[flow.forward.len() - 1];
            // Links with impairments are excluded: packets overtake one another at the end of the
            // link, which is later and may be after the run.
            let in_order = network.links[last.0 as usize].impairments == Impairments::default();
            if users(last) == 1 && in_order {
                folded.links[last.0 as usize].delay += delay;
                let id = LinkId(unfolded.links.len() as u32);
                let link = LinkConfig::drop_tail(Rate::UNLIMITED, delay, Limit::Unlimited);
                unfolded.links.push(link);
                unfolded.flows[index].forward.push(id);
            }
        }
        let (unfolded, _) = without_stretches(run(&unfolded));
        prop_assert_eq!(compare(&run(&folded), &unfolded), Ok(()));
    }
}
