//! Random queues of every discipline, drawn from the declarations of their parameters.

use goodqueue_queue::{Configuration, Limit, QueueConfig, examples};
use goodqueue_types::parameters::{Kind, vary_within};
use goodqueue_types::{RandomStream, Span};
use proptest::prelude::*;
use proptest::sample::select;

/// Draws an example of a discipline with random parameters and this limit. Shapers, classes and
/// priorities are not among them.
pub fn any_queue(limit: Limit) -> impl Strategy<Value = QueueConfig> {
    let examples = examples().into_iter().map(|(_, config)| config);
    let simple: Vec<QueueConfig> = examples
        .filter(|config| {
            !["drop_tail", "htb", "prio", "tbf"].contains(&config.word().unwrap_or_default())
        })
        .collect();
    (select(simple), any::<u64>()).prop_map(move |(mut config, seed)| {
        let mut random = RandomStream::new(seed, "queue", 0);
        vary_within(&mut config, &mut random, small, |config| {
            config.check(1514) == Ok(())
        });
        config.set_limit(limit);
        config
    })
}

/// Narrows the bounds of a parameter to times, sizes and counts that matter to a few packets.
fn small(kind: Kind) -> Kind {
    match kind {
        Kind::Span { min, max } => Kind::Span {
            min: min.max(Span::from_micros(100)).min(max),
            max: max.min(Span::from_millis(20)).max(min),
        },
        Kind::Size { min, max } => Kind::Size {
            min: min.max(100).min(max),
            max: max.min(5_000).max(min),
        },
        Kind::Integer { min, max } => Kind::Integer {
            min,
            max: max.min(16).max(min),
        },
        Kind::Packets { min, max } => Kind::Packets {
            min,
            max: max.min(16).max(min),
        },
        Kind::Number { min, max } => Kind::Number {
            min,
            max: max.min(3_000.0).max(min),
        },
        kind => kind,
    }
}
