//! Keys of a scenario, each with its kind, bounds, default and meaning, once. The reader, the JSON
//! Schema and the tables of docs/scenario.md are all made from these lists.

mod flow;
mod framing;
mod impairment;
mod law;
mod pool;
mod study;
mod tcp;
mod topology;
mod workload;

use goodqueue_queue::QueueConfig;
use goodqueue_sim::{AutorateConfig, LossConfig, ServiceConfig};
use goodqueue_types::Span;
pub(crate) use goodqueue_types::parameters::{AMOUNT, Quantity};
use goodqueue_types::parameters::{ANY_TIME, DELAY, INTERVAL};
pub(crate) use goodqueue_types::parameters::{
    HOUR, Key, Kind, LONGEST, REQUIRED, Spec, Variants, key,
};

pub(crate) use flow::FLOW;
pub(crate) use framing::PRESETS;
pub(crate) use impairment::{EVERY, ORDER};
pub(crate) use law::JITTER;
pub(crate) use study::{COMPARISON, LABELLED, MAX_RUNS, MAX_VARIANTS, RANGE, STUDY};
pub(crate) use tcp::TCP;
pub(crate) use topology::{BOTTLENECK, CHAIN_LINK, GRAPH_LINK};
use topology::{CHAIN, DUMBBELL, GRAPH, STAR, TREE};
pub(crate) use workload::WORKLOAD;

/// The tag and its variants of a table whose keys depend on a word, or of a list of such.
pub(crate) fn variants(kind: Kind) -> Option<(&'static str, Variants)> {
    match kind {
        Kind::Tagged { tag, variants } => Some((tag, variants)),
        Kind::Queue => Some(("kind", QueueConfig::VARIANTS)),
        Kind::Law(quantity) => Some(("law", law::laws(quantity))),
        Kind::ListOf(kind) => variants(*kind),
        _ => None,
    }
}

pub(crate) const LOSS: Kind = Kind::Tagged {
    tag: "kind",
    variants: LossConfig::VARIANTS,
};
pub(crate) const AUTORATE: Kind = Kind::Tagged {
    tag: "kind",
    variants: AutorateConfig::VARIANTS,
};
pub(crate) const SERVICE: Kind = Kind::Tagged {
    tag: "kind",
    variants: ServiceConfig::VARIANTS,
};
const COUNT: Kind = Kind::Integer {
    min: 1,
    max: MAX_FLOWS,
};
/// Most flows of a scenario. It bounds the memory and the time that every command takes before a run.
/// A run is bounded by its own estimate (`memory.rs`), which is reached earlier.
pub(crate) const MAX_FLOWS: u64 = 1_000_000;
/// Most links of a chain or graph.
pub(crate) const MAX_LINKS: usize = 1_000;

pub(crate) static SCENARIO: Spec = Spec {
    name: "scenario",
    defaults: None,
    keys: &[
        key(
            "schema_version",
            Kind::Integer { min: 1, max: 2 },
            REQUIRED,
            "2",
            "Version of this file format. It decides the default of `tcp.profile`: `linux` in 2, `rfc` in 1.",
        ),
        key(
            "title",
            Kind::Text,
            "\"\"",
            "\"One flow\"",
            "One line that says what the scenario shows.",
        ),
        key(
            "description",
            Kind::Text,
            "\"\"",
            "\"…\"",
            "More about it: source, assumptions.",
        ),
        key(
            "duration",
            Kind::Span {
                min: Span(1_000),
                max: LONGEST,
            },
            REQUIRED,
            "\"180s\"",
            "Length of the run.",
        ),
        key(
            "warmup",
            Kind::Either(&[ANY_TIME, Kind::Percent]),
            "\"0s\"",
            "\"25%\"",
            "Nothing is measured before this time, given as a time or as a share of the duration.",
        ),
        key(
            "seed",
            Kind::Integer {
                min: 0,
                max: u64::MAX >> 1,
            },
            "1",
            "1",
            "Seeds every random stream of the run.",
        ),
        key(
            "topology",
            Kind::Tagged {
                tag: "shape",
                variants: &[
                    ("dumbbell", &DUMBBELL),
                    ("chain", &CHAIN),
                    ("graph", &GRAPH),
                    ("star", &STAR),
                    ("tree", &TREE),
                ],
            },
            REQUIRED,
            "{ shape = \"dumbbell\" }",
            "Links and how they are joined.",
        ),
        key(
            "tcp",
            Kind::Table(&TCP),
            "{}",
            "{ profile = \"rfc\" }",
            "Defaults of all bulk flows.",
        ),
        key(
            "flow",
            Kind::List(&FLOW),
            REQUIRED,
            "[[flow]]",
            "Flows, or groups of like flows.",
        ),
        key(
            "record",
            Kind::Table(&RECORD),
            "{}",
            "{ series = true }",
            "What to keep besides the summary.",
        ),
    ],
};

pub(crate) static RECORD: Spec = Spec {
    name: "record",
    defaults: None,
    keys: &[
        key(
            "series",
            Kind::Flag,
            "false",
            "true",
            "Backlog, cwnd, ssthresh and RTT over time.",
        ),
        key(
            "packets",
            Kind::Flag,
            "false",
            "true",
            "Every packet event at every host and every link that has a rate, access links included.",
        ),
        key(
            "access",
            Kind::Flag,
            "false",
            "true",
            "Report the access links too, as `<host>.access` and so on.",
        ),
        key(
            "tcp_delays",
            Kind::Flag,
            "false",
            "true",
            "One-way delays of bulk TCP flows' data; those of others are always measured.",
        ),
        key(
            "flows",
            Kind::Flag,
            "false",
            "true",
            "Report each flow of groups with more than 1000 flows, too, instead of distributions of their figures.",
        ),
    ],
};
