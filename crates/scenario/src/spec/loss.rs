//! The keys of `loss`.

use super::{Key, Kind, REQUIRED, Spec, key};
use crate::setting::Words;
use goodqueue_sim::LossOf;

pub(crate) const LOSS: Kind = Kind::Tagged {
    tag: "kind",
    variants: &[("independent", &INDEPENDENT)],
};

const KIND: Key = key(
    "kind",
    Kind::Choice(&["independent"]),
    "\"independent\"",
    "\"independent\"",
    "`independent`: each packet for itself.",
);
const OF: Key = key(
    "of",
    Kind::Choice(LossOf::WORDS),
    "\"all\"",
    "\"acks\"",
    "Which packets can be lost: all, those with payload (`data`), or TCP segments without (`acks`).",
);
const AFTER: Key = key(
    "after_transmission",
    Kind::Flag,
    "false",
    "true",
    "Lose packets after they have taken their time on the link; otherwise before the queue, which never sees them.",
);

pub(crate) static INDEPENDENT: Spec = Spec {
    name: "independent loss",
    keys: &[
        KIND,
        key(
            "probability",
            Kind::Fraction,
            REQUIRED,
            "\"1%\"",
            "Share of the packets that is lost.",
        ),
        OF,
        AFTER,
    ],
};
