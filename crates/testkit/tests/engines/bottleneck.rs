//! A link that is driven from outside does to every packet what the same link does in a run.

use goodqueue_queue::{Configuration, Limit, QueueConfig, examples};
use goodqueue_sim::{
    Bottleneck, Equipment, Impairments, Interrupts, Jitter, Law, LossConfig, Network, PacketFate,
    RateStep, RateTrace, Reorder, ServiceConfig, WorkloadConfig, run,
};
use goodqueue_tcp::{CongestionControlConfig, EcnMode, TcpConfig};
use goodqueue_testkit::dumbbell::{BOTTLENECK, Dumbbell};
use goodqueue_testkit::networks;
use goodqueue_types::parameters::vary;
use goodqueue_types::{
    Cells, Framing, LinkId, Packet, PacketEventKind, RandomStream, Rate, Span, Time,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

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

/// A property of links other than their queue.
struct Kind {
    name: String,
    equip: Box<dyn Fn(&mut Equipment)>,
}

/// Returns every kind of framing, variable rate, loss and impairment, alone and all together.
fn kinds() -> Vec<Kind> {
    let kind = |name: &str, equip: Box<dyn Fn(&mut Equipment)>| Kind {
        name: name.to_owned(),
        equip,
    };
    let cells = |cells| {
        move |equipment: &mut Equipment| {
            equipment.framing = Framing {
                overhead: 22,
                minimum: 64,
                cells,
            };
        }
    };
    let varying = |equipment: &mut Equipment| {
        let ms = Span::from_millis;
        let steps = [(0, 3_000_017), (70, 0), (110, 9_000_011), (190, 1_500_007)];
        let steps = steps.map(|(at, rate)| RateStep {
            at: ms(at),
            rate: Rate(rate),
        });
        equipment.service = Some(ServiceConfig::Trace(RateTrace {
            steps: steps.to_vec().into(),
            repeat: Some(ms(251)),
        }));
    };
    let impaired = |keeps_order| {
        move |equipment: &mut Equipment| {
            equipment.impairments = Impairments {
                jitter: Some(Jitter {
                    law: Law::exponential(0.0007),
                    keeps_order,
                    every: None,
                }),
                reorder: (!keeps_order).then_some(Reorder {
                    probability: 0.02,
                    delay: Span::from_millis(3),
                }),
                duplicate: Some(0.02),
                interrupts: keeps_order.then_some(Interrupts {
                    interval: Span::from_millis(2),
                }),
            };
        }
    };
    let mut kinds = vec![
        kind("plain", Box::new(|_| {})),
        kind("ATM", Box::new(cells(Cells::Atm))),
        kind("PTM", Box::new(cells(Cells::Ptm))),
        kind("varying", Box::new(varying)),
        kind("jitter in order", Box::new(impaired(true))),
        kind("jitter and reordering", Box::new(impaired(false))),
        kind(
            "drop list",
            Box::new(|equipment| equipment.drop_list = vec![3, 40, 41, 200]),
        ),
    ];
    for word in LossConfig::WORDS {
        let mut loss = LossConfig::defaults(word);
        let mut random = RandomStream::new(7, "loss", 0);
        vary(&mut loss, &mut random, |_| true);
        let equip = move |equipment: &mut Equipment| equipment.loss = Some(loss);
        kinds.push(kind(word, Box::new(equip)));
    }
    let all = move |equipment: &mut Equipment| {
        cells(Cells::Atm)(equipment);
        varying(equipment);
        impaired(false)(equipment);
    };
    kinds.push(kind("all together", Box::new(all)));
    kinds
}

/// Returns a bottleneck with this queue, over which paced and unpaced TCP flows with and without ECN
/// send. The times of arrivals and departures do not coincide.
fn loaded(queue: &QueueConfig, kind: &Kind, seed: u64) -> Network {
    let flows = (0..6).map(|index| {
        let tcp = TcpConfig {
            ecn: if index % 2 == 0 {
                EcnMode::Rfc3168
            } else {
                EcnMode::Off
            },
            pacing: index % 3 == 0,
            congestion_control: CongestionControlConfig::Reno,
            ..TcpConfig::default()
        };
        let workload = WorkloadConfig::bulk(Arc::new(tcp), None);
        (Time(index * 1_234_567_891), workload)
    });
    let mut network = Dumbbell {
        seed,
        rate: Rate(4_000_037),
        access_rate: Rate(97_000_013),
        limit: Limit::Packets(20),
        round_trip: Span(31_000_000_471),
        warmup: Time::ZERO,
        end: Time::ZERO + Span::from_millis(1500),
    }
    .network(flows.collect());
    network.record.packets = true;
    let link = &mut network.links[BOTTLENECK.0 as usize];
    link.queue = queue.clone();
    let mut small = queue.clone();
    small.set_limit(Limit::Packets(20));
    if small.check(1514) == Ok(()) {
        link.queue = small;
    }
    (kind.equip)(Arc::make_mut(&mut link.equipment));
    network
}

#[test]
fn every_discipline_does_the_same_on_every_kind_of_link() {
    let kinds = kinds();
    let mut found: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for (name, queue) in examples() {
        for (seed, kind) in kinds.iter().enumerate() {
            let network = loaded(&queue, kind, seed as u64);
            let (arrivals, expected) = recorded(&network, BOTTLENECK.0);
            let events = replayed(&network, BOTTLENECK.0, &arrivals);
            assert_eq!(events, expected, "{name} on a link: {}", kind.name);
            let counts = found.entry(name).or_default();
            for (_, fate, _) in &expected {
                let index = match fate {
                    PacketFate::Started(_) => 0,
                    PacketFate::Dropped(_) => 1,
                    _ => 2,
                };
                counts[index] += 1;
            }
        }
    }
    // The test would be empty if queues were idle.
    for (name, [departures, drops, _]) in &found {
        assert!(*departures > 1000, "{name}: {departures} departures");
        assert!(*drops > 10, "{name}: {drops} drops");
    }
    let marking = found.values().filter(|[.., marks]| *marks > 10).count();
    assert!(marking >= 5, "disciplines that mark: {found:?}");
}
