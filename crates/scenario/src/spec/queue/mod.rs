//! The keys of `queue`, by discipline.

mod delay;
mod fair;
mod red;
mod service;

pub(crate) use red::{ADAPTATIONS, FPQ_CONTROLS};

use super::{Key, Kind, REQUIRED, Spec, key};

/// Every discipline with its table.
pub(crate) const QUEUES: &[(&str, &Spec)] = &[
    ("drop_tail", &DROP_TAIL),
    ("drop_head", &DROP_HEAD),
    ("red", &red::RED),
    ("ns2_red", &red::NS2_RED),
    ("blue", &red::BLUE),
    ("fpq", &red::FPQ),
    ("codel", &delay::CODEL),
    ("pie", &delay::PIE),
    ("pi2", &delay::PI2),
    ("dualpi2", &delay::DUALPI2),
    ("step", &delay::STEP),
    ("drr", &fair::DRR),
    ("sfq", &fair::SFQ),
    ("fq_codel", &fair::FQ_CODEL),
    ("fq_pie", &fair::FQ_PIE),
    ("cake", &fair::CAKE),
    ("tbf", &service::TBF),
    ("prio", &service::PRIO),
];

/// Their names.
const NAMES: &[&str] = &[
    "drop_tail",
    "drop_head",
    "red",
    "ns2_red",
    "blue",
    "fpq",
    "codel",
    "pie",
    "pi2",
    "dualpi2",
    "step",
    "drr",
    "sfq",
    "fq_codel",
    "fq_pie",
    "cake",
    "tbf",
    "prio",
];

const KIND: Key = key(
    "kind",
    Kind::Choice(NAMES),
    "\"drop_tail\"",
    "\"codel\"",
    "The queue discipline; the pages in `docs/queues` say what each does.",
);

/// `limit` with its default, where it has one as in `tc`.
const fn limit(default: &'static str) -> Key {
    key(
        "limit",
        Kind::Limit,
        default,
        "\"100p\"",
        "The most that may wait beside the frame in transmission: packets `100p`, frame bytes `64KiB`, \
         time at the link's rate `50ms`, bandwidth-delay products `1.5bdp`, or `unlimited`.",
    )
}

/// A frame of a link, or a few.
const FRAME: Kind = Kind::Size {
    min: 1,
    max: 1_000_000_000,
};

/// `ecn` with its default.
const fn ecn(default: &'static str) -> Key {
    key(
        "ecn",
        Kind::Flag,
        default,
        "true",
        "Mark ECN-capable packets instead of dropping them.",
    )
}

static DROP_HEAD: Spec = Spec {
    name: "drop_head",
    keys: &[KIND, limit(REQUIRED)],
};

static DROP_TAIL: Spec = Spec {
    name: "drop_tail",
    keys: &[KIND, limit(REQUIRED)],
};
