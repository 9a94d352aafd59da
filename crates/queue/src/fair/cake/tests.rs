//! CAKE as a whole: the shares of hosts, flows and tins, and the shaper.

use super::*;
use crate::fair::flows::rig::packet;
use crate::rig::Rig;
use crate::{Configuration, Limit};
use goodqueue_types::{Cells, Ecn, Framing, Hosts, Rate, Span};

const MEGABITS_10: Rate = Rate(10_000_000);

/// A sender that always keeps the same number of packets in the queue.
#[derive(Clone, Copy)]
struct Sender {
    flow: u32,
    hosts: Hosts,
    dscp: u8,
    size: u32,
}

fn sender(flow: u32, client: u16, server: u16) -> Sender {
    Sender {
        flow,
        hosts: Hosts { client, server },
        dscp: 0,
        size: 1514,
    }
}

/// Serves the queue at `rate` while each sender keeps 20 packets in it. Returns the bytes that each
/// sender sent in `seconds`.
fn contest(config: CakeConfig, senders: &[Sender], rate: Rate, seconds: u64) -> Vec<u64> {
    let mut rig = Rig::new(&config);
    let mut waiting = vec![0_u32; senders.len()];
    let mut sent = vec![0; senders.len()];
    let mut number = 0;
    let end = Span::from_secs(seconds);
    let mut now = Span::ZERO;
    while now < end {
        for (index, sender) in senders.iter().enumerate() {
            while waiting[index] < 20 {
                number += 1;
                waiting[index] += 1;
                rig.at(now).offer(Packet {
                    hosts: sender.hosts,
                    dscp: sender.dscp,
                    ecn: Ecn::Capable0,
                    ..packet(sender.flow, number, sender.size)
                });
            }
        }
        let index_of = |packet: &Packet| {
            let position = senders.iter().position(|s| s.flow == packet.flow.0);
            position.expect("one of theirs")
        };
        if let Some(packet) = rig.at(now).dequeue() {
            sent[index_of(&packet)] += u64::from(packet.size);
            waiting[index_of(&packet)] -= 1;
            now += shaper::transmission(Some(rate), u64::from(packet.size));
        } else {
            let ready = rig.queue.next_ready(Time::ZERO + now).expect("backlogged");
            now = ready - Time::ZERO;
        }
        for verdict in std::mem::take(&mut rig.verdicts) {
            if let crate::Verdict::Dropped(packet, _) = verdict {
                waiting[index_of(&packet)] -= 1;
            }
        }
    }
    sent
}

fn isolated(isolation: CakeIsolation) -> CakeConfig {
    CakeConfig {
        isolation,
        diffserv: CakeDiffserv::BestEffort,
        ..CakeConfig::linux(None)
    }
}

/// Returns the share of the first `first` senders.
fn share(sent: &[u64], first: usize) -> f64 {
    let part: u64 = sent[..first].iter().sum();
    part as f64 / sent.iter().sum::<u64>() as f64
}

/// Host 1 has one flow and host 2 has eight, each to a server of its own; or servers and hosts
/// change roles.
fn one_against_eight(isolation: CakeIsolation, by_source: bool) -> f64 {
    let senders: Vec<Sender> = (0..9)
        .map(|flow| {
            let host = if flow == 0 { 1 } else { 2 };
            let other = 100 + flow as u16;
            if by_source {
                sender(flow, host, other)
            } else {
                sender(flow, other, host)
            }
        })
        .collect();
    let sent = contest(isolated(isolation), &senders, MEGABITS_10, 20);
    let eight = &sent[1..];
    if isolation.separates_flows() {
        let (least, most) = (eight.iter().min().unwrap(), eight.iter().max().unwrap());
        assert!(*least as f64 > 0.95 * *most as f64, "{sent:?}");
    }
    share(&sent, 1)
}

#[test]
fn hosts_get_equal_shares_however_many_flows_they_have() {
    use CakeIsolation::{DstHost, DualDstHost, DualSrcHost, Flows, SrcHost, TripleIsolate};
    for (isolation, by_source, expected) in [
        (Flows, true, 1.0 / 9.0),
        (DualSrcHost, true, 0.5),
        (DualSrcHost, false, 1.0 / 9.0),
        (DualDstHost, false, 0.5),
        (DualDstHost, true, 1.0 / 9.0),
        (TripleIsolate, true, 0.5),
        (TripleIsolate, false, 0.5),
        (SrcHost, true, 0.5),
        (DstHost, false, 0.5),
    ] {
        let share = one_against_eight(isolation, by_source);
        assert!(
            (share - expected).abs() < 0.01,
            "{isolation:?} {by_source}: {share}"
        );
    }
}

#[test]
fn pairs_of_hosts_share_equally_and_without_isolation_flows_do() {
    // Two flows of one pair of hosts compete with one flow of another.
    let senders = [sender(0, 1, 9), sender(1, 1, 9), sender(2, 2, 9)];
    let pairs = contest(isolated(CakeIsolation::Hosts), &senders, MEGABITS_10, 10);
    assert!((share(&pairs, 2) - 0.5).abs() < 0.01, "{pairs:?}");
    // In a FIFO each sender has the same number of packets waiting.
    let blind = contest(
        isolated(CakeIsolation::FlowBlind),
        &senders,
        MEGABITS_10,
        10,
    );
    assert!((share(&blind, 2) - 2.0 / 3.0).abs() < 0.01, "{blind:?}");
}

#[test]
fn small_packets_get_as_many_bytes() {
    let mut senders = [sender(0, 1, 9), sender(1, 2, 9)];
    senders[1].size = 300;
    let sent = contest(isolated(CakeIsolation::Flows), &senders, MEGABITS_10, 10);
    assert!((share(&sent, 1) - 0.5).abs() < 0.01, "{sent:?}");
}

/// Returns the shares of senders with one code point each, all of which offer more than the link
/// carries.
fn tins(config: CakeConfig, codes: &[u8], rate: Rate) -> Vec<f64> {
    let senders: Vec<Sender> = (0..)
        .zip(codes)
        .map(|(flow, dscp)| Sender {
            dscp: *dscp,
            ..sender(flow, flow as u16, 9)
        })
        .collect();
    let sent = contest(config, &senders, rate, 20);
    let total = sent.iter().sum::<u64>() as f64;
    sent.iter().map(|bytes| *bytes as f64 / total).collect()
}

/// Without a bandwidth, tins are served in turn by their quanta, 1024 : 64 : 512 : 256.
#[test]
fn tins_share_by_their_quanta_without_a_bandwidth() {
    let config = CakeConfig {
        diffserv: CakeDiffserv::Diffserv4,
        ..CakeConfig::linux(None)
    };
    let shares = tins(config, &[0, 8, 34, 46], MEGABITS_10);
    for (share, quantum) in shares.iter().zip([1024.0, 64.0, 512.0, 256.0]) {
        let expected = quantum / 1856.0;
        assert!((share - expected).abs() < 0.005, "{shares:?}");
    }
}

/// A tin with a bandwidth has priority up to its threshold. Voice has a quarter and video a half.
/// Best effort has the rest, of which bulk gets its sixteenth.
#[test]
fn tins_have_priority_up_to_their_thresholds_with_a_bandwidth() {
    let config = CakeConfig {
        diffserv: CakeDiffserv::Diffserv4,
        ..CakeConfig::linux(Some(MEGABITS_10))
    };
    let shares = tins(config, &[0, 8, 34, 46], Rate(1_000_000_000));
    for (share, expected) in shares.iter().zip([3.0, 1.0, 8.0, 4.0]) {
        assert!((share - expected / 16.0).abs() < 0.01, "{shares:?}");
    }
    // A tin that is alone may use the whole bandwidth.
    assert!((tins(config, &[8], Rate(1_000_000_000))[0] - 1.0).abs() < 1e-9);
}

#[test]
fn the_shaper_sends_at_its_bandwidth_with_all_overhead() {
    // 1500 bytes and 10 bytes of PPPoE take 32 ATM cells of 53 bytes.
    let config = CakeConfig {
        framing: CakeFraming(Some(Framing {
            overhead: 10,
            minimum: 0,
            cells: Cells::Atm,
        })),
        ..CakeConfig::linux(Some(MEGABITS_10))
    };
    let mut alone = sender(0, 1, 2);
    alone.size = 1500;
    let sent = contest(config, &[alone], Rate(1_000_000_000), 10)[0];
    let expected = 10_000_000.0 / 8.0 * 10.0 * 1500.0 / (32.0 * 53.0);
    assert!((sent as f64 / expected - 1.0).abs() < 1e-3, "{sent}");
}

#[test]
fn a_held_packet_announces_its_release() {
    let mut rig = Rig::new(&CakeConfig::linux(Some(MEGABITS_10)));
    rig.at(Span::from_secs(1));
    for number in 0..2 {
        rig.offer(packet(0, number, 1250));
    }
    assert_eq!(rig.next(), Some((0, 0)));
    assert_eq!(rig.next(), None);
    let ready = Time::ZERO + Span::from_micros(1_001_000);
    assert_eq!(rig.queue.next_ready(rig.now), Some(ready));
    rig.at(Span::from_micros(1_001_000));
    assert_eq!(rig.next(), Some((0, 1)));
    assert_eq!(rig.queue.next_ready(rig.now), None);
}

#[test]
fn drops_at_ingress_reduce_the_shaped_rate() {
    let config = |ingress| CakeConfig {
        ingress,
        ..CakeConfig::linux(Some(MEGABITS_10))
    };
    let sent = |ingress| {
        let mut rig = Rig::new(&config(ingress));
        let mut sent = 0;
        // The sender ignores drops and offers twice the bandwidth.
        for step in 0..20_000_u64 {
            rig.at(Span::from_micros(500) * step);
            rig.offer(packet(0, step, 1250));
            sent += u64::from(rig.next().is_some());
        }
        sent
    };
    let (egress, ingress) = (sent(false), sent(true));
    assert!(egress >= 9_990, "{egress}");
    // The failsafe lets at least two thirds of the bandwidth through.
    assert!(ingress < 9_000 && ingress > 6_600, "{ingress}");
}

#[test]
fn the_longest_queue_of_all_tins_is_dropped_from() {
    let mut rig = Rig::new(&CakeConfig {
        memory_limit: Some(10 * 2304),
        ..CakeConfig::linux(None)
    });
    for number in 0..9 {
        rig.offer(packet(0, number, 1514));
    }
    let voice = Packet {
        dscp: 46,
        ..packet(1, 0, 1514)
    };
    rig.offer(voice);
    assert!(rig.verdicts.is_empty());
    rig.offer(Packet { number: 1, ..voice });
    assert_eq!(rig.dropped(DropReason::Overlimit), [(0, 0)]);
}

#[test]
fn flows_have_queues_of_their_own_until_a_set_is_full() {
    let mut rig = Rig::new(&CakeConfig {
        isolation: CakeIsolation::Flows,
        diffserv: CakeDiffserv::BestEffort,
        ..CakeConfig::linux(None)
    });
    let flows = 512;
    for flow in 0..flows {
        for number in 0..2 {
            rig.offer(packet(flow, number, 100));
        }
    }
    // On average a set of 8 queues gets 4 of the 512 flows. The chance of a ninth is 2 % (Poisson),
    // so some flows collide, but far fewer than the 110 of a plain hash.
    let ways = rig.queue.ways().next().expect("one tin");
    assert!(ways.collisions < 20, "{ways:?}");
    assert!(ways.misses + ways.collisions >= u64::from(flows));
    let direct = 2 * u64::from(flows) - ways.misses - ways.collisions - ways.indirect_hits;
    assert!(direct > 0 && ways.indirect_hits > 0);
}

#[test]
fn bufferbloat_is_signalled_to_the_flow_that_makes_it() {
    let mut rig = Rig::new(&CakeConfig::linux(Some(MEGABITS_10)));
    let mut number = 0;
    for step in 0..2_000_u64 {
        rig.at(Span::from_millis(1) * step);
        for _ in 0..2 {
            number += 1;
            let ecn = Ecn::Capable0;
            rig.offer(Packet {
                ecn,
                ..packet(0, number, 1250)
            });
        }
        if step % 10 == 0 {
            rig.offer(packet(1, step, 100));
        }
        rig.dequeue();
    }
    let marked = |flow| {
        let marked = rig.verdicts.iter().filter(|verdict| {
            matches!(verdict, crate::Verdict::Marked(packet, DropReason::TargetExceeded)
                if packet.flow.0 == flow)
        });
        marked.count()
    };
    assert!(marked(0) > 50, "{}", marked(0));
    assert_eq!(marked(1), 0);
    assert!(rig.dropped(DropReason::TargetExceeded).is_empty());
}

#[test]
fn memory_follows_bandwidth_and_round_trip_time() {
    let memory = |config: CakeConfig| config.memory();
    assert_eq!(memory(CakeConfig::linux(Some(MEGABITS_10))), 4 << 20);
    // 4 · 125 MB/s · 100 ms exceeds 10240 frames.
    let frames = 10_240 * 1514;
    assert_eq!(memory(CakeConfig::linux(Some(Rate(1_000_000_000)))), frames);
    assert_eq!(memory(CakeConfig::linux(None)), frames);
    let between = CakeConfig::linux(Some(Rate(200_000_000)));
    assert_eq!(memory(between), 10_000_000);
    let own = CakeConfig {
        memory_limit: Some(99_999_999),
        ..between
    };
    assert_eq!(memory(own), 99_999_999);
}

#[test]
fn nonsense_is_refused_by_key() {
    let config = CakeConfig::linux(Some(MEGABITS_10));
    assert_eq!(config.check(1514), Ok(()));
    let cases = [
        (
            CakeConfig {
                rtt: Span::ZERO,
                ..config
            },
            "rtt",
        ),
        (CakeConfig { mtu: 0, ..config }, "memory_limit"),
        (
            CakeConfig {
                bandwidth: Some(Rate(100)),
                ..config
            },
            "bandwidth",
        ),
        (
            CakeConfig {
                memory_limit: Some(1000),
                ..config
            },
            "memory_limit",
        ),
        (
            CakeConfig {
                limit: Limit::Packets(0),
                ..config
            },
            "limit",
        ),
    ];
    for (config, key) in cases {
        assert_eq!(config.check(1514).unwrap_err().key, key);
    }
    assert!(!config.is_work_conserving() && CakeConfig::linux(None).is_work_conserving());
}

#[test]
fn super_segments_are_split_unless_told_otherwise() {
    for (split_gso, split, waiting) in [(true, 39, 40), (false, 0, 1)] {
        let mut rig = Rig::new(&CakeConfig {
            split_gso,
            ..CakeConfig::default()
        });
        rig.framing = Framing::bytes(14);
        rig.enqueue_super(40, 1_460);
        let backlog = rig.queue.backlog();
        assert_eq!((rig.split, backlog.packets), (split, waiting));
        assert_eq!(backlog.bytes, 40 * 1_514);
    }
}

/// A queue that was given a rate sends as one that had it from the start, after the packet that it
/// has already timed.
#[test]
fn a_new_rate_holds_from_the_next_packet_on() {
    let offer = |rig: &mut Rig<Cake>| {
        for number in 0..20 {
            rig.at(Span::ZERO).offer(packet(1, number, 1250));
        }
    };
    let times = |rig: &mut Rig<Cake>, from: Span| {
        let mut now = from;
        let mut times = Vec::new();
        while times.len() < 8 {
            match rig.at(now).dequeue() {
                Some(_) => times.push(now),
                None => now = rig.queue.next_ready(Time::ZERO + now).expect("full") - Time::ZERO,
            }
        }
        times
    };
    let framing = CakeFraming(Some(Framing::bytes(0)));
    let config = |rate| CakeConfig {
        framing,
        ..CakeConfig::linux(Some(rate))
    };
    let mut rig = Rig::new(&config(MEGABITS_10));
    offer(&mut rig);
    assert!(rig.at(Span::ZERO).dequeue().is_some());
    rig.queue.set_rate(Rate(20_000_000));
    let halves = (0..8).map(|index| Span::from_micros(1_000 + 500 * index));
    assert_eq!(times(&mut rig, Span::ZERO), halves.collect::<Vec<_>>());
    let fresh = Rig::new(&config(Rate(20_000_000)));
    assert_eq!(rig.queue.memory_limit, fresh.queue.memory_limit);
    let tins = |rig: &Rig<Cake>| {
        let tins = rig.queue.tins.iter();
        tins.map(Tin::parameters).collect::<Vec<_>>()
    };
    assert_eq!(tins(&rig), tins(&fresh));
}
