//! The keys of disciplines that keep flows apart.

use super::delay::{ARITHMETIC, CE_THRESHOLD, CODEL_MTU, COUNT_REUSE, INTERVAL, TARGET};
use super::{KIND, ecn, limit};
use crate::setting::Words;
use crate::spec::{Key, Kind, REQUIRED, Spec, TIMER, key};
use goodqueue_queue::ComparedBacklog;

/// Bytes of a round.
const QUANTUM: Key = key(
    "quantum",
    Kind::Size {
        min: 0,
        max: 1_000_000_000,
    },
    "\"1514B\"",
    "\"300B\"",
    "Frame bytes that each queue may send in a round.",
);
const HEADDROP: Key = key(
    "headdrop",
    Kind::Flag,
    "false",
    "true",
    "A queue that loses a packet loses its oldest, not its newest.",
);
const QUEUES: Kind = Kind::Integer {
    min: 1,
    max: 65_536,
};
const FLOWS: Key = key(
    "flows",
    QUEUES,
    "1024",
    "1024",
    "Into how many queues flows are hashed.",
);
const MEMORY_LIMIT: Key = key(
    "memory_limit",
    Kind::Either(&[
        Kind::Size {
            min: 0,
            max: crate::units::LARGEST,
        },
        Kind::Choice(&["unlimited"]),
    ]),
    "\"32MiB\"",
    "\"unlimited\"",
    "Kernel memory that waiting packets may take, which is more than their bytes.",
);

pub(super) static DRR: Spec = Spec {
    name: "drr",
    keys: &[
        KIND,
        limit(REQUIRED),
        QUANTUM,
        key(
            "flows",
            Kind::Either(&[QUEUES, Kind::Choice(&["each"])]),
            "\"each\"",
            "1024",
            "Into how many queues flows are hashed; `each` has one of its own.",
        ),
        HEADDROP,
    ],
};

pub(super) static SFQ: Spec = Spec {
    name: "sfq",
    keys: &[
        KIND,
        limit("\"127p\""),
        QUANTUM,
        key(
            "divisor",
            QUEUES,
            "1024",
            "1024",
            "Buckets of the hash table, a power of two.",
        ),
        key(
            "flows",
            QUEUES,
            "128",
            "128",
            "Most queues in use at once; packets of further flows are dropped.",
        ),
        key("depth", QUEUES, "127", "127", "Most packets in one queue."),
        HEADDROP,
        key(
            "perturb",
            Kind::Either(&[TIMER, Kind::Choice(&["never"])]),
            "\"never\"",
            "\"10s\"",
            "After how long the hash function changes.",
        ),
    ],
};

pub(super) static FQ_CODEL: Spec = Spec {
    name: "fq_codel",
    keys: &[
        KIND,
        limit("\"10240p\""),
        FLOWS,
        QUANTUM,
        key(
            "drop_batch",
            Kind::Integer {
                min: 1,
                max: 65_536,
            },
            "64",
            "1",
            "Most packets dropped at once when the limit is exceeded.",
        ),
        MEMORY_LIMIT,
        TARGET,
        INTERVAL,
        ecn("true"),
        CE_THRESHOLD,
        CODEL_MTU,
        ARITHMETIC,
        COUNT_REUSE,
        key(
            "compared_backlog",
            Kind::Choice(ComparedBacklog::WORDS),
            "\"whole\"",
            "\"own\"",
            "Whose backlog `mtu` is compared with: that of all queues (Linux) or the queue's own (ns-3).",
        ),
        key(
            "set_ways",
            QUEUES,
            "1",
            "8",
            "How many queues a flow may choose from, so that flows collide less; divides `flows`.",
        ),
    ],
};
