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
mod theory;

use pyo3::prelude::*;

/// The compiled core of goodqueue.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::about::{build, memory_parts, schema, toml_json, version};
    #[pymodule_export]
    use crate::convert::exchange::import_ns2;
    #[pymodule_export]
    use crate::convert::statistics::t_quantile;
    #[pymodule_export]
    use crate::convert::units::{
        parse_fraction, parse_qdisc, parse_rate, parse_size, parse_span, parse_spans, read_device,
        read_switch,
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
    #[pymodule_export]
    use crate::theory::calibrated::{
        Predicted, Surfaces, full_delay_s, grid, theory_forms, theory_groups,
    };
    #[pymodule_export]
    use crate::theory::link::{
        Derived, control_words, cubic_epoch_s, linear_epoch_s, other_traffic, rtt_range,
        theory_controls,
    };
    #[pymodule_export]
    use crate::theory::rules::{
        Bscl, advise, bscl_for_loss, bscl_globally_synchronized, bscl_of,
        bscl_partially_synchronized, device_rule, loss_rate, published_rules, whole_packets,
    };
    use goodqueue_theory::calibrated;
    use goodqueue_theory::rules::loss::bscl;

    #[pymodule_export]
    const BSCL_FEWEST_FLOWS: u64 = bscl::MIN_FLOWS;
    #[pymodule_export]
    const COARSE: usize = calibrated::COARSE;
    #[pymodule_export]
    const GRID_STEP: f64 = calibrated::GRID_STEP;
    #[pymodule_export]
    const IDLE_FLOOR: f64 = calibrated::IDLE_FLOOR;
    #[pymodule_export]
    const LIKELY: f64 = calibrated::LIKELY;
    #[pymodule_export]
    const LOSS_FLOOR: f64 = calibrated::LOSS_FLOOR;
    #[pymodule_export]
    const NINETY: f64 = calibrated::NINETY;
    #[pymodule_export]
    const RTT_STEPS: usize = goodqueue_theory::RTT_STEPS;
}
