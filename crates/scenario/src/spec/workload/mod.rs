//! The keys of a flow's `workload`.

mod datagram;
mod session;

use super::{AMOUNT, Key, Kind, REQUIRED, Spec, Variants, key};
use datagram::{BURSTS, CBR, ON_OFF, PING, POISSON, VOICE};
use session::{EXCHANGES, TRANSFERS, WEB};

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
