//! Conversion of the user's errors to Python exceptions.

use goodqueue_scenario::{ScenarioError, UnitError};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::io;
use std::path::Path;

/// Creates a `goodqueue.errors.ScenarioError` with all details of the error.
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

/// Creates a `ScenarioError` for a value with a unit that is in no file; `what` names its source
/// (`--target`).
pub fn unit_error(py: Python<'_>, what: &str, error: UnitError) -> PyErr {
    mistake(py, what, error.message, error.help)
}

/// Creates a `ScenarioError` for an error that concerns a whole file, or no line of any file.
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

/// Creates an `OSError` for a file that cannot be read or written, with the error's number, its
/// message and the path.
pub fn file_error(file: &Path, error: &io::Error) -> PyErr {
    let text = error.to_string();
    // Python adds the number itself.
    let words = text.split(" (os error").next().unwrap_or(&text).to_owned();
    PyOSError::new_err((error.raw_os_error(), words, file.display().to_string()))
}
