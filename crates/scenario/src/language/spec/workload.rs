//! The keys of a flow's `workload`, which the registries of workloads declare.

use super::{Kind, Spec};
use goodqueue_sim::{SessionConfig, SourceConfig, StreamConfig, WORKLOADS};
use goodqueue_types::parameters::concat;

/// Table of a flow's workload.
pub(crate) const WORKLOAD: Kind = Kind::Tagged {
    tag: "kind",
    variants: {
        const ALL: [(&str, &Spec); WORKLOADS.len()] = concat(
            StreamConfig::VARIANTS[0],
            &[
                StreamConfig::VARIANTS,
                SessionConfig::VARIANTS,
                SourceConfig::VARIANTS,
            ],
        );
        &ALL
    },
};
