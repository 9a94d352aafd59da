//! Calibrated theory.

#![expect(
    clippy::needless_pass_by_value,
    reason = "Python hands over links and buffers of its own"
)]

use crate::theory::link::PyLink;
use goodqueue_theory::calibrated::{self, COUNT, FIGURES, Table};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// An expected figure: its mean, and the ends of its interval.
type Expected = (f64, f64, f64);

/// Answer of calibrated theory, as a dictionary.
#[derive(IntoPyObject)]
pub struct Answer {
    packets: Option<u64>,
    low: u64,
    high: Option<u64>,
    chance: f64,
    least: Option<u64>,
    loss_decides: bool,
    most: Option<u64>,
    figures: Vec<(&'static str, Expected)>,
    outside: Vec<String>,
}

/// The fitted table, and its evaluation.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct Surfaces(Table);

#[pymethods]
impl Surfaces {
    /// Reads a table from the bytes of its file.
    #[new]
    fn new(table: &[u8]) -> PyResult<Self> {
        let table = Table::read(table);
        table
            .map(Self)
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    #[getter]
    fn tails(&self) -> Vec<(f64, f64)> {
        self.0.tails.map(Into::into).to_vec()
    }

    #[getter]
    fn widths(&self) -> (f64, f64, f64) {
        self.0.widths.into()
    }

    #[getter]
    fn theory_errors(&self) -> (f64, f64, f64) {
        self.0.theory_errors.into()
    }

    /// Returns the table with one of its networks of the correction alone.
    fn alone(&self, member: usize) -> PyResult<Self> {
        let none = || PyIndexError::new_err("the table has no such network");
        self.0.alone(member).map(Self).ok_or_else(none)
    }

    /// Returns the prediction for a link with each buffer.
    fn at(&self, link: PyLink, packets: Vec<f64>) -> Predicted {
        Predicted(calibrated::Predicted::at(&link.0, &packets, &self.0))
    }

    /// Returns the differences of a link from those of the study.
    fn outside(&self, link: PyLink, packets: f64) -> Vec<String> {
        calibrated::outside(&link.0, packets, &self.0)
    }

    /// Returns the answer for a link.
    fn calibrated(&self, link: PyLink) -> Option<Answer> {
        let found = calibrated::calibrated(&link.0, &self.0)?;
        let figures = found.figures.map(|one| (one.mean, one.low, one.high));
        Some(Answer {
            packets: found.packets,
            low: found.low,
            high: found.high,
            chance: found.chance,
            least: found.least,
            loss_decides: found.loss_decides,
            most: found.most,
            figures: FIGURES.into_iter().zip(figures).collect(),
            outside: found.outside,
        })
    }

    /// Returns the smallest buffer for utilisation and loss, both `shift` standard errors worse.
    fn least_if(&self, link: PyLink, shift: f64) -> Option<u64> {
        calibrated::least_if(&link.0, &self.0, shift)
    }

    /// Returns the probability that each buffer keeps each bound, with the figure's name.
    fn chances_kept(&self, link: PyLink, packets: Vec<f64>) -> Vec<(&'static str, Vec<f64>)> {
        calibrated::chances_kept(&link.0, &packets, &self.0)
    }

    /// Returns the smallest buffer without one of the bounds, by figure.
    fn without(&self, link: PyLink) -> BTreeMap<&'static str, u64> {
        calibrated::without(&link.0, &self.0).into_iter().collect()
    }

    /// Returns the smallest expected loss with any buffer, and that buffer.
    fn least_loss(&self, link: PyLink) -> (f64, u64) {
        calibrated::least_loss(&link.0, &self.0)
    }

    /// Returns the largest expected utilisation with any buffer, and that buffer.
    fn most_busy(&self, link: PyLink) -> (f64, u64) {
        calibrated::most_busy(&link.0, &self.0)
    }
}

/// Predictions for a link with several buffers.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct Predicted(calibrated::Predicted);

#[pymethods]
impl Predicted {
    #[getter]
    fn packets(&self) -> Vec<f64> {
        self.0.packets.clone()
    }

    #[getter]
    fn means(&self) -> Vec<[f64; 3]> {
        self.0.means.clone()
    }

    #[getter]
    fn errors(&self) -> Vec<[f64; 3]> {
        self.0.errors.clone()
    }

    #[getter]
    fn full_s(&self) -> Vec<f64> {
        self.0.full_s.clone()
    }

    /// Returns the utilisation for an idle share `shift` standard errors too high.
    #[pyo3(signature = (shift = 0.0))]
    fn utilization(&self, shift: f64) -> Vec<f64> {
        self.0.figure(0, shift)
    }

    /// Returns the loss `shift` standard errors above the prediction.
    #[pyo3(signature = (shift = 0.0))]
    fn loss_rate(&self, shift: f64) -> Vec<f64> {
        self.0.figure(1, shift)
    }

    /// Returns the shifted 99th percentile of the queueing delay.
    #[pyo3(signature = (shift = 0.0))]
    fn p99_delay_s(&self, shift: f64) -> Vec<f64> {
        self.0.figure(2, shift)
    }
}

/// Returns the dimensionless groups of a link with each buffer.
#[pyfunction]
pub fn theory_groups(link: PyLink, packets: Vec<f64>) -> Vec<[f64; COUNT]> {
    calibrated::groups(&link.0, &packets)
}

/// Returns the logarithms of the published forms with each buffer.
#[pyfunction]
pub fn theory_forms(link: PyLink, packets: Vec<f64>) -> Vec<[f64; 3]> {
    calibrated::forms(&link.0, &packets)
}

/// Returns the seconds to send each full buffer and the packet in transmission.
#[pyfunction]
pub fn full_delay_s(link: PyLink, packets: Vec<f64>) -> Vec<f64> {
    calibrated::full_delay_s(&link.0, &packets)
}

/// Returns limits from 1 to at least `last`, a packet or 5 % apart; the last is a coarse one.
#[pyfunction]
pub fn grid(last: u64) -> Vec<u64> {
    calibrated::grid(last)
}
