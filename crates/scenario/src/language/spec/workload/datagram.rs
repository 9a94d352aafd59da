//! The keys of sources of datagrams.

use super::super::law::{SIZES, TIMES};
use super::super::{ANY_TIME, INTERVAL, Key, Kind, PACKET, REQUIRED, Spec, key};
use super::KIND;

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

pub(super) static CBR: Spec = Spec {
    name: "cbr",
    defaults: None,
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

pub(super) static POISSON: Spec = Spec {
    name: "poisson",
    defaults: None,
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

pub(super) static BURSTS: Spec = Spec {
    name: "bursts",
    defaults: None,
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

pub(super) static ON_OFF: Spec = Spec {
    name: "on_off",
    defaults: None,
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

pub(super) static VOICE: Spec = Spec {
    name: "voice",
    defaults: None,
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

pub(super) static PING: Spec = Spec {
    name: "ping",
    defaults: None,
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

pub(super) static GAME: Spec = Spec {
    name: "game",
    defaults: None,
    keys: &[
        KIND,
        key(
            "interval",
            INTERVAL,
            "\"16666666667ps\"",
            "\"20ms\"",
            "Time between the client's updates: 60 a second.",
        ),
        key(
            "packet",
            SIZES,
            "\"80B\"",
            "{ law = \"uniform\", from = \"60B\", to = \"100B\" }",
            "Size of their IP packets, 28 to 65535 bytes.",
        ),
        key(
            "server_interval",
            INTERVAL,
            "\"33333333333ps\"",
            "\"50ms\"",
            "Time between the server's updates: 30 a second, from the arrival of the first of the client's on.",
        ),
        key(
            "server_packet",
            SIZES,
            "\"160B\"",
            "\"300B\"",
            "Size of their IP packets.",
        ),
        key(
            "deadline",
            INTERVAL,
            "\"100ms\"",
            "\"50ms\"",
            "An update that takes longer, one way, is as good as lost.",
        ),
    ],
};
