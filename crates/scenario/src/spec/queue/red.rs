//! The keys of disciplines that drop at random before they must.

use super::{KIND, ecn, limit};
use crate::setting::Words;
use crate::spec::{Key, Kind, REQUIRED, Spec, TIMER, Variants, key};
use goodqueue_queue::RedUnit;

/// A queue in bytes, as far as 32 bits go.
const BYTES: Kind = Kind::Size {
    min: 0,
    max: u32::MAX as u64,
};
/// A mean packet.
const MEAN: Kind = Kind::Size {
    min: 1,
    max: 100_000,
};
/// A queue in whatever unit.
const AMOUNT: Kind = Kind::Number {
    min: 0.0,
    max: 1e12,
};
const FACTOR: Kind = Kind::Number {
    min: 0.0,
    max: 1_000.0,
};
const LINKS_RATE: &str = "the link's rate";

pub(super) static RED: Spec = Spec {
    name: "red",
    keys: &[
        KIND,
        limit(REQUIRED),
        key(
            "min",
            BYTES,
            "a third of `max`",
            "\"30kB\"",
            "Below this average queue in frame bytes nothing is dropped.",
        ),
        key(
            "max",
            BYTES,
            "a quarter of `limit`",
            "\"90kB\"",
            "From this average on everything is dropped or marked: Linux has no gentle mode.",
        ),
        key("avpkt", MEAN, "\"1000B\"", "\"1500B\"", "Mean packet size."),
        key(
            "burst",
            Kind::Integer {
                min: 1,
                max: u32::MAX as u64,
            },
            "(2 `min` + `max`) / (3 `avpkt`)",
            "55",
            "Packets that may come at once without harm; the weight of the average follows from it.",
        ),
        key(
            "probability",
            Kind::Fraction,
            "0.02",
            "0.02",
            "Drop probability at `max`.",
        ),
        BANDWIDTH,
        key(
            "adaptive",
            Kind::Flag,
            "false",
            "true",
            "Adapt the probability every 500 ms (Adaptive RED).",
        ),
        ecn("false"),
        key(
            "harddrop",
            Kind::Flag,
            "false",
            "true",
            "Above `max` drop ECN-capable packets, too.",
        ),
        key(
            "nodrop",
            Kind::Flag,
            "false",
            "true",
            "With `ecn`, let packets that are not ECN-capable pass.",
        ),
    ],
};

const BANDWIDTH: Key = key(
    "bandwidth",
    Kind::Rate,
    LINKS_RATE,
    "\"10Mbps\"",
    "Rate at which packets are imagined to leave while the link is idle.",
);

pub(super) static NS2_RED: Spec = Spec {
    name: "ns2_red",
    keys: &[
        KIND,
        limit(REQUIRED),
        key(
            "unit",
            Kind::Choice(RedUnit::WORDS),
            "\"bytes\"",
            "\"packets\"",
            "What the average and its thresholds count (`queue_in_bytes_`).",
        ),
        key(
            "min",
            AMOUNT,
            "what 2.5 ms hold, 5 packets at least",
            "5",
            "Below this average, in `unit`, nothing is dropped at random (`thresh_`).",
        ),
        key(
            "max",
            AMOUNT,
            "three times `min`",
            "15",
            "At this average, in `unit`, the probability is `max_probability` (`maxthresh_`).",
        ),
        key(
            "weight",
            Kind::Number { min: 0.0, max: 1.0 },
            "by rate and delay",
            "0.002",
            "Weight of the newest sample in the average (`q_weight_`).",
        ),
        key(
            "max_probability",
            Kind::Fraction,
            "0.1",
            "0.1",
            "Drop probability at `max` (1 / `linterm_`).",
        ),
        key(
            "gentle",
            Kind::Flag,
            "true",
            "false",
            "From `max` to twice `max` the probability grows to 1, instead of jumping there.",
        ),
        key(
            "wait",
            Kind::Flag,
            "true",
            "false",
            "After a drop wait 1/p packets before the next may come.",
        ),
        key(
            "by_size",
            Kind::Flag,
            "true",
            "false",
            "Drop large packets more often, in proportion to their size (`bytes_`).",
        ),
        key(
            "mean_packet",
            MEAN,
            "\"500B\"",
            "\"1500B\"",
            "Mean packet size (`mean_pktsize_`).",
        ),
        BANDWIDTH,
        ecn("false"),
        key(
            "mark_below",
            Kind::Either(&[Kind::Fraction, Kind::Choice(&["none"])]),
            "0.1",
            "\"none\"",
            "Up to which probability packets are marked, not dropped (`mark_p_`); `none`: to 1.",
        ),
        key(
            "adaptation",
            Kind::Either(&[
                Kind::Tagged {
                    tag: "kind",
                    variants: ADAPTATIONS,
                },
                Kind::Choice(&["none"]),
            ]),
            "\"none\"",
            "{ kind = \"floyd\" }",
            "How `max_probability` follows the load: Floyd et al. 2001, or Feng et al. 1999.",
        ),
    ],
};

/// The ways of adaptive RED.
pub(crate) const ADAPTATIONS: Variants = &[("floyd", &FLOYD), ("feng", &FENG)];
const ADAPTATION: Key = key(
    "kind",
    Kind::Choice(&["floyd", "feng"]),
    "\"floyd\"",
    "\"feng\"",
    "Whose adaptive RED.",
);

static FLOYD: Spec = Spec {
    name: "floyd",
    keys: &[
        ADAPTATION,
        key(
            "interval",
            TIMER,
            "\"500ms\"",
            "\"500ms\"",
            "Least time between two changes.",
        ),
        key(
            "increment",
            Kind::Fraction,
            "0.01",
            "0.01",
            "Added at each increase, at most a quarter of what is there.",
        ),
        key(
            "decrease",
            Kind::Fraction,
            "0.9",
            "0.9",
            "Multiplied at each decrease.",
        ),
        key(
            "least",
            Kind::Fraction,
            "0.01",
            "0.01",
            "No decrease from here or below.",
        ),
        key(
            "most",
            Kind::Fraction,
            "0.5",
            "0.5",
            "No increase from here or above.",
        ),
        key(
            "gentle_follows",
            Kind::Flag,
            "true",
            "false",
            "The gentle part starts from the adapted probability (the paper), not from the configured one (ns-2).",
        ),
    ],
};

static FENG: Spec = Spec {
    name: "feng",
    keys: &[
        ADAPTATION,
        key(
            "decrease",
            FACTOR,
            "3",
            "3",
            "Divides when the average falls below `min`.",
        ),
        key(
            "increase",
            FACTOR,
            "2",
            "2",
            "Multiplies when the average exceeds `max`.",
        ),
    ],
};

pub(super) static FPQ: Spec = Spec {
    name: "fpq",
    keys: &[
        KIND,
        limit(REQUIRED),
        key(
            "packets_per_flow",
            FACTOR,
            "6",
            "6",
            "Packets of queue for each flow.",
        ),
        key(
            "least_packets",
            AMOUNT,
            "0",
            "42",
            "The target never falls below so many packets: half a bandwidth-delay product for few flows.",
        ),
        key(
            "control",
            Kind::Tagged {
                tag: "kind",
                variants: FPQ_CONTROLS,
            },
            "{ kind = \"tail_drop\" }",
            "{ kind = \"red\" }",
            "How the target is held: by tail drop, or by random loss as in RED.",
        ),
        key(
            "count_bits",
            Kind::Integer {
                min: 1,
                max: 100_000_000,
            },
            "5000",
            "5000",
            "Places in the bit vector that counts flows.",
        ),
        key(
            "count_interval",
            TIMER,
            "\"4s\"",
            "\"4s\"",
            "Time in which the whole vector is cleared once.",
        ),
        ecn("false"),
    ],
};

/// How flow-proportional queueing holds its target.
pub(crate) const FPQ_CONTROLS: Variants = &[("tail_drop", &TAIL_CONTROL), ("red", &RED_CONTROL)];
const CONTROL: Key = key(
    "kind",
    Kind::Choice(&["tail_drop", "red"]),
    "\"tail_drop\"",
    "\"red\"",
    "`tail_drop`: the target is the limit. `red`: random loss about the target.",
);

static TAIL_CONTROL: Spec = Spec {
    name: "tail_drop control",
    keys: &[CONTROL],
};
static RED_CONTROL: Spec = Spec {
    name: "red control",
    keys: &[
        CONTROL,
        key(
            "target_loss",
            Kind::Fraction,
            "0.021025",
            "0.02",
            "Loss rate at the target.",
        ),
        key(
            "weight",
            Kind::Fraction,
            "0.002",
            "0.002",
            "Weight of the newest sample in the average.",
        ),
        key(
            "mean_packet",
            MEAN,
            "the largest frame",
            "\"1500B\"",
            "Mean packet size.",
        ),
        BANDWIDTH,
    ],
};

pub(super) static BLUE: Spec = Spec {
    name: "blue",
    keys: &[
        KIND,
        limit(REQUIRED),
        key(
            "threshold",
            Kind::Either(&[Kind::Limit, Kind::Choice(&["none"])]),
            "\"none\"",
            "\"50p\"",
            "Backlog from which on the queue counts as overflowing already.",
        ),
        key(
            "increment",
            Kind::Fraction,
            "0.02",
            "0.02",
            "Added to the probability at an overflow.",
        ),
        key(
            "decrement",
            Kind::Fraction,
            "0.002",
            "0.002",
            "Taken from the probability when the link is idle.",
        ),
        key(
            "freeze_time",
            TIMER,
            "\"100ms\"",
            "\"100ms\"",
            "Least time between two changes.",
        ),
        ecn("false"),
    ],
};
