//! What a run yields, as JSON and as columns of little-endian numbers.

use goodqueue_scenario::summary_json;
use goodqueue_sim::Network;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

type Column<'py> = Bound<'py, PyBytes>;

/// What a run yields.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct Outcome {
    summary: String,
    links: Vec<String>,
    flows: Vec<String>,
    figures: goodqueue_sim::Outcome,
}

impl Outcome {
    pub(crate) fn new(
        scenario: &goodqueue_scenario::Scenario,
        network: &Network,
        outcome: goodqueue_sim::Outcome,
    ) -> Self {
        Self {
            summary: summary_json(scenario, &outcome).to_string(),
            links: network.links.iter().map(|link| link.name.clone()).collect(),
            flows: network.flows.iter().map(|flow| flow.name.clone()).collect(),
            figures: outcome,
        }
    }
}

#[pymethods]
impl Outcome {
    /// The summary, as JSON.
    fn summary_json(&self) -> &str {
        &self.summary
    }

    /// Queueing delays: link names, then link index (u32), seconds (f64), packets (u64).
    fn delays<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Vec<String>, Column<'py>, Column<'py>, Column<'py>)> {
        let bins: Vec<(u32, u64, u64)> = self
            .figures
            .links
            .iter()
            .zip(0..)
            .flat_map(|(link, index)| {
                let bins = link.queueing_delay_histogram.bins();
                bins.map(move |(nanoseconds, packets)| (index, nanoseconds, packets))
            })
            .collect();
        let names = self
            .figures
            .links
            .iter()
            .map(|link| link.name.clone())
            .collect();
        Ok((
            names,
            column(py, &bins, |bin| bin.0.to_le_bytes())?,
            column(py, &bins, |bin| (bin.1 as f64 * 1e-9).to_le_bytes())?,
            column(py, &bins, |bin| bin.2.to_le_bytes())?,
        ))
    }

    /// Link names, then link index (u32), seconds (f64), packets (u64), bytes (u64).
    fn backlog<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(
        Vec<String>,
        Column<'py>,
        Column<'py>,
        Column<'py>,
        Column<'py>,
    )> {
        let rows = &self.figures.series.backlog;
        Ok((
            self.links.clone(),
            column(py, rows, |row| row.0.to_le_bytes())?,
            column(py, rows, |row| row.1.as_secs_f64().to_le_bytes())?,
            column(py, rows, |row| row.2.to_le_bytes())?,
            column(py, rows, |row| row.3.to_le_bytes())?,
        ))
    }

    /// Flow names, then flow index (u32), seconds (f64), cwnd (u64), ssthresh (f64, NaN where
    /// there is none), bytes in flight (u64).
    fn windows<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(
        Vec<String>,
        Column<'py>,
        Column<'py>,
        Column<'py>,
        Column<'py>,
        Column<'py>,
    )> {
        let rows = &self.figures.series.windows;
        let ssthresh = |bytes: Option<u64>| bytes.map_or(f64::NAN, |bytes| bytes as f64);
        Ok((
            self.flows.clone(),
            column(py, rows, |row| row.0.to_le_bytes())?,
            column(py, rows, |row| row.1.as_secs_f64().to_le_bytes())?,
            column(py, rows, |row| row.2.to_le_bytes())?,
            column(py, rows, |row| ssthresh(row.3).to_le_bytes())?,
            column(py, rows, |row| row.4.to_le_bytes())?,
        ))
    }

    /// Flow names, then flow index (u32), seconds (f64), round-trip time (f64).
    fn rtt<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Vec<String>, Column<'py>, Column<'py>, Column<'py>)> {
        let rows = &self.figures.series.rtt;
        Ok((
            self.flows.clone(),
            column(py, rows, |row| row.0.to_le_bytes())?,
            column(py, rows, |row| row.1.as_secs_f64().to_le_bytes())?,
            column(py, rows, |row| row.2.to_le_bytes())?,
        ))
    }
}

/// One column of a table, written once, straight into the memory that Python will read.
fn column<'py, R, const N: usize>(
    py: Python<'py>,
    rows: &[R],
    value: impl Fn(&R) -> [u8; N],
) -> PyResult<Column<'py>> {
    PyBytes::new_with(py, rows.len() * N, |memory| {
        for (place, row) in memory.chunks_exact_mut(N).zip(rows) {
            place.copy_from_slice(&value(row));
        }
        Ok(())
    })
}
