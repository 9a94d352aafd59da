//! The version and the build of the core, and the schema of scenario files.

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

/// Returns the JSON Schema of scenario files.
#[pyfunction]
pub fn schema() -> String {
    goodqueue_scenario::schema()
}
