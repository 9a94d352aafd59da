//! Every discipline at least once, with usual parameters for a link of 10 Mb/s and flows of 40 ms
//! round-trip time: what tests, benchmarks and comparisons go through.

use crate::{Limit, PrioConfig, QueueConfig, TbfConfig};
use goodqueue_types::Rate;

/// Name and configuration of each.
pub fn examples() -> Vec<(&'static str, QueueConfig)> {
    vec![
        ("drop_tail", QueueConfig::drop_tail(Limit::Packets(100))),
        ("drop_tail, bytes", drop_tail()),
        ("prio", QueueConfig::Prio(PrioConfig::linux(drop_tail()))),
        (
            "tbf",
            QueueConfig::Tbf(TbfConfig {
                rate: Rate(10_000_000),
                burst: 10_000,
                peak: None,
                inner: Box::new(drop_tail()),
            }),
        ),
    ]
}

fn drop_tail() -> QueueConfig {
    QueueConfig::drop_tail(Limit::Bytes(50_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Configuration, conformance};

    #[test]
    fn every_kind_is_there() {
        let examples = examples();
        for kind in QueueConfig::KINDS.iter().filter(|kind| **kind != "Custom") {
            let found = examples.iter().any(|(_, config)| config.kind() == *kind);
            assert!(found, "add {kind} to the examples");
        }
    }

    #[test]
    fn all_are_accepted_and_conform() {
        for (name, config) in examples() {
            assert_eq!(config.check(1514), Ok(()), "{name}");
            for seed in 1..=3 {
                let result = conformance::check_config(&config, seed);
                let report = result.unwrap_or_else(|violation| panic!("{name}: {violation}"));
                assert!(report.sent > 0, "{name}");
            }
        }
    }
}
