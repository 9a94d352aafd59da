//! The cases of ns-3 (`src/test/ns3tc/fq-codel-queue-disc-test-suite.cc`), and features of Linux.

use super::*;
use crate::fair::flows::rig::packet;
use crate::rig::Rig;
use crate::{BufferPool, Verdict};
use goodqueue_types::{Ecn, Span};

fn ns3(quantum: u32, limit: u64) -> FqCodelConfig {
    FqCodelConfig {
        quantum,
        ..FqCodelConfig::ns3(Limit::Packets(limit))
    }
}

fn queue_of(rig: &mut Rig<FqCodel>, flow: u32) -> u32 {
    rig.queue.flow_of(&packet(flow, 0, 100))
}

/// Returns the deficit and round of a flow.
fn state(rig: &mut Rig<FqCodel>, flow: u32) -> (i64, Round) {
    let queue = queue_of(rig, flow);
    (rig.queue.flows.deficit(queue), rig.queue.flows.round(queue))
}

/// `FqCoDelQueueDiscDeficit`: quantum 90, packets of 120 bytes.
#[test]
fn ns3_deficits_and_rounds() {
    use Round::{New, Old, Out};
    let mut rig = Rig::new(&ns3(90, 10_240));
    rig.offer(packet(1, 0, 120));
    assert_eq!(state(&mut rig, 1), (90, New));
    assert_eq!(rig.next(), Some((1, 0)));
    assert_eq!(state(&mut rig, 1), (-30, New));
    for (flow, number) in [(1, 1), (1, 2), (2, 0), (2, 1)] {
        rig.offer(packet(flow, number, 120));
    }
    assert_eq!(state(&mut rig, 1), (-30, New));
    assert_eq!(state(&mut rig, 2), (90, New));
    let steps = [
        (Some((2, 0)), (60, Old), (-30, New)),
        (Some((1, 1)), (-60, Old), (60, Old)),
        (Some((2, 1)), (30, Old), (-60, Old)),
        (Some((1, 2)), (-90, Old), (30, Old)),
        (None, (90, Out), (30, Out)),
    ];
    for (sent, first, second) in steps {
        assert_eq!(rig.next(), sent);
        assert_eq!(state(&mut rig, 1), first);
        assert_eq!(state(&mut rig, 2), second);
    }
}

/// `FqCoDelQueueDiscIPFlowsSeparationAndPacketLimit`: a fifth packet exceeds the limit of four, so
/// the fat flow loses two of its three packets, at least half of its bytes.
#[test]
fn ns3_drops_from_the_fattest_flow() {
    let mut rig = Rig::new(&ns3(1500, 4));
    for (flow, number) in [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1)] {
        rig.offer(packet(flow, number, 120));
    }
    assert_eq!(rig.dropped(DropReason::Overlimit), [(1, 0), (1, 1)]);
    let (fat, other) = (queue_of(&mut rig, 1), queue_of(&mut rig, 2));
    let packets = |queue| rig.queue.flows.backlog_of(queue).packets;
    assert_eq!((packets(fat), packets(other)), (1, 2));
    assert_eq!(rig.queue.vars[fat as usize].count(), 2, "CoDel is told");
}

/// Offers 20 packets of 120 bytes from each of five flows, of which the last two are not
/// ECN-capable, and asks for 60 packets at this distance. Returns four counts for each flow: marks
/// and drops for the target, marks at the threshold, and packets left.
fn ns3_marking(ce_threshold: Option<Span>, distance: Span) -> Vec<[usize; 4]> {
    let mut config = ns3(1514, 10_240);
    config.codel.ce_threshold = ce_threshold;
    let mut rig = Rig::new(&config);
    for flow in 0..5 {
        let ecn = if flow < 3 {
            Ecn::Capable0
        } else {
            Ecn::NotCapable
        };
        for number in 0..20 {
            rig.offer(Packet {
                ecn,
                ..packet(flow, number, 120)
            });
        }
    }
    for step in 1..=60 {
        rig.at(distance * step);
        rig.dequeue();
    }
    let mut counts = vec![[0; 4]; 5];
    for verdict in &rig.verdicts {
        let (packet, column) = match verdict {
            Verdict::Marked(packet, DropReason::TargetExceeded) => (packet, 0),
            Verdict::Dropped(packet, DropReason::TargetExceeded) => (packet, 1),
            Verdict::Marked(packet, DropReason::Forced) => (packet, 2),
            other => panic!("{other:?}"),
        };
        counts[packet.flow.0 as usize][column] += 1;
    }
    for flow in 0..5 {
        let queue = queue_of(&mut rig, flow);
        let left = rig.queue.flows.backlog_of(queue).packets;
        counts[flow as usize][3] = left as usize;
    }
    counts
}

/// `FqCoDelQueueDiscECNMarking`, case 1: 110 ms between packets.
#[test]
fn ns3_marks_ecn_capable_packets_and_drops_the_others() {
    let counts = ns3_marking(None, Span::from_millis(110));
    for (flow, [marks, drops, threshold, left]) in counts.into_iter().enumerate() {
        let expected = if flow < 3 { (6, 0) } else { (0, 4) };
        assert_eq!((marks, drops), expected, "flow {flow}");
        assert_eq!(threshold, 0);
        assert!(left > 0);
    }
}

/// Case 2: a threshold of 2 ms and 0.1 ms between packets. A quantum holds 13 packets.
#[test]
fn ns3_marks_above_the_threshold() {
    let counts = ns3_marking(Some(Span::from_millis(2)), Span::from_micros(100));
    let threshold: Vec<usize> = counts.iter().map(|count| count[2]).collect();
    assert_eq!(threshold, [0, 6, 13, 0, 0]);
    assert!(counts.iter().all(|count| count[0] + count[1] == 0));
}

/// Case 3 combines both. Every packet sent is marked once.
#[test]
fn ns3_marks_no_packet_twice() {
    let counts = ns3_marking(Some(Span::from_millis(2)), Span::from_millis(110));
    for (flow, [marks, drops, threshold, left]) in counts.into_iter().enumerate() {
        if flow < 3 {
            assert_eq!((marks + threshold, drops), (20 - left, 0), "flow {flow}");
        } else {
            assert_eq!((marks, drops, threshold), (0, 4, 0), "flow {flow}");
        }
    }
}

#[test]
fn flows_that_collide_share_a_queue_unless_sets_have_room() {
    let queues = |flows, set_ways| {
        let mut rig = Rig::new(&FqCodelConfig {
            flows,
            set_ways,
            ..FqCodelConfig::linux(Limit::Packets(1000))
        });
        for flow in 0..8 {
            rig.offer(packet(flow, 0, 100));
        }
        let used = |queue: &u32| rig.queue.flows.backlog_of(*queue).packets > 0;
        rig.queue.flows.indices().filter(used).count()
    };
    assert_eq!(queues(1, 1), 1);
    assert_eq!(queues(8, 8), 8);
    // Eight flows in eight buckets collide except for one seed in 416.
    assert!(queues(8, 1) < 8);
}

#[test]
fn flows_in_one_queue_are_served_as_one() {
    let mut rig = Rig::new(&FqCodelConfig {
        flows: 1,
        ..FqCodelConfig::linux(Limit::Packets(1000))
    });
    for number in 0..3 {
        rig.offer(packet(0, number, 1500));
        rig.offer(packet(1, number, 1500));
    }
    let order = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)];
    assert_eq!(rig.rest(), order);
}

#[test]
fn a_new_flow_goes_first_and_an_old_one_is_not_starved_by_it() {
    let mut rig = Rig::new(&FqCodelConfig::linux(Limit::Packets(1000)));
    for number in 0..10 {
        rig.offer(packet(0, number, 1514));
    }
    assert_eq!(rig.next(), Some((0, 0)));
    // The other flow always has one packet waiting, of half a quantum.
    let mut order = Vec::new();
    for number in 0..11 {
        rig.offer(packet(1, number, 757));
        order.push(rig.next().expect("backlogged").0);
    }
    // The other flow is new for one quantum and goes ahead of the flow that has spent its own.
    // After that, two of its packets alternate with one of the old flow.
    assert_eq!(order, [1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1]);
}

#[test]
fn a_batch_has_at_most_drop_batch_packets() {
    let mut config = FqCodelConfig::linux(Limit::Packets(200));
    config.drop_batch = 64;
    let mut rig = Rig::new(&config);
    for number in 0..201 {
        rig.offer(packet(0, number, 100));
    }
    let dropped = rig.dropped(DropReason::Overlimit);
    assert_eq!(dropped.len(), 64);
    assert_eq!(dropped[63], (0, 63), "from the head");
}

#[test]
fn memory_limit_counts_the_bytes_of_kernel_buffers() {
    let mut rig = Rig::new(&FqCodelConfig {
        memory_limit: Some(10 * 2304),
        ..FqCodelConfig::linux(Limit::Packets(1000))
    });
    for number in 0..10 {
        rig.offer(packet(0, number, 1514));
    }
    assert!(rig.verdicts.is_empty());
    rig.offer(packet(1, 0, 40));
    assert_eq!(
        rig.dropped(DropReason::Overlimit).len(),
        5,
        "half the bytes"
    );
}

/// Linux compares the whole backlog, so a flow with one small packet left still loses packets while
/// others wait.
#[test]
fn the_backlog_that_counts_is_configurable() {
    let dropped = |compared_backlog| {
        let mut rig = Rig::new(&FqCodelConfig {
            compared_backlog,
            ..FqCodelConfig::linux(Limit::Packets(1000))
        });
        for number in 0..30 {
            rig.offer(packet(0, number, 1514));
            rig.offer(packet(1, number, 40));
        }
        for step in 1..=40 {
            rig.at(Span::from_millis(100) * step);
            rig.dequeue();
        }
        let dropped = rig.dropped(DropReason::TargetExceeded);
        dropped.iter().filter(|(flow, _)| *flow == 1).count()
    };
    assert_eq!(dropped(ComparedBacklog::Own), 0);
    assert!(dropped(ComparedBacklog::Whole) > 0);
}

#[test]
fn a_full_shared_buffer_drops_the_arrival() {
    let config = FqCodelConfig::linux(Limit::Packets(10));
    let mut random = RandomStream::new(1, "test", 0);
    let mut queue = config.build(&mut random);
    let (mut buffer, mut verdicts) = (BufferPool::new(150, 1), Vec::new());
    let mut context = Context {
        now: goodqueue_types::Time::ZERO,
        framing: goodqueue_types::Framing::bytes(0),
        random: &mut random,
        account: buffer.account(0),
        verdicts: &mut verdicts,
        split: &mut 0,
    };
    queue.enqueue(&mut context, packet(0, 0, 100));
    queue.enqueue(&mut context, packet(1, 0, 100));
    assert_eq!(queue.backlog().packets, 1);
    assert!(
        matches!(verdicts[..], [Verdict::Dropped(gone, DropReason::Overlimit)] if gone.flow.0 == 1)
    );
}

#[test]
fn nonsense_is_refused_by_key() {
    let config = FqCodelConfig::linux(Limit::Packets(10_240));
    assert_eq!(config.check(1514), Ok(()));
    assert_eq!(ns3(90, 10).check(1514), Ok(()));
    let mut codel = config.codel;
    codel.target = Span::from_millis(200);
    let cases = [
        (
            FqCodelConfig {
                quantum: 0,
                ..config
            },
            "quantum",
        ),
        (FqCodelConfig { flows: 0, ..config }, "flows"),
        (
            FqCodelConfig {
                flows: 65_537,
                ..config
            },
            "flows",
        ),
        (
            FqCodelConfig {
                drop_batch: 0,
                ..config
            },
            "drop_batch",
        ),
        (
            FqCodelConfig {
                memory_limit: Some(2303),
                ..config
            },
            "memory_limit",
        ),
        (
            FqCodelConfig {
                set_ways: 3,
                ..config
            },
            "set_ways",
        ),
        (FqCodelConfig { codel, ..config }, "target"),
        (
            FqCodelConfig {
                limit: Limit::Packets(0),
                ..config
            },
            "limit",
        ),
    ];
    for (config, key) in cases {
        assert_eq!(config.check(1514).unwrap_err().key, key);
    }
}

/// Linux `codel_dequeue` with `ce_threshold_mask`: a packet is marked if the masked field equals the
/// selector, strictly above the threshold. `0x1/0x3` is ECT(1) alone.
#[test]
fn the_selector_holds_ect1_alone_to_the_threshold() {
    for (selector, expected) in [
        (ThresholdSelector::Any, vec![Ecn::Capable0, Ecn::Capable1]),
        (ThresholdSelector::Ect1, vec![Ecn::Capable1]),
    ] {
        let mut config = FqCodelConfig {
            selector,
            ..FqCodelConfig::linux(Limit::Packets(100))
        };
        config.codel.ce_threshold = Some(Span::from_millis(1));
        config.codel.target = Span::from_secs(1);
        let mut rig = Rig::new(&config);
        let all = [Ecn::NotCapable, Ecn::Capable0, Ecn::Capable1];
        for (number, ecn) in (0..).zip(all.into_iter().chain(all)) {
            rig.offer(Packet {
                ecn,
                ..packet(1, number, 1500)
            });
        }
        // A unit of Linux's clock is 1.024 µs.
        rig.at(Span::from_micros(999));
        for _ in 0..3 {
            rig.dequeue();
        }
        assert!(rig.verdicts.is_empty());
        rig.at(Span::from_micros(1003));
        for _ in 0..3 {
            rig.dequeue();
        }
        let marked: Vec<Ecn> = rig
            .verdicts
            .iter()
            .map(|verdict| match verdict {
                Verdict::Marked(packet, DropReason::Forced) => all[packet.number as usize % 3],
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(marked, expected);
    }
}
