//! The version and the build of the core, and the schema of scenario files.

use crate::convert::error::scenario_error;
use pyo3::prelude::*;

/// Returns the version of the core.
#[pyfunction]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Returns the kind of build. `make wheel` sets the variable.
#[pyfunction]
pub fn build() -> &'static str {
    if cfg!(debug_assertions) {
        "debug build"
    } else if option_env!("GOODQUEUE_PROFILE_GUIDED").is_some() {
        "release build, profile-guided"
    } else {
        "release build"
    }
}

/// Returns the tables of a TOML text as JSON. `name` is the name of the text in messages.
#[pyfunction]
pub fn toml_json(py: Python<'_>, text: &[u8], name: &str) -> PyResult<String> {
    py.detach(|| goodqueue_scenario::toml_json(text, name))
        .map_err(|error| scenario_error(py, &error))
}

/// Returns the names of the parts of a run's memory.
#[pyfunction]
pub fn memory_parts() -> Vec<&'static str> {
    goodqueue_scenario::MEMORY_PARTS.to_vec()
}

/// Returns the JSON Schema of scenario files.
#[pyfunction]
pub fn schema() -> String {
    goodqueue_scenario::schema()
}
