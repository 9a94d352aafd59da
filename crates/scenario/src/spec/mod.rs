//! What a scenario may say: every key with its kind, bounds, default and meaning, once. The
//! reader, the JSON Schema and the tables of docs/scenario.md are all made from these lists.

mod congestion;
mod flow;
mod framing;
mod impairment;
mod law;
mod loss;
mod pool;
mod queue;
mod service;
mod study;
mod tcp;
mod topology;
mod workload;

use goodqueue_types::Span;

pub(crate) use congestion::CONTROLS;
pub(crate) use flow::FLOW;
pub(crate) use framing::{FRAMING_TABLE, PRESETS};
pub(crate) use impairment::{DUPLICATION, REORDERING};
pub(crate) use loss::{GILBERT_ELLIOTT, INDEPENDENT};
pub(crate) use queue::{ADAPTATIONS, FPQ_CONTROLS, QUEUES};
pub(crate) use study::{COMPARISON, LABELLED, MOST_RUNS, MOST_VARIANTS, RANGE, STUDY};
pub(crate) use tcp::{DETAILS, RTO, TCP};
pub(crate) use topology::{BOTTLENECK, CHAIN_LINK, GRAPH_LINK};
use topology::{CHAIN, DUMBBELL, GRAPH, STAR, TREE};

/// A table of keys.
#[derive(Debug)]
pub(crate) struct Spec {
    /// Name in the schema and in the documentation.
    pub name: &'static str,
    pub keys: &'static [Key],
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub name: &'static str,
    pub kind: Kind,
    /// In words or as written; `required` if there is none.
    pub default: &'static str,
    /// A value as one would write it in TOML.
    pub example: &'static str,
    pub doc: &'static str,
}

/// Words with the keys that each allows.
pub(crate) type Variants = &'static [(&'static str, &'static Spec)];

/// What a value is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// A text of letters, digits, `-` and `_`, and dots before digits.
    Name,
    /// `true` or `false`.
    Flag,
    /// A whole number without unit: a count.
    Integer { min: u64, max: u64 },
    /// A number without unit.
    Number { min: f64, max: f64 },
    /// `98%` or a number from 0 to 1.
    Fraction,
    /// `25%`, where a number would be mistaken for something else.
    Percent,
    /// Bits per second.
    Rate,
    /// A time.
    Span { min: Span, max: Span },
    /// Bytes.
    Size { min: u64, max: u64 },
    /// Packets, with the unit `p`.
    Packets { min: u64, max: u64 },
    /// The limit of a queue.
    Limit,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of whole numbers.
    Integers { max: u64 },
    /// So many whole numbers from 0 on, in order.
    Numbers { count: usize, max: u64 },
    /// A list of such values.
    ListOf(&'static Kind),
    /// A table.
    Table(&'static Spec),
    /// A list of tables.
    List(&'static Spec),
    /// A table whose keys depend on the word at `tag`; the first is the default if any is.
    Tagged {
        tag: &'static str,
        variants: Variants,
    },
    /// The table of a queue, which may hold others.
    Queue,
    /// Whatever it is, its reader looks closer.
    Free,
    /// One of several.
    Either(&'static [Kind]),
}

impl Kind {
    /// The tag and its variants of a table whose keys depend on a word, or of a list of such.
    pub(crate) fn variants(self) -> Option<(&'static str, Variants)> {
        match self {
            Self::Tagged { tag, variants } => Some((tag, variants)),
            // Not a constant: queues within queues would refer to themselves.
            Self::Queue => Some(("kind", QUEUES)),
            Self::ListOf(kind) => kind.variants(),
            _ => None,
        }
    }
}

pub(crate) const fn key(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    example: &'static str,
    doc: &'static str,
) -> Key {
    Key {
        name,
        kind,
        default,
        example,
        doc,
    }
}

/// `default` of a key that must be given.
pub(crate) const REQUIRED: &str = "required";

pub(crate) const HOUR: Span = Span::from_secs(3_600);
const ANY_TIME: Kind = Kind::Span {
    min: Span::ZERO,
    max: crate::units::LONGEST,
};
const DELAY: Kind = Kind::Span {
    min: Span::ZERO,
    max: HOUR,
};
const INTERVAL: Kind = Kind::Span {
    min: Span(1),
    max: crate::units::LONGEST,
};
pub(crate) const TIMER: Kind = Kind::Span {
    min: Span(1_000),
    max: HOUR,
};
/// An IP packet: a header without payload up to what its length field can say.
const PACKET: Kind = Kind::Size {
    min: 20,
    max: 65_535,
};
pub(crate) const AMOUNT: Kind = Kind::Size {
    min: 1,
    max: crate::units::LARGEST,
};
const COUNT: Kind = Kind::Integer {
    min: 1,
    max: MOST_FLOWS,
};
/// Most flows of a scenario.
pub(crate) const MOST_FLOWS: u64 = 100_000;
/// Most links of a chain or graph.
pub(crate) const MOST_LINKS: usize = 1_000;

pub(crate) static SCENARIO: Spec = Spec {
    name: "scenario",
    keys: &[
        key(
            "schema_version",
            Kind::Integer { min: 1, max: 1 },
            REQUIRED,
            "1",
            "Version of this file format.",
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
                max: crate::units::LONGEST,
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
            "What holds for every bulk flow that does not say otherwise.",
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
    ],
};
