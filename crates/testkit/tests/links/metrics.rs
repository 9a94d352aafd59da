//! Results of runs, compared with values computed by hand on networks of a few links.

use goodqueue_queue::{Limit, QueueConfig};
use goodqueue_sim::{
    FlowConfig, LinkConfig, Metric, Network, Outcome, Record, SourceConfig, WorkloadConfig, run,
};
use goodqueue_tcp::{Profile, TcpConfig};
use goodqueue_testkit::{compare, run_reference};
use goodqueue_types::{Hosts, LinkId, Rate, Span, Time};
use std::sync::Arc;

/// Returns an observed link of 1 Mb/s and 10 ms, on which 1000 bytes take 8 ms.
fn link() -> LinkConfig {
    LinkConfig {
        observed: true,
        burst_gap: Some(Span::from_millis(20)),
        ..LinkConfig::drop_tail(Rate(1_000_000), Span::from_millis(10), Limit::Unlimited)
    }
}

/// Returns a flow over the first link whose reverse route is the second link.
fn flow(start: Span, workload: WorkloadConfig) -> FlowConfig {
    FlowConfig {
        name: String::new(),
        group: 0,
        start: Time::ZERO + start,
        forward: vec![LinkId(0)],
        reverse: vec![LinkId(1)],
        hosts: Hosts::default(),
        dscp: 0,
        between_losses: None,
        interface: None,
        stop: None,
        workload,
    }
}

/// Returns a source that sends 1000 bytes every `millis` milliseconds.
fn every(millis: u64) -> WorkloadConfig {
    WorkloadConfig::Source(SourceConfig::ConstantBitRate {
        interval: Span::from_millis(millis),
        packet: 1000,
        spread: 0.0,
    })
}

/// Runs both engines for `end` milliseconds, measured from `warmup`, and checks that they agree.
fn measured(links: Vec<LinkConfig>, flows: Vec<FlowConfig>, warmup: u64, end: u64) -> Outcome {
    let network = Network {
        seed: 1,
        end: Time::ZERO + Span::from_millis(end),
        warmup: Time::ZERO + Span::from_millis(warmup),
        links,
        pools: Vec::new(),
        flows,
        record: Record::default(),
    };
    let outcome = run(&network);
    assert_eq!(compare(&outcome, &run_reference(&network)), Ok(()));
    outcome
}

#[test]
fn a_drop_list_gives_the_bursts_that_it_names() {
    let mut links = vec![link(), link()];
    links[0].drop_list = vec![10, 11, 12, 500];
    // The packets come every 10 ms, which is less than the 20 ms within which losses belong to one
    // burst.
    let flows = vec![flow(Span::ZERO, every(10))];
    let outcome = measured(links, flows, 0, 10_000);
    let bursts = outcome.links[0].loss_bursts.expect("there is a gap");
    assert_eq!((bursts.count, bursts.packets.mean), (2, Some(2.0)));
    assert_eq!(
        (bursts.packets.p50, bursts.packets.max),
        (Some(1.0), Some(3.0))
    );
    assert_eq!(
        (bursts.mean_flows_hit, bursts.synchronization),
        (Some(1.0), None)
    );
    // 1001 packets are sent from 0 to 10 s. Four of them are lost, and the last one only begins its
    // transmission.
    let busy = outcome.links[0].busy_periods;
    assert_eq!(
        (busy.count, busy.mean_s, busy.max_s),
        (996, Some(0.008), Some(0.008))
    );
    assert_eq!(outcome.links[0].shares, [(0, 1.0)]);
}

#[test]
fn groups_share_a_link_by_their_bytes() {
    let mut flows = vec![
        flow(Span::ZERO, every(20)),
        flow(Span::from_millis(1), every(60)),
    ];
    flows[1].group = 1;
    flows.push(flow(Span::from_millis(2), every(20)));
    flows[2].group = 2;
    let outcome = measured(vec![link(), link()], flows, 600, 6_600);
    // The shares are 3 to 1 to 3 over whole cycles.
    let shares = &outcome.links[0].shares;
    for ((group, share), expected) in shares.iter().zip([3.0, 1.0, 3.0]) {
        assert!((share - expected / 7.0).abs() < 1e-12, "{group}: {share}");
    }
    assert_eq!(shares.len(), 3);
    // Three packets at 0, 1 and 2 ms take 24 ms from time 0. Two more at 20 and 22 ms extend this
    // to 40 ms, and two at 40 and 42 ms to 56 ms: the transmitter does not pause before.
    assert_eq!(outcome.links[1].busy_periods.count, 0);
    let busy = outcome.links[0].busy_periods;
    assert_eq!((busy.count, busy.max_s), (100, Some(0.056)));
}

/// Alone on the link, every packet takes 18 ms. With two synchronised sources, the one that starts
/// 3 ms later waits for 5 ms each time.
#[test]
fn delays_of_steady_sources_do_not_vary() {
    let later = Span::from_millis(3);
    let flows = vec![flow(Span::ZERO, every(20)), flow(later, every(20))];
    let outcome = measured(vec![link(), link()], flows, 100, 2_100);
    for (flow, delay) in outcome.flows.iter().zip([0.018, 0.023]) {
        let one_way = flow.one_way();
        let delays = [one_way.min_s, one_way.delay_s.mean, one_way.delay_s.max];
        assert_eq!(delays, [Some(delay); 3]);
        assert_eq!(
            (one_way.p99_pdv_s, one_way.p999_pdv_s),
            (Some(0.0), Some(0.0))
        );
        assert_eq!(
            (one_way.ipdv_s.mean, one_way.ipdv_s.max),
            (Some(0.0), Some(0.0))
        );
    }
}

/// One source sends every 40 ms and another every 20 ms. A packet of the second finds alternately a
/// frame with 5 ms left to transmit, and an idle link.
#[test]
fn delays_vary_by_the_remaining_transmission_of_another_frame() {
    let later = Span::from_millis(3);
    let flows = vec![flow(Span::ZERO, every(40)), flow(later, every(20))];
    let outcome = measured(vec![link(), link()], flows, 100, 2_100);
    let one_way = outcome.flows[1].one_way();
    assert_eq!(
        (one_way.min_s, one_way.delay_s.max),
        (Some(0.018), Some(0.023))
    );
    assert_eq!(one_way.delay_s.mean, Some(0.0205));
    // The tolerance is the width of the bin of 13 ms, which is the part above the propagation
    // delay.
    for pdv in [one_way.p99_pdv_s, one_way.p999_pdv_s] {
        assert!((pdv.expect("packets") - 0.005).abs() < 0.013 / 64.0);
    }
    assert_eq!(
        (one_way.ipdv_s.mean, one_way.ipdv_s.max),
        (Some(0.005), Some(0.005))
    );
}

/// A ping of 1000 bytes has a round-trip time of 36 ms, or of 41 ms if a frame is in transmission.
#[test]
fn a_ping_measures_the_latency_under_load() {
    let ping = WorkloadConfig::Source(SourceConfig::Ping {
        interval: Span::from_millis(40),
        packet: 1000,
    });
    let flows = vec![
        flow(Span::from_millis(3), ping),
        flow(Span::ZERO, every(40)),
    ];
    let outcome = measured(vec![link(), link()], flows, 100, 2_100);
    let metrics: Vec<_> = outcome.flows[0].app.metrics.iter().collect();
    let figure = |name: &str| {
        let metric = metrics.iter().find(|(other, _)| *other == name);
        match metric.expect("such a figure").1 {
            Metric::Number(number) => number.expect("a sample"),
            _ => panic!("{name} is a number"),
        }
    };
    assert!((figure("unloaded_rtt_s") - 0.036).abs() < 1e-12);
    // The value is 5 ms within the width of the bin of 41 ms.
    assert!((figure("p50_latency_under_load_s") - 0.005).abs() < 0.041 / 64.0);
    assert!((figure("round_trips_per_minute") - 60.0 / 0.041).abs() < 1e-6);
    let back = outcome.flows[0].one_way_back();
    assert_eq!((back.min_s, back.delay_s.max), (Some(0.018), Some(0.018)));
}

/// A second flow that begins in the middle is excluded until it starts.
#[test]
fn equal_flows_share_fairly() {
    let tcp = Arc::new(TcpConfig::profile(Profile::Rfc));
    let bulk = || WorkloadConfig::bulk(tcp.clone(), None);
    let mut links = vec![link(), link()];
    links[0].queue = QueueConfig::drop_tail(Limit::Packets(20));
    let flows = vec![flow(Span::ZERO, bulk()), flow(Span::from_millis(7), bulk())];
    let outcome = measured(links.clone(), flows, 20_000, 120_000);
    let fairness = outcome.links[0].fairness;
    let [one, two] = [0, 1].map(|flow: usize| outcome.flows[flow].goodput_bps);
    let index = fairness.index.expect("two flows");
    let expected = (one + two).powi(2) / (2.0 * (one * one + two * two));
    assert!((index - expected).abs() < 1e-12, "{index} {expected}");
    let (mean, min) = (fairness.mean.expect("two"), fairness.min.expect("two"));
    assert!(min >= 0.5 && min < mean && mean <= 1.0, "{min} {mean}");
    assert!((fairness.interval_s - 1.0).abs() < 1e-12);
    let late = vec![
        flow(Span::ZERO, bulk()),
        flow(Span::from_millis(70_000), bulk()),
    ];
    let fairness = measured(links, late, 20_000, 120_000).links[0].fairness;
    assert!(fairness.index.is_none() && fairness.mean.is_some());
}
