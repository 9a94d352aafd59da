//! Random networks in which nearly everything happens at the same instant: links of equal rates
//! without delay, packets of few sizes, sources that send at multiples of a packet's time, queues
//! that drop packets from the head, and a shared buffer.

use super::any_queue::any_queue;
use super::network::{limit, network, route, tcp};
use goodqueue_queue::{HeadDropConfig, Limit, QueueConfig};
use goodqueue_sim::{
    Equipment, FlowConfig, LinkConfig, Network, PacketSize, SourceConfig, WorkloadConfig,
};
use goodqueue_types::{Hosts, Rate, Span, Time};
use proptest::prelude::*;
use proptest::sample::select;
use std::sync::Arc;

/// Draws networks of 2 to 5 links and up to 6 flows.
pub fn coincidences() -> impl Strategy<Value = Network> {
    (2..=5_usize).prop_flat_map(|links| {
        network(
            prop::collection::vec(link(), links),
            prop::collection::vec(flow(links), 2..=6),
        )
        .prop_map(|network| Network {
            // Packets come so often that a shorter run has as many.
            end: Time(network.end.0 / 8),
            warmup: Time(network.warmup.0 / 8),
            ..network
        })
    })
}

/// Draws a link on which a byte takes one or two microseconds.
fn link() -> impl Strategy<Value = LinkConfig> {
    let rate = select(vec![8_000_000, 8_000_000, 8_000_000, 4_000_000]);
    let delay = select(vec![0, 0, 0, 0, 100, 1_000]);
    let pool = select(vec![None, Some(0), Some(0)]);
    (rate, delay, queue(), pool, any::<bool>()).prop_map(|(rate, delay, queue, pool, observed)| {
        LinkConfig {
            observed,
            equipment: Arc::new(Equipment {
                queue,
                pool,
                ..Equipment::drop_tail(Limit::Unlimited)
            }),
            ..LinkConfig::drop_tail(Rate(rate), Span::from_micros(delay), Limit::Unlimited)
        }
    })
}

fn queue() -> impl Strategy<Value = QueueConfig> {
    let head_drop = |limit| QueueConfig::HeadDrop(HeadDropConfig { limit });
    prop_oneof![
        4 => limit().prop_map(head_drop),
        2 => limit().prop_map(QueueConfig::drop_tail),
        1 => limit().prop_flat_map(any_queue),
    ]
}

fn flow(links: usize) -> impl Strategy<Value = FlowConfig> {
    let start = select(vec![0, 0, 0, 100, 1_000]);
    (start, route(links), route(links), workload()).prop_map(
        |(start, forward, reverse, workload)| FlowConfig {
            name: String::new(),
            group: 0,
            start: Time::ZERO + Span::from_micros(start),
            forward,
            reverse,
            hosts: Hosts::default(),
            dscp: 0,
            between_losses: None,
            interface: None,
            stop: None,
            workload,
        },
    )
}

fn workload() -> impl Strategy<Value = WorkloadConfig> {
    let interval = || select(vec![100, 200, 500, 1_000]).prop_map(Span::from_micros);
    let packet = || select(vec![100_u32, 100, 200, 500]);
    let bytes = prop::option::of(1_u64..30_000);
    prop_oneof![
        3 => (tcp(), bytes).prop_map(|(tcp, bytes)| {
            WorkloadConfig::bulk(Arc::new(tcp), bytes)
        }),
        3 => (interval(), packet()).prop_map(|(interval, packet)| {
            WorkloadConfig::Source(SourceConfig::ConstantBitRate { interval, packet, spread: 0.0 })
        }),
        1 => (interval(), packet()).prop_map(|(mean_interval, packet)| {
            WorkloadConfig::Source(SourceConfig::Poisson { mean_interval, packet: PacketSize::Fixed(packet) })
        }),
        1 => (interval(), 1_u32..9, packet()).prop_map(|(mean_interval, packets, packet)| {
            WorkloadConfig::Source(SourceConfig::Bursts { mean_interval, packets, packet })
        }),
        1 => (interval(), packet()).prop_map(|(interval, packet)| {
            WorkloadConfig::Source(SourceConfig::Ping { interval, packet })
        }),
    ]
}
