//! The parameters of congestion controls.

use super::{Key, Kind, REQUIRED, Spec, TIMER, key};

/// Every control with its table.
pub(crate) const CONTROLS: &[(&str, &Spec)] = &[
    ("reno", &RENO),
    ("gaimd", &GAIMD),
    ("cubic", &CUBIC),
    ("bbr", &BBR),
    ("vegas", &VEGAS),
    ("westwood", &WESTWOOD),
    ("dctcp", &DCTCP),
    ("scalable", &SCALABLE),
    ("ledbat", &LEDBAT),
    ("bbr3", &BBR3),
];

/// Their names.
pub(crate) const NAMES: &[&str] = &[
    "reno", "gaimd", "cubic", "bbr", "vegas", "westwood", "dctcp", "scalable", "ledbat", "bbr3",
];

const KIND: Key = key(
    "kind",
    Kind::Choice(NAMES),
    REQUIRED,
    "\"cubic\"",
    "The congestion control.",
);

/// A share that is neither nothing nor all.
const SHARE: Kind = Kind::Number {
    min: 0.001,
    max: 0.999,
};

/// Segments in a queue.
const SEGMENTS: Kind = Kind::Number {
    min: 0.0,
    max: 100_000.0,
};

static RENO: Spec = Spec {
    name: "reno",
    defaults: None,
    keys: &[KIND],
};

static GAIMD: Spec = Spec {
    name: "gaimd",
    defaults: None,
    keys: &[
        KIND,
        key(
            "alpha",
            Kind::Number {
                min: 0.001,
                max: 1_000.0,
            },
            "1",
            "0.31",
            "Segments added per round trip.",
        ),
        key(
            "beta",
            SHARE,
            "0.5",
            "0.125",
            "Share of the window given up at a loss.",
        ),
    ],
};

static CUBIC: Spec = Spec {
    name: "cubic",
    defaults: None,
    keys: &[
        KIND,
        key(
            "c",
            Kind::Number {
                min: 0.000_1,
                max: 1_000.0,
            },
            "0.4",
            "0.4",
            "C: segments per cubic second.",
        ),
        key(
            "beta",
            SHARE,
            "0.7",
            "0.7",
            "Share of the window kept at a loss.",
        ),
        key(
            "fast_convergence",
            Kind::Flag,
            "true",
            "false",
            "Remember less than the window lost when it was below the last (RFC 9438 section 4.7).",
        ),
        key(
            "reno_friendly",
            Kind::Flag,
            "true",
            "false",
            "Never below what Reno would have (RFC 9438 section 4.3).",
        ),
    ],
};

static BBR: Spec = Spec {
    name: "bbr",
    defaults: None,
    keys: &[
        KIND,
        key(
            "cwnd_gain",
            Kind::Number {
                min: 1.0,
                max: 100.0,
            },
            "2",
            "2",
            "Window in bandwidth-delay products while probing for bandwidth.",
        ),
        key(
            "probe_rtt_interval",
            TIMER,
            "\"10s\"",
            "\"10s\"",
            "Age at which the shortest round trip is measured again.",
        ),
        key(
            "probe_rtt_duration",
            TIMER,
            "\"200ms\"",
            "\"200ms\"",
            "How long that takes.",
        ),
        key(
            "seed",
            Kind::Integer {
                min: 0,
                max: u64::MAX >> 1,
            },
            "1",
            "1",
            "Chooses, with the time, where a gain cycle begins.",
        ),
    ],
};

static VEGAS: Spec = Spec {
    name: "vegas",
    defaults: None,
    keys: &[
        KIND,
        key(
            "alpha",
            SEGMENTS,
            "2",
            "2",
            "With fewer segments in the queue, the window grows.",
        ),
        key("beta", SEGMENTS, "4", "4", "With more, it shrinks."),
        key("gamma", SEGMENTS, "1", "1", "With more, slow start ends."),
    ],
};

static WESTWOOD: Spec = Spec {
    name: "westwood",
    defaults: None,
    keys: &[
        KIND,
        key(
            "filter",
            SHARE,
            "0.875",
            "0.875",
            "Weight of the old estimate in each stage of the filter.",
        ),
        key(
            "interval",
            TIMER,
            "\"50ms\"",
            "\"50ms\"",
            "Shortest interval over which bandwidth is measured.",
        ),
    ],
};

static DCTCP: Spec = Spec {
    name: "dctcp",
    defaults: None,
    keys: &[
        KIND,
        key(
            "g",
            SHARE,
            "0.0625",
            "0.0625",
            "Weight of the newest window in the share of marks.",
        ),
        key(
            "initial_alpha",
            Kind::Fraction,
            "1",
            "0",
            "The share assumed at the start.",
        ),
    ],
};

static SCALABLE: Spec = Spec {
    name: "scalable",
    defaults: None,
    keys: &[
        KIND,
        key(
            "a",
            Kind::Number {
                min: 0.00001,
                max: 1.0,
            },
            "0.01",
            "0.01",
            "Segments added per segment acknowledged.",
        ),
        key(
            "keep",
            SHARE,
            "0.875",
            "0.875",
            "Share of the window kept at a loss.",
        ),
    ],
};

static LEDBAT: Spec = Spec {
    name: "ledbat",
    defaults: None,
    keys: &[
        KIND,
        key(
            "target",
            TIMER,
            "\"100ms\"",
            "\"100ms\"",
            "Queueing delay aimed at.",
        ),
        key(
            "gain",
            Kind::Number {
                min: 0.001,
                max: 1.0,
            },
            "1",
            "1",
            "Segments per round trip gained on an empty queue.",
        ),
    ],
};

static BBR3: Spec = Spec {
    name: "bbr3",
    defaults: None,
    keys: &[
        KIND,
        key(
            "loss_threshold",
            SHARE,
            "0.02",
            "0.02",
            "Share of a flight that may be lost while probing.",
        ),
        key(
            "beta",
            SHARE,
            "0.7",
            "0.7",
            "Share of the bounds kept in a round with losses.",
        ),
        key(
            "headroom",
            SHARE,
            "0.15",
            "0.15",
            "Share of the longest flight left to others while cruising.",
        ),
        key(
            "probe_rtt_interval",
            TIMER,
            "\"5s\"",
            "\"5s\"",
            "Age at which the round trip is measured again.",
        ),
        key(
            "probe_rtt_duration",
            TIMER,
            "\"200ms\"",
            "\"200ms\"",
            "How long that takes.",
        ),
        key(
            "seed",
            Kind::Integer {
                min: 0,
                max: u64::MAX >> 1,
            },
            "1",
            "1",
            "Chooses, with the time, how long to wait for the next probe.",
        ),
    ],
};
