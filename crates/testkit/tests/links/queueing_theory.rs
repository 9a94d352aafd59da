//! Poisson arrivals at a drop-tail queue have the loss and the backlog of queueing theory.
//!
//! Sizes are whole bytes. With a mean of 1000 B, the rounding of exponential sizes has a relative
//! error of 10⁻⁶ in their mean and 10⁻⁷ in their variance, and the largest size of 65,535 B is
//! exceeded with probability e⁻⁶⁵.

use goodqueue_queue::Limit;
use goodqueue_sim::{FlowConfig, Network, PacketSize, Record, SourceConfig, WorkloadConfig, run};
use goodqueue_testkit::closed_form::{FiniteQueue, md1k, mm1k};
use goodqueue_testkit::dumbbell::link;
use goodqueue_types::{Hosts, LinkId, Rate, Span, Time};

const SEEDS: u64 = 20;

/// Load, and number of places in the system, the one in service included.
const CASES: [(f64, u32); 5] = [(0.5, 3), (0.8, 6), (0.9, 10), (0.95, 20), (1.2, 5)];

/// Returns a link on which 1000 B take a millisecond, with a Poisson source.
fn network(load: f64, k: u32, packet: PacketSize, seed: u64) -> Network {
    let service = 1e-3;
    let waiting = Limit::Packets(u64::from(k - 1));
    let mut queue = link("queue", Rate(8_000_000), Span::from_millis(1), waiting);
    queue.observed = true;
    let back = link(
        "back",
        Rate(8_000_000),
        Span::from_millis(1),
        Limit::Unlimited,
    );
    Network {
        seed,
        warmup: Time::ZERO + Span::from_secs(1),
        end: Time::ZERO + Span::from_secs(61),
        links: vec![queue, back],
        pools: Vec::new(),
        flows: vec![FlowConfig {
            name: "source".to_owned(),
            group: 0,
            start: Time::ZERO,
            forward: vec![LinkId(0)],
            reverse: vec![LinkId(1)],
            hosts: Hosts::default(),
            dscp: 0,
            between_losses: None,
            interface: None,
            stop: None,
            workload: WorkloadConfig::Source(SourceConfig::Poisson {
                mean_interval: Span::from_secs_f64(service / load),
                packet,
            }),
        }],
        record: Record::default(),
    }
}

/// Returns by how many standard errors the mean of independent samples exceeds the expected value.
fn errors_apart(samples: &[f64], expected: f64) -> f64 {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let variance = samples.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    assert!(
        error < 0.1 * expected,
        "{mean} ± {error}: too few samples to say anything"
    );
    println!("{mean:.6} ± {error:.6}, expected {expected:.6}");
    (mean - expected) / error
}

fn check(model: &str, packet: PacketSize, theory: fn(f64, u32) -> FiniteQueue) {
    for (load, k) in CASES {
        let expected = theory(load, k);
        let (mut losses, mut waiting) = (Vec::new(), Vec::new());
        for seed in 1..=SEEDS {
            let outcome = run(&network(load, k, packet, seed));
            let queue = &outcome.links[0];
            losses.push(queue.loss_rate);
            waiting.push(queue.backlog_packets.mean.expect("time has passed"));
        }
        let name = format!("{model} at load {load}, K = {k}");
        let loss = errors_apart(&losses, expected.loss);
        assert!(
            loss.abs() < 3.0,
            "{name}: the loss is {loss} standard errors off"
        );
        let backlog = errors_apart(&waiting, expected.mean_waiting);
        assert!(
            backlog.abs() < 3.0,
            "{name}: the backlog is {backlog} standard errors off"
        );
    }
}

#[test]
fn exponential_sizes_are_an_mm1k_queue() {
    check("M/M/1/K", PacketSize::Exponential(1000.0), mm1k);
}

#[test]
fn fixed_sizes_are_an_md1k_queue() {
    check("M/D/1/K", PacketSize::Fixed(1000), md1k);
}

/// The tests can fail: with one place more or less, or with the other service-time distribution,
/// the difference is large.
#[test]
fn a_wrong_formula_is_detected() {
    let losses: Vec<f64> = (1..=SEEDS)
        .map(|seed| run(&network(0.9, 10, PacketSize::Fixed(1000), seed)).links[0].loss_rate)
        .collect();
    for wrong in [md1k(0.9, 9), md1k(0.9, 11), mm1k(0.9, 10)] {
        assert!(errors_apart(&losses, wrong.loss).abs() > 3.0, "{wrong:?}");
    }
}
