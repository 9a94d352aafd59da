//! The keys of what a link does to packets on their way.

use super::{INTERVAL, Key, Kind, key, law};
use goodqueue_sim::{Duplicate, Interrupts, PauseConfig, Reorder};

pub(crate) const ORDER: Key = key(
    "order",
    Kind::Choice(&["keep", "free"]),
    "\"keep\"",
    "\"free\"",
    "`keep`: a packet waits for those ahead of it; `free`: packets may overtake one another.",
);

pub(crate) const EVERY: Key = key(
    "every",
    INTERVAL,
    "none",
    "\"15s\"",
    "Time for which one addition holds for all packets, as after a handover; without it each packet has its own.",
);

pub(super) const JITTER: Key = key(
    "jitter",
    law::JITTER,
    "none",
    "{ law = \"exponential\", mean = \"2ms\" }",
    "What is added to the propagation delay, drawn anew for each packet; see docs/impairments.md.",
);

pub(super) const REORDER: Key = key(
    "reorder",
    Kind::Table(Reorder::SPEC),
    "none",
    "{ probability = \"1%\", delay = \"5ms\" }",
    "Packets that are held back on their way, so that later ones overtake them.",
);

pub(super) const PAUSE: Key = key(
    "pause",
    Kind::Table(PauseConfig::SPEC),
    "none",
    "{ xoff = \"100kB\", xon = \"80kB\", reaction = \"3us\" }",
    "Flow control by PAUSE frames from the node behind the link; see docs/headroom.md.",
);

pub(super) const DUPLICATE: Key = key(
    "duplicate",
    Kind::Table(Duplicate::SPEC),
    "none",
    "{ probability = \"0.1%\" }",
    "Packets that arrive twice.",
);

pub(super) const INTERRUPTS: Key = key(
    "interrupts",
    Kind::Table(Interrupts::SPEC),
    "none",
    "{ interval = \"64us\" }",
    "Interrupts of the network card behind the link, which all its flows share; see docs/hosts.md.",
);
