//! The fair queues among [`crate::examples()`].

use crate::{
    CakeConfig, CakeDiffserv, CakeFraming, CakeIsolation, DrrConfig, FqCodelConfig, FqPieConfig,
    Limit, QueueConfig, SfqConfig,
};
use goodqueue_types::{Framing, Rate, Span};

/// Returns the name and configuration of each example.
pub fn fair_queues(limit: Limit) -> Vec<(&'static str, QueueConfig)> {
    vec![
        ("drr", QueueConfig::Drr(DrrConfig::new(limit))),
        (
            "drr, buckets",
            QueueConfig::Drr(DrrConfig {
                flows: Some(16),
                headdrop: true,
                ..DrrConfig::new(limit)
            }),
        ),
        ("sfq", QueueConfig::Sfq(SfqConfig::linux(limit))),
        (
            "sfq, perturbed",
            QueueConfig::Sfq(SfqConfig {
                divisor: 8,
                headdrop: true,
                depth: 20,
                perturb: Some(Span::from_secs(1)),
                ..SfqConfig::linux(limit)
            }),
        ),
        (
            "fq_codel",
            QueueConfig::FqCodel(FqCodelConfig::linux(limit)),
        ),
        (
            "fq_codel, ns-3",
            QueueConfig::FqCodel(FqCodelConfig::ns3(limit)),
        ),
        ("fq_pie", QueueConfig::FqPie(FqPieConfig::linux(limit))),
        (
            "cake",
            QueueConfig::Cake(CakeConfig {
                limit,
                diffserv: CakeDiffserv::Diffserv4,
                ..CakeConfig::linux(Some(Rate(10_000_000)))
            }),
        ),
        (
            "cake, unlimited",
            QueueConfig::Cake(CakeConfig {
                isolation: CakeIsolation::Flows,
                memory_limit: Some(100_000),
                limit,
                ..CakeConfig::linux(None)
            }),
        ),
        (
            "cake, ingress",
            QueueConfig::Cake(CakeConfig {
                diffserv: CakeDiffserv::BestEffort,
                isolation: CakeIsolation::DualDstHost,
                framing: CakeFraming(Some(Framing::bytes(44))),
                ingress: true,
                limit,
                ..CakeConfig::linux(Some(Rate(9_500_000)))
            }),
        ),
    ]
}
