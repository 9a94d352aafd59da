//! The keys of `loss`.

use super::{Key, Kind, REQUIRED, Spec, key};
use crate::setting::Words;
use goodqueue_sim::{LossOf, LossUnit};

pub(crate) const LOSS: Kind = Kind::Tagged {
    tag: "kind",
    variants: &[
        ("independent", &INDEPENDENT),
        ("gilbert_elliott", &GILBERT_ELLIOTT),
    ],
};

const KIND: Key = key(
    "kind",
    Kind::Choice(&["independent", "gilbert_elliott"]),
    "\"independent\"",
    "\"independent\"",
    "`independent`: each packet or byte for itself; `gilbert_elliott`: in bursts.",
);
const PER: Key = key(
    "per",
    Kind::Choice(LossUnit::WORDS),
    "\"packet\"",
    "\"byte\"",
    "What the probabilities are for: a packet of any size, or a byte of a frame, which is lost with any of its bytes.",
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
    defaults: None,
    keys: &[
        KIND,
        key(
            "probability",
            Kind::Fraction,
            REQUIRED,
            "\"1%\"",
            "Share of the packets, or bytes, that is lost.",
        ),
        PER,
        OF,
        AFTER,
    ],
};

pub(crate) static GILBERT_ELLIOTT: Spec = Spec {
    name: "losses in bursts",
    defaults: None,
    keys: &[
        KIND,
        key(
            "to_bad",
            Kind::Fraction,
            REQUIRED,
            "\"0.5%\"",
            "Probability of a step from the good state to the bad one (`p` of `tc netem loss gemodel`).",
        ),
        key(
            "to_good",
            Kind::Fraction,
            REQUIRED,
            "\"25%\"",
            "Probability of a step back (netem's `r`): where all is lost in the bad state, bursts are `1 / to_good` long.",
        ),
        key(
            "loss_bad",
            Kind::Fraction,
            "\"100%\"",
            "\"50%\"",
            "Share lost in the bad state (netem's `1-h`).",
        ),
        key(
            "loss_good",
            Kind::Fraction,
            "\"0%\"",
            "\"0.01%\"",
            "Share lost in the good state (netem's `1-k`).",
        ),
        PER,
        OF,
        AFTER,
    ],
};
