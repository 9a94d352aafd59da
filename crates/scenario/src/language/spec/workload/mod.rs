//! The keys of a flow's `workload`.

mod datagram;

use super::{AMOUNT, Key, Kind, REQUIRED, Spec, Variants, key};
use datagram::{BURSTS, CBR, GAME, ON_OFF, PING, POISSON, VOICE};
use goodqueue_sim::{SessionConfig, WORKLOAD as KIND};

const BEFORE: Variants = &[("bulk", &BULK), ("echo", &ECHO)];
const AFTER: Variants = &[
    ("cbr", &CBR),
    ("poisson", &POISSON),
    ("bursts", &BURSTS),
    ("on_off", &ON_OFF),
    ("voice", &VOICE),
    ("game", &GAME),
    ("ping", &PING),
];

/// Table of a flow's workload.
pub(crate) const WORKLOAD: Kind = Kind::Tagged {
    tag: "kind",
    variants: WORKLOADS,
};

/// Every workload with its table.
const WORKLOADS: Variants = {
    const PARTS: [Variants; 3] = [BEFORE, SessionConfig::VARIANTS, AFTER];
    const COUNT: usize = BEFORE.len() + SessionConfig::VARIANTS.len() + AFTER.len();
    const ALL: [(&str, &Spec); COUNT] = {
        let mut all = [("bulk", &BULK as &Spec); COUNT];
        let (mut count, mut part) = (0, 0);
        while part < PARTS.len() {
            let mut index = 0;
            while index < PARTS[part].len() {
                all[count] = PARTS[part][index];
                (count, index) = (count + 1, index + 1);
            }
            part += 1;
        }
        all
    };
    &ALL
};

const SIZE: Key = key(
    "size",
    Kind::Either(&[AMOUNT, Kind::Choice(&["unlimited"])]),
    "\"unlimited\"",
    "\"10MB\"",
    "Application bytes to send from client to server; then the connection closes.",
);

const BULK: Spec = Spec {
    name: "bulk",
    defaults: None,
    keys: &[KIND, SIZE],
};

const ECHO: Spec = Spec {
    name: "echo",
    defaults: None,
    keys: &[
        KIND,
        SIZE,
        key(
            "reply",
            Kind::Either(&[AMOUNT, Kind::Percent]),
            REQUIRED,
            "\"3B\"",
            "What the server answers to each piece that its TCP delivers (a segment, or several that had waited for one \
             before them): bytes, or a share of the piece, rounded down to a byte at least.",
        ),
    ],
};
