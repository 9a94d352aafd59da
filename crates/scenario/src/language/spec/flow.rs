//! The keys of `[[flow]]`.

use super::tcp::TCP;
use super::workload::WORKLOAD;
use super::{ANY_TIME, COUNT, DELAY, HOUR, Kind, MAX_LINKS, REQUIRED, Spec, key};
use goodqueue_sim::InterfaceConfig;
use goodqueue_types::Span;

/// A congestion window.
const WINDOW: Kind = Kind::Packets {
    min: 2,
    max: 100_000_000,
};

pub(crate) static FLOW: Spec = Spec {
    name: "flow",
    defaults: None,
    keys: &[
        key(
            "name",
            Kind::Name,
            "`flow` and its number",
            "\"upload\"",
            "Name in results; flows of a group are `name.0`, `name.1`, …",
        ),
        key(
            "count",
            COUNT,
            "1, or the entries of the longest list in `from`, `to` and `rtt`",
            "100",
            "How many such flows. At most 1000000 in a scenario.",
        ),
        key(
            "start",
            ANY_TIME,
            "\"0s\"",
            "\"1s\"",
            "When the application of the first starts.",
        ),
        key(
            "start_interval",
            ANY_TIME,
            "\"0s\"",
            "\"10ms\"",
            "Flow i of the group starts this × i later.",
        ),
        key(
            "start_jitter",
            ANY_TIME,
            "\"100ms\" or one interval of a group without `start_interval`; else none",
            "\"10ms\"",
            "Each start is later by a time drawn uniformly from zero to this, by the seed. A group (`count` above 1) \
             that gives neither this nor `start_interval` has \"100ms\", or one interval if its clients send at an \
             interval (`cbr`, `ping`, `voice`, `game`): their phase; but no more than a tenth of what the run has \
             left. \"0s\" starts all at once. A single flow without it, and a group with `start_interval` alone, have \
             none in a single run; commands that average over seeds then choose one and say so.",
        ),
        key(
            "stop",
            ANY_TIME,
            "never",
            "\"20s\"",
            "When the applications of bulk flows without a `size` stop, or those of `cbr`, `poisson`, `bursts` and \
             `on_off`. Data that were never sent are then withdrawn, those that were sent are repaired until they are \
             acknowledged, and the connection closes. Not together with `peak_window`.",
        ),
        key(
            "rtt",
            Kind::Either(&[
                Kind::Span {
                    min: Span::ZERO,
                    max: HOUR,
                },
                Kind::Table(&SPREAD),
                Kind::ListOf(&DELAY),
            ]),
            "from the links' delays",
            "\"40ms\"",
            "Base round-trip time: propagation there and back, without transmission and queueing. What the path \
             between the access links leaves of it is divided evenly over the access links' four delays. Of a list, \
             flow i of the group takes entry i, and so on in turn.",
        ),
        key(
            "peak_window",
            Kind::Either(&[WINDOW, Kind::ListOf(&WINDOW)]),
            "none: flows begin with their `initial_window`",
            "\"40p\"",
            "Bulk flows begin as if they had sent for long: each had its last loss at this window, in segments, and \
             is at a place of the time until the window is back there that is drawn uniformly by the seed. CUBIC \
             remembers the window of the loss. The first window leaves spread over half a round trip. Of a list, \
             flow i of the group takes entry i, and so on in turn. For `reno`, `gaimd`, `cubic` and `scalable`.",
        ),
        key(
            "peak_spread",
            Kind::Fraction,
            "0",
            "0.5",
            "Each flow's `peak_window` is larger or smaller by a share of itself, drawn uniformly by the seed up to \
             this.",
        ),
        key(
            "host",
            Kind::Name,
            "the flow's own name",
            "\"home\"",
            "Flows that name the same host share its pair of hosts and their interfaces; naming another flow \
             shares that flow's. Needs access links.",
        ),
        key(
            "from",
            NODES,
            "0; in a tree all leaves in turn; in a graph and a star it must be given",
            "0",
            "Node where the client is attached: in a dumbbell or chain a number, or the link that begins there; \
             else a node's name, all that begin alike (`\"host*\"`) or a range (`\"host1..12\"`). Of a list, flow i \
             of the group takes entry i, and so on in turn.",
        ),
        key(
            "to",
            NODES,
            "the last node; in a tree the sink; in a graph and a star it must be given, or `route`",
            "1",
            "Node where the server is attached, likewise; as a link's name, the link that ends there.",
        ),
        key(
            "route",
            Kind::ListOf(&Kind::Name),
            "the shortest way",
            "[\"uplink\", \"transit\"]",
            "The links from `from` to `to`, in order, whichever way each is crossed.",
        ),
        key(
            "reverse_route",
            Kind::ListOf(&Kind::Name),
            "the same links backward",
            "[\"satellite\"]",
            "The links from `to` back to `from`, in order.",
        ),
        key(
            "dscp",
            Kind::Either(&[Kind::Integer { min: 0, max: 63 }, Kind::Choice(CODE_POINTS)]),
            "0",
            "\"ef\"",
            "Differentiated services code point of the flow's packets, both ways: a number or its name.",
        ),
        key(
            "interface",
            Kind::Table(InterfaceConfig::SPEC),
            "packets pass at once and one by one",
            "{ super_segments = true }",
            "Network interface of the hosts at both ends: super-segments, coalescing of arrivals and jitter of \
             departures; see docs/hosts.md.",
        ),
        key(
            "workload",
            WORKLOAD,
            REQUIRED,
            "{ kind = \"bulk\" }",
            "What the application does.",
        ),
        key(
            "tcp",
            Kind::Table(&TCP),
            "`[tcp]`",
            "{ mss = \"536B\" }",
            "TCP of this flow, over `[tcp]`, over its profile.",
        ),
        key(
            "command",
            COMMAND,
            "none",
            "[\"iperf3\", \"-c\", \"server\"]",
            "Program and arguments that `goodqueue emulate` runs on the client. A run of the simulator never executes \
             it, and simulates `workload`.",
        ),
        key(
            "server_command",
            COMMAND,
            "none",
            "[\"iperf3\", \"-s\"]",
            "Program and arguments that `goodqueue emulate` runs on the server, likewise. Needs `command`.",
        ),
    ],
};

/// A program and its arguments.
const COMMAND: Kind = Kind::ListOf(&Kind::Text);

const CODE_POINTS: &[&str] = &[
    "cs0", "cs1", "cs2", "cs3", "cs4", "cs5", "cs6", "cs7", "af11", "af12", "af13", "af21", "af22",
    "af23", "af31", "af32", "af33", "af41", "af42", "af43", "ef", "va", "le",
];

const NUMBER: Kind = Kind::Integer {
    min: 0,
    max: MAX_LINKS as u64,
};

const NODES: Kind = Kind::Either(&[
    NUMBER,
    Kind::Text,
    Kind::ListOf(&Kind::Either(&[NUMBER, Kind::Text])),
]);

pub(crate) static SPREAD: Spec = Spec {
    name: "rtt spread",
    defaults: None,
    keys: &[
        key("from", DELAY, REQUIRED, "\"20ms\"", "Shortest."),
        key("to", DELAY, REQUIRED, "\"534ms\"", "Longest."),
        key(
            "classes",
            COUNT,
            "the group's `count`",
            "18",
            "Evenly spaced values; flow i of the group takes value i modulo this.",
        ),
    ],
};
