//! Packets cross the links of a network as they do in a run of the simulator.

use goodqueue_live::fabric::Fabric;
use goodqueue_sim::{Network, run};
use goodqueue_testkit::networks;
use goodqueue_types::{Direction, FlowId, PacketEvent, PacketEventKind, Rate, Span, Time};
use proptest::prelude::*;
use std::collections::HashSet;

/// An event of a packet: time, flow, direction, number, and kind.
type Fate = (Time, FlowId, Direction, u64, PacketEventKind);

/// Returns losses, marks and deliveries, in an order that does not depend on that of simultaneous
/// events.
fn fates(events: impl Iterator<Item = PacketEvent>) -> Vec<Fate> {
    let fates = events.filter_map(|event| {
        let packet = event.packet;
        let is_fate = matches!(
            event.kind,
            PacketEventKind::Dropped(..) | PacketEventKind::Marked(..) | PacketEventKind::Delivered
        );
        is_fate.then_some((
            event.time,
            packet.flow,
            packet.direction,
            packet.number,
            event.kind,
        ))
    });
    let mut fates: Vec<_> = fates.collect();
    fates.sort_by_key(|(time, flow, direction, number, kind)| {
        (*time, *flow, *direction, *number, format!("{kind:?}"))
    });
    fates
}

/// Returns true if two packets arrive at a link at the same time. Their order depends on the engine.
fn coincide(events: &[PacketEvent]) -> bool {
    let mut seen = HashSet::new();
    let arrivals = events.iter().filter_map(|event| match event.kind {
        PacketEventKind::Arrived(link) => Some((link, event.time)),
        _ => None,
    });
    arrivals.into_iter().any(|arrival| !seen.insert(arrival))
}

/// Returns the packet events of the fabric for the packets that the hosts of a run sent. The fabric
/// is woken like the router of a run in real time: when a host sends, and when it says that a packet
/// may reach a host.
///
/// # Panics
/// Panics if a packet reaches a host before the time that the fabric told.
fn replayed(network: &Network, events: &[PacketEvent]) -> Vec<PacketEvent> {
    let mut fabric = Fabric::new(network);
    let mut found = Vec::new();
    let sent = events.iter();
    let sent = sent.filter(|event| event.kind == PacketEventKind::Sent);
    let sent = sent.map(|event| (event.time, Some(event.packet)));
    for (time, packet) in sent.chain([(network.end, None)]) {
        let mut told = fabric.next_delivery();
        while let Some(wake) = told.filter(|wake| *wake < time) {
            fabric.advance(wake);
            take_on_time(&mut fabric, told, &mut found);
            told = fabric.next_delivery();
            assert!(
                told.is_none_or(|told| told > wake),
                "woken twice at {wake:?}"
            );
        }
        match packet {
            Some(packet) => fabric.send(time, packet),
            None => fabric.advance(time),
        }
        take_on_time(&mut fabric, told, &mut found);
    }
    found
}

/// Takes the events of the fabric, of which no delivery may be before the time that it told.
fn take_on_time(fabric: &mut Fabric, told: Option<Time>, found: &mut Vec<PacketEvent>) {
    for event in fabric.take_events() {
        let delivered = event.kind == PacketEventKind::Delivered;
        assert!(!delivered || told.is_some_and(|told| told <= event.time));
        found.push(event);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn packets_have_the_same_fate_as_in_a_run(
        mut network in networks(),
        rates in prop::collection::vec(1_000_001..40_000_000_u64, 6),
        delays in prop::collection::vec(1..40_000_000_000_u64, 6),
    ) {
        for ((link, rate), delay) in network.links.iter_mut().zip(rates).zip(delays) {
            link.pool = None;
            link.delay = Span(delay);
            if link.rate != Rate::UNLIMITED {
                link.rate = Rate(rate);
            }
        }
        let mut expected = run(&network).packets;
        expected.sort_by_key(|event| event.time);
        let found = replayed(&network, &expected);
        prop_assume!(!coincide(&found));
        prop_assert_eq!(fates(found.into_iter()), fates(expected.into_iter()));
    }
}
