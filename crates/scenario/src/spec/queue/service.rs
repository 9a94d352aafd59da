//! The keys of shapers and priorities.

use super::{FRAME, KIND, limit};
use crate::spec::{AMOUNT, ANY_TIME, Key, Kind, REQUIRED, Spec, key};

const INNER: Key = key(
    "queue",
    Kind::Queue,
    "one of `limit`, `latency` and `queue`",
    "{ kind = \"codel\" }",
    "What waits for tokens, as a queue of its own.",
);

pub(super) static TBF: Spec = Spec {
    name: "tbf",
    keys: &[
        KIND,
        key(
            "rate",
            Kind::Rate,
            REQUIRED,
            "\"10Mbps\"",
            "Long-term rate of frames. From 1bps to 10Tbps.",
        ),
        key(
            "burst",
            AMOUNT,
            REQUIRED,
            "\"10kB\"",
            "Frame bytes that may go at once after a pause.",
        ),
        key(
            "peakrate",
            Kind::Rate,
            "none",
            "\"20Mbps\"",
            "Rate at which a burst may go; with `mtu` only.",
        ),
        key(
            "mtu",
            FRAME,
            "none",
            "\"1514B\"",
            "Frame bytes that may go at once at most; with `peakrate` only.",
        ),
        limit("one of `limit`, `latency` and `queue`"),
        key(
            "latency",
            ANY_TIME,
            "one of `limit`, `latency` and `queue`",
            "\"50ms\"",
            "The longest that a byte may wait for tokens; it becomes a limit in bytes.",
        ),
        INNER,
    ],
};

pub(super) static PRIO: Spec = Spec {
    name: "prio",
    keys: &[
        KIND,
        key(
            "bands",
            Kind::ListOf(&Kind::Queue),
            REQUIRED,
            "[{ limit = \"100p\" }, { limit = \"100p\" }, { limit = \"100p\" }]",
            "The queue of each band, 2 to 16 of them; the first band goes first.",
        ),
        key(
            "priomap",
            Kind::Numbers { count: 16, max: 15 },
            "`tc`'s",
            "[1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]",
            "The band, from 0, of each Linux priority, which follows from the type of service.",
        ),
        key(
            "dscp_map",
            Kind::Numbers { count: 64, max: 15 },
            "by `priomap`",
            "[…]",
            "The band of each code point, in place of `priomap`.",
        ),
    ],
};
