//! The keys of `queue`, by discipline.

use super::{Key, Kind, REQUIRED, Spec, key};

pub(crate) const QUEUE: Kind = Kind::Tagged {
    tag: "kind",
    variants: QUEUES,
};

/// Every discipline with its table.
pub(crate) const QUEUES: &[(&str, &Spec)] = &[("drop_tail", &DROP_TAIL)];

/// Their names.
const NAMES: &[&str] = &["drop_tail"];

const KIND: Key = key(
    "kind",
    Kind::Choice(NAMES),
    "\"drop_tail\"",
    "\"codel\"",
    "The queue discipline; `docs/queues` has a section for each.",
);

/// `limit` with its default, as `tc` has it.
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

static DROP_TAIL: Spec = Spec {
    name: "drop_tail queue",
    keys: &[KIND, limit(REQUIRED)],
};
