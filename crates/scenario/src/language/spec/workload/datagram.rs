//! The keys of sources of datagrams.

use super::super::TIMES;
use super::super::{INTERVAL, Key, Kind, PACKET, REQUIRED, Spec, key};
use super::KIND;
use goodqueue_sim::{GameConfig, VoiceConfig};
use goodqueue_types::parameters::{Declared, concat_keys, count_keys};

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

pub(super) const CBR: Spec = Spec {
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

pub(super) const POISSON: Spec = Spec {
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

pub(super) const BURSTS: Spec = Spec {
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

pub(super) const ON_OFF: Spec = Spec {
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

pub(super) const PING: Spec = Spec {
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

/// Returns the table of declared parameters.
macro_rules! declared {
    ($config:ty) => {{
        const PARTS: &[&[Key]] = &[&[KIND], <$config as Declared>::KEYS];
        const COUNT: usize = count_keys(PARTS);
        const KEYS: [Key; COUNT] = concat_keys(PARTS);
        Spec {
            keys: &KEYS,
            ..*<$config>::SPEC
        }
    }};
}

pub(super) const VOICE: Spec = declared!(VoiceConfig);
pub(super) const GAME: Spec = declared!(GameConfig);
