//! Laws of chance: the keys of a size or a time that varies.

use super::{AMOUNT, ANY_TIME, INTERVAL, Key, Kind, REQUIRED, Spec, key};
use goodqueue_types::parameters::CHECKSUM;

const LAW: Key = key(
    "law",
    Kind::Choice(&["exponential", "pareto", "uniform", "empirical"]),
    REQUIRED,
    "\"exponential\"",
    "The law of chance; `empirical`: measured, by points of its distribution function in a file.",
);
const SHAPE: Key = key(
    "shape",
    Kind::Number {
        min: 1.01,
        max: 100.0,
    },
    "1.5",
    "1.2",
    "How fast large values become rare; up to 2 the variance is infinite.",
);

const FILE: Key = key(
    "file",
    Kind::Text,
    REQUIRED,
    "\"sizes.csv\"",
    "Seen from the folder of the scenario file: in its first line `size,share` (or `time,share`) for values with \
     units, or `size_B,share`, `time_ms,share` and so on; then values that do not fall, with the share of all that \
     are no larger. The last share is 1; between points the law is straight, and the first value has its share as \
     its own. At most 1 MiB and 100000 points.",
);

/// A table that names a law of this quantity: of these kinds of values, with these examples, and
/// perhaps with more keys.
macro_rules! laws {
    ($quantity:literal, $positive:expr, $any:expr, $mean:literal, $from:literal, $to:literal $(, $more:expr)*) => {{
        static EXPONENTIAL: Spec = Spec {
            name: concat!("exponential ", $quantity),
            defaults: None,
            keys: &[
                LAW,
                key("mean", $positive, REQUIRED, $mean, "Mean."),
                $($more,)*
            ],
        };
        static PARETO: Spec = Spec {
            name: concat!("Pareto ", $quantity),
            defaults: None,
            keys: &[
                LAW,
                key("mean", $positive, REQUIRED, $mean, "Mean."),
                SHAPE,
                $($more,)*
            ],
        };
        static UNIFORM: Spec = Spec {
            name: concat!("uniform ", $quantity),
            defaults: None,
            keys: &[
                LAW,
                key("from", $any, REQUIRED, $from, "Least."),
                key("to", $any, REQUIRED, $to, "Greatest."),
                $($more,)*
            ],
        };
        static EMPIRICAL: Spec = Spec {
            name: concat!("empirical ", $quantity),
            defaults: None,
            keys: &[LAW, FILE, CHECKSUM.named("checksum"), $($more,)*],
        };
        Kind::Tagged {
            tag: "law",
            variants: &[
                ("exponential", &EXPONENTIAL),
                ("pareto", &PARETO),
                ("uniform", &UNIFORM),
                ("empirical", &EMPIRICAL),
            ],
        }
    }};
}

/// Random delay that a link adds to each packet.
pub(super) const JITTER: Kind = laws!(
    "jitter",
    INTERVAL,
    ANY_TIME,
    "\"2ms\"",
    "\"0s\"",
    "\"5ms\"",
    super::impairment::ORDER
);

/// Bytes, always the same or by a law.
pub(crate) const SIZES: Kind = Kind::Either(&[
    AMOUNT,
    laws!("size", AMOUNT, AMOUNT, "\"50kB\"", "\"10kB\"", "\"100kB\""),
]);

/// Times, always the same or by a law.
pub(crate) const TIMES: Kind = Kind::Either(&[
    ANY_TIME,
    laws!("time", INTERVAL, ANY_TIME, "\"1s\"", "\"0s\"", "\"2s\""),
]);
