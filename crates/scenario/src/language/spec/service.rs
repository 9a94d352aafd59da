//! The keys of `service`.

use super::{Key, Kind, REQUIRED, Spec, key};
use crate::language::spec::LONGEST;
use goodqueue_types::Span;

pub(crate) const SERVICE: Kind = Kind::Tagged {
    tag: "kind",
    variants: &[
        ("steps", &STEPS),
        ("csv", &CSV),
        ("mahimahi", &MAHIMAHI),
        ("uniform", &UNIFORM),
        ("markov", &MARKOV),
    ],
};

const KIND: Key = key(
    "kind",
    Kind::Choice(&["steps", "csv", "mahimahi", "uniform", "markov"]),
    REQUIRED,
    "\"steps\"",
    "`steps`: rates with their times, here; `csv`: in a file; `mahimahi`: a file of delivery opportunities; \
     `uniform`, `markov`: a rate drawn anew each interval.",
);
const FILE: Key = key(
    "file",
    Kind::Text,
    REQUIRED,
    "\"lte.trace\"",
    "The trace, seen from the folder of the scenario file.",
);
pub(crate) const CHECKSUM: Key = key(
    "checksum",
    Kind::Text,
    "not checked",
    "\"cbf29ce484222325\"",
    "FNV-1a (64 bits) of the file, which must agree; resolved scenarios have it.",
);
const REPEAT: Key = key(
    "repeat",
    Kind::Span {
        min: Span(1_000_000),
        max: LONGEST,
    },
    "the last rate stays",
    "\"60s\"",
    "The trace begins again after this time, which is later than its last step.",
);
const EACH: Key = key(
    "interval",
    Kind::Span {
        min: Span(1_000_000),
        max: LONGEST,
    },
    REQUIRED,
    "\"100ms\"",
    "How long a rate lasts.",
);

static STEPS: Spec = Spec {
    name: "rates in steps",
    defaults: None,
    keys: &[
        KIND,
        key(
            "steps",
            Kind::List(&STEP),
            REQUIRED,
            "[{ at = \"0s\", rate = \"10Mbps\" }, { at = \"30s\", rate = \"1Mbps\" }]",
            "Times from 0s on, and the rate from each on.",
        ),
        REPEAT,
    ],
};

static STEP: Spec = Spec {
    name: "step of a rate",
    defaults: None,
    keys: &[
        key(
            "at",
            super::ANY_TIME,
            REQUIRED,
            "\"30s\"",
            "When the rate begins.",
        ),
        key(
            "rate",
            Kind::Rate,
            REQUIRED,
            "\"10Mbps\"",
            "The rate; `0bps` is an outage.",
        ),
    ],
};

static CSV: Spec = Spec {
    name: "table of rates",
    defaults: None,
    keys: &[KIND, FILE, REPEAT, CHECKSUM],
};

static MAHIMAHI: Spec = Spec {
    name: "delivery trace",
    defaults: None,
    keys: &[KIND, FILE, CHECKSUM],
};

static UNIFORM: Spec = Spec {
    name: "uniform rates",
    defaults: None,
    keys: &[
        KIND,
        EACH,
        key(
            "from",
            Kind::Rate,
            REQUIRED,
            "\"1Mbps\"",
            "The lowest rate; it may be `0bps`.",
        ),
        key(
            "to",
            Kind::Rate,
            REQUIRED,
            "\"20Mbps\"",
            "The highest rate.",
        ),
    ],
};

static MARKOV: Spec = Spec {
    name: "chain of rates",
    defaults: None,
    keys: &[
        KIND,
        EACH,
        key(
            "rates",
            Kind::ListOf(&Kind::Rate),
            REQUIRED,
            "[\"0bps\", \"10Mbps\"]",
            "Two rates or more, each equally frequent; `0bps` is an outage.",
        ),
        key(
            "stay",
            Kind::Fraction,
            REQUIRED,
            "\"90%\"",
            "Probability that a rate stays for another interval; else any of the others follows.",
        ),
    ],
};
