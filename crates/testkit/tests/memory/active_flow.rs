//! Memory of an active flow, including its packets in flight.
//!
//! `cargo test -p goodqueue-testkit --test memory -- --nocapture` prints the bytes per flow.

use goodqueue_queue::Limit;
use goodqueue_sim::footprint::{BYTES_PER_PACKET, FlowMemory, memory_per_flow};
use goodqueue_sim::{NoProbe, Simulation, WorkloadConfig};
use goodqueue_tcp::{Profile, TcpConfig};
use goodqueue_testkit::dumbbell::Dumbbell;
use goodqueue_types::{Rate, Span, Time};
use std::sync::Arc;

const FLOWS: u64 = 5_000;

/// Measures the memory of each of 5,000 bulk flows, in bytes. The flows have a base RTT of 40 ms,
/// 0.5 Mb/s of the bottleneck each, and 20 ms of buffer. The memory is measured when the simulation
/// is built, and after a time in which all flows have sent for at least two seconds.
fn bytes_per_flow(profile: Profile) -> Bytes {
    let second = Time::ZERO + Span::from_secs(1);
    let dumbbell = Dumbbell {
        seed: 1,
        rate: Rate(500_000 * FLOWS),
        access_rate: Rate(100_000_000),
        limit: Limit::Bytes(500_000 * FLOWS / 8 / 50),
        round_trip: Span::from_millis(40),
        warmup: second,
        end: Time::ZERO + Span::from_secs(3),
    };
    let tcp = Arc::new(TcpConfig::profile(profile));
    let flow = |number| {
        let start = Time::ZERO + Span::from_secs(1) * number / FLOWS;
        let tcp = tcp.clone();
        (start, WorkloadConfig::bulk(tcp, None))
    };
    let network = dumbbell.network((0..FLOWS).map(flow).collect());
    let mut simulation = None;
    let idle = allocation_counter::measure(|| {
        simulation = Some(Simulation::new(&network, NoProbe));
    });
    let mut simulation = simulation.expect("made just now");
    let active = allocation_counter::measure(|| simulation.run_until(network.end));
    let (outcome, _) = simulation.complete();
    assert!(outcome.links[0].utilization > 0.9, "nothing happened");
    let per_flow = |bytes: i64| bytes as usize / FLOWS as usize;
    // This is the number of packets in flight at the bottleneck's rate, over the round-trip time
    // with a full buffer.
    let packets = 500_000.0 * 0.06 / 8.0 / 1500.0;
    Bytes {
        at_rest: per_flow(idle.bytes_current),
        active: per_flow(idle.bytes_current + active.bytes_current),
        estimate: memory_per_flow(&network.flows[0]),
        estimated_packets: (packets * BYTES_PER_PACKET as f64) as usize,
    }
}

/// Memory per flow, in bytes.
#[derive(Debug)]
struct Bytes {
    at_rest: usize,
    active: usize,
    estimate: FlowMemory,
    estimated_packets: usize,
}

/// Runs the flows of a profile. Checks that their memory is below the limit and close to the
/// estimate.
fn check(profile: Profile, most: usize) {
    let bytes = bytes_per_flow(profile);
    println!("{profile:?}: {bytes:?}");
    assert!(bytes.active < most, "{} bytes per flow", bytes.active);
    let active = bytes.estimate.active + bytes.estimated_packets;
    for (estimate, measured) in [
        (bytes.estimate.at_rest, bytes.at_rest),
        (active, bytes.active),
    ] {
        let error = estimate.abs_diff(measured);
        assert!(error < measured / 8, "{estimate} estimated, {measured}");
    }
}

#[test]
fn an_active_flow_of_rfc_costs_less_than_four_kilobytes() {
    check(Profile::Rfc, 3_450);
}

#[test]
fn an_active_flow_of_linux_costs_less_than_four_kilobytes() {
    check(Profile::Linux, 4_096);
}
