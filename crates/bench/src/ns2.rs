//! Timing ns-2 on the same scenarios.

use crate::cases::Case;
use crate::measure::seconds;
use nix::sys::resource::{UsageWho, getrusage};
use serde::Serialize;
use std::process::{Command, Stdio};

/// Its largest case takes minutes: past this many flows it is left out.
const MOST_FLOWS: u32 = 1000;

/// What ns-2 took.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Ns2Cost {
    /// User CPU seconds, set-up included.
    pub user_s: f64,
    /// Of these, set-up: a run of no length.
    pub setup_s: f64,
}

/// Whether Debian's `ns2` package is installed.
pub fn is_installed() -> bool {
    Command::new("ns")
        .arg("/dev/null")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Runs a case in ns-2; none where that would take minutes.
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

/// User CPU seconds of one run.
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
