//! Random fair queues with few queues, small quanta and short times, so that a few packets exercise
//! every path of the code.

use goodqueue_queue::{
    CakeConfig, CakeDiffserv, CakeFraming, CakeIsolation, ComparedBacklog, DrrConfig,
    FqCodelConfig, FqPieConfig, Limit, QueueConfig, SfqConfig,
};
use goodqueue_types::{Framing, Rate, Span};
use proptest::prelude::*;
use proptest::sample::select;

/// Draws DRR, SFQ, FQ-CoDel, FQ-PIE or CAKE with this limit.
pub fn fair_queue(limit: Limit) -> impl Strategy<Value = QueueConfig> {
    prop_oneof![
        drr(limit),
        sfq(limit),
        fq_codel(limit),
        fq_pie(limit),
        cake(limit)
    ]
}

fn quantum() -> impl Strategy<Value = u32> {
    select(vec![100, 500, 1500])
}

fn drr(limit: Limit) -> impl Strategy<Value = QueueConfig> {
    let flows = select(vec![None, Some(2), Some(16)]);
    (quantum(), flows, any::<bool>()).prop_map(move |(quantum, flows, headdrop)| {
        QueueConfig::Drr(DrrConfig {
            limit,
            quantum,
            flows,
            headdrop,
        })
    })
}

fn sfq(limit: Limit) -> impl Strategy<Value = QueueConfig> {
    let perturb = select(vec![None, Some(Span::from_millis(7))]);
    let numbers = (select(vec![1, 4]), 1_u32..4, 1_u32..8);
    (quantum(), numbers, any::<bool>(), perturb).prop_map(
        move |(quantum, (divisor, flows, depth), headdrop, perturb)| {
            QueueConfig::Sfq(SfqConfig {
                limit,
                quantum,
                divisor,
                flows,
                depth,
                headdrop,
                perturb,
            })
        },
    )
}

fn fq_codel(limit: Limit) -> impl Strategy<Value = QueueConfig> {
    let memory = select(vec![5_000, 32 << 20]);
    (
        quantum(),
        select(vec![1, 4, 64]),
        memory,
        any::<[bool; 3]>(),
    )
        .prop_map(move |(quantum, flows, memory_limit, on)| {
            let mut config = FqCodelConfig {
                flows,
                quantum,
                drop_batch: if on[0] { 1 } else { 64 },
                memory_limit: Some(memory_limit),
                compared_backlog: if on[1] {
                    ComparedBacklog::Whole
                } else {
                    ComparedBacklog::Own
                },
                ..FqCodelConfig::linux(limit)
            };
            config.codel.ecn = on[2];
            config.codel.mtu = 500;
            config.codel.target = Span::from_millis(1);
            config.codel.interval = Span::from_millis(10);
            QueueConfig::FqCodel(config)
        })
}

fn fq_pie(limit: Limit) -> impl Strategy<Value = QueueConfig> {
    (quantum(), select(vec![1, 4, 64]), any::<[bool; 2]>()).prop_map(move |(quantum, flows, on)| {
        let mut config = FqPieConfig {
            flows,
            quantum,
            ..FqPieConfig::linux(limit)
        };
        config.pie.ecn = on[0];
        config.pie.bytemode = on[1];
        config.pie.mtu = 500;
        config.pie.target = Span::from_millis(1);
        QueueConfig::FqPie(config)
    })
}

fn cake(limit: Limit) -> impl Strategy<Value = QueueConfig> {
    let bandwidth = select(vec![None, Some(Rate(500_000)), Some(Rate(3_000_000))]);
    let diffserv = select(vec![CakeDiffserv::BestEffort, CakeDiffserv::Diffserv3]);
    let isolation = select(vec![
        CakeIsolation::FlowBlind,
        CakeIsolation::Hosts,
        CakeIsolation::TripleIsolate,
    ]);
    let memory = select(vec![None, Some(5_000)]);
    let switches = any::<[bool; 2]>();
    (bandwidth, diffserv, isolation, memory, switches).prop_map(
        move |(bandwidth, diffserv, isolation, memory_limit, on)| {
            QueueConfig::Cake(CakeConfig {
                diffserv,
                isolation,
                rtt: Span::from_millis(10),
                framing: CakeFraming(on[0].then_some(Framing::bytes(44))),
                memory_limit,
                limit,
                ingress: on[1],
                ..CakeConfig::linux(bandwidth)
            })
        },
    )
}
