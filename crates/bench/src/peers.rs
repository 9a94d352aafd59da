//! Timing of other simulators on the same scenarios: ns-2 and htsim.

use crate::cases::{Case, Dumbbell};
use crate::measure::seconds;
use nix::sys::resource::{UsageWho, getrusage};
use serde::Serialize;
use std::process::{Command, Stdio};

/// Largest number of flows with which ns-2 runs a case. Larger cases take minutes.
const MAX_FLOWS_OF_NS2: u32 = 1000;
/// Simulated time, in seconds, that is so short that a run consists mainly of its set-up.
const SHORT: &str = "0.001";

/// Another simulator.
#[derive(Clone, Debug)]
pub enum Peer {
    /// ns-2, of Debian's `ns2` package.
    Ns2,
    /// htsim. The string is the path of a program: `tools/htsim/dumbbell.cc`, compiled.
    Htsim(String),
}

/// Cost of a case in another simulator.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PeerCost {
    /// User CPU time, set-up included, in seconds.
    pub user_s: f64,
    /// User CPU time of the set-up, in seconds, measured with a run that ends at once.
    pub setup_s: f64,
}

/// Returns whether Debian's `ns2` package is installed.
pub fn ns2_is_installed() -> bool {
    Command::new("ns")
        .arg("/dev/null")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

impl Peer {
    /// Runs a case. Returns none for a case that the peer does not run.
    ///
    /// # Errors
    /// Returns a sentence if the peer's program cannot be started or fails.
    pub fn measure(&self, case: &Case) -> Result<Option<PeerCost>, String> {
        let Some(dumbbell) = case.dumbbell else {
            return Ok(None);
        };
        if matches!(self, Self::Ns2) && dumbbell.flows > MAX_FLOWS_OF_NS2 {
            return Ok(None);
        }
        let setup_s = self.user_s_of(case, SHORT)?;
        let user_s = self.user_s_of(case, &case.duration_s.to_string())?;
        Ok(Some(PeerCost { user_s, setup_s }))
    }

    /// Returns the user CPU time of one run, in seconds.
    fn user_s_of(&self, case: &Case, duration: &str) -> Result<f64, String> {
        let mut command = match self {
            Self::Ns2 => {
                let mut command = Command::new("ns");
                command.arg(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/../../tools/ns2/dumbbell.tcl"
                ));
                command
            }
            Self::Htsim(program) => Command::new(program),
        };
        let arguments = case.dumbbell.iter().flat_map(Dumbbell::arguments);
        command
            .args(arguments)
            .arg(format!("duration={duration}"))
            .stdout(Stdio::null());
        let before = children_user_s();
        let name = command.get_program().to_string_lossy().into_owned();
        let status = command
            .status()
            .map_err(|error| format!("{name} cannot be started: {error}"))?;
        if !status.success() {
            return Err(format!("{name} failed on {}: {status}", case.name));
        }
        Ok(children_user_s() - before)
    }
}

fn children_user_s() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the kernel accounts for children");
    seconds(usage.user_time())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    #[test]
    fn a_program_that_cannot_run_is_named() {
        let case = cases::named("s3").expect("a known case");
        let missing = Peer::Htsim("/nowhere/dumbbell".to_owned());
        let error = missing
            .measure(&case)
            .expect_err("there is no such program");
        assert!(
            error.starts_with("/nowhere/dumbbell cannot be started"),
            "{error}"
        );
        let failing = Peer::Htsim("false".to_owned());
        let error = failing.measure(&case).expect_err("`false` fails");
        assert!(error.starts_with("false failed on s3"), "{error}");
    }

    #[test]
    fn peers_leave_out_cases_that_they_cannot_run() {
        let fails = Peer::Htsim("false".to_owned());
        for (peer, name) in [
            (&fails, "s5"),
            (&fails, "s1-linux"),
            (&Peer::Ns2, "grow-4000"),
        ] {
            let case = cases::named(name).expect("a known case");
            assert!(
                peer.measure(&case).expect("nothing runs").is_none(),
                "{name}"
            );
        }
    }
}
