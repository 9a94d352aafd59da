//! The keys of a flow's `workload`.

mod datagram;
mod session;

use super::{AMOUNT, Key, Kind, REQUIRED, Spec, Variants, key};
use datagram::{BURSTS, CBR, GAME, ON_OFF, PING, POISSON, VOICE};
use session::{EXCHANGES, TRANSFERS, VIDEO, WEB};

pub(crate) const WORKLOADS: Variants = &[
    ("bulk", &BULK),
    ("echo", &ECHO),
    ("transfers", &TRANSFERS),
    ("exchanges", &EXCHANGES),
    ("web", &WEB),
    ("video", &VIDEO),
    ("cbr", &CBR),
    ("poisson", &POISSON),
    ("bursts", &BURSTS),
    ("on_off", &ON_OFF),
    ("voice", &VOICE),
    ("game", &GAME),
    ("ping", &PING),
];

const KIND: Key = key(
    "kind",
    Kind::Choice(&[
        "bulk",
        "echo",
        "transfers",
        "exchanges",
        "web",
        "video",
        "cbr",
        "poisson",
        "bursts",
        "on_off",
        "voice",
        "game",
        "ping",
    ]),
    REQUIRED,
    "\"bulk\"",
    "`bulk`: TCP data. `echo`: the same, and the server answers all that comes. `transfers`: short TCP flows, which begin at random times. `exchanges`: requests and answers \
     on one TCP connection. `web`: pages of objects over parallel TCP connections. `video`: segments of a video, at the bit rates that the \
     player's buffer allows. `cbr`: datagrams at constant \
     intervals. `poisson`: datagrams at exponential intervals. `bursts`: several at once at exponential \
     intervals. `on_off`: datagrams at constant intervals in on periods, silence between them. `voice`: one direction of a \
     call. `game`: small updates both ways. `ping`: echo requests.",
);

const SIZE: Key = key(
    "size",
    Kind::Either(&[AMOUNT, Kind::Choice(&["unlimited"])]),
    "\"unlimited\"",
    "\"10MB\"",
    "Application bytes to send from client to server; then the connection closes.",
);

static BULK: Spec = Spec {
    name: "bulk",
    defaults: None,
    keys: &[KIND, SIZE],
};

static ECHO: Spec = Spec {
    name: "echo",
    defaults: None,
    keys: &[
        KIND,
        SIZE,
        key(
            "reply",
            Kind::Either(&[AMOUNT, Kind::Percent]),
            REQUIRED,
            "\"3B\"",
            "What the server answers to each piece that its TCP delivers (a segment, or several that had waited for one \
             before them): bytes, or a share of the piece, rounded down to a byte at least.",
        ),
    ],
};
