//! The engine of the lab's page for browsers: conversions between JavaScript and `goodqueue-lab`, no
//! logic.

use goodqueue_lab::{Job, LabError};
use wasm_bindgen::prelude::wasm_bindgen;

/// One question of a page.
#[wasm_bindgen]
#[derive(Debug)]
pub struct LabJob(Result<Job, LabError>);

#[wasm_bindgen]
impl LabJob {
    /// Takes a question: its action and its body in JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(action: &str, body: &str) -> Self {
        Self(Job::start(action, body))
    }

    /// Works for some milliseconds. Returns the share that is done, or nothing if the answer is
    /// ready.
    pub fn advance(&mut self) -> Option<f64> {
        self.0.as_mut().ok()?.advance()
    }

    /// HTTP status of the answer.
    #[wasm_bindgen(getter)]
    pub fn status(&self) -> u16 {
        self.0.as_ref().map_or_else(LabError::status, Job::status)
    }

    /// Returns the answer as JSON text.
    pub fn answer(self) -> String {
        match self.0 {
            Ok(job) => job.answer(),
            Err(refusal) => refusal.json().to_string(),
        }
    }
}
