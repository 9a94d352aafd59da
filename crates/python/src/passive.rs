//! Analysis of packet captures, as JSON and as tables.

use crate::convert::error::{file_error, mistake};
use crate::convert::table::Table;
use goodqueue_passive::records;
use goodqueue_passive::{
    Bottleneck, Class, Control, FileError, Flow, Options, Place, Reading, Report, Thresholds,
    analyze_files,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

/// Value that marks a missing entry in a column of whole numbers; in other columns NaN marks it.
const ABSENT: i64 = -1;

/// Results of the analysis of a capture.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct Analysis {
    report: Report,
    readings: Vec<Reading>,
}

/// Analyses a capture, or two: before and after the target link.
#[pyfunction]
#[pyo3(
    signature = (path, *, after = None, link_rate_bps = None, drops = None, thresholds = vec![],
                 seed = 1, progress = None),
    text_signature = "(path, *, after=None, link_rate_bps=None, drops=None, thresholds=(), seed=1, \
                      progress=None)"
)]
#[expect(
    clippy::too_many_arguments,
    clippy::needless_pass_by_value,
    reason = "keyword arguments that Python hands over for good"
)]
pub fn analyze(
    py: Python<'_>,
    path: PathBuf,
    after: Option<PathBuf>,
    link_rate_bps: Option<u64>,
    drops: Option<Vec<f64>>,
    thresholds: Vec<(String, f64)>,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Analysis> {
    let mut limits = Thresholds::default();
    for (name, value) in thresholds {
        if let Err(why) = limits.set(&name, value) {
            return Err(mistake(py, "thresholds", why, String::new()));
        }
    }
    let options = Options {
        path,
        after,
        link_rate_bps,
        drops,
        thresholds: limits,
        seed,
    };
    let mut raised = None;
    let analysed = py.detach(|| {
        analyze_files(&options, |bytes| {
            Python::attach(|py| {
                let told = progress
                    .as_ref()
                    .map(|progress| progress.call1(py, (bytes,)));
                let told = told.transpose().and_then(|_| py.check_signals());
                raised = told.err();
                raised.is_none()
            })
        })
    });
    match analysed {
        Ok((report, readings)) => Ok(Analysis { report, readings }),
        Err(error) => Err(raised.unwrap_or_else(|| refused(py, error))),
    }
}

/// Returns name, default and description of each threshold.
#[pyfunction]
pub fn passive_thresholds() -> Vec<(&'static str, f64, &'static str)> {
    let all = Thresholds::ALL.iter();
    all.map(|(name, value, text)| (*name, *value, text.trim()))
        .collect()
}

fn refused(py: Python<'_>, error: FileError) -> PyErr {
    let (file, why) = match error {
        FileError::Io(path, error) => return file_error(&path, &error),
        FileError::NoPackets(path, why) => (path.display().to_string(), why),
        FileError::Stopped => ("analyze".to_owned(), "stopped".to_owned()),
    };
    mistake(py, &file, why, String::new())
}

fn seconds(nanoseconds: Option<i64>) -> f64 {
    nanoseconds.map_or(f64::NAN, |value| value as f64 * 1e-9)
}

fn or_nan(value: Option<f64>) -> f64 {
    value.unwrap_or(f64::NAN)
}

#[pymethods]
impl Analysis {
    /// Returns all results except the tables, as JSON.
    fn summary_json(&self, py: Python<'_>) -> String {
        py.detach(|| self.report.summary_json(&self.readings).to_string())
    }

    /// Names of flows, by the numbers in a column `flow`.
    #[getter]
    fn flow_names(&self) -> Vec<String> {
        self.report.flows.iter().map(Flow::name).collect()
    }

    /// Returns the names for the numbers in other columns.
    #[staticmethod]
    fn names(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let names = PyDict::new(py);
        names.set_item("class", Class::NAMES.to_vec())?;
        names.set_item("bottleneck", Bottleneck::NAMES.to_vec())?;
        names.set_item("congestion_control", Control::NAMES.to_vec())?;
        names.set_item("where", Place::NAMES.to_vec())?;
        Ok(names)
    }

    /// Returns the table of directions of connections with data.
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows: Vec<_> = self.report.flows.iter().enumerate().collect();
        let table = Table::new(py, &rows).integers("flow", |row| row.0 as i64)?;
        let table = extent(table)?;
        let table = round_trips(table)?;
        let table = with_losses(table, self.report.by_log)?;
        Ok(judgements(table)?.finish())
    }

    /// Returns the table of round-trip times.
    fn rtts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let flows = self.report.flows.iter().enumerate();
        let rows: Vec<_> = flows
            .flat_map(|(index, flow)| flow.samples.iter().map(move |sample| (index, *sample)))
            .collect();
        let table = Table::new(py, &rows)
            .integers("flow", |row| row.0 as i64)?
            .numbers("time_s", |row| row.1.0 as f64 * 1e-9)?
            .numbers("rtt_s", |row| row.1.1 as f64 * 1e-9)?;
        Ok(table.finish())
    }

    /// Returns the table of losses.
    fn losses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = Table::new(py, &self.report.losses)
            .numbers("time_s", |row| row.time as f64 * 1e-9)?
            .integers("flow", |row| row.flow.map_or(ABSENT, i64::from))?
            .integers("packets", |row| i64::from(row.packets))?
            .integers("where", |row| row.place as i64)?;
        Ok(table.finish())
    }

    /// Returns the table of loss bursts at the target link.
    fn bursts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = Table::new(py, &self.report.bursts)
            .numbers("time_s", |row| row.time as f64 * 1e-9)?
            .numbers("duration_s", |row| row.duration as f64 * 1e-9)?
            .integers("packets", |row| row.packets as i64)?
            .integers("flows_hit", |row| {
                row.flows_hit.map_or(ABSENT, |hit| hit as i64)
            })?
            .integers("start_up", |row| i64::from(row.start_up))?;
        Ok(table.finish())
    }

    /// Returns the time series of the target link.
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = Table::new(py, &self.report.series)
            .numbers("time_s", |row| row.time as f64 * 1e-9)?
            .numbers("bin_s", |row| row.width as f64 * 1e-9)?
            .numbers("throughput_bps", |row| row.throughput_bps)?
            .numbers("utilization", |row| or_nan(row.utilization))?
            .integers("active_flows", |row| i64::from(row.active_flows))?
            .integers("losses", |row| row.losses as i64)?
            .numbers("queueing_delay_mean_s", |row| or_nan(row.delay_mean_s))?
            .numbers("queueing_delay_max_s", |row| or_nan(row.delay_max_s))?;
        Ok(table.finish())
    }
}

type Flows<'py, 'rows> = Table<'py, 'rows, (usize, &'rows Flow)>;

fn extent<'py, 'rows>(table: Flows<'py, 'rows>) -> PyResult<Flows<'py, 'rows>> {
    table
        .integers("forward", |row| i64::from(row.1.forward))?
        .numbers("start_s", |row| row.1.start as f64 * 1e-9)?
        .numbers("duration_s", |row| row.1.duration as f64 * 1e-9)?
        .integers("bytes", |row| row.1.counts.bytes as i64)?
        .integers("packets", |row| row.1.counts.packets as i64)?
        .integers("mss_bytes", |row| i64::from(row.1.mss))?
        .numbers("goodput_bps", |row| or_nan(row.1.goodput_bps()))
}

fn round_trips<'py, 'rows>(table: Flows<'py, 'rows>) -> PyResult<Flows<'py, 'rows>> {
    table
        .numbers("rtt_s", |row| seconds(row.1.rtt.base))?
        .numbers("rtt_handshake_s", |row| seconds(row.1.rtt.handshake))?
        .numbers("rtt_slow_start_s", |row| seconds(row.1.rtt.slow_start))?
        .numbers("rtt_timestamps_s", |row| seconds(row.1.rtt.timestamps))?
        .numbers("rtt_min_s", |row| seconds(row.1.rtt.pairs))?
        .numbers("rtt_mean_s", |row| or_nan(row.1.rtt.mean_s))
}

/// Adds the columns of retransmissions, losses and marks. A log of drops names no flows, so their
/// losses at the target link are then unknown.
fn with_losses<'py, 'rows>(table: Flows<'py, 'rows>, by_log: bool) -> PyResult<Flows<'py, 'rows>> {
    let lost = |place: Place| {
        let is_known = !by_log || place != Place::Target;
        let of = move |flow: &Flow| flow.counts.lost[place as usize] as i64;
        move |row: &(usize, &Flow)| if is_known { of(row.1) } else { ABSENT }
    };
    table
        .integers("retransmissions", |row| row.1.counts.retransmissions as i64)?
        .integers("fast", |row| row.1.counts.fast as i64)?
        .integers("timeouts", |row| row.1.counts.timeouts as i64)?
        .integers("spurious", |row| row.1.counts.spurious as i64)?
        .integers("reordered", |row| row.1.counts.reordered as i64)?
        .integers("lost_target", lost(Place::Target))?
        .integers("lost_upstream", lost(Place::Upstream))?
        .integers("lost_downstream", lost(Place::Downstream))?
        .integers("marked", |row| {
            row.1.counts.marked.iter().sum::<u64>() as i64
        })
}

fn judgements<'py, 'rows>(table: Flows<'py, 'rows>) -> PyResult<Flows<'py, 'rows>> {
    table
        .integers("max_flight_bytes", |row| row.1.max_flight as i64)?
        .numbers("mean_flight_bytes", |row| or_nan(row.1.mean_flight))?
        .integers("max_window_bytes", |row| row.1.max_window as i64)?
        .integers("slow_start_bytes", |row| {
            row.1.opening.reached().map_or(ABSENT, |bytes| bytes as i64)
        })?
        .numbers("growth_segments", |row| or_nan(row.1.growth))?
        .integers("opening_acks", |row| row.1.opening.one_by_one() as i64)?
        .numbers("segments_per_ack", |row| {
            or_nan(row.1.opening.segments_per_ack())
        })?
        .numbers("receiver_limited", |row| row.1.shares.receiver)?
        .numbers("application_limited", |row| row.1.shares.application)?
        .numbers("congestion_limited", |row| row.1.shares.congestion)?
        .integers("class", |row| row.1.class as i64)?
        .integers("bottleneck", |row| {
            row.1.bottleneck.map_or(ABSENT, |place| place as i64)
        })?
        .numbers("decrease_factor", |row| or_nan(row.1.decrease_factor))?
        .integers("congestion_control", |row| row.1.control as i64)?
        .integers("reductions", |row| i64::from(row.1.reductions))?
        .integers("explained", |row| {
            i64::from(row.1.explained[Place::Target as usize])
        })
}

/// Reads flow records as nfdump prints them, and returns their figures as JSON; `what` names the file in
/// messages.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "Python hands the path over for good"
)]
pub fn read_flow_records(
    py: Python<'_>,
    what: &str,
    path: PathBuf,
    sampling: u64,
    long_packets: u64,
) -> PyResult<String> {
    let file = File::open(&path).map_err(|error| file_error(&path, &error))?;
    let options = records::Options {
        sampling,
        long_packets,
        ..records::Options::default()
    };
    let summary = py.detach(|| records::read(&mut BufReader::new(file), options));
    let summary = summary.map_err(|error| mistake(py, what, error.message, error.help))?;
    Ok(summary.json())
}
