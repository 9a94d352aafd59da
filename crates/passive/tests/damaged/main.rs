//! Captures with damage: no figure contradicts another, and damage that hides nothing changes nothing.

mod damage;
mod traffic;

use goodqueue_passive::{Place, Report};
use goodqueue_types::RandomStream;
use traffic::{BASE, Packet, analyze, capture};

/// Number of damaged captures that are drawn.
const DRAWS: u64 = 600;

/// Returns packets with data, lost packets, and the base RTT of the longest flow.
fn figures(report: &Report) -> (u64, u64, Option<i64>) {
    let flow = report.flows.iter().max_by_key(|flow| flow.counts.bytes);
    let flow = flow.expect("a flow with data");
    let lost = flow.counts.lost[Place::Target as usize];
    (flow.counts.packets, lost, flow.rtt.base)
}

fn damaged(name: &str, seed: u64) -> Vec<Packet> {
    let mut packets = capture(40);
    let mut random = RandomStream::new(seed, "damage", 0);
    let (_, damage) = damage::ALL.iter().find(|kind| kind.0 == name).expect(name);
    damage(&mut packets, &mut random);
    packets
}

#[test]
fn the_good_capture_has_the_figures_of_its_making() {
    let packets = capture(40);
    let report = analyze(&packets);
    let data = packets
        .iter()
        .filter(|packet| packet.datagram.ip_bytes > 52);
    let (count, lost, base) = figures(&report);
    assert_eq!(count, data.count() as u64);
    // Windows of 10 to 30 segments, then from 15 to 30: the first loss is after 20 rounds, the
    // second after 16 more.
    assert_eq!(lost, 2);
    assert!((base.unwrap() - BASE).abs() <= BASE / 10, "{base:?}");
    assert_eq!(report.contradictions(), Vec::<String>::new());
}

#[test]
fn damage_that_hides_nothing_changes_no_figure() {
    let good = figures(&analyze(&capture(40)));
    for name in [
        "each packet twice",
        "each packet three times",
        "before and behind a queue",
        "in and out of a router",
        "each packet twice without identification",
        "super-segments and their parts",
    ] {
        let report = analyze(&damaged(name, 3));
        assert_eq!(figures(&report), good, "{name}: {:?}", report.notes);
        let note = report
            .notes
            .iter()
            .any(|note| note.contains("several times"));
        assert!(note, "{name}: {:?}", report.notes);
    }
}

#[test]
fn one_wrong_number_is_left_out_with_a_note() {
    let good = figures(&analyze(&capture(40)));
    for bit in 17..32 {
        for place in [40, 200, 400] {
            for acknowledges in [false, true] {
                let mut packets = capture(40);
                let tcp = packets[place].tcp();
                if acknowledges {
                    tcp.ack ^= 1 << bit;
                } else {
                    tcp.seq ^= 1 << bit;
                }
                let report = analyze(&packets);
                let (count, lost, base) = figures(&report);
                assert!(good.0 - count <= 1, "{bit} {place}: {count} of {good:?}");
                assert!(
                    lost.abs_diff(good.1) <= 1,
                    "{bit} {place}: {lost} of {good:?}"
                );
                assert!((base.unwrap() - BASE).abs() <= BASE / 10, "{base:?}");
            }
        }
    }
}

#[test]
fn ports_that_are_used_again_without_a_syn_are_another_connection() {
    let good = figures(&analyze(&capture(40)));
    for seed in 0..20 {
        let report = analyze(&damaged("ports that are used again without a SYN", seed));
        let flows: Vec<_> = report
            .flows
            .iter()
            .map(|flow| {
                (
                    flow.counts.packets,
                    flow.counts.lost[Place::Target as usize],
                )
            })
            .collect();
        assert_eq!(flows, [(good.0, good.1); 2], "{seed}: {:?}", report.notes);
    }
}

#[test]
fn no_damage_gives_contradictory_figures() {
    let mut random = RandomStream::new(33, "draws", 0);
    for draw in 0..DRAWS {
        let mut packets = capture(5 + (draw % 40) as u32);
        let mut names = Vec::new();
        for _ in 0..=random.bits() % 4 {
            let (name, damage) = damage::ALL[random.bits() as usize % damage::ALL.len()];
            if !packets.is_empty() {
                damage(&mut packets, &mut random);
            }
            names.push(name);
        }
        let report = analyze(&packets);
        assert_eq!(
            report.contradictions(),
            Vec::<String>::new(),
            "{draw}: {names:?}"
        );
        let packets_seen = packets
            .iter()
            .filter(|packet| packet.datagram.ip_bytes > 52);
        let segments: u64 = packets_seen
            .map(|packet| {
                u64::from(packet.datagram.ip_bytes - 52)
                    .div_ceil(500)
                    .max(1)
            })
            .sum();
        assert!(report.link.packets <= 2 * segments, "{draw}: {names:?}");
    }
}
