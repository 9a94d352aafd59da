//! An interpreter of packetdrill scripts, which drives goodqueue's endpoints in virtual time.
//!
//! A script describes a conversation with one TCP endpoint: packets that arrive, packets that the
//! endpoint must send and their times, system calls of the application, and assertions about the
//! endpoint's state. The interpreter implements the subset that the public suites of TCP tests use.
//! A table in `settings` maps commands to the kernel to options of the model. Three checks are less
//! strict than in the original tool:
//!
//! - PSH is ignored, because no endpoint sets it.
//! - The order of options within a packet is not compared. (Neither tool compares the echo in a
//!   timestamp.)
//! - System calls that the model does not implement succeed with the return value in the script
//!   (`bind`, `fcntl`, `getsockopt`).
//!
//! An unknown feature makes a script fail. A known feature that is not modelled makes it not
//! applicable.

mod machine;
mod script;

use std::fmt;

use goodqueue_tcp::Profile;

use script::syntax::Refusal;

/// Result of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything matched the script.
    Pass,
    /// A mismatch: the line of the script and a description.
    Fail(usize, String),
    /// The script tests a feature that is not modelled: the line and the feature.
    NotApplicable(usize, String),
}

impl Verdict {
    /// Returns the result as one word, as in the list of expected results.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail(..) => "fail",
            Self::NotApplicable(..) => "not-applicable",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => write!(f, "pass"),
            Self::Fail(line, what) | Self::NotApplicable(line, what) => {
                write!(f, "{}: line {line}: {what}", self.word())
            }
        }
    }
}

/// Runs the script in `text` on a stack with `profile`, unless the script chooses another one.
pub fn run_script(text: &str, profile: Profile) -> Verdict {
    match script::parser::parse(text).and_then(|script| machine::driver::run(&script, profile)) {
        Ok(()) => Verdict::Pass,
        Err(Refusal::Malformed(line, what)) => Verdict::Fail(line, what),
        Err(Refusal::NotApplicable(line, what)) => Verdict::NotApplicable(line, what),
    }
}
