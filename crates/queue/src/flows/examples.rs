//! The fair queues' part of [`crate::examples()`].

use crate::{DrrConfig, FqCodelConfig, Limit, QueueConfig, SfqConfig};
use goodqueue_types::Span;

/// Name and configuration of each.
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
    ]
}
