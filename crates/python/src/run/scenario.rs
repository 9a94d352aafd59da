//! Scenarios: reading, changing, running.

use crate::convert::error::{file_error, scenario_error, unit_error};
use crate::own::control::{checksum_of, given_controls};
use crate::own::queue::python_queue;
use crate::own::raised::Raised;
use crate::run::job::{Job, simulate, with_python};
use crate::run::long_flows::dictionaries;
use crate::run::outcome::Outcome;
use crate::run::worker::{Shared, interruptible, waited_for};
use goodqueue_queue::{Limit, QueueConfig};
use goodqueue_scenario::{Tap, UnitError};
use goodqueue_sim::{Network, SourceConfig, WorkloadConfig};
use goodqueue_trace::write::{
    Capture, Columns, InterfaceInfo, NamTrace, Ns2Trace, PacketTable, Qlog, Traces,
};
use goodqueue_types::parameters::Words;
use goodqueue_types::{LinkId, Span, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Default of the captured bytes of a frame: all headers with every option.
const DEFAULT_SNAP: u64 = 128;
/// Snap length of whole frames (as in tcpdump).
const MAX_SNAP: u64 = 262_144;

/// Shares of a run that are tried in turn, to estimate the cost of the whole.
const SHARES_OF_TRIAL: [f64; 6] = [1.0 / 1024.0, 1.0 / 256.0, 1.0 / 64.0, 1.0 / 16.0, 0.25, 1.0];

/// Engine that runs a scenario, by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Packets,
    Hybrid,
}

impl FromPyObject<'_, '_> for Engine {
    type Error = PyErr;

    fn extract(name: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match name.extract::<&str>()? {
            "packets" => Ok(Self::Packets),
            "hybrid" => Ok(Self::Hybrid),
            other => Err(PyValueError::new_err(format!("there is no engine {other}"))),
        }
    }
}

/// A switch that stops the runs to which it was passed.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct Cancel(pub(crate) Arc<AtomicBool>);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    /// Stops the runs.
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Arguments of [`Scenario::parse`] for pickling.
type ResolvedArguments<'py> = (
    Bound<'py, PyBytes>,
    &'static str,
    Vec<(String, String)>,
    Option<Bound<'py, PyAny>>,
);

/// A valid scenario.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct Scenario(pub(crate) goodqueue_scenario::Scenario);

#[pymethods]
impl Scenario {
    /// Reads a scenario file; `overrides` are (path, value) pairs. It may name classes in Python
    /// only if `checksum` is given, which returns the checksum of the source of a class.
    #[staticmethod]
    #[pyo3(signature = (text, file_name, overrides, checksum = None))]
    fn parse(
        py: Python<'_>,
        text: &[u8],
        file_name: &str,
        overrides: Vec<(String, String)>,
        checksum: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let (text, name) = (text.to_vec(), file_name.to_owned());
        let read = move || match &checksum {
            None => goodqueue_scenario::Scenario::parse(&text, &name, &overrides),
            Some(checksum) => goodqueue_scenario::Scenario::parse_with_python(
                &text,
                &name,
                &overrides,
                &|class| checksum_of(checksum, class),
            ),
        };
        waited_for(py, read)?
            .map(Self)
            .map_err(|error| scenario_error(py, &error))
    }

    /// One line that describes the scenario.
    #[getter]
    fn title(&self) -> &str {
        self.0.title()
    }

    /// Length of a run in simulated seconds.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.0.duration().as_secs_f64()
    }

    /// Length of the warm-up in seconds, which is not measured.
    #[getter]
    fn warmup_s(&self) -> f64 {
        self.0.warmup().as_secs_f64()
    }

    /// Seed of its random streams.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed()
    }

    /// Links in its results.
    #[getter]
    fn links(&self) -> Vec<String> {
        self.0.link_names()
    }

    /// Profile of the TCP flows that name none, and the names of their groups; None if each of them
    /// names a profile, or every key.
    #[getter]
    fn assumed_hosts(&self) -> Option<(&'static str, Vec<&str>)> {
        let (profile, groups) = self.0.assumed_hosts()?;
        Some((profile.word(), groups))
    }

    /// Number of flows.
    #[getter]
    fn flow_count(&self) -> usize {
        self.0.flow_count()
    }

    /// Returns all flows: name, workload (`bulk`, `ping` or an empty text), and the links that
    /// their data cross.
    fn flows(&self) -> Vec<(String, &'static str, Vec<String>)> {
        let network = self.0.network();
        let name = |link: &LinkId| network.links[link.0 as usize].name.clone();
        let flows = network.flows.iter().map(|flow| {
            let kind = match &flow.workload {
                workload if workload.is_bulk() => "bulk",
                WorkloadConfig::Source(SourceConfig::Ping { .. }) => "ping",
                _ => "",
            };
            (
                flow.name.clone(),
                kind,
                flow.forward.iter().map(name).collect(),
            )
        });
        flows.collect()
    }

    /// Returns the groups of flows whose control is a class in Python, each with the class.
    fn python_controls(&self) -> Vec<(String, String)> {
        let controls = self.0.python_controls().into_iter();
        controls
            .map(|(group, named)| (group, named.class))
            .collect()
    }

    /// Returns the links whose queue is a class in Python, each with the class.
    fn python_queues(&self) -> Vec<(String, String)> {
        let queues = self.0.python_queues().into_iter();
        queues.map(|(link, named)| (link, named.class)).collect()
    }

    /// Returns the same scenario with a class in Python as the queue of a link, which keeps its
    /// limit.
    fn with_python_queue(
        &self,
        py: Python<'_>,
        link: &str,
        name: &str,
        checksum: &str,
    ) -> PyResult<Self> {
        let changed = self.0.with_python_queue(link, name, checksum);
        changed
            .map(Self)
            .map_err(|error| unit_error(py, "queues", error))
    }

    /// Returns the scenario with every key written out.
    fn resolved_toml(&self) -> String {
        self.0.resolved_toml()
    }

    /// Returns all parts of the scenario that affect its results, except the seed.
    fn canonical_toml(&self) -> String {
        self.0.canonical_toml()
    }

    /// Returns the relative cost of a run.
    fn weight(&self) -> f64 {
        self.0.weight()
    }

    /// Returns the names of the metrics of its runs.
    fn metric_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let scenario = with_python(&self.0, &Raised::default())?;
        waited_for(py, move || {
            let mut network = scenario.network();
            network.record = goodqueue_sim::Record::default();
            (network.warmup, network.end) = (Time(0), Time(1_000_000));
            let outcome = goodqueue_sim::run(&network);
            let summary = goodqueue_scenario::summary_json(&scenario, &network, &outcome);
            let metrics = goodqueue_scenario::metrics(&scenario, &summary).into_iter();
            metrics.map(|(name, _)| name).collect()
        })
    }

    /// Runs the scenario for this number of seconds of computing, or to its end. Returns the
    /// seconds for building and summarising, and points on the way: seconds of computing, and the
    /// share of the simulated time at that point.
    #[pyo3(
        signature = (seconds, engine = Engine::Packets),
        text_signature = "($self, seconds, engine='packets')"
    )]
    fn calibrate(
        &self,
        py: Python<'_>,
        seconds: f64,
        engine: Engine,
    ) -> PyResult<(f64, Vec<(f64, f64)>)> {
        let scenario = with_python(&self.0, &Raised::default())?;
        let shared = Shared::default();
        let switch = shared.clone();
        let found = interruptible(
            py,
            &shared,
            || Ok(()),
            move || match engine {
                Engine::Packets => Ok(trial(&scenario, &switch, seconds)),
                Engine::Hybrid => hybrid_trial(&scenario, &switch, seconds),
            },
        )?;
        found.map_err(|why| refused(py, why))
    }

    /// Returns the reason why the hybrid engine does not answer for the scenario, or None. It is
    /// `unable` if it cannot run it, or `unproved` if it was not shown to agree with the packet
    /// engine, with an explanation.
    fn hybrid_limits(&self, py: Python<'_>) -> Option<(&'static str, String)> {
        py.detach(|| match self.0.hybrid() {
            Err(why) => Some(("unable", why)),
            Ok(hybrid) => hybrid.check_range().err().map(|why| ("unproved", why)),
        })
    }

    /// Pickles the scenario as its resolved text.
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, ResolvedArguments<'py>)> {
        let py = slf.py();
        let text = slf.get().0.resolved_toml();
        let text = PyBytes::new(py, text.as_bytes());
        let parse = slf.get_type().getattr("parse")?;
        let checksum = if names_python(&slf.get().0) {
            let plugins = py.import("goodqueue.runs.plugins")?;
            Some(plugins.getattr("checksum_of")?)
        } else {
            None
        };
        Ok((parse, (text, "<resolved scenario>", Vec::new(), checksum)))
    }

    /// Returns the same scenario with another seed.
    fn with_seed(&self, seed: u64) -> Self {
        Self(self.0.with_seed(seed))
    }

    /// Returns the same scenario with a default for the largest random delay of the start, in
    /// seconds.
    fn with_default_jitter(&self, seconds: f64) -> Self {
        Self(self.0.with_default_jitter(Span::from_secs_f64(seconds)))
    }

    /// Returns the same scenario with a limit of this number of a link's largest frames, in packets
    /// or in bytes as the scenario states it.
    fn with_limit(&self, py: Python<'_>, link: &str, packets: u64) -> PyResult<Self> {
        let changed = self
            .limit_of(link, packets)
            .and_then(|limit| self.0.with_limit(link, limit));
        changed
            .map(Self)
            .map_err(|error| unit_error(py, "--link", error))
    }

    /// Returns a limit of this number of a link's largest frames, or its own limit, in every unit.
    #[pyo3(signature = (link, packets = None))]
    fn buffer<'py>(
        &self,
        py: Python<'py>,
        link: &str,
        packets: Option<u64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let limit = match packets {
            Some(packets) => self.limit_of(link, packets),
            None => self.0.limit(link),
        };
        let buffer = limit
            .and_then(|limit| self.0.buffer_of(link, limit))
            .map_err(|error| unit_error(py, "--link", error))?;
        let facts = PyDict::new(py);
        facts.set_item("link", buffer.link)?;
        facts.set_item("rate_bps", buffer.rate.map(|rate| rate.0))?;
        facts.set_item("frame_bytes", buffer.frame_bytes)?;
        facts.set_item("packet_bytes", buffer.packet_bytes)?;
        facts.set_item("base_rtt_s", buffer.base_rtt.map(Span::as_secs_f64))?;
        facts.set_item("counted_in_bytes", matches!(buffer.limit, Limit::Bytes(_)))?;
        facts.set_item("limit_packets", buffer.packets)?;
        facts.set_item("limit_bytes", buffer.bytes)?;
        facts.set_item("limit_ms", buffer.ms)?;
        facts.set_item("limit_bdp", buffer.bdp)?;
        Ok(facts)
    }

    /// Returns the TCP flows without end whose data cross a link, as rules for buffer sizes see
    /// them.
    fn long_flows<'py>(&self, py: Python<'py>, link: &str) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let flows = self.0.long_flows(link);
        let flows = flows.map_err(|error| unit_error(py, "--link", error))?;
        dictionaries(py, &flows)
    }

    /// Returns the `tc` commands that give a Linux device the queue of this link.
    #[pyo3(signature = (link, *, fifo_in_bytes = false))]
    fn qdisc(&self, py: Python<'_>, link: &str, fifo_in_bytes: bool) -> PyResult<Vec<String>> {
        let commands = self.0.qdisc_commands(link, fifo_in_bytes);
        commands.map_err(|error| unit_error(py, link, error))
    }

    /// Returns the memory of a run: triples of a kind of part, their number, and bytes of each. The
    /// scenario sets the records unless they are given.
    #[pyo3(
        signature = (*, series = None, packets = None, engine = Engine::Packets),
        text_signature = "($self, *, series=None, packets=None, engine='packets')"
    )]
    fn memory(
        &self,
        series: Option<bool>,
        packets: Option<bool>,
        engine: Engine,
    ) -> Vec<(&'static str, u64, u64)> {
        let mut record = self.0.record();
        record.series = series.unwrap_or(record.series);
        record.packets = packets.unwrap_or(record.packets);
        let parts = match engine {
            Engine::Packets => self.0.memory(record),
            Engine::Hybrid => self.0.memory_of_hybrid(),
        };
        parts
            .into_iter()
            .map(|part| (part.what, part.count, part.bytes_each))
            .collect()
    }

    /// Runs the scenario without holding the interpreter's lock. The scenario sets the records
    /// unless they are given. `queues` are factories of queue disciplines, by link, and `controls`
    /// those of congestion controls, by group of flows. `traces` are pairs of a trace's name and a file; frames of captures are cut to `snap` bytes. `watch` is
    /// called several times a second with the share of the simulated time that is done and the
    /// bytes of traces written. An exception that it raises ends the run. A run that has a switch
    /// to cancel it, for threads, is not watched. The hybrid engine has no series, packets, queues
    /// or traces.
    #[pyo3(
        signature = (
            *, series = None, packets = None, cancel = None, queues = Vec::new(),
            controls = Vec::new(), traces = Vec::new(), snap = DEFAULT_SNAP, watch = None,
            engine = Engine::Packets
        ),
        text_signature = "($self, *, series=None, packets=None, cancel=None, queues=(), controls=(), \
                          traces=(), snap=128, watch=None, engine='packets')"
    )]
    #[expect(clippy::too_many_arguments, reason = "options, by name")]
    fn run(
        &self,
        py: Python<'_>,
        series: Option<bool>,
        packets: Option<bool>,
        cancel: Option<&Cancel>,
        queues: Vec<(String, Py<PyAny>)>,
        controls: Vec<(String, Py<PyAny>)>,
        traces: Vec<(String, PathBuf)>,
        snap: u64,
        watch: Option<&Bound<'_, PyAny>>,
        engine: Engine,
    ) -> PyResult<Outcome> {
        if engine == Engine::Hybrid {
            return self.run_hybrid(py, cancel, watch);
        }
        let scenario = self.0.clone();
        let raised = Raised::default();
        let queues = queues.into_iter().map(|(link, factory)| {
            scenario
                .check_queue(&link)
                .map_err(|error| unit_error(py, "queues", error))?;
            let queue = QueueConfig::Custom(python_queue(factory, &raised));
            Ok((link, queue))
        });
        let queues = queues.collect::<PyResult<Vec<_>>>()?;
        let controls = given_controls(py, &scenario, controls, &raised)?;
        let end = scenario.duration().0 as f64;
        let traces = if traces.is_empty() {
            Traces::default()
        } else {
            open_traces(py, &scenario, &scenario.network(), traces, snap)?
        };
        let parts = traces.parts();
        let job = Job {
            scenario,
            series,
            packets,
            queues,
            controls,
            raised,
            traces,
        };
        if let Some(switch) = cancel {
            let switch = Arc::clone(&switch.0);
            return py.detach(|| job.run(|_| !switch.load(Ordering::Relaxed)));
        }
        let shared = Shared::default();
        let tell = || match watch {
            Some(watch) => {
                let share = shared.reached() as f64 / end;
                let sizes = parts.iter().filter_map(|part| fs::metadata(part).ok());
                let written: u64 = sizes.map(|part| part.len()).sum();
                watch.call1((share, written)).map(drop)
            }
            None => Ok(()),
        };
        let (worker, switch) = (job, shared.clone());
        // Each call of a queue or a control in Python attaches the worker's thread to the
        // interpreter. After the attachment here the later ones cost a tenth.
        let done = interruptible(py, &shared, tell, move || {
            Python::attach(|py| py.detach(|| worker.run(|now| switch.go_on(now.0))))
        });
        // If the work was abandoned, no other thread removes the files that it has written.
        done.inspect_err(|_| parts.iter().for_each(|part| drop(fs::remove_file(part))))?
    }
}

/// Returns true if a scenario names classes in Python.
fn names_python(scenario: &goodqueue_scenario::Scenario) -> bool {
    !(scenario.python_controls().is_empty() && scenario.python_queues().is_empty())
}

/// Runs the beginning of a scenario; see [`Scenario::calibrate`].
fn trial(
    scenario: &goodqueue_scenario::Scenario,
    switch: &Shared,
    seconds: f64,
) -> (f64, Vec<(f64, f64)>) {
    let begun = Instant::now();
    let mut network = scenario.network();
    network.record = goodqueue_sim::Record::default();
    let (mut first, mut points) = (None, Vec::new());
    let outcome = goodqueue_sim::run_while(&network, |now| {
        let first = *first.get_or_insert_with(Instant::now);
        let took = first.elapsed().as_secs_f64();
        points.push((took, now.0 as f64 / network.end.0 as f64));
        switch.go_on(now.0) && took < seconds
    });
    let built = first.map_or(0.0, |first| (first - begun).as_secs_f64());
    let Some(outcome) = outcome else {
        return (built, points);
    };
    let took = first.map_or(0.0, |first| first.elapsed().as_secs_f64());
    points.push((took, 1.0));
    let begun = Instant::now();
    drop(goodqueue_scenario::summary_json(
        scenario, &network, &outcome,
    ));
    (built + begun.elapsed().as_secs_f64(), points)
}

/// Runs increasing shares of a scenario by the hybrid engine, each four times the last, for this
/// number of seconds of computing, or to the end; see [`Scenario::calibrate`].
fn hybrid_trial(
    scenario: &goodqueue_scenario::Scenario,
    switch: &Shared,
    seconds: f64,
) -> Result<(f64, Vec<(f64, f64)>), String> {
    let begun = Instant::now();
    let hybrid = scenario.hybrid()?;
    let built = begun.elapsed().as_secs_f64();
    let mut points = Vec::new();
    for share in SHARES_OF_TRIAL {
        let begun = Instant::now();
        let outcome = hybrid.run_share(share, &mut || switch.go_on(0));
        let Some(outcome) = outcome else { break };
        drop(hybrid.metrics(&outcome));
        let took = begun.elapsed().as_secs_f64();
        points.push((took, share));
        if took >= seconds / 4.0 {
            break;
        }
    }
    Ok((built, points))
}

/// Returns the error for a scenario that the hybrid engine cannot run.
fn refused(py: Python<'_>, message: String) -> PyErr {
    let help = "leave the engine out: the packet engine runs every scenario".to_owned();
    unit_error(py, "engine", UnitError { message, help })
}

/// Opens all traces before the run begins.
pub(crate) fn open_traces(
    py: Python<'_>,
    scenario: &goodqueue_scenario::Scenario,
    network: &Network,
    wanted: Vec<(String, PathBuf)>,
    snap: u64,
) -> PyResult<Traces> {
    let mut traces = Traces::default();
    if wanted.is_empty() {
        return Ok(traces);
    }
    let endpoints = goodqueue_scenario::endpoints(network);
    let flows: Vec<_> = network.flows.iter().map(|flow| flow.name.clone()).collect();
    let links: Vec<_> = network.links.iter().map(|link| link.name.clone()).collect();
    let (title, snap) = (scenario.title(), snap.min(MAX_SNAP) as u32);
    for (text, file) in wanted {
        let tap = scenario.tap(network, &text);
        let tap = tap.map_err(|error| unit_error(py, &text, error))?;
        let added = match tap {
            Tap::Capture(point) => {
                let interface = InterfaceInfo { name: text, snap };
                let endpoints = Arc::clone(&endpoints);
                traces.add(&file, |out| Capture::new(out, point, &interface, endpoints))
            }
            Tap::Ns2(wiring) => traces.add(&file, |out| Ok(Ns2Trace::new(out, wiring))),
            Tap::Packets => traces.add(&file, |out| PacketTable::new(out, &links, &flows)),
            Tap::Qlog(flow) => traces.add(&file, |out| Qlog::new(out, title, &flows, flow)),
            Tap::Nam(wiring) => traces.add(&file, |out| NamTrace::new(out, wiring)),
            Tap::Columns(quantity) => {
                traces.add(&file, |out| Ok(Columns::new(out, quantity, network.end)))
            }
        };
        added.map_err(|error| file_error(&file, &error))?;
    }
    Ok(traces)
}

impl Scenario {
    /// Runs the scenario by the hybrid engine, which does not report progress.
    fn run_hybrid(
        &self,
        py: Python<'_>,
        cancel: Option<&Cancel>,
        watch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Outcome> {
        let hybrid = self.0.hybrid().map_err(|why| refused(py, why))?;
        if let Some(switch) = cancel {
            let switch = Arc::clone(&switch.0);
            return py.detach(|| simulate(hybrid, &mut || !switch.load(Ordering::Relaxed)));
        }
        let shared = Shared::default();
        let switch = shared.clone();
        let tell = || watch.map_or(Ok(()), |watch| watch.call1((0.0, 0)).map(drop));
        interruptible(py, &shared, tell, move || {
            simulate(hybrid, &mut || switch.go_on(0))
        })?
    }

    fn limit_of(&self, link: &str, packets: u64) -> Result<Limit, goodqueue_scenario::UnitError> {
        self.0.check_queue(link)?;
        Ok(match self.0.limit(link)? {
            Limit::Bytes(_) => {
                let frame = self.0.buffer(link)?.frame_bytes;
                Limit::Bytes(packets.saturating_mul(frame))
            }
            Limit::Packets(_) | Limit::Unlimited => Limit::Packets(packets),
        })
    }
}
