//! The events that a run streams are those that it records, in the same order.

use goodqueue_sim::{Network, Record, run, run_traced};
use goodqueue_testkit::networks;
use goodqueue_types::{LinkId, Packet, PacketEvent, PacketEventKind, PacketSink, Time};
use proptest::prelude::*;
use proptest::test_runner::Config;
use std::collections::BTreeMap;

#[derive(Default)]
struct Kept(Vec<PacketEvent>);

impl PacketSink for Kept {
    fn packet(&mut self, event: &PacketEvent) {
        let mut event = *event;
        // The queue's own timestamp is not recorded.
        event.packet.arrived = Time::ZERO;
        self.0.push(event);
    }
}

fn link_of(event: &PacketEvent) -> Option<LinkId> {
    match event.kind {
        PacketEventKind::Arrived(link)
        | PacketEventKind::Dropped(link, _)
        | PacketEventKind::Marked(link, _)
        | PacketEventKind::ServiceStarted(link, _) => Some(link),
        PacketEventKind::Sent | PacketEventKind::Delivered => None,
    }
}

fn only_delays(network: &Network, event: &PacketEvent) -> bool {
    link_of(event).is_some_and(|link| network.links[link.0 as usize].only_delays())
}

proptest! {
    #![proptest_config(Config { cases: 60, failure_persistence: None, ..Config::default() })]

    #[test]
    fn events_are_in_order_and_none_is_missing(mut network in networks()) {
        network.record = Record { packets: true, ..network.record };
        let recorded = run(&network);
        let mut kept = Kept::default();
        network.record.packets = false;
        let traced = run_traced(&network, &mut kept, |_| true).expect("nothing stops it");
        prop_assert_eq!((&traced.links, &traced.flows), (&recorded.links, &recorded.flows));
        prop_assert!(kept.0.is_sorted_by_key(|event| event.time));
        let (unfolded, others): (Vec<_>, Vec<_>) =
            kept.0.into_iter().partition(|event| only_delays(&network, event));
        prop_assert!(others == recorded.packets);
        arrive_at_the_far_end(&network, &unfolded, &others)?;
    }
}

/// Checks that packets that pass a link that only delays them are seen at the next place after its
/// delay.
fn arrive_at_the_far_end(
    network: &Network,
    unfolded: &[PacketEvent],
    others: &[PacketEvent],
) -> Result<(), TestCaseError> {
    let id = |packet: &Packet| (packet.flow, packet.direction, packet.number);
    let mut seen: BTreeMap<_, Vec<Time>> = BTreeMap::new();
    for event in unfolded.iter().chain(others) {
        let place = match event.kind {
            PacketEventKind::Arrived(link) => Some(link),
            PacketEventKind::Delivered => None,
            _ => continue,
        };
        let times = seen.entry((id(&event.packet), place)).or_default();
        times.push(event.time);
    }
    for event in unfolded {
        let link = link_of(event).expect("they happen at links");
        let flow = &network.flows[event.packet.flow.0 as usize];
        let route = [&flow.forward, &flow.reverse][event.packet.direction as usize];
        let here = route.iter().position(|other| *other == link);
        let next = route.get(here.expect("on its route") + 1).copied();
        let there = event.time + network.links[link.0 as usize].delay;
        let times = seen.get(&(id(&event.packet), next));
        let found = times.is_some_and(|times| times.contains(&there));
        prop_assert!(found || there > network.end, "{event:?}");
    }
    Ok(())
}
