//! Mistakes of the user as Python exceptions.

use goodqueue_scenario::{ScenarioError, UnitError};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::io;
use std::path::Path;

/// `goodqueue.errors.ScenarioError` with everything that is known about the mistake.
pub fn scenario_error(py: Python<'_>, error: &ScenarioError) -> PyErr {
    let fields = (
        error.to_string(),
        &error.file,
        error.line,
        error.column,
        &error.key,
        &error.message,
        &error.help,
    );
    let exception = py
        .import("goodqueue.errors")
        .and_then(|module| module.getattr("ScenarioError"))
        .and_then(|class| class.call1(fields));
    exception.map_or_else(|failure| failure, PyErr::from_value)
}

/// The same for a value with a unit that stands in no file; `what` names it (`--target`).
pub fn unit_error(py: Python<'_>, what: &str, error: UnitError) -> PyErr {
    mistake(py, what, error.message, error.help)
}

/// The same for what is wrong with a whole file, or with no line of any.
pub fn mistake(py: Python<'_>, file: &str, message: String, help: String) -> PyErr {
    scenario_error(
        py,
        &ScenarioError {
            file: file.to_owned(),
            line: None,
            column: None,
            key: String::new(),
            message,
            help,
        },
    )
}

/// A file that the system does not let us read or write: `OSError` with its number, its words and the
/// file.
pub fn file_error(file: &Path, error: &io::Error) -> PyErr {
    let text = error.to_string();
    // Python adds the number itself.
    let words = text.split(" (os error").next().unwrap_or(&text).to_owned();
    PyOSError::new_err((error.raw_os_error(), words, file.display().to_string()))
}
