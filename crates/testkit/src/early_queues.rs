//! Random queues that drop early, with parameters at which a few packets suffice for drops.

use goodqueue_queue::{
    BlueConfig, FpqConfig, HeadDropConfig, Limit, LinuxRedConfig, QueueConfig, RedAdaptation,
    RedConfig, RedLink,
};
use goodqueue_types::{Rate, Span};
use proptest::prelude::*;

/// Draws RED of either kind, FPQ, BLUE or head drop with this limit.
pub fn early_queue(limit: Limit) -> impl Strategy<Value = QueueConfig> {
    let blue = (0.01..1.0, 1_u64..50, any::<bool>()).prop_map(move |(increment, millis, ecn)| {
        QueueConfig::Blue(BlueConfig {
            increment,
            freeze_time: Span::from_millis(millis),
            ecn,
            ..BlueConfig::new(limit)
        })
    });
    prop_oneof![
        2 => red(limit),
        1 => linux_red(limit),
        1 => fpq(limit),
        1 => blue,
        1 => Just(QueueConfig::HeadDrop(HeadDropConfig { limit })),
    ]
}

fn red(limit: Limit) -> impl Strategy<Value = QueueConfig> {
    let numbers = (100.0..2000.0, 1.1..4.0, 0.01..=1.0, 0.05..=1.0);
    let switches = any::<[bool; 5]>();
    let adaptation = prop_oneof![
        Just(None),
        Just(Some(RedAdaptation::FENG_1999)),
        Just(Some(RedAdaptation::FLOYD_2001)),
    ];
    (numbers, switches, adaptation).prop_map(
        move |((min, factor, weight, max_probability), on, adaptation)| {
            let link = RedLink {
                rate: Rate(8_000_000),
                delay: Span::from_millis(1),
                mean_packet: 500,
            };
            QueueConfig::Red(RedConfig {
                min,
                max: min * factor,
                weight,
                max_probability,
                gentle: on[0],
                wait: on[1],
                by_size: on[2],
                ecn: on[3],
                mark_below: on[4].then_some(0.3),
                adaptation,
                ..RedConfig::ns2(link, limit)
            })
        },
    )
}

fn linux_red(limit: Limit) -> impl Strategy<Value = QueueConfig> {
    let flags = any::<[bool; 4]>();
    (200_u32..3000, 0.05..=1.0, flags).prop_map(move |(min, probability, on)| {
        QueueConfig::LinuxRed(LinuxRedConfig {
            limit,
            min,
            max: 3 * min,
            burst: 2 + min / 500,
            probability,
            bandwidth: Rate(8_000_000),
            adaptive: on[0],
            ecn: on[1],
            harddrop: on[2],
            nodrop: on[3],
            ..LinuxRedConfig::tc(0, 500)
        })
    })
}

fn fpq(limit: Limit) -> impl Strategy<Value = QueueConfig> {
    (0.3..6.0, 1_u32..200, 1_u64..100, any::<[bool; 2]>()).prop_map(
        move |(packets_per_flow, count_bits, millis, on)| {
            let base = if on[0] {
                FpqConfig::red(limit, Rate(8_000_000), 500)
            } else {
                FpqConfig::new(limit)
            };
            QueueConfig::Fpq(FpqConfig {
                packets_per_flow,
                count_bits,
                count_interval: Span::from_millis(millis),
                ecn: on[1],
                ..base
            })
        },
    )
}
