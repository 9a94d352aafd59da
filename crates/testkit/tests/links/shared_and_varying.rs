//! Shared buffers, shapers and variable rates in a run, compared with closed-form results.

use goodqueue_queue::{HeadDropConfig, Limit, QueueConfig, Sharing, TbfConfig, TbfPeak};
use goodqueue_sim::{
    DeliveryTrace, FlowConfig, LinkConfig, Network, PacketSize, PoolConfig, RateStep, RateTrace,
    Record, ServiceConfig, SourceConfig, WorkloadConfig, run,
};
use goodqueue_testkit::dumbbell::link;
use goodqueue_testkit::{compare, run_reference};
use goodqueue_types::{Hosts, LinkId, PacketEventKind, RandomStream, Rate, Span, Time};

/// Returns a network with one source for each of these links and a common reverse link.
fn network(links: Vec<LinkConfig>, workload: &WorkloadConfig, seconds: u64) -> Network {
    let back = LinkId(links.len() as u32);
    let flows = (0..back.0).map(|index| FlowConfig {
        name: format!("source {index}"),
        group: index,
        start: Time::ZERO,
        forward: vec![LinkId(index)],
        reverse: vec![back],
        hosts: Hosts::default(),
        dscp: 0,
        between_losses: None,
        interface: None,
        stop: None,
        workload: workload.clone(),
    });
    let flows = flows.collect();
    let mut links = links;
    links.push(link("back", Rate(8_000_000), Span::ZERO, Limit::Unlimited));
    Network {
        seed: 1,
        warmup: Time::ZERO,
        end: Time::ZERO + Span::from_secs(seconds),
        links,
        pools: Vec::new(),
        flows,
        record: Record {
            series: false,
            packets: true,
            tcp_delays: true,
        },
    }
}

/// Returns an observed link on which 1000 bytes take a millisecond.
fn observed() -> LinkConfig {
    let mut link = link("link", Rate(8_000_000), Span::ZERO, Limit::Unlimited);
    link.observed = true;
    link
}

fn every_micros(micros: u64, packet: u32) -> WorkloadConfig {
    WorkloadConfig::Source(SourceConfig::ConstantBitRate {
        interval: Span::from_micros(micros),
        packet,
        spread: 0.0,
    })
}

/// Returns the transmissions of link 0 as (begin, bytes), from the recorded events.
fn transmissions(network: &Network) -> Vec<(Time, u64)> {
    let packets = run(network).packets;
    let started = packets.iter().filter_map(|event| match event.kind {
        PacketEventKind::ServiceStarted(LinkId(0), _) => Some((event.time, event.packet.size)),
        _ => None,
    });
    started
        .map(|(time, size)| (time, u64::from(size)))
        .collect()
}

/// Choudhury and Hahne: N saturated ports hold αB/(1 + Nα) each, here to within one frame.
#[test]
fn overloaded_links_hold_their_share_of_a_buffer() {
    for alpha in [0.5, 1.0, 4.0] {
        for ports in [1, 2, 5] {
            let (capacity, headroom) = (100_000, 2_000);
            let mut link = observed();
            link.pool = Some(0);
            let links = vec![link; ports];
            // The sources send at twice the rate of the links. At 10 Mb/s and more, 100 kB fill
            // within a tenth of a second.
            let mut network = network(links, &every_micros(500, 1_000), 3);
            network.warmup = Time::ZERO + Span::from_secs(1);
            network.pools.push(PoolConfig {
                name: "pool".to_owned(),
                capacity,
                sharing: Sharing::Dynamic { alpha },
                headroom,
                cell: 1,
                gap: 0,
            });
            let outcome = run(&network);
            let n = ports as f64;
            let shared = capacity as f64 - n * headroom as f64;
            let share = headroom as f64 + alpha * shared / (1.0 + n * alpha);
            for link in &outcome.links {
                let held = link.backlog_bytes.mean.expect("time has passed");
                assert!(
                    (held - share).abs() <= 1_000.0,
                    "α {alpha}, N {ports}: {held}, not {share}"
                );
            }
            let pool = &outcome.pools[0].occupancy_bytes;
            let (mean, most) = (pool.mean.expect("as above"), pool.max.expect("as above"));
            assert!((mean - n * share).abs() <= n * 1_000.0, "{mean}");
            assert!(most <= capacity as f64, "{most}");
        }
    }
}

/// A burst of five packets crosses two links that share a buffer. The first of these links takes
/// two milliseconds for a packet, and one arrives each millisecond. At 5 ms packet 1 reaches the
/// second link and packet 4 the first, while packet 3 waits. A buffer of two packets has room for
/// both if the packet with the lower number comes first: it books its bytes and leaves at once. In
/// the other order packet 1 finds the buffer full.
#[test]
fn packets_of_a_burst_reach_the_links_of_a_shared_buffer_in_order() {
    let burst = WorkloadConfig::Source(SourceConfig::Bursts {
        mean_interval: Span::from_secs(1),
        packets: 5,
        packet: 1_000,
    });
    let mut links = vec![observed(); 3];
    links[1].rate = Rate(4_000_000);
    links[1].pool = Some(0);
    links[2].pool = Some(0);
    // This queue books a packet that finds the link idle. A drop-tail queue does not.
    let limit = Limit::Unlimited;
    links[2].queue = QueueConfig::HeadDrop(HeadDropConfig { limit });
    let mut network = network(links, &burst, 10);
    network.flows.truncate(1);
    network.flows[0].forward = vec![LinkId(0), LinkId(1), LinkId(2)];
    for (capacity, loses) in [(2_000, false), (1_999, true)] {
        network.pools = vec![PoolConfig {
            name: "pool".to_owned(),
            capacity,
            sharing: Sharing::Complete,
            headroom: 0,
            cell: 1,
            gap: 0,
        }];
        let outcome = run(&network);
        let totals = &outcome.totals;
        assert!(totals.delivered > 20, "{totals:?}");
        assert_eq!(totals.dropped > 0, loses, "{totals:?}");
        assert_eq!(compare(&outcome, &run_reference(&network)), Ok(()));
    }
}

/// In any interval, a shaper passes no more bytes than its burst and the bytes of its rate
/// together. Under overload, it passes no less than its rate.
#[test]
fn a_shaper_lets_out_its_burst_and_its_rate_and_no_more() {
    let poisson = |micros| {
        WorkloadConfig::Source(SourceConfig::Poisson {
            mean_interval: Span::from_micros(micros),
            packet: PacketSize::Exponential(700.0),
        })
    };
    // The shaper has a rate of 2 Mb/s, bursts of 70 kB at up to 6 Mb/s, and a link of 100 Mb/s.
    let (rate, burst, peak) = (
        2e6,
        70_000.0,
        TbfPeak {
            rate: Rate(6_000_000),
            mtu: 66_000,
        },
    );
    for (micros, overload) in [(5_000, false), (1_500, true)] {
        for peak in [None, Some(peak)] {
            let shaper = TbfConfig {
                rate: Rate(2_000_000),
                burst: 70_000,
                peak,
                inner: QueueConfig::drop_tail(Limit::Unlimited).into(),
            };
            let mut limited = observed();
            limited.rate = Rate(100_000_000);
            limited.queue = QueueConfig::Tbf(shaper);
            let sent = transmissions(&network(vec![limited], &poisson(micros), 10));
            let mut bounds = vec![(rate, burst)];
            bounds.extend(peak.map(|peak| (peak.rate.0 as f64, peak.mtu as f64)));
            for (rate, burst) in bounds {
                // The level of the token bucket at each transmission is never negative.
                let mut tokens: f64 = burst;
                let mut fewest = burst;
                let mut last = Time::ZERO;
                for (time, bytes) in &sent {
                    tokens = burst.min(tokens + rate / 8.0 * (*time - last).as_secs_f64());
                    tokens -= *bytes as f64;
                    fewest = fewest.min(tokens);
                    last = *time;
                }
                assert!(fewest > -1e-3, "{fewest}");
            }
            let total: u64 = sent.iter().map(|(_, bytes)| bytes).sum();
            let full = burst + 10.0 * rate / 8.0;
            assert_eq!(
                total as f64 > full - 10_000.0,
                overload,
                "{total} of {full}"
            );
        }
    }
}

/// D/D/1 with a pause: after an outage of T at load ρ, the backlog is λT, and it has drained T ρ/(1
/// − ρ) later.
#[test]
fn an_outage_causes_the_computed_backlog_and_delay() {
    let seconds = |s: f64| Span::from_secs_f64(s);
    let mut link = observed();
    link.service = Some(ServiceConfig::Trace(RateTrace {
        steps: [
            (Span::ZERO, Rate(8_000_000)),
            (seconds(1.0), Rate(0)),
            (seconds(1.5), Rate(8_000_000)),
        ]
        .map(|(at, rate)| RateStep { at, rate })
        .into(),
        repeat: None,
    }));
    // 1000 bytes arrive every 1.25 ms, so ρ = 0.8. 400 packets arrive in half a second, and the
    // backlog has drained at 3.5 s.
    let network = network(vec![link], &every_micros(1_250, 1_000), 5);
    let outcome = run(&network);
    let link = &outcome.links[0];
    let most = link.backlog_packets.max.expect("time has passed");
    assert!((most - 400.0).abs() <= 1.0, "{most}");
    let longest = link.queueing_delay_s.max.expect("as above");
    assert!((longest - 0.5).abs() < 0.002, "{longest}");
    // The integral of the triangle is 400 packets · (0.5 s + 2 s) / 2, over 5 s.
    let mean = link.backlog_packets.mean.expect("as above");
    assert!((mean - 100.0).abs() < 1.0, "{mean}");
    // The link transmits 4000 packets in 4.5 s at 1000 packets per second.
    assert!((link.utilization - 4.0 / 4.5).abs() < 1e-3);
}

/// On a saturated link with a trace of delivery opportunities, the last byte of the k-th packet
/// leaves with the opportunity that completes the bytes of k packets.
#[test]
fn a_saturated_trace_delivers_by_counting_opportunities() {
    let mut random = RandomStream::new(5, "test", 0);
    let mut time = 1;
    let milliseconds: Vec<u32> = (0..200)
        .map(|_| {
            time += (random.bits() % 4) as u32;
            time
        })
        .collect();
    // These are the opportunities of all repetitions of the trace, in milliseconds.
    let rounds = (0..).flat_map(|round| milliseconds.iter().map(move |at| round * time + at));
    for size in [400, 1_504, 4_000] {
        let mut link = observed();
        link.service = Some(ServiceConfig::Opportunities(DeliveryTrace::new(
            milliseconds.as_slice(),
        )));
        // A packet every 10 µs exceeds the capacity of the trace.
        let network = network(vec![link], &every_micros(10, size), 2);
        let packets = run(&network).packets;
        let delivered = packets.iter().filter_map(|event| match event.kind {
            PacketEventKind::Delivered => Some(event.time.0 / 1_000_000_000),
            _ => None,
        });
        let delivered: Vec<u64> = delivered.collect();
        assert!(delivered.len() > 300, "{}", delivered.len());
        let opportunities: Vec<u32> = rounds.clone().take(20_000).collect();
        for (k, at) in delivered.iter().enumerate() {
            let bytes = (k as u64 + 1) * u64::from(size);
            let needed = bytes.div_ceil(1_504) as usize;
            assert_eq!(
                *at,
                u64::from(opportunities[needed - 1]),
                "packet {k} of {size} B"
            );
        }
    }
}
