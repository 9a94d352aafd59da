//! Examples of every discipline, with usual parameters for a link of 10 Mb/s and flows with a
//! round-trip time of 40 ms. Tests, benchmarks and comparisons run through them.

use crate::fair::flows::fair_queues;
use crate::{
    BlueConfig, CodelConfig, CodelParams, DualPi2Config, DualScheduler, FpqConfig, HeadDropConfig,
    HtbClass, HtbConfig, Limit, LinuxRedConfig, Pi2Config, PieConfig, PieParams, Place,
    PolicerConfig, PrioConfig, QueueConfig, RedAdaptation, RedConfig, RedLink, StepConfig,
    StepThreshold, TbfConfig,
};
use goodqueue_types::parameters::{Given, Parameter, Parameters};
use goodqueue_types::{Rate, Span};

/// Returns the name and configuration of each example.
pub fn examples() -> Vec<(&'static str, QueueConfig)> {
    let mut examples = vec![
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
                inner: drop_tail().into(),
            }),
        ),
        ("htb", QueueConfig::Htb(htb())),
        (
            "policer",
            QueueConfig::Policer(PolicerConfig {
                rate: Rate(10_000_000),
                burst: 100_000,
                limit: LIMIT,
            }),
        ),
    ];
    examples.extend(delay_based());
    examples.extend(fair_queues(LIMIT));
    for word in QueueConfig::NAMES {
        if !examples
            .iter()
            .any(|(_, config)| config.word() == Some(word))
        {
            examples.push((word, usual(word)));
        }
    }
    examples
}

/// Returns the discipline of this name with a limit, and with its other parameters at their
/// defaults for the link.
fn usual(word: &str) -> QueueConfig {
    let place = Place {
        rate: RATE,
        delay: Span::from_millis(20),
        base_rtt: Some(Span::from_millis(40)),
        frame_bytes: 1514,
    };
    let keys = QueueConfig::defaults(word).keys();
    let limit = keys.iter().find(|key| key.name == "limit");
    let given = Given(limit.map(|key| (key, LIMIT.value())).into_iter().collect());
    QueueConfig::read(word, &given, &place)
        .unwrap_or_else(|refusal| unreachable!("give {word} an example: {refusal:?}"))
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

/// Two classes of 2 and 6 Mb/s that share a line of 10 Mb/s.
fn htb() -> HtbConfig {
    let line = Rate(10_000_000);
    let class = |name: &str, parent: &str, rate| HtbClass {
        name: name.to_owned(),
        parent: parent.to_owned(),
        rate: Rate(rate),
        ceil: Some(line),
        queue: Some(Box::new(drop_tail())),
        ..HtbClass::default()
    };
    let root = HtbClass {
        queue: None,
        ..class("line", "", line.0)
    };
    HtbConfig {
        classes: vec![
            root,
            class("small", "line", 2_000_000),
            class("large", "line", 6_000_000),
        ],
        ..HtbConfig::default()
    }
}

fn delay_based() -> [(&'static str, QueueConfig); 10] {
    let ecn_codel = CodelParams {
        ecn: true,
        ce_threshold: Some(Span::from_millis(2)),
        ..CodelParams::rfc8289()
    };
    let ecn_pie = PieParams {
        ecn: true,
        bytemode: true,
        dq_rate_estimator: true,
        ..PieParams::rfc8033()
    };
    let dual = DualPi2Config::linux(LIMIT);
    let shifted = DualPi2Config {
        drop_early: true,
        drop_overload: false,
        scheduler: DualScheduler::TimeShifted {
            shift: Span::from_millis(30),
        },
        ..dual
    };
    [
        ("codel", QueueConfig::Codel(CodelConfig::linux(LIMIT))),
        (
            "codel, RFC 8289, ECN",
            QueueConfig::Codel(CodelConfig {
                limit: LIMIT,
                codel: ecn_codel,
            }),
        ),
        ("pie", QueueConfig::Pie(PieConfig::linux(LIMIT))),
        (
            "pie, RFC 8033, ECN",
            QueueConfig::Pie(PieConfig {
                limit: LIMIT,
                pie: ecn_pie,
            }),
        ),
        ("pie, ns-3", QueueConfig::Pie(PieConfig::ns3(LIMIT))),
        (
            "pi2",
            QueueConfig::Pi2(Pi2Config {
                ecn: true,
                ..Pi2Config::new(LIMIT)
            }),
        ),
        ("dualpi2", QueueConfig::DualPi2(dual)),
        ("dualpi2, time-shifted", QueueConfig::DualPi2(shifted)),
        (
            "dualpi2, RFC 9332's ramp",
            QueueConfig::DualPi2(DualPi2Config {
                step: StepThreshold::Delay(Span::from_micros(800)),
                ramp_range: Span::from_micros(400),
                min_qlen_left: 2,
                memory_limit: Some(100_000),
                ..dual
            }),
        ),
        (
            "step",
            QueueConfig::Step(StepConfig {
                limit: LIMIT,
                threshold: Limit::Packets(20),
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
    fn every_kind_is_present() {
        let examples = examples();
        for word in QueueConfig::NAMES {
            let found = examples
                .iter()
                .any(|(_, config)| config.word() == Some(word));
            assert!(found, "{word}");
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
