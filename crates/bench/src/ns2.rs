//! Timing of ns-2 on the same scenarios.

use crate::cases::Case;
use crate::measure::seconds;
use nix::sys::resource::{UsageWho, getrusage};
use serde::Serialize;
use std::process::{Command, Stdio};

/// Largest number of flows with which ns-2 runs a case. Larger cases take minutes.
const MOST_FLOWS: u32 = 1000;

/// Cost of a case in ns-2.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Ns2Cost {
    /// User CPU time, set-up included, in seconds.
    pub user_s: f64,
    /// User CPU time of the set-up, in seconds, measured with a run that ends at once.
    pub setup_s: f64,
}

/// Returns whether Debian's `ns2` package is installed.
pub fn is_installed() -> bool {
    Command::new("ns")
        .arg("/dev/null")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Runs a case in ns-2. Returns none for a case that would take minutes.
pub fn measure(case: &Case) -> Option<Ns2Cost> {
    let flows = case
        .ns2
        .iter()
        .find_map(|argument| argument.strip_prefix("flows="));
    if flows.and_then(|flows| flows.parse::<u32>().ok())? > MOST_FLOWS {
        return None;
    }
    let setup_s = user_s_of(case, "0.001");
    let user_s = user_s_of(case, &case.duration_s.to_string());
    Some(Ns2Cost { user_s, setup_s })
}

/// Returns the user CPU time of one run, in seconds.
fn user_s_of(case: &Case, duration: &str) -> f64 {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/ns2/dumbbell.tcl");
    let before = children_user_s();
    let status = Command::new("ns")
        .arg(script)
        .args(&case.ns2)
        .arg(format!("duration={duration}"))
        .stdout(Stdio::null())
        .status()
        .expect("ns-2 was there a moment ago");
    assert!(status.success(), "ns-2 failed on {}", case.name);
    children_user_s() - before
}

fn children_user_s() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the kernel accounts for children");
    seconds(usage.user_time())
}
