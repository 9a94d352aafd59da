//! Every registered discipline keeps the rules of all queues with any parameters that it accepts.

use crate::{Configuration, QueueConfig, conformance};
use goodqueue_types::RandomStream;
use goodqueue_types::parameters::{Kind, Parameters, Value, vary_within};

/// Number of random configurations of each example.
const DRAWS: u64 = 4;

/// Narrows bounds so that the traffic of the rules, some hundred packets, meets them.
fn narrow(kind: Kind) -> Kind {
    match kind {
        Kind::Size { min, max } => Kind::Size {
            min,
            max: max.min(200_000),
        },
        Kind::Integer { min, max } => Kind::Integer {
            min,
            max: max.min(2_000),
        },
        kind => kind,
    }
}

/// Returns true if packets of one flow stay in order. They may not if a set of FQ-CoDel's table is
/// full, because the flow then changes its queue.
fn keeps_order(config: &QueueConfig) -> bool {
    !matches!(config.get("set_ways"), Some(Value::Integer(ways)) if ways > 1)
}

#[test]
fn random_parameters_of_every_discipline_conform() {
    for (name, example) in crate::examples() {
        for seed in 1..=DRAWS {
            let mut config = example.clone();
            let mut random = RandomStream::new(seed, name, 0);
            vary_within(&mut config, &mut random, narrow, |config: &QueueConfig| {
                config.check(1514).is_ok() && keeps_order(config)
            });
            if let Err(violation) = conformance::check_config(&config, seed) {
                panic!("{name}: {config:?}: {violation}");
            }
        }
    }
}
