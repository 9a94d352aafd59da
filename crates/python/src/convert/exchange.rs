//! Files of other tools, as scenarios.

use crate::convert::error::scenario_error;
use goodqueue_scenario::ScenarioError;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Reads a script of ns-2, and those of its folder that it reads. Returns the scenario, and the sentences that tell how it differs.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "Python hands the list over for good"
)]
pub fn import_ns2(
    py: Python<'_>,
    script: &[u8],
    file: &str,
    folder: Option<PathBuf>,
    arguments: Vec<String>,
) -> PyResult<(String, Vec<String>)> {
    let imported = py.detach(|| goodqueue_ns2::import(script, file, folder.as_deref(), &arguments));
    let imported = imported.map_err(|error| {
        let error = ScenarioError {
            file: error.file,
            line: (error.line > 0).then_some(error.line),
            column: None,
            key: String::new(),
            message: error.message,
            help: error.help,
        };
        scenario_error(py, &error)
    })?;
    Ok((imported.toml, imported.notes))
}
