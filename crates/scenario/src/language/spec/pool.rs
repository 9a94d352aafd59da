//! The keys of `[[topology.pool]]`.

use super::{AMOUNT, Key, Kind, REQUIRED, Spec, key};
use crate::language::spec::LARGEST;

/// In a link's table.
pub(crate) const LINK_POOL: Key = key(
    "pool",
    Kind::Name,
    "memory of its own",
    "\"switch\"",
    "The `[[topology.pool]]` that the queue's bytes are booked on, beside its own limit.",
);

pub(crate) const POOLS: Key = key(
    "pool",
    Kind::List(&POOL),
    "none",
    "[[topology.pool]]",
    "Buffers that several links share; see docs/queues/shared-buffer.md.",
);

static POOL: Spec = Spec {
    name: "shared buffer",
    defaults: None,
    keys: &[
        key(
            "name",
            Kind::Name,
            REQUIRED,
            "\"switch\"",
            "Name in results and in `pool` of links.",
        ),
        key(
            "capacity",
            AMOUNT,
            REQUIRED,
            "\"12MB\"",
            "Frame bytes that all links together may have waiting.",
        ),
        key(
            "policy",
            Kind::Choice(&["dynamic", "static", "complete"]),
            "\"dynamic\"",
            "\"static\"",
            "`dynamic`: a link may hold up to `alpha` times what is free; `static`: an equal part; \
             `complete`: whatever is free.",
        ),
        key(
            "alpha",
            Kind::Number {
                min: 0.000_001,
                max: 1_000_000.0,
            },
            "1",
            "0.5",
            "The factor of dynamic thresholds.",
        ),
        key(
            "headroom",
            Kind::Size {
                min: 0,
                max: LARGEST,
            },
            "\"0B\"",
            "\"10kB\"",
            "Bytes kept for each link; what is left is shared, and thresholds count that alone.",
        ),
    ],
};
