//! Programs behind emulated links: the stages of `goodqueue_live::linux::sandbox`, on Linux only.

#[cfg(target_os = "linux")]
#[expect(
    clippy::needless_pass_by_value,
    reason = "lists come from Python as vectors"
)]
mod stages {
    use crate::convert::table::Table;
    use crate::run::outcome::Outcome;
    use crate::run::scenario::{Scenario, open_traces};
    use goodqueue_live::address::HostTable;
    use goodqueue_live::fidelity::Fidelity;
    use goodqueue_live::linux::namespace::NetworkNamespace;
    use goodqueue_live::linux::run::{Ended, Job, Join, Kernel, Program, Watch, run};
    use goodqueue_live::linux::sandbox::{self, Refused};
    use goodqueue_live::linux::uplink::Uplink;
    use goodqueue_live::record::{Activity, Records};
    use goodqueue_queue::Backlog;
    use goodqueue_scenario::summary_json;
    use goodqueue_sim::Network;
    use goodqueue_types::{FlowId, Time};
    use pyo3::exceptions::{PyOSError, PyRuntimeError};
    use pyo3::prelude::*;
    use pyo3::types::PyDict;
    use serde_json::{Value, json};
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsRawFd, BorrowedFd};
    use std::path::PathBuf;
    use std::process::Command;

    /// Makes the namespaces of a run and waits for the command that is started in them.
    #[pyfunction]
    pub fn emulate_enter(py: Python<'_>, command: Vec<String>) -> PyResult<Option<i32>> {
        let mut next = command_of(&command);
        py.detach(|| sandbox::enter(&mut next)).map_err(refused)
    }

    /// Replaces this process by a program of the user, in the network of its host.
    #[pyfunction]
    pub fn emulate_program(user: u32, hosts: &str, resolver: &str, command: Vec<String>) -> PyErr {
        refused(sandbox::become_program(user, hosts, resolver, &command))
    }

    /// A connection of an emulated network with the outside, until it is closed.
    #[pyclass(module = "goodqueue._core", name = "Uplink")]
    pub struct PyUplink(Option<Uplink>);

    #[pymethods]
    impl PyUplink {
        /// Joins the network for which an open file stands with that of this process.
        #[new]
        fn new(py: Python<'_>, network: u32) -> PyResult<Self> {
            let join = || {
                let file = File::open(format!("/proc/self/fd/{network}"))?;
                Uplink::join(&NetworkNamespace::from_file(file))
            };
            let uplink = py.detach(join);
            uplink
                .map(|uplink| Self(Some(uplink)))
                .map_err(|error| PyOSError::new_err(error.to_string()))
        }

        /// Name of this machine's device; none after `close`.
        #[getter]
        fn name(&self) -> Option<String> {
            self.0.as_ref().map(|uplink| uplink.name().to_owned())
        }

        /// Removes the device and the rules.
        fn close(&mut self) {
            self.0 = None;
        }
    }

    /// Results of a run: figures as JSON, tables, and the table of queueing delays over time.
    type Emulated<'py> = (String, Outcome, Bound<'py, PyDict>);

    /// Runs programs behind the links of a scenario. `traces` are names of traces and their files.
    /// `watch` is called each second with the time and the activity of the links, as JSON. `join` is
    /// called with the open file of the first far host's network.
    #[pyfunction]
    #[expect(clippy::too_many_arguments, reason = "each has a name in Python")]
    pub fn emulate_route<'py>(
        py: Python<'py>,
        scenario: &Scenario,
        programs: Vec<(u32, bool, Vec<String>)>,
        parameters: Vec<(String, String)>,
        launch: Vec<String>,
        user: u32,
        stop: PathBuf,
        over_time: bool,
        traces: Vec<(String, PathBuf)>,
        snap: u64,
        watch: Option<Py<PyAny>>,
        join: Option<Py<PyAny>>,
    ) -> PyResult<Emulated<'py>> {
        let mut network = scenario.0.network();
        network.record.series = over_time;
        let programs: Vec<_> = programs
            .into_iter()
            .map(|(flow, is_server, command)| Program {
                flow: FlowId(flow),
                is_server,
                start: network.flows[flow as usize].start,
                command,
            })
            .collect();
        let hosts = HostTable::new(&network);
        let start = |program: &Program| {
            let mut command = command_of(&launch);
            let names = hosts.names(program.flow, program.is_server);
            command.arg(user.to_string()).arg(names);
            command.args(&program.command);
            command
        };
        let traces = open_traces(py, &scenario.0, &network, traces, snap)?;
        let records = Records::new(&network, traces, over_time);
        let mut watch = watch.map(|watch| watcher(&network, watch));
        let mut join = join.map(joiner);
        let emulated = py.detach(|| {
            sandbox::settle().map_err(refused)?;
            run(Job {
                network: &network,
                programs: &programs,
                parameters: &parameters,
                launch: &start,
                stop: &File::open(stop)?,
                records,
                watch: watch.as_mut().map(|watch| watch as &mut Watch<'_>),
                join: join.as_mut().map(|join| join as &mut Join<'_>),
            })
            .map_err(|error| PyOSError::new_err(error.to_string()))
        })?;
        let ended: Vec<_> = emulated.ended.iter().map(ended_json).collect();
        let outcome = emulated.finished.outcome;
        let answer = json!({
            "summary": summary_json(&scenario.0, &network, &outcome),
            "fidelity": fidelity_json(&emulated.fidelity),
            "kernel": kernel_json(&emulated.kernel),
            "programs": ended,
            "interrupted": emulated.interrupted,
        });
        let waits = Table::new(py, &emulated.finished.waits)
            .integers("link", |row| i64::from(row.0))?
            .numbers("time_s", |row| row.1.as_secs_f64())?
            .numbers("queueing_delay_s", |row| row.2.as_secs_f64())?;
        let outcome = Outcome::new(&scenario.0, &network, outcome);
        Ok((answer.to_string(), outcome, waits.finish()))
    }

    /// Returns a receiver of the links' activity that passes on that of the observed ones.
    fn watcher(network: &Network, watch: Py<PyAny>) -> impl FnMut(Time, &[(Activity, Backlog)]) {
        let names = network.links.iter();
        let names = names.map(|link| link.observed.then(|| link.name.clone()));
        let names: Vec<_> = names.collect();
        move |time, activities| {
            let links = names.iter().zip(activities);
            let links = links.filter_map(|(name, (activity, backlog))| {
                let figures = json!({
                    "packets": activity.packets,
                    "bytes": activity.bytes,
                    "waited_s": activity.waited.as_secs_f64(),
                    "drops": activity.drops,
                    "backlog_packets": backlog.packets,
                });
                name.clone().map(|name| (name, figures))
            });
            let links: serde_json::Map<_, _> = links.collect();
            let text = json!({"time_s": time.as_secs_f64(), "links": links}).to_string();
            // No caller waits for these figures, so a failure does not end the run.
            Python::attach(|py| watch.call1(py, (text,)).ok());
        }
    }

    /// Returns a receiver of a host's network that passes on the number of the file that stands for it.
    fn joiner(join: Py<PyAny>) -> impl FnMut(BorrowedFd<'_>) -> io::Result<()> {
        move |network| {
            Python::attach(|py| {
                let joined = join.call1(py, (network.as_raw_fd(),));
                let refused = |error: PyErr| io::Error::other(error.value(py).to_string());
                joined.map(|_| ()).map_err(refused)
            })
        }
    }

    fn command_of(words: &[String]) -> Command {
        let mut command = Command::new(words.first().map_or("", String::as_str));
        command.args(words.iter().skip(1));
        command
    }

    fn ended_json(ended: &Ended) -> Value {
        json!({
            "flow": ended.program.flow.0,
            "server": ended.program.is_server,
            "command": ended.program.command,
            "exit_code": ended.code,
            "signal": ended.signal,
        })
    }

    fn kernel_json(kernel: &Kernel) -> Value {
        let parameters = kernel.parameters.iter();
        let parameters: serde_json::Map<_, _> = parameters
            .map(|(name, value)| (name.clone(), value.clone().into()))
            .collect();
        json!({"release": kernel.release, "parameters": parameters})
    }

    fn fidelity_json(fidelity: &Fidelity) -> Value {
        let (verdict, reasons) = fidelity.verdict();
        let (stalls, longest_stall_s) = fidelity.stalls();
        json!({
            "verdict": verdict.words(),
            "reasons": reasons,
            "packets": fidelity.deliveries(),
            "p50_lateness_s": fidelity.lateness_s(0.5),
            "p99_lateness_s": fidelity.lateness_s(0.99),
            "p999_lateness_s": fidelity.lateness_s(0.999),
            "max_lateness_s": fidelity.lateness_s(1.0),
            "later_than_packet_share": fidelity.packet_late_share(),
            "later_than_rtt_percent_share": fidelity.late_share(),
            "p99_unread_s": fidelity.unread_s(0.99),
            "unread_longer_than_rtt_percent_share": fidelity.unread_share(),
            "p99_wake_up_s": fidelity.wake_up_s(0.99),
            "wake_ups_later_than_rtt_percent_share": fidelity.wake_up_share(),
            "p50_ack_delay_s": fidelity.answer_s(0.5),
            "p99_ack_delay_s": fidelity.answer_s(0.99),
            "late_ack_share": fidelity.answer_share(),
            "stalls": stalls,
            "longest_stall_s": longest_stall_s,
            "ring_drops": fidelity.ring_drops,
            "stalled_share": fidelity.stalled_share(),
            "steal_share": fidelity.steal_share,
            "starved_share": fidelity.starved_share,
            "real_time": fidelity.real_time,
            "cpu_s": fidelity.cpu_s,
            "holds_up_to_bps": fidelity.rate_held_bps(),
        })
    }

    fn refused(Refused { step, error }: Refused) -> PyErr {
        PyRuntimeError::new_err(format!("{step}: {error}"))
    }
}

#[cfg(target_os = "linux")]
pub use stages::{PyUplink, emulate_enter, emulate_program, emulate_route};
