//! The life of one flow.

use crate::convert::error::unit_error;
use crate::own::raised::Raised;
use crate::run::job::with_python;
use crate::run::scenario::Scenario;
use crate::run::worker::{Shared, interruptible};
use goodqueue_sim::LifeRange;
use goodqueue_types::{Span, Time};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// Runs a scenario and returns a part of the life of one flow as JSON: the moments from `from_s` to
/// `to_s`, but at most the first `most` of them.
#[pyfunction]
#[pyo3(signature = (scenario, flow, *, from_s, to_s, most, watch = None))]
pub fn explain(
    scenario: &Bound<'_, Scenario>,
    flow: &str,
    from_s: f64,
    to_s: f64,
    most: usize,
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (py, raised) = (scenario.py(), Raised::default());
    let scenario = with_python(&scenario.get().0, &raised)?;
    let network = scenario.network();
    let flow = scenario
        .explained_flow(&network, flow)
        .map_err(|error| unit_error(py, "--explain", error))?;
    let range = LifeRange {
        flow,
        from: Time::ZERO + Span::from_secs_f64(from_s),
        to: Time::ZERO + Span::from_secs_f64(to_s),
        most,
    };
    let end = network.end.0 as f64;
    let shared = Shared::default();
    let switch = shared.clone();
    let tell = || match watch {
        Some(watch) => {
            let share = shared.reached() as f64 / end;
            watch.call1((share, 0)).map(drop)
        }
        None => Ok(()),
    };
    let life = interruptible(py, &shared, tell, move || {
        let life = scenario.explain(&network, range, |now| switch.go_on(now.0));
        life.map(|life| life.to_string())
    })?;
    if let Some(error) = raised.take() {
        return Err(error);
    }
    life.ok_or_else(|| PyKeyboardInterrupt::new_err("run cancelled"))
}
