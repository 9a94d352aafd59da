//! The keys of disciplines that hold a delay.

use super::{FRAME, KIND, ecn, limit};
use crate::setting::Words;
use crate::spec::{DELAY, Key, Kind, REQUIRED, Spec, TIMER, key};
use goodqueue_queue::{CodelArithmetic, CountReuse, NextMark, PieFlavour};

/// Gains per second.
const GAIN: Kind = Kind::Number {
    min: 0.0,
    max: 1_000.0,
};

// CoDel's.

pub(super) const TARGET: Key = key(
    "target",
    TIMER,
    "\"5ms\"",
    "\"5ms\"",
    "The sojourn time that a standing queue may have.",
);
pub(super) const INTERVAL: Key = key(
    "interval",
    TIMER,
    "\"100ms\"",
    "\"100ms\"",
    "How long the sojourn time may stay above the target: a worst-case round-trip time.",
);
pub(super) const CE_THRESHOLD: Key = key(
    "ce_threshold",
    Kind::Either(&[DELAY, Kind::Choice(&["none"])]),
    "\"none\"",
    "\"1ms\"",
    "Mark every ECN-capable packet that waited longer, whatever `ecn` says.",
);
pub(super) const CODEL_MTU: Key = key(
    "mtu",
    FRAME,
    "\"1514B\"",
    "\"1499B\"",
    "With at most so many frame bytes behind it a packet is no standing queue (Linux 1514, ns-3 1499).",
);
pub(super) const ARITHMETIC: Key = key(
    "arithmetic",
    Kind::Choice(CodelArithmetic::WORDS),
    "\"linux\"",
    "\"exact\"",
    "Linux's fixed-point control law, or RFC 8289's to the picosecond.",
);
pub(super) const COUNT_REUSE: Key = key(
    "count_reuse",
    Kind::Choice(CountReuse::WORDS),
    "\"delta\"",
    "\"never\"",
    "From which count dropping resumes soon after it stopped: the last drops (RFC 8289, Linux), the last count less \
     two (before the RFC), or always one.",
);
pub(super) const NEXT_MARK: Key = key(
    "next_mark",
    Kind::Choice(NextMark::WORDS),
    "\"from_due\"",
    "\"from_now\"",
    "From when the time to the next mark counts: when this one was due (RFC 8289, Linux) or made (ns-3).",
);

pub(super) static CODEL: Spec = Spec {
    name: "codel",
    keys: &[
        KIND,
        limit("\"1000p\""),
        TARGET,
        INTERVAL,
        ecn("false"),
        CE_THRESHOLD,
        CODEL_MTU,
        ARITHMETIC,
        COUNT_REUSE,
        NEXT_MARK,
    ],
};

// PIE's.

const DELAY_TARGET: Key = key(
    "target",
    TIMER,
    "\"15ms\"",
    "\"20ms\"",
    "The queueing delay to hold.",
);
/// `tupdate` with its default.
const fn tupdate(default: &'static str) -> Key {
    key(
        "tupdate",
        TIMER,
        default,
        "\"16ms\"",
        "Time between updates of the probability.",
    )
}
/// Gains with their defaults.
const fn alpha(default: &'static str) -> Key {
    key(
        "alpha",
        GAIN,
        default,
        "0.125",
        "Gain on the distance to the target, per second.",
    )
}
const fn beta(default: &'static str) -> Key {
    key(
        "beta",
        GAIN,
        default,
        "1.25",
        "Gain on the change of the delay, per second.",
    )
}
const MTU: Key = key(
    "mtu",
    FRAME,
    "\"1514B\"",
    "\"1500B\"",
    "Frame bytes of a full packet; with fewer than two waiting nothing is dropped at random.",
);

/// What PIE is told, alone or for each of many queues; `pie` of Linux counts gains in sixteenths.
pub(super) const PIE_TARGET: Key = DELAY_TARGET;
pub(super) const PIE_TUPDATE: Key = tupdate("\"15ms\"");
pub(super) const PIE_ALPHA: Key = alpha("0.125");
pub(super) const PIE_BETA: Key = beta("1.25");
pub(super) const ECN_THRESHOLD: Key = key(
    "ecn_threshold",
    Kind::Fraction,
    "0.1",
    "1",
    "Above this probability even ECN-capable packets are dropped.",
);
pub(super) const BYTEMODE: Key = key(
    "bytemode",
    Kind::Flag,
    "false",
    "true",
    "Small packets have proportionally smaller probabilities.",
);
pub(super) const DQ_RATE_ESTIMATOR: Key = key(
    "dq_rate_estimator",
    Kind::Flag,
    "false",
    "true",
    "The delay is the backlog over a measured departure rate, not the sojourn time of the last packet.",
);
pub(super) const DERANDOMIZE: Key = key(
    "derandomize",
    Kind::Flag,
    "true",
    "false",
    "Spread drops out by an accumulated probability (RFC 8033 section 5.4).",
);
pub(super) const CAP_ADJUSTMENT: Key = key(
    "cap_adjustment",
    Kind::Flag,
    "true",
    "false",
    "A probability of 0.1 or more grows by at most 0.02 at once (RFC 8033 section 5.5).",
);
pub(super) const MAX_BURST: Key = key(
    "max_burst",
    DELAY,
    "\"150ms\"",
    "\"150ms\"",
    "How long a queue that was not congested may burst.",
);
pub(super) const PIE_MTU: Key = MTU;
pub(super) const FLAVOUR: Key = key(
    "flavour",
    Kind::Choice(PieFlavour::WORDS),
    "\"linux\"",
    "\"rfc8033\"",
    "Whose PIE: it sets the defaults of the other keys, and what has no key.",
);

pub(super) static PIE: Spec = Spec {
    name: "pie",
    keys: &[
        KIND,
        limit("\"1000p\""),
        PIE_TARGET,
        PIE_TUPDATE,
        PIE_ALPHA,
        PIE_BETA,
        ecn("false"),
        ECN_THRESHOLD,
        BYTEMODE,
        DQ_RATE_ESTIMATOR,
        DERANDOMIZE,
        CAP_ADJUSTMENT,
        MAX_BURST,
        PIE_MTU,
        FLAVOUR,
    ],
};

const COUPLING: Key = key(
    "coupling_factor",
    Kind::Number {
        min: 0.0,
        max: 100.0,
    },
    "2",
    "2",
    "How much more often scalable traffic is marked than the square root of the classic drop probability.",
);

pub(super) static PI2: Spec = Spec {
    name: "pi2",
    keys: &[
        KIND,
        limit(REQUIRED),
        DELAY_TARGET,
        tupdate("\"16ms\""),
        alpha("0.16015625"),
        beta("3.19921875"),
        MTU,
        ecn("false"),
        COUPLING,
    ],
};

pub(super) static DUALPI2: Spec = Spec {
    name: "dualpi2",
    keys: &[
        KIND,
        limit("\"10000p\""),
        DELAY_TARGET,
        tupdate("\"16ms\""),
        alpha("0.16015625"),
        beta("3.19921875"),
        MTU,
        key(
            "step_thresh",
            Kind::Either(&[
                DELAY,
                Kind::Packets {
                    min: 0,
                    max: 1_000_000,
                },
            ]),
            "\"1ms\"",
            "\"2p\"",
            "Above this delay, or this many packets behind it, every low-latency packet is marked.",
        ),
        key(
            "min_qlen_step",
            Kind::Packets {
                min: 0,
                max: 1_000_000,
            },
            "\"0p\"",
            "\"2p\"",
            "The step spares a packet that finds fewer packets waiting in the low-latency queue.",
        ),
        COUPLING,
        key(
            "drop_on_overload",
            Kind::Flag,
            "true",
            "false",
            "Where marking all is not enough, drop low-latency packets, too; otherwise let the queues grow.",
        ),
        key(
            "drop_enqueue",
            Kind::Flag,
            "false",
            "true",
            "Drop and mark on arrival instead of on departure.",
        ),
        key(
            "classic_protection",
            Kind::Integer { min: 0, max: 100 },
            "10",
            "10",
            "Share of the link in per cent that is the classic queue's while both have something.",
        ),
        key(
            "time_shift",
            DELAY,
            "by `classic_protection`",
            "\"50ms\"",
            "In place of that: the packet that has waited longer goes first, low-latency ones favoured by this time.",
        ),
    ],
};

pub(super) static STEP: Spec = Spec {
    name: "step",
    keys: &[
        KIND,
        limit(REQUIRED),
        key(
            "threshold",
            Kind::Limit,
            REQUIRED,
            "\"20p\"",
            "With more than this waiting an ECN-capable arrival is marked (K of DCTCP).",
        ),
    ],
};
