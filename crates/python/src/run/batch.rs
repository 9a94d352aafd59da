//! Many short runs in one call, because a call costs as much as a short run.

use crate::run::job::{Job, simulate};
use crate::run::outcome::Outcome;
use crate::run::scenario::{Cancel, Engine, Scenario};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Metrics of a run, and the seconds that it took.
type Figures = (Vec<(String, f64)>, f64);

/// The same for Python: names, one per line, and little-endian doubles.
type Row<'py> = (Bound<'py, PyString>, Bound<'py, PyBytes>, f64);

/// Runs scenarios under seeds, one after another and without the interpreter's lock, and returns
/// the metrics and the seconds of each. It ends after the first run at whose end `seconds` have
/// passed. It also ends before the first run that fails or is cancelled, which gives the reason if
/// it is run by itself.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "Python hands over a list of its own"
)]
pub fn run_batch<'py>(
    py: Python<'py>,
    runs: Vec<(Bound<'py, Scenario>, u64, Engine)>,
    cancel: &Cancel,
    seconds: f64,
) -> Vec<Row<'py>> {
    let runs: Vec<_> = runs
        .iter()
        .map(|(scenario, seed, engine)| (scenario.get().0.with_seed(*seed), *engine))
        .collect();
    let switch = Arc::clone(&cancel.0);
    let limit = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    let figures = py.detach(move || all(runs, &switch, limit));
    let mut names = (String::new(), PyString::new(py, ""));
    let row = |(metrics, took): Figures| {
        let own = metrics.iter().map(|(name, _)| &**name);
        let own = own.collect::<Vec<_>>().join("\n");
        if own != names.0 {
            names = (own.clone(), PyString::new(py, &own));
        }
        let values = metrics.iter().flat_map(|(_, value)| value.to_le_bytes());
        let values = PyBytes::new(py, &values.collect::<Vec<u8>>());
        (names.1.clone(), values, took)
    };
    figures.into_iter().map(row).collect()
}

fn all(
    runs: Vec<(goodqueue_scenario::Scenario, Engine)>,
    switch: &AtomicBool,
    limit: Duration,
) -> Vec<Figures> {
    let begun = Instant::now();
    let mut done = Vec::with_capacity(runs.len());
    for (scenario, engine) in runs {
        let own = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| one(scenario, engine, switch)));
        let Ok(Some(outcome)) = outcome else { break };
        done.push((outcome.figures(), own.elapsed().as_secs_f64()));
        if begun.elapsed() >= limit {
            break;
        }
    }
    done
}

/// Runs a scenario without records; returns None if it failed or was cancelled.
fn one(
    scenario: goodqueue_scenario::Scenario,
    engine: Engine,
    switch: &AtomicBool,
) -> Option<Outcome> {
    let mut go_on = || !switch.load(Ordering::Relaxed);
    match engine {
        Engine::Packets => Job::bare(scenario).run(|_| go_on()).ok(),
        Engine::Hybrid => simulate(scenario.hybrid().ok()?, &mut go_on).ok(),
    }
}
