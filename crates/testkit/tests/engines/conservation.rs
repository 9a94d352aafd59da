//! Packets neither appear nor vanish: the packet events and the counters agree.

use goodqueue_sim::{Outcome, Totals, run};
use goodqueue_testkit::networks;
use goodqueue_types::{DropReason, PacketEventKind, Time};
use proptest::prelude::*;
use proptest::test_runner::Config;
use std::collections::BTreeMap;

/// Returns the totals from the recorded events. Packets that wait and packets in flight are counted
/// together.
fn counted(outcome: &Outcome) -> (u64, u64, u64) {
    let count = |wanted: fn(&PacketEventKind) -> bool| {
        outcome
            .packets
            .iter()
            .filter(|event| wanted(&event.kind))
            .count() as u64
    };
    (
        count(|kind| *kind == PacketEventKind::Sent),
        count(|kind| *kind == PacketEventKind::Delivered),
        count(|kind| matches!(kind, PacketEventKind::Dropped(..))),
    )
}

/// Returns the number of packets that wait at the links at the end: they have arrived, but are
/// neither lost nor in transmission. A packet and its copy can wait at the same link. Of a
/// super-segment that a queue splits, one arrival is recorded, with the number of the first packet.
fn waiting(outcome: &Outcome) -> u64 {
    let mut waiting: BTreeMap<_, (i64, Time)> = BTreeMap::new();
    for event in &outcome.packets {
        let (time, packet) = (event.time, event.packet);
        let (PacketEventKind::Arrived(link)
        | PacketEventKind::Dropped(link, _)
        | PacketEventKind::ServiceStarted(link, _)) = event.kind
        else {
            continue;
        };
        let place = (link, packet.flow, packet.direction, packet.number);
        let (count, arrived) = waiting.entry(place).or_insert((0, time));
        match event.kind {
            PacketEventKind::Arrived(_) => (*count, *arrived) = (*count + 1, time),
            // A packet that is lost after its transmission, not on its arrival, no longer waits.
            PacketEventKind::Dropped(_, DropReason::LinkLoss) if *arrived < time => {}
            _ => *count -= 1,
        }
    }
    let arrived: i64 = waiting.values().map(|(count, _)| count).sum();
    (arrived + outcome.totals.split as i64) as u64
}

proptest! {
    #![proptest_config(Config { cases: 200, failure_persistence: None, ..Config::default() })]

    #[test]
    fn every_run_conserves_packets(network in networks()) {
        let outcome = run(&network);
        let totals = outcome.totals;
        prop_assert_eq!(totals.check(), Ok(()));
        let (sent, delivered, dropped) = counted(&outcome);
        prop_assert_eq!((totals.sent, totals.delivered), (sent, delivered));
        prop_assert_eq!(totals.dropped, dropped);
        prop_assert_eq!(totals.queued, waiting(&outcome));
    }

    #[test]
    fn a_corrupted_count_fails_the_check(network in networks(), by in 1_u64..5) {
        let sound = run(&network).totals;
        let corruptions: [fn(&mut Totals) -> &mut u64; 7] = [
            |totals| &mut totals.sent,
            |totals| &mut totals.duplicated,
            |totals| &mut totals.split,
            |totals| &mut totals.delivered,
            |totals| &mut totals.dropped,
            |totals| &mut totals.queued,
            |totals| &mut totals.in_flight,
        ];
        for corrupt in corruptions {
            let mut totals = sound;
            *corrupt(&mut totals) += by;
            prop_assert!(totals.check().is_err());
        }
    }
}
