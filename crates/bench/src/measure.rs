//! Timing of goodqueue's runs.

use crate::bare;
use crate::cases::{self, Case};
use goodqueue_sim::{NoProbe, Simulation};
use nix::sys::resource::{UsageWho, getrusage};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::process::Command;

/// Minimum user CPU time of a measurement, in seconds. Short cases are repeated until it has
/// passed.
const LONG_ENOUGH_S: f64 = 1.0;

/// Cost of a case, per run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Cost {
    /// User CPU time, set-up included, in seconds.
    pub user_s: f64,
    /// User CPU time of parsing and building, in seconds.
    pub setup_s: f64,
    /// Number of data packets delivered in the whole run.
    pub delivered: u64,
    /// Delivered data packets per second of user CPU time, set-up included.
    pub packets_per_cpu_s: f64,
    /// Event-queue entries handled per delivered data packet.
    pub events_per_packet: f64,
    /// Largest resident memory of the process, in bytes.
    pub peak_memory_bytes: u64,
    /// Utilisation of the bottleneck, which equals the one that `goodqueue run` prints.
    pub utilization: f64,
    /// Number of timed runs.
    pub runs: u32,
}

/// Cost of a case in the bare loop.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct BareCost {
    /// Delivered data packets per second of user CPU time, set-up included.
    pub packets_per_cpu_s: f64,
}

/// Measures a case in a fresh process, so that its memory is measured alone.
///
/// # Errors
/// Returns a sentence if the process cannot be started or fails.
pub fn in_child(case: &Case) -> Result<Cost, String> {
    in_child_of(&this_program(), case)
}

/// Measures a case in a fresh process of another build of this program.
///
/// # Errors
/// Returns a sentence if the process cannot be started or fails.
pub fn in_child_of(program: &str, case: &Case) -> Result<Cost, String> {
    from_child(program, &[&case.name, "--child"])
}

/// Measures a case in the bare loop in a fresh process.
///
/// # Errors
/// Returns a sentence if the process cannot be started or fails.
pub fn bare_in_child(case: &Case) -> Result<BareCost, String> {
    from_child(&this_program(), &[&case.name, "--bare"])
}

/// Returns the resident memory that a simulation takes for each flow that has not started, in
/// bytes, measured in a fresh process.
///
/// # Errors
/// Returns a sentence if the process cannot be started or fails.
pub fn idle_flow_bytes_in_child() -> Result<f64, String> {
    from_child(&this_program(), &["--idle"])
}

fn this_program() -> String {
    let this = std::env::current_exe().expect("a running program has a path");
    this.to_string_lossy().into_owned()
}

fn from_child<T: DeserializeOwned>(program: &str, arguments: &[&str]) -> Result<T, String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("{program} cannot be started: {error}"))?;
    serde_json::from_slice(&output.stdout).map_err(|error| {
        let log = String::from_utf8_lossy(&output.stderr);
        format!("{program} {} failed: {error}\n{log}", arguments.join(" "))
    })
}

/// Returns the resident memory that a simulation takes for each flow that has not started, in
/// bytes. The description of the network, which the simulation only reads, is not counted.
pub fn idle_flow_bytes() -> f64 {
    const FLOWS: u32 = 20_000;
    let network = cases::idle(FLOWS).scenario().network();
    let before = resident_bytes();
    let simulation = Simulation::new(&network, NoProbe);
    let bytes = resident_bytes().saturating_sub(before);
    drop(simulation);
    bytes as f64 / f64::from(FLOWS)
}

/// Measures a case in this process.
pub fn measure(case: &Case) -> Cost {
    let (mut runs, mut setup_s, begin) = (0, 0.0, user_s());
    loop {
        let before = user_s();
        let network = case.scenario().network();
        setup_s += user_s() - before;
        let outcome = goodqueue_sim::run(&network);
        runs += 1;
        let elapsed = user_s() - begin;
        if elapsed >= LONG_ENOUGH_S {
            let user_s = elapsed / f64::from(runs);
            let delivered = outcome.totals.delivered_forward;
            return Cost {
                user_s,
                setup_s: setup_s / f64::from(runs),
                delivered,
                packets_per_cpu_s: delivered as f64 / user_s,
                events_per_packet: outcome.totals.events as f64 / delivered as f64,
                peak_memory_bytes: peak_memory_bytes(),
                utilization: outcome.links[0].utilization,
                runs,
            };
        }
    }
}

/// Measures a case in the bare loop, in this process.
pub fn measure_bare(case: &Case) -> Option<BareCost> {
    let dumbbell = case.dumbbell?;
    let (mut delivered, begin) = (0, user_s());
    loop {
        delivered += bare::run(&dumbbell, f64::from(case.duration_s)).delivered;
        let elapsed = user_s() - begin;
        if elapsed >= LONG_ENOUGH_S {
            let packets_per_cpu_s = delivered as f64 / elapsed;
            return Some(BareCost { packets_per_cpu_s });
        }
    }
}

/// Returns the user CPU time of this process, in seconds.
pub fn user_s() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the kernel accounts for this process");
    seconds(usage.user_time())
}

/// Converts a `timeval` to seconds.
pub fn seconds(time: nix::sys::time::TimeVal) -> f64 {
    time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6
}

fn peak_memory_bytes() -> u64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the kernel accounts for this process");
    // Linux reports the value in kibibytes.
    usage.max_rss() as u64 * 1024
}

/// Returns the current resident memory of this process, in bytes (Linux, proc(5)).
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}
