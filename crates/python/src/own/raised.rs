//! Exceptions of the user's code, which end a run.

use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// The first exception that a queue or a control raised.
#[derive(Clone, Debug, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Removes and returns the exception.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns whether there is an exception.
    pub fn is_some(&self) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_some()
    }

    /// Keeps an exception unless there is an earlier one.
    pub fn set(&self, error: PyErr) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(error);
    }
}
