//! An interpreter of packetdrill scripts that drives our endpoints in virtual time.
//!
//! A script is a conversation with one TCP endpoint: packets that come in, packets that must go
//! out and when, system calls of the application, and assertions about the endpoint's state. The
//! subset understood here is that of the public suites of TCP tests; commands to the kernel are
//! mapped to our switches by a table (`settings`). Three things are judged more loosely than by the
//! original tool, and say so here: PSH is ignored, because no endpoint of ours sets it; the order
//! of options within a packet is not compared (neither tool compares the echo in a timestamp);
//! system calls that the model knows nothing of are
//! accepted if they return what the script says (`bind`, `fcntl`, `getsockopt`).
//!
//! What is unknown fails. What is known and not modelled makes a script not applicable.

mod calls;
mod clock;
mod connection;
mod cursor;
mod driver;
mod expect;
mod expression;
mod info;
mod matcher;
mod packet_parser;
mod parser;
mod settings;
mod syntax;

use std::fmt;

use goodqueue_tcp::Profile;

use syntax::Refusal;

/// How a script ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything was as the script says.
    Pass,
    /// Something was not: the line and what.
    Fail(usize, String),
    /// The script tests what is not modelled: the line and what.
    NotApplicable(usize, String),
}

impl Verdict {
    /// One word, as the list of expected results has it.
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

/// Runs the script in `text` on a stack of `profile`, unless the script chooses another itself.
pub fn run_script(text: &str, profile: Profile) -> Verdict {
    match parser::parse(text).and_then(|script| driver::run(&script, profile)) {
        Ok(()) => Verdict::Pass,
        Err(Refusal::Malformed(line, what)) => Verdict::Fail(line, what),
        Err(Refusal::NotApplicable(line, what)) => Verdict::NotApplicable(line, what),
    }
}
