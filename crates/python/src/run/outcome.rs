//! Results of a run, as JSON and as tables of little-endian columns.

use crate::convert::table::Table;
use goodqueue_fluid::FluidOutcome;
use goodqueue_scenario::{Hybrid, Scenario, metrics, summary_json};
use goodqueue_sim::{LinkOutcome, Network, Record};
use goodqueue_types::{Body, LinkId, PacketEvent, PacketEventKind, Span};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::Value;

/// Missing value in a column of integers. In other columns, NaN is the missing value.
const ABSENT: i64 = -1;

/// Results of a run.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct Outcome {
    figures: Figures,
    links: Vec<String>,
    flows: Vec<String>,
    record: Record,
    /// Data of the tables. A run of the hybrid engine has only queueing delays.
    tables: goodqueue_sim::Outcome,
}

/// Metrics of a run, by engine.
enum Figures {
    Packets(Box<Scenario>, Value),
    /// The summary is computed only on request, because with many flows it takes longer than the run.
    Hybrid(Box<Hybrid>, FluidOutcome),
}

impl Figures {
    fn summary(&self) -> String {
        match self {
            Self::Packets(_, summary) => summary.to_string(),
            Self::Hybrid(hybrid, outcome) => hybrid.summary_json(outcome).to_string(),
        }
    }

    fn metrics(&self) -> Vec<(String, f64)> {
        match self {
            Self::Packets(scenario, summary) => metrics(scenario, summary),
            Self::Hybrid(hybrid, outcome) => hybrid.metrics(outcome),
        }
    }
}

impl Outcome {
    pub(crate) fn new(
        scenario: &Scenario,
        network: &Network,
        mut outcome: goodqueue_sim::Outcome,
    ) -> Self {
        let summary = summary_json(scenario, network, &outcome);
        outcome.flows = Vec::new();
        let record = network.record;
        // Tables name the observed links, and all links and flows only if these were recorded. A
        // million flows have four million links.
        let links = if record.packets {
            network.links.len()
        } else {
            let last = network.links.iter().rposition(|link| link.observed);
            last.map_or(0, |last| last + 1)
        };
        let flows = if record.packets || record.series {
            network.flows.len()
        } else {
            0
        };
        let links = network.links[..links].iter();
        let flows = network.flows[..flows].iter();
        Self {
            figures: Figures::Packets(Box::new(scenario.clone()), summary),
            links: links.map(|link| link.name.clone()).collect(),
            flows: flows.map(|flow| flow.name.clone()).collect(),
            record,
            tables: outcome,
        }
    }

    /// Returns the metrics of the summary.
    pub(crate) fn figures(&self) -> Vec<(String, f64)> {
        self.figures.metrics()
    }

    pub(crate) fn of_hybrid(hybrid: Hybrid, outcome: FluidOutcome) -> Self {
        let name = hybrid.link_name();
        let waited = LinkOutcome {
            name: name.clone(),
            queueing_delay_histogram: outcome.queueing_delay_ns.clone(),
            ..LinkOutcome::default()
        };
        Self {
            figures: Figures::Hybrid(Box::new(hybrid), outcome),
            links: vec![name],
            flows: Vec::new(),
            record: Record::default(),
            tables: goodqueue_sim::Outcome {
                links: vec![waited],
                ..goodqueue_sim::Outcome::default()
            },
        }
    }
}

#[pymethods]
impl Outcome {
    /// Returns the summary as JSON.
    fn summary_json(&self, py: Python<'_>) -> String {
        py.detach(|| self.figures.summary())
    }

    /// Returns the metrics of the summary as a flat list: their names, one per line, and
    /// little-endian doubles. A missing value is NaN.
    fn metrics<'py>(&self, py: Python<'py>) -> (String, Bound<'py, PyBytes>) {
        let (names, values) = py.detach(|| {
            let metrics = self.figures();
            let names: Vec<&str> = metrics.iter().map(|(name, _)| &**name).collect();
            let values = metrics.iter().flat_map(|(_, value)| value.to_le_bytes());
            (names.join("\n"), values.collect::<Vec<u8>>())
        });
        (names, PyBytes::new(py, &values))
    }

    /// Names of the links, by the numbers in a column `link`. Without packet events these are the
    /// links up to the last observed one.
    #[getter]
    fn links(&self) -> Vec<String> {
        self.links.clone()
    }

    /// Names of the flows, by the numbers in a column `flow`; none without series and packet events.
    #[getter]
    fn flows(&self) -> Vec<String> {
        self.flows.clone()
    }

    /// True if time series were recorded.
    #[getter]
    fn has_series(&self) -> bool {
        self.record.series
    }

    /// True if packet events were recorded.
    #[getter]
    fn has_packets(&self) -> bool {
        self.record.packets
    }

    /// Returns the histogram of queueing delays: link, bin in seconds, and number of packets.
    fn delays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut bins = Vec::new();
        for link in &self.tables.links {
            let index = self.links.iter().position(|name| *name == link.name);
            let index = index.map_or(ABSENT, |index| index as i64);
            let waits = link.queueing_delay_histogram.bins();
            bins.extend(waits.map(|(nanoseconds, packets)| (index, nanoseconds, packets)));
        }
        let table = Table::new(py, &bins)
            .integers("link", |bin| bin.0)?
            .numbers("queueing_delay_s", |bin| bin.1 as f64 * 1e-9)?
            .integers("packets", |bin| bin.2 as i64)?;
        Ok(table.finish())
    }

    /// Returns the backlog of each link at each change, in packets and bytes.
    fn backlog<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = Table::new(py, &self.tables.series.backlog)
            .integers("link", |row| i64::from(row.0))?
            .numbers("time_s", |row| row.1.as_secs_f64())?
            .integers("backlog_packets", |row| row.2 as i64)?
            .integers("backlog_bytes", |row| row.3 as i64)?;
        Ok(table.finish())
    }

    /// Returns the windows of each flow at each change, in bytes.
    fn windows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = Table::new(py, &self.tables.series.windows)
            .integers("flow", |row| i64::from(row.0))?
            .numbers("time_s", |row| row.1.as_secs_f64())?
            .integers("cwnd_bytes", |row| row.2 as i64)?
            .integers("ssthresh_bytes", |row| {
                row.3.map_or(ABSENT, |bytes| bytes as i64)
            })?
            .integers("in_flight_bytes", |row| row.4 as i64)?;
        Ok(table.finish())
    }

    /// Returns the samples of the round-trip time, in seconds.
    fn rtt<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = Table::new(py, &self.tables.series.rtt)
            .integers("flow", |row| i64::from(row.0))?
            .numbers("time_s", |row| row.1.as_secs_f64())?
            .numbers("rtt_s", |row| row.2)?;
        Ok(table.finish())
    }

    /// Returns the cause that limits the sender of each bulk flow from each change on. `limited_by`
    /// is an index into the list in `result.py`.
    fn limits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = Table::new(py, &self.tables.series.limits)
            .integers("flow", |row| i64::from(row.0))?
            .numbers("time_s", |row| row.1.as_secs_f64())?
            .integers("limited_by", |row| row.2 as i64)?;
        Ok(table.finish())
    }

    /// Returns the packet events. `event`, `direction` and `drop_reason` are indices into the lists
    /// in `result.py`.
    fn packets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = Table::new(py, &self.tables.packets)
            .numbers("time_s", |row| row.time.as_secs_f64())?
            .integers("event", kind_of)?
            .integers("link", link_of)?
            .integers("flow", |row| i64::from(row.packet.flow.0))?
            .integers("direction", |row| row.packet.direction as i64)?
            .integers("number", |row| row.packet.number as i64)?
            .integers("size_bytes", |row| i64::from(row.packet.size))?
            .integers("sequence", |row| segment_of(row).0)?
            .integers("payload_bytes", |row| segment_of(row).1)?
            .integers("acknowledgement", |row| segment_of(row).2)?
            .integers("drop_reason", reason_of)?
            .numbers("waited_s", waited_of)?;
        Ok(table.finish())
    }
}

fn kind_of(event: &PacketEvent) -> i64 {
    match event.kind {
        PacketEventKind::Sent => 0,
        PacketEventKind::Arrived(_) => 1,
        PacketEventKind::Dropped(..) => 2,
        PacketEventKind::ServiceStarted(..) => 3,
        PacketEventKind::Delivered => 4,
        PacketEventKind::Marked(..) => 5,
    }
}

fn link_of(event: &PacketEvent) -> i64 {
    match event.kind {
        PacketEventKind::Sent | PacketEventKind::Delivered => ABSENT,
        PacketEventKind::Arrived(LinkId(link))
        | PacketEventKind::Dropped(LinkId(link), _)
        | PacketEventKind::Marked(LinkId(link), _)
        | PacketEventKind::ServiceStarted(LinkId(link), _) => i64::from(link),
    }
}

fn reason_of(event: &PacketEvent) -> i64 {
    match event.kind {
        PacketEventKind::Dropped(_, reason) | PacketEventKind::Marked(_, reason) => reason as i64,
        _ => ABSENT,
    }
}

fn waited_of(event: &PacketEvent) -> f64 {
    match event.kind {
        PacketEventKind::ServiceStarted(_, waited) => Span::as_secs_f64(waited),
        _ => f64::NAN,
    }
}

/// Returns the sequence number, the payload and the acknowledgement number of a TCP segment.
fn segment_of(event: &PacketEvent) -> (i64, i64, i64) {
    match &event.packet.body {
        Body::Tcp(segment) => (
            segment.seq as i64,
            i64::from(segment.payload),
            segment.ack as i64,
        ),
        _ => (ABSENT, ABSENT, ABSENT),
    }
}
