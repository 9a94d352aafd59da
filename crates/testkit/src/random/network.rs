//! Small random networks with many coincidences. They have few distinct rates, delays, sizes and
//! starting times, so that many events occur at the same instant. Limits are small, routes share
//! links in all combinations, and the run may end in the middle of a transmission or exactly at its
//! end.

use super::any_queue::any_queue;
use super::moody_queue::moody_queue;
use super::sessions::{seconds, session};
use goodqueue_queue::{
    HtbClass, HtbConfig, Limit, PrioConfig, PrioMap, QueueConfig, Sharing, TbfConfig, TbfPeak,
};
use goodqueue_sim::{
    DeliveryTrace, EchoReply, Equipment, FlowConfig, GameConfig, Impairments, InterfaceConfig,
    Interrupts, Jitter, Law, LinkConfig, LossConfig, MarkovRates, Network, PacketSize, PauseConfig,
    PoolConfig, RateStep, RateTrace, Record, Reorder, ServiceConfig, SourceConfig, StreamConfig,
    UniformRates, VoiceConfig, WorkloadConfig,
};
use goodqueue_tcp::cc::GaimdConfig;
use goodqueue_tcp::{
    AccEcnReports, CongestionControlConfig, EcnMode, FastOpen, InitialWindow, Profile, Recovery,
    RtoConfig, TcpConfig,
};
use goodqueue_types::parameters::{Parameters, Value, vary};
use goodqueue_types::{Cells, Framing, Hosts, LinkId, RandomStream, Rate, Span, Time};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use std::sync::Arc;

/// Draws networks of up to 6 links and 5 flows, whose runs have at most a few thousand packets.
pub fn networks() -> impl Strategy<Value = Network> {
    (2..=6_usize).prop_flat_map(|links| {
        network(
            prop::collection::vec(link(), links),
            prop::collection::vec(flow(links), 1..=5),
        )
    })
}

/// Draws a network of these links and flows with random other parameters.
pub(crate) fn network(
    links: impl Strategy<Value = Vec<LinkConfig>>,
    flows: impl Strategy<Value = Vec<FlowConfig>>,
) -> impl Strategy<Value = Network> {
    let warmup = select(vec![0, 0, 1, 2]);
    (links, flows, any::<u64>(), end(), warmup, pool()).prop_map(
        |(mut links, flows, seed, end, warmup_halves, pool)| {
            for flow in &flows {
                let mut both = flow.forward.iter().chain(&flow.reverse);
                if both.all(|link| links[link.0 as usize].only_delays()) {
                    // One link of the route must have a rate, which keeps the flow's packets apart.
                    links[flow.forward[0].0 as usize].rate = Rate(8_000_000);
                }
            }
            let named = |(index, link): (usize, LinkConfig)| LinkConfig {
                name: format!("link {index}"),
                ..link
            };
            let flow_named = |(index, flow): (usize, FlowConfig)| FlowConfig {
                name: format!("flow {index}"),
                // Flows 0 and 1 are in one group, flows 2 and 3 in the next, and so on.
                group: index as u32 / 2,
                ..flow
            };
            Network {
                seed,
                end,
                // Measurements begin at the start, at a quarter or in the middle of the run.
                warmup: Time(end.0 * warmup_halves / 4),
                links: links.into_iter().enumerate().map(named).collect(),
                pools: vec![pool],
                flows: flows.into_iter().enumerate().map(flow_named).collect(),
                record: Record {
                    series: true,
                    packets: true,
                    tcp_delays: true,
                },
            }
        },
    )
}

/// Gives some links of two thirds of all networks flow control, whose bytes are a few packets, and
/// whose PAUSE frames any link or none may carry. The network's seed draws them.
pub fn pause_some(network: &mut Network) {
    let mut random = RandomStream::new(network.seed, "pause", 0);
    if random.bits().is_multiple_of(3) {
        return;
    }
    let count = network.links.len() as u64;
    for link in &mut network.links {
        let opposite = (random.bits() % (count + 1)) as u32;
        if !link.only_delays() && !random.bits().is_multiple_of(4) {
            let xoff = [1, 1, 600, 1_500][(random.bits() % 4) as usize];
            let micros = [1, 1, 100, 1_000][(random.bits() % 4) as usize];
            link.opposite = (u64::from(opposite) < count).then_some(LinkId(opposite));
            link.pause = Some(PauseConfig {
                xoff,
                xon: xoff * (random.bits() % 3) / 4,
                reaction: Span::from_micros(micros),
            });
        }
    }
    network.keep_in_step();
}

/// Puts network cards behind some links of half of all networks. Their intervals are one transmission
/// to several round trips. The network's seed draws them.
pub fn interrupt_some(network: &mut Network) {
    let mut random = RandomStream::new(network.seed, "interrupts", 0);
    if random.bits().is_multiple_of(2) {
        return;
    }
    for link in &mut network.links {
        if !link.only_delays() && random.bits().is_multiple_of(3) {
            let micros = [100, 1_000, 10_000][(random.bits() % 3) as usize];
            let interval = Span::from_micros(micros);
            link.impairments.interrupts = Some(Interrupts { interval });
        }
    }
}

/// Draws the end of the run: a whole number of milliseconds, at which other events occur, or any
/// time.
fn end() -> impl Strategy<Value = Time> {
    prop_oneof![
        (20_u64..400).prop_map(|ms| Time::ZERO + Span::from_millis(ms)),
        (20_000_000_000_u64..400_000_000_000).prop_map(Time),
    ]
}

/// Draws a link of any kind, sometimes one that only delays packets.
pub(crate) fn link() -> impl Strategy<Value = LinkConfig> {
    prop_oneof![8 => link_with_rate(), 1 => link_with_rate().prop_map(|link| LinkConfig {
        observed: link.observed,
        ..LinkConfig::drop_tail(Rate::UNLIMITED, link.delay, Limit::Unlimited)
    })]
}

pub(crate) fn link_with_rate() -> impl Strategy<Value = LinkConfig> {
    // At 8 Mb/s, the transmission time of a byte is a microsecond; at 7 Mb/s, it is no whole number
    // of picoseconds.
    let rate = select(vec![
        8_000_000, 8_000_000, 8_000_000, 4_000_000, 1_000_000, 7_000_000,
    ]);
    let delay = select(vec![0, 0, 0, 100, 100, 500, 1000, 5000]);
    let plain = select(vec![0, 0, 0, 7, 100]).prop_map(Framing::bytes);
    let cells = select(vec![Cells::None, Cells::Atm, Cells::Ptm]).prop_map(|cells| Framing {
        overhead: 10,
        minimum: 64,
        cells,
    });
    let framing = prop_oneof![5 => plain, 1 => cells];
    let drop_list = prop_oneof![
        2 => Just(Vec::new()),
        1 => subsequence((0..24).collect::<Vec<u64>>(), 0..6),
    ];
    (
        rate,
        delay,
        framing,
        queue(),
        drop_list,
        loss(),
        impairments(),
        service(),
        (prop::bool::weighted(0.8), burst_gap()),
    )
        .prop_map(
            |(
                rate,
                delay,
                framing,
                (queue, pool),
                drop_list,
                loss,
                impairments,
                service,
                (observed, burst_gap),
            )| {
                LinkConfig {
                    name: String::new(),
                    rate: Rate(rate),
                    delay: Span::from_micros(delay),
                    burst_gap,
                    observed,
                    equipment: Arc::new(Equipment {
                        service,
                        framing,
                        queue,
                        pool,
                        drop_list,
                        loss,
                        impairments,
                        pause: None,
                        autorate: None,
                        opposite: None,
                        in_step: false,
                    }),
                }
            },
        )
}

/// Draws no gap, or a gap between zero and several round-trip times.
fn burst_gap() -> impl Strategy<Value = Option<Span>> {
    select(vec![None, Some(0), Some(1000), Some(10_000)])
        .prop_map(|micros| micros.map(Span::from_micros))
}

/// Draws a shared buffer that is large enough for the headroom of up to 40 links.
fn pool() -> impl Strategy<Value = PoolConfig> {
    let sharing = prop_oneof![
        Just(Sharing::Complete),
        Just(Sharing::Static),
        select(vec![0.25, 0.5, 1.0, 4.0]).prop_map(|alpha| Sharing::Dynamic { alpha }),
    ];
    let cells = select(vec![(1, 0), (1, 0), (80, 20)]);
    let drawn = (sharing, select(vec![0, 0, 100]), cells);
    drawn.prop_map(|(sharing, headroom, (cell, gap))| PoolConfig {
        name: "pool".to_owned(),
        capacity: 4_000,
        sharing,
        headroom,
        cell,
        gap,
    })
}

/// Draws a variable rate that often changes at the times of other events.
fn service() -> impl Strategy<Value = Option<ServiceConfig>> {
    let rate = || select(vec![0, 1_000_000, 4_000_000, 7_000_000, 8_000_000]).prop_map(Rate);
    let steps = prop::collection::vec((1_u64..30, rate()), 1..6);
    let trace = (rate(), steps, any::<bool>()).prop_map(|(first, steps, repeats)| {
        let mut time = Span::ZERO;
        let mut trace = vec![RateStep {
            at: time,
            rate: first,
        }];
        for (millis, rate) in steps {
            time += Span::from_millis(millis);
            trace.push(RateStep { at: time, rate });
        }
        ServiceConfig::Trace(RateTrace {
            steps: trace.into(),
            repeat: repeats.then_some(time + Span::from_micros(2_500)),
        })
    });
    let opportunities = prop::collection::vec(0_u32..4, 1..12).prop_map(|gaps| {
        let mut time = 0;
        let times = gaps.into_iter().map(|gap| {
            time += gap;
            time
        });
        let mut milliseconds: Vec<u32> = times.collect();
        milliseconds.push(milliseconds[milliseconds.len() - 1] + 1);
        ServiceConfig::Opportunities(DeliveryTrace::new(milliseconds))
    });
    let markov = (prop::collection::vec(rate(), 2..4), 0.0..1.0);
    let draw = prop_oneof![Just(None), markov.prop_map(Some)];
    let random = (select(vec![500, 2_000, 10_000]), draw).prop_map(|(micros, draw)| {
        let interval = Span::from_micros(micros);
        let Some((rates, stay)) = draw else {
            let (from, to) = (Rate(0), Rate(8_000_000));
            return ServiceConfig::Uniform(UniformRates { interval, from, to });
        };
        let rates = rates.into();
        ServiceConfig::Markov(MarkovRates {
            interval,
            rates,
            stay,
        })
    });
    let service = prop_oneof![trace, opportunities, random]
        .prop_filter("nothing ever passes", |service| {
            service.law().mean_rate(Span::from_secs(1)) > Rate(0)
        });
    prop_oneof![5 => Just(None), 1 => service.prop_map(Some)]
}

/// Draws a queue, and whether it uses the shared buffer.
fn queue() -> impl Strategy<Value = (QueueConfig, Option<u32>)> {
    let pool = || prop_oneof![5 => Just(None), 1 => Just(Some(0))];
    prop_oneof![
        5 => (limit().prop_map(QueueConfig::drop_tail), pool()),
        1 => (limit().prop_map(moody_queue), pool()),
        1 => (composed(), pool()),
        3 => (limit().prop_flat_map(any_queue), pool()),
    ]
}

/// Draws a shaper, classes or priorities around drop-tail and moody queues.
fn composed() -> impl Strategy<Value = QueueConfig> {
    let leaf = || {
        prop_oneof![
            3 => limit().prop_map(QueueConfig::drop_tail),
            1 => limit().prop_map(moody_queue),
        ]
    };
    let prio = prop::collection::vec(leaf(), 3).prop_map(|bands| {
        let map = PrioMap::LINUX;
        QueueConfig::Prio(PrioConfig { bands, map })
    });
    let inner = prop_oneof![2 => leaf(), 1 => prio.clone()];
    let peak = prop_oneof![
        2 => Just(None),
        1 => Just(Some(TbfPeak { rate: Rate(4_000_000), mtu: 1_000 })),
    ];
    let rate = select(vec![500_000, 1_000_000, 3_000_000]);
    let burst = select(vec![1_000, 1_500, 5_000]);
    let tbf = (rate, burst, peak, inner).prop_map(|(rate, burst, peak, inner)| {
        QueueConfig::Tbf(TbfConfig {
            rate: Rate(rate),
            burst,
            peak,
            inner: inner.into(),
        })
    });
    let htb = prop::collection::vec((leaf(), select(vec![1_u64, 2, 5]), 0_u8..2), 2..4);
    let htb = (htb, select(vec![1_000_000, 4_000_000]))
        .prop_map(|(leaves, rate)| QueueConfig::Htb(classes(Rate(rate), leaves)));
    prop_oneof![prio, tbf, htb]
}

/// Returns a line of this rate and classes below it, with queues, shares of the line and priorities.
fn classes(line: Rate, leaves: Vec<(QueueConfig, u64, u8)>) -> HtbConfig {
    let root = HtbClass {
        name: "line".to_owned(),
        rate: line,
        ..HtbClass::default()
    };
    let leaf = |(index, (queue, share, prio)): (usize, (QueueConfig, u64, u8))| HtbClass {
        name: index.to_string(),
        parent: root.name.clone(),
        count: share,
        rate: Rate(line.0 / 8),
        ceil: Some(line),
        quantum: Some(500 * share),
        prio,
        queue: Some(Box::new(queue)),
        ..HtbClass::default()
    };
    let leaves = leaves.into_iter().enumerate().map(leaf);
    HtbConfig {
        classes: std::iter::once(root.clone()).chain(leaves).collect(),
        ..HtbConfig::default()
    }
}

/// Draws losses of any kind, of a share of a unit's losses that lets some packets through.
fn loss() -> impl Strategy<Value = Option<LossConfig>> {
    let loss = (select(LossConfig::WORDS), any::<u64>()).prop_map(|(word, seed)| {
        let mut config = LossConfig::defaults(word);
        vary(&mut config, &mut RandomStream::new(seed, "loss", 0), |_| {
            true
        });
        let scale = match config.get("per") {
            Some(Value::Word("byte")) => 0.001,
            _ => 0.3,
        };
        for key in ["probability", "to_bad", "loss_good"] {
            if let Some(Value::Number(share)) = config.get(key) {
                config.set(key, Value::Number(share * scale));
            }
        }
        config
    });
    prop_oneof![5 => Just(None), 1 => loss.prop_map(Some)]
}

/// Draws impairments whose delays are often close to a transmission time, so that packets meet.
fn impairments() -> impl Strategy<Value = Impairments> {
    let law = prop_oneof![
        select(vec![0.0, 0.0001, 0.001]).prop_map(Law::Fixed),
        Just(Law::uniform(0.0, 0.002)),
        Just(Law::exponential(0.0005)),
    ];
    let every = select(vec![
        None,
        None,
        Some(Span::from_millis(1)),
        Some(Span::from_millis(30)),
    ]);
    let jitter = (law, any::<bool>(), every).prop_map(|(law, keeps_order, every)| Jitter {
        law,
        keeps_order,
        every,
    });
    let reorder = (0.0..0.3, select(vec![100, 1_000, 5_000])).prop_map(|(probability, micros)| {
        let delay = Span::from_micros(micros);
        Reorder { probability, delay }
    });
    let any_of = (
        prop::option::of(jitter),
        prop::option::of(reorder),
        prop::option::of(0.0..0.3),
    );
    let impairments = any_of.prop_map(|(jitter, reorder, duplicate)| Impairments {
        jitter,
        reorder,
        duplicate,
        interrupts: None,
    });
    prop_oneof![4 => Just(Impairments::default()), 1 => impairments]
}

pub(crate) fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        3 => (0_u64..12).prop_map(Limit::Packets),
        // The limits are whole multiples of packet sizes, or one byte less.
        3 => (0_u64..80, 0_u64..2).prop_map(|(hundreds, less)| {
            Limit::Bytes((100 * hundreds).saturating_sub(less))
        }),
        2 => Just(Limit::Unlimited),
    ]
}

pub(crate) fn flow(links: usize) -> impl Strategy<Value = FlowConfig> {
    let start = select(vec![0, 0, 0, 100, 1000, 3000]);
    // The code points stand for best effort, bulk and interactive traffic.
    let dscp = select(vec![0, 2, 4]);
    let routes = (route(links), route(links));
    (start, routes, dscp, workload(), interface()).prop_map(
        |(start, (forward, reverse), dscp, workload, interface)| FlowConfig {
            name: String::new(),
            group: 0,
            start: Time::ZERO + Span::from_micros(start),
            forward,
            reverse,
            hosts: Hosts::default(),
            dscp,
            between_losses: None,
            interface,
            stop: None,
            workload,
        },
    )
}

/// Draws interfaces whose times are close to those of transmissions and round trips.
fn interface() -> impl Strategy<Value = Option<Arc<InterfaceConfig>>> {
    let coalescing = select(vec![0, 0, 100, 1_000, 2_500]).prop_map(Span::from_micros);
    let jitter = prop_oneof![
        2 => Just(Law::Fixed(0.0)),
        1 => Just(Law::Fixed(0.0001)),
        1 => Just(Law::uniform(0.0, 0.001)),
    ];
    let interface = (any::<bool>(), coalescing, jitter).prop_map(
        |(super_segments, receive_coalescing, send_jitter)| {
            Arc::new(InterfaceConfig {
                super_segments,
                receive_coalescing,
                send_jitter,
            })
        },
    );
    prop_oneof![2 => Just(None), 1 => interface.prop_map(Some)]
}

/// Draws a route of one to four distinct links in any order.
pub(crate) fn route(links: usize) -> impl Strategy<Value = Vec<LinkId>> {
    subsequence((0..links as u32).collect::<Vec<_>>(), 1..=links.min(4))
        .prop_shuffle()
        .prop_map(|route| route.into_iter().map(LinkId).collect())
}

fn workload() -> impl Strategy<Value = WorkloadConfig> {
    let interval = || select(vec![200, 500, 1000, 1000, 2000]).prop_map(Span::from_micros);
    let packet = || select(vec![100_u32, 200, 500, 1000]);
    let sizes = prop_oneof![
        packet().prop_map(PacketSize::Fixed),
        (40.0..2000.0).prop_map(PacketSize::Exponential),
    ];
    prop_oneof![
        3 => (tcp(), prop::option::of(1_u64..30_000)).prop_map(|(tcp, bytes)| {
            WorkloadConfig::bulk(Arc::new(tcp), bytes)
        }),
        1 => (tcp(), prop::option::of(1_u64..30_000), echo()).prop_map(|(tcp, bytes, reply)| {
            WorkloadConfig::Stream { tcp: Arc::new(tcp), stream: StreamConfig::Echo { bytes, reply } }
        }),
        1 => (updates(), updates(), 0_u64..4).prop_map(|(client, server, ms)| {
            let deadline = Span::from_millis(ms);
            let ((interval, packet), (server_interval, server_packet)) = (client, server);
            WorkloadConfig::Source(SourceConfig::Game(GameConfig {
                interval,
                packet,
                server_interval,
                server_packet,
                deadline,
            }))
        }),
        1 => (tcp(), session()).prop_map(|(tcp, session)| {
            WorkloadConfig::Session { tcp: Arc::new(tcp), session: Arc::new(session) }
        }),
        1 => (interval(), packet(), select(vec![0.0, 0.5])).prop_map(|(interval, packet, spread)| {
            WorkloadConfig::Source(SourceConfig::ConstantBitRate { interval, packet, spread })
        }),
        1 => (interval(), sizes).prop_map(|(mean_interval, packet)| {
            WorkloadConfig::Source(SourceConfig::Poisson { mean_interval, packet })
        }),
        1 => (interval(), 1_u32..9, packet()).prop_map(|(mean_interval, packets, packet)| {
            WorkloadConfig::Source(SourceConfig::Bursts { mean_interval, packets, packet })
        }),
        1 => (interval(), packet(), 0_u64..4).prop_map(|(interval, packet, ms)| {
            let playout = Span::from_millis(ms);
            let voice = VoiceConfig { interval, packet, playout, ..VoiceConfig::default() };
            WorkloadConfig::Source(SourceConfig::Voice(voice))
        }),
        1 => (interval(), packet(), seconds(), seconds()).prop_map(|(interval, packet, on, off)| {
            WorkloadConfig::Source(SourceConfig::OnOff { interval, packet, on, off })
        }),
        1 => (interval(), packet()).prop_map(|(interval, packet)| {
            WorkloadConfig::Source(SourceConfig::Ping { interval, packet })
        }),
    ]
}

fn echo() -> impl Strategy<Value = EchoReply> {
    prop_oneof![
        (1_u64..2_000).prop_map(EchoReply::Bytes),
        (0.001..1.0).prop_map(EchoReply::Share),
    ]
}

fn updates() -> impl Strategy<Value = (Span, Law)> {
    let interval = select(vec![500, 1000, 2000]).prop_map(Span::from_micros);
    let packet = prop_oneof![Just(Law::Fixed(100.0)), Just(Law::uniform(0.0, 400.0)),];
    (interval, packet)
}

const FAST_OPEN: [FastOpen; 3] = [FastOpen::Off, FastOpen::Request, FastOpen::Cookie];
const ECN: [EcnMode; 4] = [
    EcnMode::Off,
    EcnMode::Rfc3168,
    EcnMode::AccEcn,
    EcnMode::AccEcn,
];
const ACCECN: [AccEcnReports; 2] = [AccEcnReports::Minimum, AccEcnReports::Full];

/// Draws every profile with random settings: the engines must agree for every TCP.
pub(crate) fn tcp() -> impl Strategy<Value = TcpConfig> {
    let profile = select(vec![
        Profile::Rfc,
        Profile::Rfc,
        Profile::Inet2011,
        Profile::Ns2,
    ]);
    let congestion_control = prop_oneof![
        Just(CongestionControlConfig::Reno),
        (0.1..2.0, 0.1..0.9)
            .prop_map(|(alpha, beta)| CongestionControlConfig::Gaimd(GaimdConfig { alpha, beta })),
    ];
    let recovery = select(vec![
        Recovery::Tahoe,
        Recovery::Reno,
        Recovery::NewReno,
        Recovery::Sack,
    ]);
    let sizes = (
        select(vec![60_u32, 160, 460, 960]),
        500_u64..100_000,
        1..11_u32,
    );
    // The times are close to the round-trip time, so that timers matter in a short run.
    let times = (1_u64..50, 1_u64..50, select(vec![200_u64, 1000, 40_000]));
    let switches = any::<[bool; 6]>();
    (
        profile,
        congestion_control,
        recovery,
        sizes,
        times,
        1..4_u32,
        switches,
    )
        .prop_map(
            |(profile, congestion_control, recovery, sizes, times, ack_every, on)| {
                let base = TcpConfig::profile(profile);
                TcpConfig {
                    congestion_control,
                    recovery,
                    mss: sizes.0,
                    receive_window: sizes.1,
                    initial_window: InitialWindow::Segments(sizes.2),
                    rto: RtoConfig {
                        initial: Span::from_millis(times.0),
                        minimum: Span::from_millis(times.1),
                        ..base.rto
                    },
                    delayed_ack_timeout: Span::from_micros(times.2),
                    ack_every,
                    window_scaling: on[0],
                    byte_counting: on[1],
                    limited_transmit: on[2],
                    nagle: on[3],
                    option_bytes: on[4],
                    fast_open: FAST_OPEN[(sizes.2 % 3) as usize],
                    ecn: ECN[usize::from(on[5]) * ack_every as usize],
                    accecn_option: ACCECN[(ack_every % 2) as usize],
                    ..base
                }
            },
        )
}
