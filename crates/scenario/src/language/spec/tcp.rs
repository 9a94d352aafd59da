//! Keys of `[tcp]`: the switches of `TcpConfig`, the profile, and the parameters of `gaimd`.

use super::{Key, Kind, Spec, key};
use goodqueue_tcp::{Profile, TcpConfig};
use goodqueue_types::parameters::{Declared, Words, concat_keys, count_keys};

const PROFILE: Key = key(
    "profile",
    Kind::Choice(Profile::WORDS),
    "\"rfc\"",
    "\"ns2\"",
    "A stack by name; the other keys change it. `rfc`: as the RFCs say today. `inet2011`: OMNeT++/INET of \
     2010 and 2011. `ns2`: ns-2.35's one-way agents. `linux`: Linux 6.18 with default settings.",
);
const ALPHA: Key = key(
    "alpha",
    Kind::Number {
        min: 0.0,
        max: 1_000.0,
    },
    "1",
    "0.31",
    "Segments added per round trip; for `gaimd` only.",
);
const BETA: Key = key(
    "beta",
    Kind::Fraction,
    "0.5",
    "0.125",
    "Share of the window given up at a loss; for `gaimd` only.",
);

/// Switches before and after the parameters of `gaimd`, which follow those of slow start.
const SWITCHES: (&[Key], &[Key]) = TcpConfig::KEYS.split_at(2);
const KEYS: &[&[Key]] = &[&[PROFILE], SWITCHES.0, &[ALPHA, BETA], SWITCHES.1];

pub(crate) static TCP: Spec = Spec {
    name: "tcp",
    defaults: None,
    keys: &concat_keys::<{ count_keys(KEYS) }>(KEYS),
};
