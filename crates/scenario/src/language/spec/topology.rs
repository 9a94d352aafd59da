//! The keys of `[topology]`.

use super::framing::FRAMING;
use super::impairment::{DUPLICATE, INTERRUPTS, JITTER, PAUSE, REORDER};
use super::pool::{LINK_POOL, POOLS};
use super::{AUTORATE, DELAY, Key, Kind, LOSS, MAX_LINKS, REQUIRED, SERVICE, Spec, key};
use goodqueue_types::parameters::{concat_keys, count_keys};

/// Joins lists of keys.
macro_rules! joined {
    ($($part:expr),+) => {{
        const PARTS: &[&[Key]] = &[$($part),+];
        &concat_keys::<{ count_keys(PARTS) }>(PARTS)
    }};
}

const SHAPE: Key = key(
    "shape",
    Kind::Choice(&["dumbbell", "chain", "graph", "star", "tree"]),
    REQUIRED,
    "\"dumbbell\"",
    "`dumbbell`: one bottleneck link. `chain`: any number of links in a row. `graph`: links between named nodes. \
     `star`: a switch with one link to each host. `tree`: sources at many distances behind one link to their sink.",
);
const ALL_FRAMING: Key = key(
    "framing",
    FRAMING,
    "\"0B\"",
    "\"7B\"",
    "Overhead of the link layer for each IP packet, on every link without a value of its own: bytes, a link layer by name, or a table.",
);
const ALL_QUEUE: Key = key(
    "queue",
    Kind::Queue,
    "{ limit = \"unlimited\" }",
    "{ limit = \"100p\" }",
    "Queue of every link and direction without a queue of its own.",
);
const ACCESS: Key = key(
    "access",
    Kind::Table(&ACCESS_LINK),
    "none",
    "{ rate = \"1Gbps\", delay = \"1ms\" }",
    "The link of every host; its direction is from the host into the network, `reverse` is towards the host. \
     Without it hosts stand on the nodes themselves: in a graph, star or tree a node is one host for all flows \
     that start or end there; in a dumbbell or chain every flow has hosts of its own.",
);
const FAR_ACCESS: Key = key(
    "far_access",
    Kind::Table(&FAR_ACCESS_LINK),
    "as `access`",
    "{ delay = \"5ms\" }",
    "Differences for hosts at the far end of their path, which is the node of the higher number. In a graph it is the node that comes later in the file.",
);

/// Keys of every shape.
const SHAPE_KEYS: &[Key] = &[SHAPE, ALL_FRAMING, ALL_QUEUE, POOLS, ACCESS, FAR_ACCESS];

pub(crate) static DUMBBELL: Spec = Spec {
    name: "dumbbell",
    defaults: None,
    keys: joined!(
        SHAPE_KEYS,
        &[key(
            "bottleneck",
            Kind::Table(&BOTTLENECK),
            REQUIRED,
            "{ rate = \"1Mbps\", delay = \"10ms\", queue = { limit = \"100p\" } }",
            "The link from node 0 to node 1; its name in results is `bottleneck`.",
        )]
    ),
};

pub(crate) static CHAIN: Spec = Spec {
    name: "chain",
    defaults: None,
    keys: joined!(
        SHAPE_KEYS,
        &[key(
            "link",
            Kind::List(&CHAIN_LINK),
            REQUIRED,
            "[[topology.link]]",
            "Links in order; link k joins node k to node k + 1.",
        )]
    ),
};

const NODES: Key = key(
    "node",
    Kind::List(&NODE),
    "those that links name",
    "[[topology.node]]",
    "Nodes. Where any is declared, or the shape has some itself, links may name no others.",
);
const LINKS: Key = key(
    "link",
    Kind::List(&GRAPH_LINK),
    REQUIRED,
    "[[topology.link]]",
    "Links in any order.",
);
const MORE_LINKS: Key = key(
    "link",
    Kind::List(&GRAPH_LINK),
    "none",
    "[[topology.link]]",
    "Further links, as in a graph.",
);

pub(crate) static GRAPH: Spec = Spec {
    name: "graph",
    defaults: None,
    keys: joined!(SHAPE_KEYS, &[NODES, LINKS]),
};

pub(crate) static STAR: Spec = Spec {
    name: "star",
    defaults: None,
    keys: joined!(
        SHAPE_KEYS,
        &[
            key(
                "ports",
                Kind::Integer {
                    min: 2,
                    max: MAX_LINKS as u64,
                },
                REQUIRED,
                "32",
                "How many ports. Port k is the link `portk` from node `switch` to node `hostk`, k from 0 on.",
            ),
            key(
                "port",
                Kind::Table(&PORT),
                REQUIRED,
                "{ rate = \"10Gbps\", delay = \"1us\", queue = { limit = \"100p\" } }",
                "The link of every port: from the switch to the host, where the switch's queue is; `reverse` is from \
             the host to the switch.",
            ),
            NODES,
            MORE_LINKS
        ]
    ),
};

pub(crate) static TREE: Spec = Spec {
    name: "tree",
    defaults: None,
    keys: joined!(
        SHAPE_KEYS,
        &[
            key(
                "target",
                Kind::Table(&BOTTLENECK),
                REQUIRED,
                "{ rate = \"50Mbps\", delay = \"5ms\", queue = { limit = \"100p\" } }",
                "The link from node `root` to node `sink`; its name in results is `target`.",
            ),
            key(
                "leaf",
                Kind::Table(&LEAF),
                "{}",
                "{ rate = \"1Gbps\" }",
                "The link `leafk` of every leaf, from node `leafk` to node `root`. Its queues have no limit.",
            ),
            key(
                "rtts",
                Kind::ListOf(&DELAY),
                "18 from 20 to 534 ms with mean 217 ms",
                "[\"20ms\", \"60ms\"]",
                "Base round-trip time from each leaf to the sink; as many leaves as entries. What the target link leaves \
             of it is the delay of the leaf's link, half each way.",
            ),
            NODES,
            MORE_LINKS
        ]
    ),
};

static NODE: Spec = Spec {
    name: "node",
    defaults: None,
    keys: &[key(
        "name",
        Kind::Name,
        REQUIRED,
        "\"a\"",
        "Name for `from` and `to` of links and flows.",
    )],
};

/// A link of unlimited rate only delays.
const LINK_RATE: Kind = Kind::Either(&[Kind::Rate, Kind::Choice(&["unlimited"])]);
const RATE: Key = key(
    "rate",
    LINK_RATE,
    "none, where `service` is given",
    "\"1Mbps\"",
    "Transmission rate, of frames (IP packet plus framing). From 1bps to 10Tbps; `\"unlimited\"` for a link that only delays.",
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
    "`topology.queue`, which one of the two must give; none where `rate` is unlimited",
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

const LINK_AUTORATE: Key = key(
    "autorate",
    AUTORATE,
    "none",
    "{ kind = \"cake_autorate\", ping = \"reflector\", base = \"20Mbps\" }",
    "Program that sets the bandwidth of the queue, which is `cake`, from pings; see docs/autorate.md.",
);

/// Keys of every link that has its own queue and a reverse direction.
const WIRE_KEYS: &[Key] = &[
    RATE,
    LINK_SERVICE,
    LINK_DELAY,
    LINK_FRAMING,
    LINK_QUEUE,
    LINK_POOL,
    DROP_LIST,
    LINK_LOSS,
    JITTER,
    REORDER,
    DUPLICATE,
    INTERRUPTS,
    PAUSE,
    LINK_AUTORATE,
    REVERSE,
];

pub(crate) static BOTTLENECK: Spec = Spec {
    name: "bottleneck",
    defaults: None,
    keys: WIRE_KEYS,
};

const LINK_NAME: Key = key(
    "name",
    Kind::Name,
    "`link` and its number",
    "\"uplink\"",
    "Name in results.",
);

pub(crate) static CHAIN_LINK: Spec = Spec {
    name: "chain link",
    defaults: None,
    keys: joined!(&[LINK_NAME], WIRE_KEYS),
};

pub(crate) static GRAPH_LINK: Spec = Spec {
    name: "graph link",
    defaults: None,
    keys: joined!(
        &[
            LINK_NAME,
            key(
                "from",
                Kind::Name,
                REQUIRED,
                "\"a\"",
                "Node where the forward direction begins.",
            ),
            key("to", Kind::Name, REQUIRED, "\"b\"", "Node where it ends.")
        ],
        WIRE_KEYS
    ),
};

static PORT: Spec = Spec {
    name: "port",
    defaults: None,
    keys: BOTTLENECK.keys,
};

static LEAF: Spec = Spec {
    name: "leaf",
    defaults: None,
    keys: &[
        key(
            "rate",
            LINK_RATE,
            "\"unlimited\"",
            "\"1Gbps\"",
            "Transmission rate. From 1bps to 10Tbps; `\"unlimited\"` for links that only delay.",
        ),
        LINK_SERVICE,
        LINK_FRAMING,
    ],
};

static ACCESS_LINK: Spec = Spec {
    name: "access link",
    defaults: None,
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
        JITTER,
        REORDER,
        DUPLICATE,
        INTERRUPTS,
        PAUSE,
        REVERSE,
    ],
};

static FAR_ACCESS_LINK: Spec = Spec {
    name: "far access link",
    defaults: None,
    keys: &[
        key(
            "rate",
            LINK_RATE,
            "as `access`",
            "\"100Mbps\"",
            "Transmission rate. From 1bps to 10Tbps, or `\"unlimited\"`.",
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
        JITTER,
        REORDER,
        DUPLICATE,
        INTERRUPTS,
        PAUSE,
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
    defaults: None,
    keys: &[
        key(
            "rate",
            LINK_RATE,
            "as forward",
            "\"256kbps\"",
            "Transmission rate. From 1bps to 10Tbps, or `\"unlimited\"`.",
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
        JITTER,
        REORDER,
        DUPLICATE,
        INTERRUPTS,
        PAUSE,
        LINK_AUTORATE,
    ],
};
