//! One long Reno flow on a link with a bandwidth-delay product of a thousand packets.

use goodqueue_queue::{Backlog, Limit};
use goodqueue_sim::{Agent, LinkOutcome, Network, Probe, Simulation, WorkloadConfig, run};
use goodqueue_tcp::{CongestionControlConfig, Phase, Profile, Recovery, TcpConfig};
use goodqueue_testkit::closed_form::reno_utilization;
use goodqueue_testkit::dumbbell::Dumbbell;
use goodqueue_types::{LinkId, PacketEvent, Rate, Span, Time};
use std::sync::Arc;

/// Bandwidth-delay product in packets: 100 ms at 10,000 packets of 1500 B per second.
const BDP: u64 = 1000;
const ROUND_TRIP: Span = Span::from_millis(100);

/// Returns a flow whose receiver acknowledges every segment, with a buffer of `buffer` packets.
fn network(buffer: u64) -> Network {
    let tcp = TcpConfig {
        congestion_control: CongestionControlConfig::Reno,
        recovery: Recovery::Sack,
        mss: 1460,
        receive_window: 4 * BDP * 1460,
        window_scaling: true,
        ack_every: 1,
        ..TcpConfig::profile(Profile::Rfc)
    };
    let flow = WorkloadConfig::bulk(Arc::new(tcp), None);
    let dumbbell = Dumbbell {
        seed: 1,
        rate: Rate(120_000_000),
        access_rate: Rate(12_000_000_000),
        limit: Limit::Packets(buffer),
        round_trip: ROUND_TRIP,
        warmup: Time::ZERO,
        end: Time::ZERO + Span::from_secs(400),
    };
    dumbbell.network(vec![(Time::ZERO, flow)])
}

/// Times at which the repair of losses begins.
#[derive(Default)]
struct Losses {
    phase: Phase,
    at: Vec<Time>,
}

impl Probe for Losses {
    const ACTIVE: bool = true;
    fn packet(&mut self, _: PacketEvent) {}
    fn backlog(&mut self, _: LinkId, _: Time, _: Backlog) {}
    fn agent(&mut self, _: u32, time: Time, agent: &Agent, _: Option<Span>) {
        let phase = agent
            .behaviour()
            .tcp_info()
            .map_or(Phase::Open, |info| info.phase);
        if self.phase == Phase::Open && phase != Phase::Open {
            self.at.push(time);
        }
        self.phase = phase;
    }
}

/// Measures the bottleneck over whole cycles of the sawtooth: from a loss well after the first slow
/// start to the last loss.
fn over_whole_cycles(buffer: u64) -> LinkOutcome {
    let mut network = network(buffer);
    let (_, losses) = Simulation::new(&network, Losses::default()).complete();
    let settled = Time::ZERO + Span::from_secs(50);
    let cycles: Vec<_> = losses.at.into_iter().filter(|at| *at > settled).collect();
    assert!(
        cycles.len() >= 2,
        "{} losses in {buffer} packets of buffer",
        cycles.len()
    );
    (network.warmup, network.end) = (cycles[0], cycles[cycles.len() - 1]);
    run(&network).links.swap_remove(0)
}

#[test]
fn the_saw_tooth_uses_as_much_as_its_formula_says() {
    for buffer in [2, BDP / 4, BDP / 2, 3 * BDP / 4, BDP] {
        // Two packets are negligible beside a thousand. Two places are enough for a pair of packets
        // that is sent at once.
        let share = if buffer == 2 {
            0.0
        } else {
            buffer as f64 / BDP as f64
        };
        let expected = reno_utilization(share);
        let utilization = over_whole_cycles(buffer).utilization;
        println!("{buffer} packets of buffer: {utilization:.4}, expected {expected:.4}");
        assert!(
            (utilization - expected).abs() < 0.01,
            "{utilization} with {buffer} packets"
        );
    }
}

/// An unpaced sender sends two packets at once whenever its window grows, so it needs two places:
/// one in service and one waiting. Without the latter, it loses a packet of every pair, and not
/// even slow start succeeds.
#[test]
fn without_room_for_a_pair_an_unpaced_sender_gets_nowhere() {
    let (none, one) = (run(&network(0)).links.swap_remove(0), over_whole_cycles(1));
    println!(
        "no packet of buffer: {:.4}; one: {:.4}",
        none.utilization, one.utilization
    );
    assert!(none.utilization < 0.05 && none.loss_rate > 0.05, "{none:?}");
    assert!(
        (one.utilization - reno_utilization(0.0)).abs() < 0.01,
        "{}",
        one.utilization
    );
}

/// The first slow start overshoots and loses a retransmission, which only a timeout repairs.
/// Segments that were SACKed before the timeout do not count as flight size: if they were halved
/// with the rest, every slow start after a timeout would overshoot again, and the link would be
/// idle for a quarter of the time.
#[test]
fn a_lost_retransmission_costs_one_timeout_and_no_more() {
    for buffer in [80, 85, 90] {
        let mut network = network(buffer);
        network.links[0].rate = Rate(12_000_000);
        network.warmup = Time::ZERO + Span::from_secs(100);
        let outcome = run(&network);
        let (link, flow) = (&outcome.links[0], &outcome.flows[0]);
        assert_eq!(link.name, "bottleneck");
        assert!(link.utilization > 0.985, "{buffer}: {link:?}");
        assert!(flow.timeouts == 0, "{buffer}: {flow:?}");
    }
}
