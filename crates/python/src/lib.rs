//! The extension module `goodqueue._core`: conversions between Python and the crates, no logic.

mod about;
mod convert;
mod lab;
mod live;
mod own;
mod passive;
mod probe;
mod run;
mod study;

use pyo3::prelude::*;

/// The compiled core of goodqueue.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::about::{build, memory_parts, schema, toml_json, version};
    #[pymodule_export]
    use crate::convert::exchange::import_ns2;
    #[pymodule_export]
    use crate::convert::statistics::{poisson_tail, t_quantile};
    #[pymodule_export]
    use crate::convert::units::{
        parse_fraction, parse_qdisc, parse_rate, parse_size, parse_span, parse_spans, read_device,
    };
    #[pymodule_export]
    use crate::lab::LabJob;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::live::{PyUplink, emulate_enter, emulate_program, emulate_route};
    #[pymodule_export]
    use crate::own::control::check_control;
    #[pymodule_export]
    use crate::own::episode::{FlowEpisodes, QueueEpisodes};
    #[pymodule_export]
    use crate::own::queue::{Packet, QueueContext, check_queue};
    #[pymodule_export]
    use crate::own::views::{Ack, Connection, IntervalReport, Loss, Marks};
    #[pymodule_export]
    use crate::passive::{Analysis, analyze, passive_thresholds, read_flow_records};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::probe::{probe_path, probe_serve};
    #[pymodule_export]
    use crate::run::batch::run_batch;
    #[pymodule_export]
    use crate::run::explain::explain;
    #[pymodule_export]
    use crate::run::outcome::Outcome;
    #[pymodule_export]
    use crate::run::scenario::{Cancel, Scenario};
    #[pymodule_export]
    use crate::study::{Study, hybrid_version, measure, results_version};
}
