//! The keys of disciplines that keep flows apart.

use super::delay::{
    ARITHMETIC, BYTEMODE, CAP_ADJUSTMENT, CE_THRESHOLD, CODEL_MTU, COUNT_REUSE, DERANDOMIZE,
    DQ_RATE_ESTIMATOR, ECN_THRESHOLD, FLAVOUR, INTERVAL, MAX_BURST, NEXT_MARK, PIE_ALPHA, PIE_BETA,
    PIE_MTU, PIE_TARGET, PIE_TUPDATE, TARGET,
};
use super::{KIND, ecn, limit};
use crate::queue::CakeCells;
use crate::setting::Words;
use crate::spec::{Key, Kind, REQUIRED, Spec, TIMER, key};
use goodqueue_queue::{CakeDiffserv, CakeFirstInterval, CakeIsolation, ComparedBacklog};

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
        NEXT_MARK,
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

pub(super) static FQ_PIE: Spec = Spec {
    name: "fq_pie",
    keys: &[
        KIND,
        limit("\"10240p\""),
        FLOWS,
        QUANTUM,
        PIE_TARGET,
        PIE_TUPDATE,
        PIE_ALPHA,
        PIE_BETA,
        ecn("false"),
        ECN_THRESHOLD,
        BYTEMODE,
        DQ_RATE_ESTIMATOR,
        DERANDOMIZE,
        CAP_ADJUSTMENT,
        MAX_BURST,
        PIE_MTU,
        FLAVOUR,
    ],
};

/// What a link layer adds.
const LINK_LAYER: Kind = Kind::Size { min: 0, max: 1_024 };

pub(super) static CAKE: Spec = Spec {
    name: "cake",
    keys: &[
        KIND,
        key(
            "bandwidth",
            Kind::Either(&[Kind::Rate, Kind::Choice(&["unlimited"])]),
            "\"unlimited\"",
            "\"9500kbps\"",
            "Rate of the shaper, a little below the link's.",
        ),
        key(
            "diffserv",
            Kind::Choice(CakeDiffserv::WORDS),
            "\"diffserv3\"",
            "\"besteffort\"",
            "Into which tins packets are sorted by their code point.",
        ),
        key(
            "isolation",
            Kind::Choice(CakeIsolation::WORDS),
            "\"triple-isolate\"",
            "\"flows\"",
            "Between whom the bandwidth is shared.",
        ),
        key(
            "rtt",
            TIMER,
            "\"100ms\"",
            "\"30ms\"",
            "A usual round-trip time: COBALT's interval; its target is a twentieth of it.",
        ),
        key(
            "overhead",
            LINK_LAYER,
            "the link's framing",
            "\"38B\"",
            "Bytes that the shaper counts beyond the IP packet.",
        ),
        key(
            "mpu",
            LINK_LAYER,
            "the link's framing",
            "\"84B\"",
            "No frame counts less.",
        ),
        key(
            "atm",
            Kind::Choice(CakeCells::WORDS),
            "the link's framing",
            "\"atm\"",
            "Cells that the shaper counts: none, ATM's of 48 bytes in 53, or PTM's 65 for 64.",
        ),
        key(
            "memory_limit",
            Kind::Either(&[
                Kind::Size {
                    min: 0,
                    max: crate::units::LARGEST,
                },
                Kind::Choice(&["auto"]),
            ]),
            "\"auto\"",
            "\"4MiB\"",
            "Kernel memory that waiting packets may take; `auto`: four times what `bandwidth` sends in `rtt`, 4 MiB \
             at least.",
        ),
        limit("\"unlimited\""),
        key(
            "ingress",
            Kind::Flag,
            "false",
            "true",
            "The shaper counts what is dropped, too: it has passed the bottleneck before.",
        ),
        key(
            "mtu",
            super::FRAME,
            "\"1514B\"",
            "\"1514B\"",
            "Frame bytes of a full packet.",
        ),
        key(
            "first_interval",
            Kind::Choice(CakeFirstInterval::WORDS),
            "\"none\"",
            "\"whole\"",
            "How long a queue that was never congested may stay above its target: to the next packet (Linux), or an \
             interval (ns-3).",
        ),
    ],
};
