use super::*;
use crate::{FlowConfig, LinkConfig, PacketSize, Record, SourceConfig, WorkloadConfig};
use goodqueue_queue::Limit;
use goodqueue_types::{Hosts, LinkId, PacketEvent, PacketSink, Rate, Span};

fn link(name: &str, rate: u64, limit: Limit) -> LinkConfig {
    LinkConfig {
        name: name.to_owned(),
        observed: true,
        ..LinkConfig::drop_tail(Rate(rate), Span::from_millis(10), limit)
    }
}

/// Returns two sources of 0.8 Mb/s each and a ping over a link of 1 Mb/s, with a fast link back.
fn network() -> Network {
    let flow = |name: &str, workload| FlowConfig {
        name: name.to_owned(),
        group: 0,
        start: Time::ZERO,
        forward: vec![LinkId(0)],
        reverse: vec![LinkId(1)],
        hosts: Hosts::default(),
        dscp: 0,
        between_losses: None,
        interface: None,
        stop: None,
        workload,
    };
    let interval = Span::from_millis(10);
    Network {
        seed: 1,
        end: Time::ZERO + Span::from_secs(20),
        warmup: Time::ZERO + Span::from_secs(10),
        links: vec![
            link("bottleneck", 1_000_000, Limit::Packets(5)),
            link("bottleneck.reverse", 1_000_000_000, Limit::Unlimited),
        ],
        pools: Vec::new(),
        flows: vec![
            flow(
                "cbr",
                WorkloadConfig::Source(SourceConfig::ConstantBitRate {
                    interval,
                    packet: 1000,
                    spread: 0.0,
                }),
            ),
            flow(
                "poisson",
                WorkloadConfig::Source(SourceConfig::Poisson {
                    mean_interval: interval,
                    packet: PacketSize::Fixed(1000),
                }),
            ),
            // The ping's interval is not a multiple of the constant bit rate's. If pings were in
            // phase with the bursts, every ping would find the queue just filled.
            flow(
                "ping",
                WorkloadConfig::Source(SourceConfig::Ping {
                    interval: Span::from_millis(97),
                    packet: 84,
                }),
            ),
        ],
        record: Record::default(),
    }
}

#[test]
fn an_overloaded_link_is_always_busy_and_loses_the_excess() {
    let outcome = run(&network());
    let bottleneck = &outcome.links[0];
    assert!(
        (bottleneck.utilization - 1.0).abs() < 1e-3,
        "{bottleneck:?}"
    );
    // 200 packets/s arrive and 125 leave.
    assert!(
        (bottleneck.loss_rate - 0.375).abs() < 0.03,
        "{}",
        bottleneck.loss_rate
    );
    assert_eq!(bottleneck.backlog_packets.max, Some(5.0));
    let flows = &outcome.flows;
    assert!((flows[0].throughput_bps + flows[1].throughput_bps - 1e6).abs() < 3e4);
    // The first ping in the window is at 104 · 97 ms, the last at 206 · 97 ms.
    assert!(flows[2].packets_sent == 103 && flows[2].packets_received < 103);
    // The round trip has ten milliseconds each way, the ping's own frames, and up to five packets
    // waiting and one in service.
    let rtt = flows[2].rtt_s;
    assert!(
        rtt.mean.unwrap() > 0.045 && rtt.max.unwrap() < 0.0688,
        "{rtt:?}"
    );
}

#[test]
fn the_same_seed_gives_the_same_outcome_and_recording_changes_nothing() {
    let mut network = network();
    let plain = run(&network);
    assert_eq!(plain, run(&network));
    network.record = Record {
        series: true,
        packets: true,
        tcp_delays: true,
    };
    let recorded = run(&network);
    assert_eq!(
        (&plain.links, &plain.flows),
        (&recorded.links, &recorded.flows)
    );
    assert_eq!(plain.totals, recorded.totals);
    assert!(recorded.packets.is_sorted_by_key(|event| event.time));
    assert!(!recorded.series.backlog.is_empty() && !recorded.series.rtt.is_empty());
    network.seed = 2;
    assert_ne!(plain.links, run(&network).links);
}

#[test]
#[should_panic(expected = "packets not conserved")]
fn a_corrupted_count_fails_the_run() {
    let network = network();
    let mut simulation = Simulation::new(&network, NoProbe);
    simulation.run_until(Time::ZERO + Span::from_secs(1));
    simulation.core.delivered += 1;
    simulation.complete();
}

#[test]
#[should_panic(expected = "bottleneck: packets not conserved")]
fn a_corrupted_link_fails_the_run() {
    let network = network();
    let mut simulation = Simulation::new(&network, NoProbe);
    simulation.core.links[0]
        .as_mut()
        .expect("a queue")
        .corrupt_arrivals();
    simulation.complete();
}

struct Counted(usize);

impl PacketSink for Counted {
    fn packet(&mut self, _: &PacketEvent) {
        self.0 += 1;
    }
}

/// Five packets wait, one is transmitted, and few are in flight. The engine reports at most the
/// start, the end and the arrival of each ahead of time, however long the run.
#[test]
fn events_reported_ahead_are_of_packets_in_flight() {
    let mut network = network();
    network.end = Time::ZERO + Span::from_secs(200);
    let mut counted = Counted(0);
    let simulation = Simulation::new(&network, InOrder::new(&mut counted));
    let (_, in_order) = simulation.complete();
    let most = in_order.most_waiting();
    in_order.finish();
    assert!((1..=30).contains(&most), "{most}");
    assert!(counted.0 > 1000 * most, "{} events", counted.0);
}

/// `go_on` is called by work done, not by simulated time: a run with many events in little time
/// calls it as often as one with as many events in much time.
#[test]
fn go_on_is_called_by_number_of_events() {
    let questions = |network: &Network| {
        let mut times = Vec::new();
        let outcome = run_while(network, |now| {
            times.push(now);
            true
        });
        assert!(times.is_sorted() && times[0] == Time::ZERO);
        let events = outcome.expect("nothing stops it").totals.events;
        (times.len() as u64, events)
    };
    let mut network = network();
    network.end = Time::ZERO + Span::from_secs(2_000);
    let (asked, events) = questions(&network);
    assert!(events > 10 * BLOCK);
    assert_eq!(asked, events / BLOCK + 2);
    // The network has a thousand times as many events in each second.
    network.end = Time::ZERO + Span::from_secs(20);
    for link in &mut network.links {
        link.rate = Rate(link.rate.0 * 1_000);
    }
    for flow in &mut network.flows {
        if let WorkloadConfig::Source(SourceConfig::ConstantBitRate { interval, .. }) =
            &mut flow.workload
        {
            *interval = Span(interval.0 / 1_000);
        }
    }
    let (asked, events) = questions(&network);
    assert!(events > 10 * BLOCK);
    assert_eq!(asked, events / BLOCK + 2);
}

#[test]
fn a_stopped_run_ends_within_a_block() {
    let mut network = network();
    network.end = Time::ZERO + Span::from_secs(1_000_000);
    let mut left = 3;
    let outcome = run_while(&network, |_| {
        left -= 1;
        left > 0
    });
    assert_eq!((outcome, left), (None, 0));
}

/// A user's queue discipline that failed in the last block has lost packets. `go_on` then returns
/// false at the end, and the run has no outcome.
#[test]
fn a_run_stopped_at_its_end_has_no_outcome() {
    let network = network();
    assert_eq!(run_while(&network, |now| now < network.end), None);
}
