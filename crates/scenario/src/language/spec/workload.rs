//! The keys of a flow's `workload`: those of `bulk` and `echo`, and the registries of others.

use super::{AMOUNT, Key, Kind, REQUIRED, Spec, Variants, key};
use goodqueue_sim::{KIND_OF_WORKLOAD as KIND, SessionConfig, SourceConfig, WORKLOADS};
use goodqueue_types::parameters::concat;

/// Table of a flow's workload.
pub(crate) const WORKLOAD: Kind = Kind::Tagged {
    tag: "kind",
    variants: {
        const BULK_OR_ECHO: Variants = &[("bulk", &BULK), ("echo", &ECHO)];
        const ALL: [(&str, &Spec); WORKLOADS.len()] = concat(
            BULK_OR_ECHO[0],
            &[
                BULK_OR_ECHO,
                SessionConfig::VARIANTS,
                SourceConfig::VARIANTS,
            ],
        );
        &ALL
    },
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
