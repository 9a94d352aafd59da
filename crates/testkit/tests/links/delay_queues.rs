//! Queue disciplines that control a delay or mark at a threshold, with the TCP that they were
//! designed for.

use goodqueue_queue::{CodelConfig, DualPi2Config, Limit, PieConfig, QueueConfig, StepConfig};
use goodqueue_sim::{Distribution, Network, Outcome, WorkloadConfig, run};
use goodqueue_tcp::cc::{CubicConfig, DctcpConfig};
use goodqueue_tcp::{CongestionControlConfig, EcnMode, Profile, TcpConfig};
use goodqueue_testkit::dumbbell::Dumbbell;
use goodqueue_types::{DropReason, Rate, Span, Time};
use std::sync::Arc;

const MEGABIT: u64 = 1_000_000;
const MILLI: Span = Span::from_millis(1);

fn bulk(tcp: TcpConfig) -> WorkloadConfig {
    WorkloadConfig::bulk(Arc::new(tcp), None)
}

fn classic(congestion_control: CongestionControlConfig) -> WorkloadConfig {
    bulk(TcpConfig {
        congestion_control,
        mss: 1448,
        receive_window: 4_000_000,
        ..TcpConfig::profile(Profile::Rfc)
    })
}

/// Returns a DCTCP flow. With `l4s`, its data are marked for the low-latency queue.
fn dctcp(l4s: bool) -> WorkloadConfig {
    bulk(TcpConfig {
        congestion_control: CongestionControlConfig::Dctcp(DctcpConfig::default()),
        ecn: EcnMode::Dctcp,
        l4s,
        mss: 1448,
        receive_window: 4_000_000,
        ..TcpConfig::profile(Profile::Rfc)
    })
}

/// Returns a network of these flows, which start a tenth of a second apart, on a bottleneck of
/// `megabits` Mb/s.
fn network(
    queue: QueueConfig,
    megabits: u64,
    round_trip: Span,
    length: Span,
    flows: Vec<WorkloadConfig>,
) -> Network {
    let dumbbell = Dumbbell {
        seed: 1,
        rate: Rate(megabits * MEGABIT),
        access_rate: Rate(100 * megabits * MEGABIT),
        limit: Limit::Packets(1000),
        round_trip,
        warmup: Time::ZERO + length / 4,
        end: Time::ZERO + length,
    };
    let flows = flows.into_iter().enumerate();
    let start = |index| Time::ZERO + Span::from_millis(100) * index as u64;
    let mut network = dumbbell.network(flows.map(|(index, flow)| (start(index), flow)).collect());
    network.links[0].queue = queue;
    network
}

fn goodput(outcome: &Outcome, flows: std::ops::Range<usize>) -> f64 {
    let count = flows.len() as f64;
    outcome.flows[flows]
        .iter()
        .map(|flow| flow.goodput_bps)
        .sum::<f64>()
        / count
}

#[test]
fn codel_holds_a_few_flows_near_its_target() {
    for config in [
        CodelConfig::linux(Limit::Packets(1000)),
        CodelConfig::rfc8289(Limit::Packets(1000)),
    ] {
        let flows = vec![classic(CongestionControlConfig::Reno); 4];
        let queue = QueueConfig::Codel(config);
        let outcome = run(&network(queue, 20, MILLI * 50, MILLI * 60_000, flows));
        let link = &outcome.links[0];
        let delay = link.queueing_delay_s.mean.unwrap();
        let target = config.codel.target.as_secs_f64();
        println!("CoDel: {delay} s, {} busy", link.utilization);
        assert!((0.5 * target..1.5 * target).contains(&delay), "{delay}");
        assert!(link.utilization > 0.95, "{}", link.utilization);
        let exceeded = link.drops_by[DropReason::TargetExceeded as usize];
        assert!(link.drops > 0 && link.drops == exceeded);
    }
}

#[test]
fn pie_holds_ten_flows_near_its_target() {
    for config in [
        PieConfig::linux(Limit::Packets(1000)),
        PieConfig::rfc8033(Limit::Packets(1000)),
        PieConfig::ns3(Limit::Packets(1000)),
    ] {
        let flows = vec![classic(CongestionControlConfig::Reno); 10];
        let queue = QueueConfig::Pie(config);
        let outcome = run(&network(queue, 20, MILLI * 50, MILLI * 60_000, flows));
        let link = &outcome.links[0];
        let delay = link.queueing_delay_s.mean.unwrap();
        let target = config.pie.target.as_secs_f64();
        println!("PIE: {delay} s, {} busy", link.utilization);
        assert!((0.75 * target..1.25 * target).contains(&delay), "{delay}");
        assert!(link.utilization > 0.98, "{}", link.utilization);
        let early = link.drops_by[DropReason::Early as usize];
        assert!(link.drops > 0 && link.drops == early);
    }
}

/// "Data Center TCP (DCTCP)", section 3.3: the queue of N synchronised flows oscillates between K +
/// N - A and K + N packets, with A = sqrt(2 N (C RTT + K)) / 2, and the link stays busy if K is
/// above C RTT / 7.
#[test]
fn dctcp_keeps_its_queue_near_the_threshold_and_loses_nothing() {
    const K: u64 = 65;
    for flows in [2, 8] {
        let step = QueueConfig::Step(StepConfig {
            limit: Limit::Packets(500),
            threshold: Limit::Packets(K),
        });
        let round_trip = MILLI * 3 / 10;
        let network = network(
            step,
            10_000,
            round_trip,
            MILLI * 800,
            vec![dctcp(false); flows],
        );
        let outcome = run(&network);
        let (link, flows) = (&outcome.links[0], flows as f64);
        let in_flight = 10e9 * round_trip.as_secs_f64() / (1500.0 * 8.0);
        let amplitude = 0.5 * (2.0 * flows * (in_flight + K as f64)).sqrt();
        let highest = K as f64 + flows;
        println!(
            "step: {:?}, {amplitude} below {highest}",
            link.backlog_packets
        );
        let (mean, most) = (link.backlog_packets.mean, link.backlog_packets.p99);
        assert!((highest - amplitude..highest).contains(&mean.unwrap()));
        // An ACK of two segments releases two.
        assert!(most.unwrap() <= highest + 2.0);
        assert!(link.utilization > 0.999, "{}", link.utilization);
        assert!(link.drops == 0 && link.marks > 0);
    }
}

/// Returns the throughput of a scalable flow relative to that of a classic flow; p' is the
/// controller's probability and k = 2.
///
/// DCTCP (RFC 8257): between two reductions there are a round trip and, at random marks of a share
/// p, 1/p packets. In windows W, with x = pW, the window grows by 1 + 1/x segments between them and
/// falls by αW/2 = x/2, so x² = 2x + 2 and W = (1 + √3)/p. Here p = kp' (RFC 9332 section 2.1).
/// Reno, and CUBIC in its Reno-friendly region: W = √(3/2)/p', since the drop probability is p'²
/// (Mathis and others 1997; RFC 9438 section 4.3). Rates are windows divided by round-trip times.
fn share_expected(scalable_rtt: f64, classic_rtt: f64) -> f64 {
    let coupling = 2.0;
    let windows = (1.0 + 3.0_f64.sqrt()) / (coupling * 1.5_f64.sqrt());
    windows * classic_rtt / scalable_rtt
}

/// The rates follow from the control laws of both flows. Packets of the scalable flow wait for less
/// than a millisecond on average and two at the 99th percentile (RFC 9330 section 1), while those
/// of the classic flow wait for the target of fifteen milliseconds.
#[test]
fn dualpi2_shares_by_the_laws_of_both_and_keeps_low_latency_low() {
    for control in [
        CongestionControlConfig::Reno,
        CongestionControlConfig::Cubic(CubicConfig::default()),
    ] {
        for each in [1, 3] {
            let queue = QueueConfig::DualPi2(DualPi2Config::linux(Limit::Packets(10_000)));
            let mut flows = vec![dctcp(true); each];
            flows.extend(vec![classic(control.clone()); each]);
            let base = MILLI * 20;
            let outcome = run(&network(queue, 50, base, MILLI * 60_000, flows));
            let ratio = goodput(&outcome, 0..each) / goodput(&outcome, each..2 * each);
            let waits = |flow: usize, quantile: fn(&Distribution) -> Option<f64>| {
                quantile(&outcome.flows[flow].rtt_s).unwrap() - base.as_secs_f64()
            };
            let (mean, most) = (waits(0, |rtt| rtt.mean), waits(0, |rtt| rtt.p99));
            let classic = waits(each, |rtt| rtt.mean);
            println!("DualPI2: ratio {ratio}, waits {mean}, {most} and {classic} s");
            let expected = share_expected(base.as_secs_f64() + mean, base.as_secs_f64() + classic);
            assert!((ratio / expected - 1.0).abs() < 0.2, "{ratio} {expected}");
            assert!(mean < 0.001 && most < 0.002, "{mean} {most}");
            assert!((0.010..0.020).contains(&classic), "{classic}");
            assert!(outcome.links[0].utilization > 0.98);
        }
    }
}
