//! Runs for the lab's page.

use crate::convert::error::{mistake, scenario_error};
use goodqueue_lab::{Bounds, Experiment, LabError, View, Watch};
use goodqueue_types::{Span, Time};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// One run for a page, which another thread can watch and stop.
#[pyclass(frozen)]
pub struct LabRun {
    experiment: Experiment,
    view: View,
    stopped: AtomicBool,
    /// Share of the simulated time that is done, in billionths.
    done: AtomicU64,
}

#[pymethods]
impl LabRun {
    /// Reads a scenario. With `first_packets` the run is shortened until its links can send at most
    /// so many full packets.
    #[new]
    #[pyo3(signature = (text, *, columns, flows, first_packets=None))]
    fn new(
        py: Python<'_>,
        text: &str,
        columns: usize,
        flows: usize,
        first_packets: Option<u64>,
    ) -> PyResult<Self> {
        let whole =
            Experiment::read(text, &[], Bounds::default()).map_err(|error| match error {
                LabError::Scenario(error) => scenario_error(py, &error),
                LabError::TooLarge(text) => mistake(
                    py,
                    "scenario",
                    text,
                    "choose a shorter run or a slower link".to_owned(),
                ),
            })?;
        let short = first_packets.and_then(|packets| whole.shortened(text, packets));
        Ok(Self {
            experiment: short.unwrap_or(whole),
            view: View { columns, flows },
            stopped: AtomicBool::new(false),
            done: AtomicU64::new(0),
        })
    }

    /// Runs and returns the picture as JSON text, or None if the run was stopped. Other threads
    /// continue meanwhile.
    fn picture(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| {
            let picture = self.experiment.run(self.view, |share| self.goes_on(share));
            picture.map(|picture| picture.to_string())
        })
    }

    /// Runs and returns the packets between two times of the run, in milliseconds, as JSON text, or
    /// None if the run was stopped.
    fn packets(&self, py: Python<'_>, from_ms: u64, to_ms: u64) -> Option<String> {
        let at = |ms: u64| Time::ZERO + Span::from_millis(ms.min(LONGEST_MS));
        let watch = Watch {
            from: at(from_ms),
            to: at(to_ms),
            most: Watch::MOST_PACKETS,
        };
        py.detach(|| {
            let packets = self.experiment.packets(watch, |share| self.goes_on(share));
            packets.map(|packets| packets.to_string())
        })
    }

    /// Stops the run within some milliseconds.
    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Share of the simulated time that is done, from 0 to 1.
    #[getter]
    fn done(&self) -> f64 {
        self.done.load(Ordering::Relaxed) as f64 / 1e9
    }
}

/// Latest time of packets that are shown, in milliseconds.
const LONGEST_MS: u64 = 1_000_000;

impl LabRun {
    /// Notes the progress; returns false if the run was stopped.
    fn goes_on(&self, share: f64) -> bool {
        self.done.store((share * 1e9) as u64, Ordering::Relaxed);
        !self.stopped.load(Ordering::Relaxed)
    }
}
