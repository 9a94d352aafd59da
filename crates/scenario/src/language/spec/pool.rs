//! The keys of `[[topology.pool]]`.

use super::{Key, Kind, key};
use goodqueue_sim::PoolConfig;

/// Key of a link's table that names its shared buffer.
pub(crate) const LINK_POOL: Key = key(
    "pool",
    Kind::Name,
    "memory of its own",
    "\"switch\"",
    "The `[[topology.pool]]` that the queue's bytes are booked on, beside its own limit.",
);

pub(crate) const POOLS: Key = key(
    "pool",
    Kind::List(PoolConfig::SPEC),
    "none",
    "[[topology.pool]]",
    "Buffers that several links share; see docs/queues/shared-buffer.md.",
);
