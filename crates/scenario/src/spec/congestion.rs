//! The parameters of congestion controls.

use super::{Key, Kind, REQUIRED, Spec, key};

/// Every control with its table.
pub(crate) const CONTROLS: &[(&str, &Spec)] =
    &[("reno", &RENO), ("gaimd", &GAIMD), ("cubic", &CUBIC)];

/// Their names.
pub(crate) const NAMES: &[&str] = &["reno", "gaimd", "cubic"];

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

static RENO: Spec = Spec {
    name: "reno",
    keys: &[KIND],
};

static GAIMD: Spec = Spec {
    name: "gaimd",
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
