//! Keys of `[tcp]`: the switches of `TcpConfig`, the profile, and the short keys of `gaimd`.

use super::{Key, Kind, Spec, key};
use goodqueue_tcp::cc::GaimdConfig;
use goodqueue_tcp::{Profile, TcpConfig};
use goodqueue_types::parameters::{Declared, Words, concat_keys, count_keys};

const PROFILE: Key = key(
    "profile",
    Kind::Choice(Profile::WORDS),
    "\"linux\"",
    "\"ns2\"",
    "A stack by name; the other keys change it. `rfc`: as the RFCs say today. `inet2011`: OMNeT++/INET of \
     2010 and 2011. `ns2`: ns-2.35's one-way agents. `linux`: Linux 6.18 with default settings. \
     `prague`: the same with Prague, accurate ECN and ECT(1). The default with `schema_version = 1` is `rfc`.",
);
/// Switches before and after the short keys of `gaimd`, which follow those of slow start.
const SWITCHES: (&[Key], &[Key]) = TcpConfig::KEYS.split_at(2);
const KEYS: &[&[Key]] = &[&[PROFILE], SWITCHES.0, &GaimdConfig::SHORT, SWITCHES.1];

pub(crate) static TCP: Spec = Spec {
    name: "tcp",
    defaults: None,
    keys: &concat_keys::<{ count_keys(KEYS) }>(KEYS),
};
