//! A link that is driven from outside does to every packet what the same link does in a run.

use goodqueue_sim::{Bottleneck, Network, PacketFate, run};
use goodqueue_testkit::random_network::networks;
use goodqueue_types::{LinkId, Packet, PacketEventKind, Rate, Span, Time};
use proptest::prelude::*;

type Event = (Time, PacketFate, u64);

/// Returns what happened to packets at a link of a run, except their delivery, and the arrivals.
fn recorded(network: &Network, link: u32) -> (Vec<(Time, Packet)>, Vec<Event>) {
    let (mut arrivals, mut events) = (Vec::new(), Vec::new());
    for event in run(network).packets {
        let fate = match event.kind {
            PacketEventKind::Arrived(LinkId(at)) if at == link => {
                arrivals.push((event.time, event.packet));
                continue;
            }
            PacketEventKind::Dropped(LinkId(at), reason) if at == link => {
                PacketFate::Dropped(reason)
            }
            PacketEventKind::Marked(LinkId(at), reason) if at == link => PacketFate::Marked(reason),
            PacketEventKind::ServiceStarted(LinkId(at), wait) if at == link => {
                PacketFate::Started(wait)
            }
            _ => continue,
        };
        events.push((event.time, fate, event.packet.number));
    }
    (arrivals, events)
}

/// Returns what the same link does to these arrivals.
fn replayed(network: &Network, link: u32, arrivals: &[(Time, Packet)]) -> Vec<Event> {
    let mut bottleneck = Bottleneck::new(network, link as usize);
    for (time, packet) in arrivals {
        bottleneck.arrive(*time, *packet);
    }
    bottleneck.advance(network.end);
    assert!(bottleneck.conserves());
    let events = bottleneck
        .take_events()
        .filter(|event| !matches!(event.fate, PacketFate::Delivered | PacketFate::Copied));
    events
        .map(|event| (event.time, event.fate, event.packet.number))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_link_does_the_same_outside_a_run(
        mut network in networks(),
        rates in prop::collection::vec(1_000_001..40_000_000_u64, 6),
        delays in prop::collection::vec(1..40_000_000_000_u64, 6),
    ) {
        for ((link, rate), delay) in network.links.iter_mut().zip(rates).zip(delays) {
            link.observed = true;
            link.pool = None;
            if link.rate != Rate::UNLIMITED {
                link.rate = Rate(rate);
            }
            link.delay = Span(delay);
        }
        for link in 0..network.links.len() as u32 {
            if network.links[link as usize].rate == Rate::UNLIMITED {
                continue;
            }
            let (arrivals, expected) = recorded(&network, link);
            let found = replayed(&network, link, &arrivals);
            prop_assert_eq!(found, expected);
        }
    }
}
