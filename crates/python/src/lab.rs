//! Questions of the lab's page.

use goodqueue_lab::Job;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Status of HTTP for a question that a newer one has replaced.
const STOPPED: u16 = 409;

/// One question of a page, whose answer another thread can watch and stop.
#[pyclass(frozen)]
pub struct LabJob {
    action: String,
    body: String,
    stopped: AtomicBool,
    /// Share that is done, in billionths.
    done: AtomicU64,
}

#[pymethods]
impl LabJob {
    /// Takes a question: its action and its body in JSON.
    #[new]
    fn new(action: String, body: String) -> Self {
        Self {
            action,
            body,
            stopped: AtomicBool::new(false),
            done: AtomicU64::new(0),
        }
    }

    /// Returns the status of HTTP and the answer as JSON text. Other threads continue during the
    /// call.
    fn answer(&self, py: Python<'_>) -> (u16, String) {
        py.detach(|| {
            let mut job = match Job::start(&self.action, &self.body) {
                Ok(job) => job,
                Err(refusal) => return (refusal.status(), refusal.json().to_string()),
            };
            while !self.stopped.load(Ordering::Relaxed) {
                let Some(share) = job.advance() else {
                    self.done.store(1_000_000_000, Ordering::Relaxed);
                    return (job.status(), job.answer());
                };
                self.done.store((share * 1e9) as u64, Ordering::Relaxed);
            }
            let text = r#"{"message": "a newer run has replaced this one"}"#;
            (STOPPED, text.to_owned())
        })
    }

    /// Stops the run within some milliseconds.
    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Share that is done, from 0 to 1.
    #[getter]
    fn done(&self) -> f64 {
        self.done.load(Ordering::Relaxed) as f64 / 1e9
    }
}
