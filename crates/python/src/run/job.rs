//! One run, from its scenario to its outcome.

use crate::convert::error::{file_error, unit_error};
use crate::own::control::{named_class, python_control};
use crate::own::queue::named_queue;
use crate::own::raised::Raised;
use crate::run::outcome::Outcome;
use goodqueue_queue::QueueConfig;
use goodqueue_scenario::{Hybrid, Scenario};
use goodqueue_tcp::cc::CustomControl;
use goodqueue_trace::write::Traces;
use goodqueue_types::Time;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::sync::atomic::Ordering;

/// Inputs of a run.
pub struct Job {
    pub scenario: Scenario,
    pub series: Option<bool>,
    pub packets: Option<bool>,
    /// Queues in place of the scenario's, by link.
    pub queues: Vec<(String, QueueConfig)>,
    /// Congestion controls in place of the scenario's, by group of flows.
    pub controls: Vec<(String, CustomControl)>,
    pub raised: Raised,
    pub traces: Traces,
}

impl Job {
    /// Returns a run without records, traces or queues in Python.
    pub fn bare(scenario: Scenario) -> Self {
        Self {
            scenario,
            series: Some(false),
            packets: Some(false),
            queues: Vec::new(),
            controls: Vec::new(),
            raised: Raised::default(),
            traces: Traces::default(),
        }
    }

    /// Returns the scenario with its controls in Python.
    fn equipped(&mut self) -> PyResult<Scenario> {
        let mut scenario = with_python(&self.scenario, &self.raised)?;
        for (group, control) in self.controls.drain(..) {
            scenario = scenario
                .with_control(&group, &control)
                .map_err(|error| Python::attach(|py| unit_error(py, "controls", error)))?;
        }
        Ok(scenario)
    }

    /// Builds the network, runs it while `go_on` returns true, and summarises.
    pub fn run(mut self, mut go_on: impl FnMut(Time) -> bool) -> PyResult<Outcome> {
        let mut network = self.equipped()?.network();
        for (link, queue) in self.queues {
            network.set_queue(&link, &queue);
        }
        let record = &mut network.record;
        record.series = self.series.unwrap_or(record.series);
        record.packets = self.packets.unwrap_or(record.packets);
        let (failed, raised) = (self.traces.failed(), &self.raised);
        let go_on = |now| !raised.is_some() && !failed.load(Ordering::Relaxed) && go_on(now);
        let outcome = if self.traces.is_empty() {
            goodqueue_sim::run_while(&network, go_on)
        } else {
            goodqueue_sim::run_traced(&network, &mut self.traces, go_on)
        };
        if let Some(error) = self.raised.take() {
            return Err(error);
        }
        if outcome.is_some() || failed.load(Ordering::Relaxed) {
            self.traces
                .finish()
                .map_err(|(file, error)| file_error(&file, &error))?;
        }
        outcome
            .map(|outcome| Outcome::new(&self.scenario, &network, outcome))
            .ok_or_else(|| PyKeyboardInterrupt::new_err("run cancelled"))
    }
}

/// Returns a scenario with the queues and controls in Python whose classes it names.
pub fn with_python(scenario: &Scenario, raised: &Raised) -> PyResult<Scenario> {
    let mut equipped = scenario.with_python_queues(|named, limit_packets| {
        Python::attach(|py| named_queue(py, named, limit_packets, raised))
    })?;
    for (group, named) in scenario.python_controls() {
        equipped = Python::attach(|py| {
            let control = python_control(named_class(py, &named.class, &named.checksum)?, raised);
            let equipped = equipped.with_control(&group, &control);
            equipped.map_err(|error| unit_error(py, "controls", error))
        })?;
    }
    Ok(equipped)
}

/// Runs the scenario by the hybrid engine while `go_on` returns true.
pub fn simulate(hybrid: Hybrid, go_on: &mut dyn FnMut() -> bool) -> PyResult<Outcome> {
    match hybrid.run(go_on) {
        Some(outcome) => Ok(Outcome::of_hybrid(hybrid, outcome)),
        None => Err(PyKeyboardInterrupt::new_err("run cancelled")),
    }
}
