//! The keys of `[topology]`.

use super::framing::FRAMING;
use super::loss::LOSS;
use super::pool::{LINK_POOL, POOLS};
use super::service::SERVICE;
use super::{DELAY, Key, Kind, REQUIRED, Spec, key};

const SHAPE: Key = key(
    "shape",
    Kind::Choice(&["dumbbell", "chain"]),
    REQUIRED,
    "\"dumbbell\"",
    "`dumbbell`: one bottleneck link. `chain`: any number of links in a row.",
);
const ALL_FRAMING: Key = key(
    "framing",
    FRAMING,
    "\"0B\"",
    "\"7B\"",
    "What the link layer adds to every IP packet, on every link that does not say otherwise: bytes, a link layer by name, or a table.",
);
const ALL_QUEUE: Key = key(
    "queue",
    Kind::Queue,
    "{ limit = \"unlimited\" }",
    "{ limit = \"100p\" }",
    "Queue of every link and direction that does not say otherwise.",
);
const ACCESS: Key = key(
    "access",
    Kind::Table(&ACCESS_LINK),
    "none",
    "{ rate = \"1Gbps\", delay = \"1ms\" }",
    "The link of every host; its direction is from the host into the network, `reverse` is towards the host. \
     Without it hosts stand on the routers themselves.",
);
const FAR_ACCESS: Key = key(
    "far_access",
    Kind::Table(&FAR_ACCESS_LINK),
    "as `access`",
    "{ delay = \"5ms\" }",
    "What differs for hosts at the far end of their path (the higher node number).",
);

pub(crate) static DUMBBELL: Spec = Spec {
    name: "dumbbell",
    keys: &[
        SHAPE,
        ALL_FRAMING,
        ALL_QUEUE,
        POOLS,
        ACCESS,
        FAR_ACCESS,
        key(
            "bottleneck",
            Kind::Table(&BOTTLENECK),
            REQUIRED,
            "{ rate = \"1Mbps\", delay = \"10ms\", queue = { limit = \"100p\" } }",
            "The link from node 0 to node 1; its name in results is `bottleneck`.",
        ),
    ],
};

pub(crate) static CHAIN: Spec = Spec {
    name: "chain",
    keys: &[
        SHAPE,
        ALL_FRAMING,
        ALL_QUEUE,
        POOLS,
        ACCESS,
        FAR_ACCESS,
        key(
            "link",
            Kind::List(&CHAIN_LINK),
            REQUIRED,
            "[[topology.link]]",
            "Links in order; link k joins node k to node k + 1.",
        ),
    ],
};

const RATE: Key = key(
    "rate",
    Kind::Rate,
    "none, where `service` is given",
    "\"1Mbps\"",
    "Transmission rate, of frames (IP packet plus framing). From 1bps to 10Tbps.",
);
const LINK_SERVICE: Key = key(
    "service",
    SERVICE,
    "none, where `rate` is given",
    "{ kind = \"mahimahi\", file = \"lte.trace\" }",
    "How the rate changes, in place of `rate`; see docs/queues/service.md.",
);
const LINK_DELAY: Key = key(
    "delay",
    DELAY,
    REQUIRED,
    "\"10ms\"",
    "Propagation delay, one way.",
);
const LINK_FRAMING: Key = key(
    "framing",
    FRAMING,
    "`topology.framing`",
    "\"14B\"",
    "What the link layer adds to every IP packet: bytes, a link layer by name, or a table.",
);
const LINK_QUEUE: Key = key(
    "queue",
    Kind::Queue,
    "`topology.queue`, which one of the two must give",
    "{ limit = \"100p\" }",
    "The queue in front of the link.",
);
const DROP_LIST: Key = key(
    "drop_list",
    Kind::Integers { max: u64::MAX >> 1 },
    "[]",
    "[16, 17]",
    "Packets that the link loses, counted from 0 in order of arrival at the link (a SYN counts too).",
);
const LINK_LOSS: Key = key(
    "loss",
    LOSS,
    "none",
    "{ probability = \"1%\" }",
    "What the link loses at random, whatever its queue does; counted apart from the queue's drops.",
);
const REVERSE: Key = key(
    "reverse",
    Kind::Table(&REVERSE_LINK),
    "same rate, delay and framing",
    "{ rate = \"256kbps\" }",
    "What differs in the other direction.",
);

static BOTTLENECK: Spec = Spec {
    name: "bottleneck",
    keys: &[
        RATE,
        LINK_SERVICE,
        LINK_DELAY,
        LINK_FRAMING,
        LINK_QUEUE,
        LINK_POOL,
        DROP_LIST,
        LINK_LOSS,
        REVERSE,
    ],
};

static CHAIN_LINK: Spec = Spec {
    name: "chain link",
    keys: &[
        key(
            "name",
            Kind::Name,
            "`link` and its number",
            "\"uplink\"",
            "Name in results.",
        ),
        RATE,
        LINK_SERVICE,
        LINK_DELAY,
        LINK_FRAMING,
        LINK_QUEUE,
        LINK_POOL,
        DROP_LIST,
        LINK_LOSS,
        REVERSE,
    ],
};

static ACCESS_LINK: Spec = Spec {
    name: "access link",
    keys: &[
        RATE,
        LINK_SERVICE,
        key(
            "delay",
            DELAY,
            "\"0s\"",
            "\"1ms\"",
            "Propagation delay, one way, of hosts whose flows give no `rtt`.",
        ),
        LINK_FRAMING,
        key(
            "queue",
            Kind::Queue,
            "`topology.queue`",
            "{ limit = \"100p\" }",
            "The queue of the host's own interface.",
        ),
        LINK_POOL,
        DROP_LIST,
        LINK_LOSS,
        REVERSE,
    ],
};

static FAR_ACCESS_LINK: Spec = Spec {
    name: "far access link",
    keys: &[
        key(
            "rate",
            Kind::Rate,
            "as `access`",
            "\"100Mbps\"",
            "Transmission rate. From 1bps to 10Tbps.",
        ),
        LINK_SERVICE,
        key(
            "delay",
            DELAY,
            "as `access`",
            "\"5ms\"",
            "Propagation delay, one way.",
        ),
        key(
            "framing",
            FRAMING,
            "as `access`",
            "\"14B\"",
            "What the link layer adds to every IP packet: bytes, a link layer by name, or a table.",
        ),
        key(
            "queue",
            Kind::Queue,
            "as `access`",
            "{ limit = \"100p\" }",
            "The queue of the host's own interface.",
        ),
        LINK_POOL,
        key(
            "drop_list",
            Kind::Integers { max: u64::MAX >> 1 },
            "[]",
            "[0]",
            "Packets that the link loses, counted from 0 in order of arrival at the link.",
        ),
        LINK_LOSS,
        key(
            "reverse",
            Kind::Table(&REVERSE_LINK),
            "as `access.reverse`",
            "{ rate = \"1Mbps\" }",
            "What differs in the direction towards the host.",
        ),
    ],
};

static REVERSE_LINK: Spec = Spec {
    name: "reverse direction",
    keys: &[
        key(
            "rate",
            Kind::Rate,
            "as forward",
            "\"256kbps\"",
            "Transmission rate. From 1bps to 10Tbps.",
        ),
        LINK_SERVICE,
        key(
            "delay",
            DELAY,
            "as forward",
            "\"30ms\"",
            "Propagation delay, one way.",
        ),
        key(
            "framing",
            FRAMING,
            "as forward",
            "\"14B\"",
            "What the link layer adds to every IP packet: bytes, a link layer by name, or a table.",
        ),
        key(
            "queue",
            Kind::Queue,
            "`topology.queue`, else unlimited",
            "{ limit = \"100p\" }",
            "The queue in front of this direction. It is not taken over from the forward direction.",
        ),
        LINK_POOL,
        key(
            "drop_list",
            Kind::Integers { max: u64::MAX >> 1 },
            "[]",
            "[0]",
            "Packets that this direction loses, counted from 0 in order of arrival.",
        ),
        LINK_LOSS,
    ],
};
