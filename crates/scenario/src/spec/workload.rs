//! The keys of a flow's `workload`.

use super::{AMOUNT, ANY_TIME, INTERVAL, Key, Kind, PACKET, REQUIRED, Spec, Variants, key};

pub(crate) const WORKLOADS: Variants = &[
    ("bulk", &BULK),
    ("transfers", &TRANSFERS),
    ("exchanges", &EXCHANGES),
    ("web", &WEB),
    ("cbr", &CBR),
    ("poisson", &POISSON),
    ("bursts", &BURSTS),
    ("on_off", &ON_OFF),
    ("voice", &VOICE),
    ("ping", &PING),
];

const KIND: Key = key(
    "kind",
    Kind::Choice(&[
        "bulk",
        "transfers",
        "exchanges",
        "web",
        "cbr",
        "poisson",
        "bursts",
        "on_off",
        "voice",
        "ping",
    ]),
    REQUIRED,
    "\"bulk\"",
    "`bulk`: TCP data. `transfers`: short TCP flows, which begin at random times. `exchanges`: requests and answers \
     on one TCP connection. `web`: pages of objects over parallel TCP connections. `cbr`: datagrams at constant \
     intervals. `poisson`: datagrams at exponential intervals. `bursts`: several at once at exponential \
     intervals. `on_off`: datagrams at constant intervals in on periods, silence between them. `voice`: one direction of a \
     call. `ping`: echo requests.",
);

static BULK: Spec = Spec {
    name: "bulk",
    keys: &[
        KIND,
        key(
            "size",
            Kind::Either(&[AMOUNT, Kind::Choice(&["unlimited"])]),
            "\"unlimited\"",
            "\"10MB\"",
            "Application bytes to send from client to server; then the connection closes.",
        ),
    ],
};

const LAW: Key = key(
    "law",
    Kind::Choice(&["exponential", "pareto", "uniform"]),
    REQUIRED,
    "\"exponential\"",
    "The law of chance.",
);
const SHAPE: Key = key(
    "shape",
    Kind::Number {
        min: 1.01,
        max: 100.0,
    },
    "1.5",
    "1.2",
    "How fast large values become rare; up to 2 the variance is infinite.",
);

/// A table that names a law of this quantity: of these kinds of values, with these examples.
macro_rules! laws {
    ($quantity:literal, $positive:expr, $any:expr, $mean:literal, $from:literal, $to:literal) => {{
        static EXPONENTIAL: Spec = Spec {
            name: concat!("exponential ", $quantity),
            keys: &[LAW, key("mean", $positive, REQUIRED, $mean, "Mean.")],
        };
        static PARETO: Spec = Spec {
            name: concat!("Pareto ", $quantity),
            keys: &[LAW, key("mean", $positive, REQUIRED, $mean, "Mean."), SHAPE],
        };
        static UNIFORM: Spec = Spec {
            name: concat!("uniform ", $quantity),
            keys: &[
                LAW,
                key("from", $any, REQUIRED, $from, "Least."),
                key("to", $any, REQUIRED, $to, "Greatest."),
            ],
        };
        Kind::Tagged {
            tag: "law",
            variants: &[
                ("exponential", &EXPONENTIAL),
                ("pareto", &PARETO),
                ("uniform", &UNIFORM),
            ],
        }
    }};
}

/// Bytes, always the same or by a law.
const SIZES: Kind = Kind::Either(&[
    AMOUNT,
    laws!("size", AMOUNT, AMOUNT, "\"50kB\"", "\"10kB\"", "\"100kB\""),
]);

/// Times, always the same or by a law.
const TIMES: Kind = Kind::Either(&[
    ANY_TIME,
    laws!("time", INTERVAL, ANY_TIME, "\"1s\"", "\"0s\"", "\"2s\""),
]);

const MOST: Kind = Kind::Either(&[
    Kind::Integer {
        min: 1,
        max: 1_000_000_000,
    },
    Kind::Choice(&["unlimited"]),
]);

const SERVER_TIME: Key = key(
    "server_time",
    TIMES,
    "\"0s\"",
    "\"20ms\"",
    "How long the server takes to begin its answer.",
);

static TRANSFERS: Spec = Spec {
    name: "transfers",
    keys: &[
        KIND,
        key(
            "size",
            SIZES,
            REQUIRED,
            "{ law = \"pareto\", mean = \"50kB\" }",
            "Bytes of each transfer.",
        ),
        key(
            "interval",
            INTERVAL,
            "one of `interval` and `load`",
            "\"100ms\"",
            "Mean time from the start of one transfer to that of the next.",
        ),
        key(
            "load",
            Kind::Rate,
            "one of `interval` and `load`",
            "\"5Mbps\"",
            "Mean rate of application bits: the mean size over the interval.",
        ),
        key(
            "intervals",
            Kind::Choice(&["exponential", "fixed"]),
            "\"exponential\"",
            "\"fixed\"",
            "Whether transfers begin at exponential intervals, whatever else is under way, or at equal ones.",
        ),
        key(
            "direction",
            Kind::Choice(&["up", "down"]),
            "\"up\"",
            "\"down\"",
            "`up`: the client sends and closes. `down`: the client asks with 200 bytes, the server sends and closes.",
        ),
        key("most", MOST, "\"unlimited\"", "1000", "At most so many."),
    ],
};

static EXCHANGES: Spec = Spec {
    name: "exchanges",
    keys: &[
        KIND,
        key(
            "request",
            SIZES,
            "\"200B\"",
            "\"200kB\"",
            "Bytes that the client sends.",
        ),
        key(
            "reply",
            SIZES,
            "\"200B\"",
            "\"1kB\"",
            "Bytes that the server answers.",
        ),
        SERVER_TIME,
        key(
            "pause",
            TIMES,
            REQUIRED,
            "\"10s\"",
            "Time to the next request.",
        ),
        key(
            "periodic",
            Kind::Flag,
            "false",
            "true",
            "Whether the pause begins with the request, so that requests keep their times however late the answers \
             are; else with the end of the answer.",
        ),
        key("most", MOST, "\"unlimited\"", "1000", "At most so many."),
    ],
};

static WEB: Spec = Spec {
    name: "web",
    keys: &[
        KIND,
        key(
            "main_size",
            SIZES,
            "\"30kB\"",
            "\"30kB\"",
            "Bytes of a page's main object, which is fetched first.",
        ),
        key(
            "object_size",
            SIZES,
            "{ law = \"pareto\", mean = \"20kB\" }",
            "\"20kB\"",
            "Bytes of each other object.",
        ),
        key(
            "objects",
            Kind::Integer {
                min: 0,
                max: 10_000,
            },
            "10",
            "40",
            "Objects of a page besides the main one.",
        ),
        key(
            "request",
            AMOUNT,
            "\"350B\"",
            "\"350B\"",
            "Bytes of a request.",
        ),
        SERVER_TIME,
        key(
            "parallel",
            Kind::Integer { min: 1, max: 256 },
            "6",
            "2",
            "Connections at once, at most.",
        ),
        key(
            "persistent",
            Kind::Flag,
            "true",
            "false",
            "Whether a connection serves one object after the other until the page is complete; else each object has \
             its own.",
        ),
        key(
            "think",
            TIMES,
            "{ law = \"exponential\", mean = \"5s\" }",
            "\"5s\"",
            "Time from the end of a page to the next.",
        ),
        key(
            "most",
            MOST,
            "\"unlimited\"",
            "10",
            "At most so many pages.",
        ),
    ],
};

const SOURCE_RATE: Key = key(
    "rate",
    Kind::Rate,
    "one of `rate` and `interval`",
    "\"500kbps\"",
    "Mean rate of IP bits. From 1bps to 10Tbps.",
);
const SOURCE_INTERVAL: Key = key(
    "interval",
    INTERVAL,
    "one of `rate` and `interval`",
    "\"20ms\"",
    "Mean time between packets.",
);

static CBR: Spec = Spec {
    name: "cbr",
    keys: &[
        KIND,
        SOURCE_RATE,
        SOURCE_INTERVAL,
        key(
            "packet",
            PACKET,
            "\"1500B\"",
            "\"200B\"",
            "Size of the IP packets.",
        ),
    ],
};

static POISSON: Spec = Spec {
    name: "poisson",
    keys: &[
        KIND,
        SOURCE_RATE,
        SOURCE_INTERVAL,
        key(
            "packet",
            PACKET,
            "\"1500B\"",
            "\"1000B\"",
            "Size of the IP packets, or its mean.",
        ),
        key(
            "sizes",
            Kind::Choice(&["fixed", "exponential"]),
            "\"fixed\"",
            "\"exponential\"",
            "Whether all packets have this size, or exponential sizes with this mean (rounded, 1 to 65535 bytes).",
        ),
    ],
};

static BURSTS: Spec = Spec {
    name: "bursts",
    keys: &[
        KIND,
        SOURCE_RATE,
        key(
            "interval",
            INTERVAL,
            "one of `rate` and `interval`",
            "\"100ms\"",
            "Mean time between bursts, which is exponential.",
        ),
        key(
            "packets",
            Kind::Integer {
                min: 1,
                max: 1_000_000,
            },
            REQUIRED,
            "20",
            "Datagrams of a burst, handed to the host's link at once.",
        ),
        key(
            "packet",
            PACKET,
            "\"1500B\"",
            "\"200B\"",
            "Size of the IP packets.",
        ),
    ],
};

static ON_OFF: Spec = Spec {
    name: "on_off",
    keys: &[
        KIND,
        key(
            "rate",
            Kind::Rate,
            "one of `rate` and `interval`",
            "\"500kbps\"",
            "Rate of IP bits while on.",
        ),
        key(
            "interval",
            INTERVAL,
            "one of `rate` and `interval`",
            "\"20ms\"",
            "Time between packets while on.",
        ),
        key(
            "packet",
            PACKET,
            "\"1500B\"",
            "\"200B\"",
            "Size of the IP packets.",
        ),
        key(
            "on",
            TIMES,
            REQUIRED,
            "{ law = \"pareto\", mean = \"500ms\" }",
            "Length of an on period, with which the flow begins; its mean is at least the interval. Packets go \
             whenever the sum of on times is a multiple of the interval.",
        ),
        key(
            "off",
            TIMES,
            REQUIRED,
            "{ law = \"exponential\", mean = \"500ms\" }",
            "Length of an off period.",
        ),
    ],
};

static VOICE: Spec = Spec {
    name: "voice",
    keys: &[
        KIND,
        key(
            "interval",
            INTERVAL,
            "\"20ms\"",
            "\"10ms\"",
            "Speech in a packet: the time between packets.",
        ),
        key(
            "packet",
            PACKET,
            "\"200B\"",
            "\"120B\"",
            "Size of the IP packets: 64 kb/s for the interval, and 40 bytes of IP, UDP and RTP headers.",
        ),
        key(
            "playout",
            ANY_TIME,
            "\"60ms\"",
            "\"100ms\"",
            "How long the playout buffer holds the flow's first packet. Every packet is played as long after it was \
             sent as the first, and is lost if it comes later.",
        ),
        key(
            "concealment",
            Kind::Flag,
            "true",
            "false",
            "Whether the G.711 decoder conceals lost packets (Bpl 25.1 of the E-model) or plays silence (4.3).",
        ),
    ],
};

static PING: Spec = Spec {
    name: "ping",
    keys: &[
        KIND,
        key(
            "interval",
            INTERVAL,
            "\"1s\"",
            "\"10ms\"",
            "Time between requests; the first goes at `start`.",
        ),
        key(
            "packet",
            PACKET,
            "\"84B\"",
            "\"84B\"",
            "Size of the IP packet; the reply has the same.",
        ),
    ],
};
