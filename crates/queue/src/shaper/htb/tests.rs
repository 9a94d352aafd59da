//! Classes whose rates, turns and refusals are known.

use super::{HtbClass, HtbConfig};
use crate::rig::{Rig, check_all_inside};
use crate::{Configuration, Limit, QueueConfig, QueueDiscipline};
use goodqueue_types::{Body, FlowId, Packet, Rate, Span, Time};

const MEGABIT: u64 = 1_000_000;

fn class(name: &str, parent: &str, rate: u64, ceil: u64) -> HtbClass {
    HtbClass {
        name: name.to_owned(),
        parent: parent.to_owned(),
        rate: Rate(rate * MEGABIT),
        ceil: Some(Rate(ceil * MEGABIT)),
        burst: Some(1_000),
        cburst: Some(1_000),
        quantum: Some(1_000),
        ..HtbClass::default()
    }
}

fn tree(classes: &[HtbClass]) -> HtbConfig {
    HtbConfig {
        classes: classes.to_vec(),
        ..HtbConfig::default()
    }
}

/// Keeps each flow busy with packets of these sizes for a second. Returns the kilobits of each, and
/// the flows of the first packets.
fn served(config: &HtbConfig, sizes: &[u32]) -> (Vec<u64>, Vec<u32>) {
    assert_eq!(config.check(1_514), Ok(()));
    let mut rig = Rig::new(config);
    let (mut sent, mut order) = (vec![0; sizes.len()], Vec::new());
    let offer = |rig: &mut Rig<super::Htb>, flow: u32| {
        let packet = Packet {
            flow: FlowId(flow),
            size: sizes[flow as usize],
            body: Body::Datagram,
            ..Packet::default()
        };
        rig.call(|queue, context| queue.enqueue(context, packet));
    };
    for flow in (0..sizes.len() as u32).flat_map(|flow| [flow; 3]) {
        offer(&mut rig, flow);
    }
    while let Some(ready) = rig.queue.next_ready(rig.now) {
        rig.now = ready;
        if rig.now > Time::ZERO + Span::from_secs(1) {
            break;
        }
        if let Some(packet) = rig.dequeue() {
            sent[packet.flow.0 as usize] += u64::from(packet.size) * 8;
            order.push(packet.flow.0);
            offer(&mut rig, packet.flow.0);
        }
    }
    let kilobits = sent.into_iter().map(|bits| (bits + 500) / 1_000);
    (kilobits.collect(), order)
}

/// Asserts that a figure is within one part in fifty of another one.
fn close(found: &[u64], expected: &[u64]) {
    let is_close = |(found, expected): (&u64, &u64)| found.abs_diff(*expected) * 50 <= *expected;
    assert!(
        found.iter().zip(expected).all(is_close),
        "{found:?}, not {expected:?}"
    );
}

#[test]
fn what_the_rates_leave_is_shared_by_quanta() {
    let mut classes = [
        class("line", "", 10, 10),
        class("a", "line", 1, 10),
        class("b", "line", 3, 10),
    ];
    close(&served(&tree(&classes), &[500, 500]).0, &[4_000, 6_000]);
    // Class a gets two thirds of the six megabits that are left.
    classes[1].quantum = Some(2_000);
    close(&served(&tree(&classes), &[500, 500]).0, &[5_000, 5_000]);
}

#[test]
fn a_class_sends_no_more_than_its_ceil() {
    let classes = [
        class("line", "", 10, 10),
        class("a", "line", 1, 2),
        class("b", "line", 3, 10),
    ];
    close(&served(&tree(&classes), &[500, 500]).0, &[2_000, 8_000]);
}

#[test]
fn a_class_of_the_first_priority_borrows_all_that_is_left() {
    let mut classes = [
        class("line", "", 10, 10),
        class("a", "line", 1, 10),
        class("b", "line", 3, 10),
    ];
    classes[1].prio = 1;
    close(&served(&tree(&classes), &[500, 500]).0, &[1_000, 9_000]);
}

/// A class borrows from its parent before the parent borrows from its own.
#[test]
fn an_idle_sibling_lends_first() {
    let classes = [
        class("line", "", 12, 12),
        class("left", "line", 6, 12),
        class("right", "line", 6, 12),
        class("a", "left", 2, 12),
        class("idle", "left", 4, 12),
        class("b", "right", 3, 12),
        class("c", "right", 3, 12),
    ];
    let mut config = tree(&classes);
    config.classes[4].dscp = vec![1];
    close(&served(&config, &[500, 500, 500]).0, &[6_000, 3_000, 3_000]);
}

#[test]
fn a_pause_earns_a_burst() {
    let mut config = tree(&[class("a", "", 8, 8)]);
    config.classes[0].burst = Some(3_000);
    config.classes[0].cburst = Some(3_000);
    let mut rig = Rig::new(&config);
    rig.enqueue(6, 1_000, goodqueue_types::Ecn::NotCapable);
    let mut left = Vec::new();
    while let Some(ready) = rig.queue.next_ready(rig.now) {
        rig.now = ready;
        if rig.dequeue().is_some() {
            left.push(ready.0 / 1_000_000_000);
        }
    }
    // Linux lets a class send while it owes nothing: one packet more than the burst.
    assert_eq!(left, [0, 0, 0, 0, 1, 2]);
}

#[test]
fn copies_take_flows_in_turn_and_borrow_from_their_own_parent() {
    let mut classes = [class("site", "", 4, 4), class("plan", "site", 1, 4)];
    classes[0].count = 2;
    classes[1].count = 2;
    // Flows 0 and 1 share the first site, flow 2 has the second for itself.
    let (sent, _) = served(&tree(&classes), &[500, 500, 500]);
    close(&sent, &[2_000, 2_000, 4_000]);
}

#[test]
fn a_code_point_chooses_a_class_and_other_packets_go_first() {
    let mut voice = class("voice", "", 1, 1);
    voice.dscp = vec![46];
    let mut rig = Rig::new(&tree(&[voice]));
    for dscp in [46, 46, 46, 0, 0] {
        let packet = Packet {
            size: 1_000,
            dscp,
            body: Body::Datagram,
            ..Packet::default()
        };
        rig.call(|queue, context| queue.enqueue(context, packet));
    }
    let sent: Vec<u8> = std::iter::from_fn(|| rig.dequeue())
        .map(|one| one.dscp)
        .collect();
    assert_eq!(sent, [0, 0, 46, 46], "the last waits for tokens");
}

#[test]
fn every_discipline_conforms_in_a_class() {
    check_all_inside(|queue| {
        let mut classes = [
            class("line", "", 9, 9),
            class("a", "line", 2, 9),
            class("b", "line", 3, 5),
        ];
        classes[1].queue = Some(Box::new(queue.clone()));
        classes[2].queue = Some(Box::new(queue));
        classes[2].prio = 1;
        QueueConfig::Htb(tree(&classes))
    });
}

#[test]
fn quanta_and_bursts_are_those_of_linux() {
    let mut one = class("a", "", 1, 100);
    (one.quantum, one.burst, one.cburst) = (None, None, None);
    assert_eq!(one.quantum(10), 12_500);
    assert_eq!([1, 1_000].map(|r2q| one.quantum(r2q)), [125_000, 1_000]);
    one.rate = Rate(1_000 * MEGABIT);
    one.ceil = Some(Rate(10_000 * MEGABIT));
    assert_eq!(one.quantum(10), 200_000);
    assert_eq!(one.bursts(), [1_600, 1_601]);
}

#[test]
fn trees_that_cannot_work_are_refused() {
    let refused = |classes: &[HtbClass]| {
        let refusal = tree(classes).check(1_514).unwrap_err();
        refusal.message
    };
    assert!(refused(&[]).contains("no classes"));
    let line = class("line", "", 9, 9);
    assert!(refused(&[line.clone(), line.clone()]).contains("two classes"));
    assert!(refused(&[class("a", "line", 1, 1), line.clone()]).contains("\"line\""));
    assert!(refused(&[class("a", "", 2, 1)]).contains("ceil"));
    let mut inner = line.clone();
    inner.dscp = vec![1];
    assert!(refused(&[inner, class("a", "line", 1, 1)]).contains("no packet waits"));
    let mut many = class("a", "line", 1, 1);
    many.count = 65_535;
    assert!(refused(&[line.clone(), many.clone()]).contains("65536 classes"));
    (many.count, many.dscp) = (2, vec![1]);
    assert!(refused(&[line.clone(), many]).contains("several"));
    let mut small = class("a", "line", 1, 1);
    small.queue = Some(Box::new(QueueConfig::drop_tail(Limit::Bytes(100))));
    assert!(refused(&[line, small]).contains("100 bytes"));
    let deep: Vec<HtbClass> = (0..9)
        .map(|depth| class(&depth.to_string(), &(depth - 1).to_string(), 1, 1))
        .map(|mut one| {
            if one.name == "0" {
                one.parent.clear();
            }
            one
        })
        .collect();
    assert!(refused(&deep).contains("below one another"));
    assert_eq!(tree(&deep[..8]).check(1_514), Ok(()));
}

#[test]
fn a_search_for_a_buffer_sets_every_leaf() {
    let mut config = tree(&[class("line", "", 9, 9), class("a", "line", 1, 1)]);
    config.set_limit(Limit::Bytes(9_000));
    assert_eq!(config.limit(), Limit::Bytes(9_000));
    assert_eq!(config.classes[0].queue, None);
    assert_eq!(config.drain_rate(Rate(20 * MEGABIT)), Rate(9 * MEGABIT));
}
