//! The keys of applications over TCP connections that come and go.

use super::super::law::{SIZES, TIMES};
use super::super::{AMOUNT, ANY_TIME, INTERVAL, Key, Kind, REQUIRED, Spec, key};
use super::KIND;

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

pub(super) static TRANSFERS: Spec = Spec {
    name: "transfers",
    defaults: None,
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
            Kind::Either(&[Kind::Rate, Kind::Percent]),
            "one of `interval` and `load`",
            "\"5Mbps\"",
            "What each flow asks for, on average. As a rate: application bits, the mean size over the interval. As a \
             share, as in `80%`: of a link's rate, by the frames of the data with all their headers, without \
             handshakes, acknowledgements and retransmissions.",
        ),
        key(
            "of",
            Kind::Name,
            "the slowest link between routers that the data cross",
            "\"bottleneck\"",
            "The link that `load` is a share of, by its name in results (`bottleneck`, `bottleneck.reverse`).",
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

pub(super) static EXCHANGES: Spec = Spec {
    name: "exchanges",
    defaults: None,
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
        key(
            "reply_per",
            Kind::Either(&[AMOUNT, Kind::Choice(&["request"])]),
            "\"request\"",
            "\"536B\"",
            "How many bytes of a request the server answers at a time, and at its end what is left of it: as a server \
             that echoes what comes; or the request as a whole.",
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

pub(super) static WEB: Spec = Spec {
    name: "web",
    defaults: None,
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

pub(super) static VIDEO: Spec = Spec {
    name: "video",
    defaults: None,
    keys: &[
        KIND,
        key(
            "segment",
            INTERVAL,
            "\"4s\"",
            "\"2s\"",
            "Playing time of a segment.",
        ),
        key(
            "ladder",
            Kind::ListOf(&Kind::Rate),
            "[\"350kbps\", \"750kbps\", \"1500kbps\", \"3Mbps\", \"6Mbps\"]",
            "[\"1Mbps\", \"5Mbps\"]",
            "The bit rates that there are, rising.",
        ),
        key(
            "variation",
            Kind::Fraction,
            "\"0%\"",
            "\"30%\"",
            "How far sizes of segments vary about the mean of their bit rate, up and down, all sizes alike.",
        ),
        key(
            "request",
            AMOUNT,
            "\"350B\"",
            "\"350B\"",
            "Bytes of a request.",
        ),
        key(
            "startup",
            INTERVAL,
            "a segment",
            "\"8s\"",
            "Playing begins with so much in the buffer, and begins again so after a stall.",
        ),
        key(
            "max_buffer",
            INTERVAL,
            "\"60s\"",
            "\"30s\"",
            "The buffer holds no more; a segment that would not fit is asked for later.",
        ),
        key(
            "reservoir",
            ANY_TIME,
            "a quarter of `max_buffer`",
            "\"10s\"",
            "With no more in the buffer, the lowest bit rate is asked for.",
        ),
        key(
            "cushion",
            INTERVAL,
            "from the reservoir to 90 % of `max_buffer`",
            "\"20s\"",
            "With so much above the reservoir, the highest; between them as BBA-0 does (Huang et al., SIGCOMM 2014).",
        ),
        key(
            "most",
            MOST,
            "\"unlimited\"",
            "100",
            "At most so many segments.",
        ),
    ],
};
