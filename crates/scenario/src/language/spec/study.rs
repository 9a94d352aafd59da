//! Study files: a scenario, the values to try for some of its keys, and under which seeds.

use super::{ANY_TIME, Kind, REQUIRED, Spec, key};

/// Most runs of a study.
pub(crate) const MAX_RUNS: u64 = 10_000_000;
/// Most points of a study's grid.
pub(crate) const MAX_VARIANTS: u64 = 100_000;

const REPLICATES: Kind = Kind::Integer {
    min: 1,
    max: MAX_RUNS,
};
const SCALE: Kind = Kind::Choice(&["linear", "log"]);

pub(crate) static STUDY: Spec = Spec {
    name: "study",
    defaults: None,
    keys: &[
        key(
            "schema_version",
            Kind::Integer { min: 1, max: 1 },
            REQUIRED,
            "1",
            "Version of this file format.",
        ),
        key(
            "title",
            Kind::Text,
            "\"\"",
            "\"Utilisation against buffer\"",
            "One line that says what the study asks.",
        ),
        key("description", Kind::Text, "\"\"", "\"…\"", "More about it."),
        key(
            "scenario",
            Kind::Either(&[Kind::Text, Kind::Free]),
            REQUIRED,
            "\"uplink.toml\"",
            "The base scenario: its file, seen from the study's folder, or a table with all of it.",
        ),
        key(
            "sweep",
            Kind::Free,
            "{}",
            "{ seed = 1 }",
            "The values to try, by the scenario's keys.",
        ),
        key(
            "seeds",
            Kind::Either(&[REPLICATES, Kind::Integers { max: u64::MAX >> 1 }]),
            "1",
            "10",
            "So many seeds, from the scenario's own on, or these; with [stop], the first of them.",
        ),
        key(
            "stop",
            Kind::Table(&STOP),
            "none",
            "{ width.bottleneck.utilization = \"1%\" }",
            "Run more seeds until these intervals are narrow.",
        ),
        key(
            "keep",
            Kind::Table(&KEEP),
            "{}",
            "{ histograms = true }",
            "What to keep of each run beside its metrics.",
        ),
        key(
            "plot",
            Kind::List(&PLOT),
            "none",
            "[[plot]]",
            "Pictures of the results.",
        ),
    ],
};

pub(crate) static STOP: Spec = Spec {
    name: "stop",
    defaults: None,
    keys: &[
        key(
            "width",
            Kind::Free,
            REQUIRED,
            "{ bottleneck.utilization = 0.01 }",
            "By metric: how wide the 95 % interval of its mean may be from end to end, in its unit or as a share of the mean (`\"2%\"`).",
        ),
        key(
            "min_replicates",
            REPLICATES,
            "5",
            "10",
            "Smallest number of seeds of each variant.",
        ),
        key(
            "max_replicates",
            REPLICATES,
            "1000",
            "100",
            "None gets more.",
        ),
        key(
            "max_runs",
            REPLICATES,
            "none",
            "10000",
            "The whole study gets no more.",
        ),
        key(
            "max_time",
            ANY_TIME,
            "none",
            "\"2h\"",
            "No further replicates are begun after so long.",
        ),
        key(
            "compare_to",
            Kind::Free,
            "none",
            "{ tcp.congestion_control = \"reno\" }",
            "By axis: the value that the others are compared with, seed by seed; widths are those of the differences.",
        ),
    ],
};

pub(crate) static KEEP: Spec = Spec {
    name: "keep",
    defaults: None,
    keys: &[
        key(
            "series",
            Kind::Flag,
            "false",
            "true",
            "Backlog, cwnd, ssthresh and RTT over time.",
        ),
        key(
            "histograms",
            Kind::Flag,
            "false",
            "true",
            "How many packets waited how long.",
        ),
        key(
            "flows",
            Kind::Flag,
            "false",
            "true",
            "Every figure of every flow.",
        ),
    ],
};

pub(crate) static PLOT: Spec = Spec {
    name: "plot",
    defaults: None,
    keys: &[
        key(
            "name",
            Kind::Name,
            "`plot-1`, …",
            "\"utilization\"",
            "The picture's file, without suffix.",
        ),
        key(
            "title",
            Kind::Text,
            "\"\"",
            "\"Utilisation\"",
            "Stands above it.",
        ),
        key(
            "kind",
            Kind::Choice(&["lines", "heatmap", "cdf", "box", "pareto"]),
            "\"lines\"",
            "\"cdf\"",
            "Means over an axis; a map of means over x and series; how single runs are distributed, in all or at each x; variants in two metrics, and which of them none beats.",
        ),
        key(
            "x",
            Kind::Text,
            "required but for `cdf`",
            "\"topology.bottleneck.queue.limit\"",
            "An axis, or a metric.",
        ),
        key(
            "y",
            Kind::Either(&[Kind::Text, Kind::ListOf(&Kind::Text)]),
            REQUIRED,
            "\"bottleneck.utilization\"",
            "A metric, or several.",
        ),
        key(
            "series",
            Kind::Text,
            "none",
            "\"flow.bulk.count\"",
            "The axis with a line for each value.",
        ),
        key(
            "facets",
            Kind::Either(&[Kind::Text, Kind::ListOf(&Kind::Text)]),
            "none",
            "[\"tcp.pacing\", \"tcp.congestion_control\"]",
            "The axis with a panel for each value, or two: one of the rows, one of the columns.",
        ),
        key(
            "where",
            Kind::Free,
            "none",
            "{ tcp.pacing = true }",
            "By axis: the value, the values or the range that the picture is narrowed down to.",
        ),
        key(
            "band",
            Kind::Choice(&["interval", "range", "none"]),
            "\"interval\"",
            "\"range\"",
            "Around the mean over the seeds: its 95 % interval, all values, or nothing.",
        ),
        key(
            "x_scale",
            SCALE,
            "\"linear\"",
            "\"log\"",
            "How x is divided.",
        ),
        key(
            "y_scale",
            SCALE,
            "\"linear\"",
            "\"log\"",
            "How y is divided.",
        ),
    ],
};

/// A value of an axis with the name that it has in results.
pub(crate) static LABELLED: Spec = Spec {
    name: "a labelled value",
    defaults: None,
    keys: &[
        key("label", Kind::Text, REQUIRED, "\"CoDel\"", "Its name."),
        key(
            "value",
            Kind::Free,
            REQUIRED,
            "{ kind = \"codel\" }",
            "The value.",
        ),
    ],
};

pub(crate) static RANGE: Spec = Spec {
    name: "a range",
    defaults: None,
    keys: &[
        key("from", Kind::Free, REQUIRED, "\"10p\"", "The first value."),
        key(
            "to",
            Kind::Free,
            REQUIRED,
            "\"100p\"",
            "The last, if it is met.",
        ),
        key(
            "step",
            Kind::Free,
            "none",
            "\"10p\"",
            "What is added each time.",
        ),
        key(
            "factor",
            Kind::Number {
                min: 1.000_001,
                max: 1e18,
            },
            "none",
            "2",
            "By what each is multiplied.",
        ),
        key(
            "points",
            Kind::Integer {
                min: 2,
                max: MAX_VARIANTS,
            },
            "none",
            "10",
            "So many values, both ends included.",
        ),
        key(
            "scale",
            SCALE,
            "\"linear\"",
            "\"log\"",
            "How the points are spaced.",
        ),
    ],
};

pub(crate) static COMPARISON: Spec = Spec {
    name: "a comparison",
    defaults: None,
    keys: &[
        key(
            "above",
            Kind::Free,
            "none",
            "\"100p\"",
            "Values above this one.",
        ),
        key(
            "below",
            Kind::Free,
            "none",
            "\"10p\"",
            "Values below this one.",
        ),
    ],
};
