//! Study files.

use crate::convert::error::scenario_error;
use crate::own::control::checksum_of;
use crate::run::scenario::Scenario;
use pyo3::prelude::*;

/// A study file whose own keys are valid.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct Study {
    study: goodqueue_scenario::Study,
    checksum: Option<Py<PyAny>>,
}

#[pymethods]
impl Study {
    /// Reads a study file; `overrides` are (path, value) pairs of its base scenario. Its scenarios
    /// may name classes in Python only if `checksum` is given, which returns the checksum of the
    /// source of a class.
    #[staticmethod]
    #[pyo3(signature = (text, file_name, overrides, checksum = None))]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "Python hands over a list of its own"
    )]
    fn parse(
        py: Python<'_>,
        text: &[u8],
        file_name: &str,
        overrides: Vec<(String, String)>,
        checksum: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        py.detach(|| goodqueue_scenario::Study::parse(text, file_name, &overrides))
            .map(|study| Self { study, checksum })
            .map_err(|error| scenario_error(py, &error))
    }

    /// Number of points of its grid that are not excluded.
    #[getter]
    fn variants(&self) -> usize {
        self.study.variants()
    }

    /// Returns all but the variants, as JSON.
    fn outline_json(&self) -> String {
        self.study.outline_json()
    }

    /// Returns the values of the axes at a variant by column, as JSON.
    fn parameters_json(&self, variant: usize) -> String {
        self.study.parameters_json(variant)
    }

    /// Returns the scenario of a variant.
    fn scenario(&self, py: Python<'_>, variant: usize) -> PyResult<Scenario> {
        py.detach(|| match &self.checksum {
            None => self.study.scenario(variant),
            Some(checksum) => {
                let checksums = |class: &str| checksum_of(checksum, class);
                self.study.scenario_with(variant, Some(&checksums))
            }
        })
        .map(Scenario)
        .map_err(|error| scenario_error(py, &error))
    }

    /// Checks the names of metrics in the study against those of its runs.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "Python hands over a list of its own"
    )]
    fn check_metrics(&self, py: Python<'_>, names: Vec<String>) -> PyResult<()> {
        let checked = self.study.check_metrics(&names);
        checked.map_err(|error| scenario_error(py, &error))
    }

    /// Returns the study with its base scenario written into it.
    fn resolved_toml(&self) -> String {
        self.study.resolved_toml()
    }
}

/// Returns the version of the hybrid engine's results.
#[pyfunction]
pub fn hybrid_version() -> u32 {
    goodqueue_scenario::HYBRID_VERSION
}

/// Returns the version of results.
#[pyfunction]
pub fn results_version() -> u32 {
    goodqueue_scenario::RESULTS_VERSION
}

/// Converts a number with its unit to the form of a result's column: the value, and the end of such
/// a column's name (`10Mbps` to 10,000,000 and `_bps`). Returns None for any other value.
#[pyfunction]
pub fn measure(text: &str) -> Option<(f64, &'static str)> {
    goodqueue_scenario::measure_text(text)
}
