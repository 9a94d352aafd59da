//! Quantiles of distributions.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns the quantile of Student's t distribution for a probability. Its relative error is below
/// 1e-10.
#[pyfunction]
pub fn t_quantile(freedom: f64, probability: f64) -> PyResult<f64> {
    if !(probability > 0.0 && probability < 1.0) {
        return Err(PyValueError::new_err(
            "the probability must lie between 0 and 1",
        ));
    }
    if freedom.is_nan() || freedom <= 0.0 {
        return Err(PyValueError::new_err(
            "the degrees of freedom must be positive",
        ));
    }
    Ok(goodqueue_statistics::t_quantile(freedom, probability))
}
