//! Programs behind emulated links: the stages of `goodqueue_live::linux::sandbox`, on Linux only.

#[cfg(target_os = "linux")]
#[expect(
    clippy::needless_pass_by_value,
    reason = "lists come from Python as vectors"
)]
mod stages {
    use crate::scenario::Scenario;
    use goodqueue_live::fidelity::Fidelity;
    use goodqueue_live::linux::run::{Ended, Program, addresses, run};
    use goodqueue_live::linux::sandbox::{self, Refused};
    use goodqueue_scenario::summary_json;
    use goodqueue_types::FlowId;
    use pyo3::exceptions::{PyOSError, PyRuntimeError};
    use pyo3::prelude::*;
    use serde_json::{Value, json};
    use std::fs::File;
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
    pub fn emulate_program(user: u32, hosts: &str, command: Vec<String>) -> PyErr {
        refused(sandbox::become_program(user, hosts, &command))
    }

    /// Runs programs behind the links of a scenario. Returns the results as JSON.
    #[pyfunction]
    pub fn emulate_route(
        py: Python<'_>,
        scenario: &Scenario,
        programs: Vec<(u32, bool, Vec<String>)>,
        parameters: Vec<(String, String)>,
        launch: Vec<String>,
        user: u32,
        stop: PathBuf,
    ) -> PyResult<String> {
        let network = scenario.0.network();
        let programs: Vec<_> = programs
            .into_iter()
            .map(|(flow, is_server, command)| Program {
                flow: FlowId(flow),
                is_server,
                command,
            })
            .collect();
        let start = |program: &Program| {
            let mut command = command_of(&launch);
            command.arg(user.to_string()).arg(hosts(program.flow));
            command.args(&program.command);
            command
        };
        let emulated = py.detach(|| {
            sandbox::settle().map_err(refused)?;
            let stop = File::open(stop)?;
            run(&network, &programs, &parameters, start, &stop)
                .map_err(|error| PyOSError::new_err(error.to_string()))
        })?;
        let ended: Vec<_> = emulated.ended.iter().map(ended_json).collect();
        let answer = json!({
            "summary": summary_json(&scenario.0, &network, &emulated.outcome),
            "fidelity": fidelity_json(&emulated.fidelity),
            "programs": ended,
            "interrupted": emulated.interrupted,
        });
        Ok(answer.to_string())
    }

    fn command_of(words: &[String]) -> Command {
        let mut command = Command::new(words.first().map_or("", String::as_str));
        command.args(words.iter().skip(1));
        command
    }

    /// Returns the lines by which programs of a flow find each other.
    fn hosts(flow: FlowId) -> String {
        let [client, server] = addresses(flow);
        format!("127.0.0.1 localhost\n{client} client\n{server} server\n")
    }

    fn ended_json(ended: &Ended) -> Value {
        json!({
            "flow": ended.program.flow.0,
            "server": ended.program.is_server,
            "command": ended.program.command,
            "exit_code": ended.code,
        })
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
            "stalls": stalls,
            "longest_stall_s": longest_stall_s,
            "ring_drops": fidelity.ring_drops,
            "steal_share": fidelity.steal_share,
            "cpu_s": fidelity.cpu_s,
            "holds_up_to_bps": fidelity.rate_held_bps(),
        })
    }

    fn refused(Refused { step, error }: Refused) -> PyErr {
        PyRuntimeError::new_err(format!("{step}: {error}"))
    }
}

#[cfg(target_os = "linux")]
pub use stages::{emulate_enter, emulate_program, emulate_route};
