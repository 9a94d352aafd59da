//! Every discipline at least once, with usual parameters for a link of 10 Mb/s and flows of 40 ms
//! round-trip time: what tests, benchmarks and comparisons go through.

use crate::{
    BlueConfig, FpqConfig, HeadDropConfig, Limit, LinuxRedConfig, PrioConfig, QueueConfig,
    RedAdaptation, RedConfig, RedLink, TbfConfig,
};
use goodqueue_types::{Rate, Span};

/// Name and configuration of each.
pub fn examples() -> Vec<(&'static str, QueueConfig)> {
    vec![
        ("drop_tail", QueueConfig::drop_tail(Limit::Packets(100))),
        ("drop_tail, bytes", drop_tail()),
        (
            "head_drop",
            QueueConfig::HeadDrop(HeadDropConfig {
                limit: Limit::Packets(100),
            }),
        ),
        ("red, ns-2", QueueConfig::Red(red())),
        ("red, adaptive", QueueConfig::Red(adaptive_red())),
        (
            "red, Linux",
            QueueConfig::LinuxRed(LinuxRedConfig::tc(120_000, 1000)),
        ),
        ("fpq", QueueConfig::Fpq(FpqConfig::new(LIMIT))),
        (
            "fpq, red",
            QueueConfig::Fpq(FpqConfig::red(LIMIT, RATE, 1500)),
        ),
        ("blue", QueueConfig::Blue(BlueConfig::new(LIMIT))),
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

const RATE: Rate = Rate(10_000_000);
const LIMIT: Limit = Limit::Packets(100);

fn red() -> RedConfig {
    let link = RedLink {
        rate: RATE,
        delay: Span::from_millis(20),
        mean_packet: 1500,
    };
    RedConfig::ns2(link, Limit::Bytes(150_000))
}

fn adaptive_red() -> RedConfig {
    RedConfig {
        adaptation: Some(RedAdaptation::FLOYD_2001),
        ecn: true,
        ..red()
    }
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
