//! The rules that every queue discipline keeps, and a driver that tries them on any: the built-in
//! ones and a user's own.
//!
//! ```
//! use goodqueue_queue::{Limit, QueueConfig, conformance};
//! let report = conformance::check_config(&QueueConfig::drop_tail(Limit::Packets(10)), 1);
//! assert!(report.is_ok());
//! ```

mod traffic;
mod trial;

use crate::{Configuration, QueueConfig, QueueDiscipline};
use goodqueue_types::RandomStream;
use std::fmt;
use traffic::Load;
pub use trial::Report;
use trial::Trial;

/// A rule that a discipline broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Packets in = out + dropped + queued, in packets and bytes; nobody else's packets come out.
    Conservation,
    /// The backlog is what went in and neither came out nor was dropped.
    Backlog,
    /// Every byte that waits is booked on the context's account, and no other.
    Account,
    /// Packets of one flow, direction and class leave in the order in which they came.
    FlowOrder,
    /// A link is not left idle while something waits.
    WorkConservation,
    /// What is held back goes at some time, and not before the time that was told.
    Readiness,
    /// A clone does the same from there on.
    Replay,
    /// Only ECN-capable packets are marked, for a reason for which a queue can mark.
    Marks,
    /// Nothing but the ECN field of a packet changes.
    Contents,
}

/// What a discipline did against a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The load under which it happened.
    pub load: String,
    /// The call, counted from 1, at which it was seen.
    pub call: usize,
    /// What was seen.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rule,
            load,
            call,
            message,
        } = self;
        write!(formatter, "{rule:?} ({load}, call {call}): {message}")
    }
}

impl std::error::Error for Violation {}

/// What a discipline claims of itself, and what the trial may offer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claims {
    /// The link is never idle while something waits.
    pub work_conserving: bool,
    /// The largest IP packet that it is offered, in bytes.
    pub largest_packet: u32,
}

impl Default for Claims {
    fn default() -> Self {
        Self {
            work_conserving: true,
            largest_packet: 1500,
        }
    }
}

/// Tries a discipline under every load, some thousand packets each. `make` gives an empty queue,
/// which may draw its hash seeds from the stream.
///
/// # Errors
/// The first rule that it broke.
pub fn check(
    make: impl Fn(&mut RandomStream) -> Box<dyn QueueDiscipline>,
    claims: Claims,
    seed: u64,
) -> Result<Report, Violation> {
    let mut report = Report::default();
    for load in Load::ALL {
        let mut random = RandomStream::new(seed, "queue", load as u64);
        let queue = make(&mut random);
        report.add(&Trial::new(queue, random, claims, load, seed).run()?);
    }
    Ok(report)
}

/// Tries a built-in discipline, as [`check`].
///
/// # Errors
/// The first rule that it broke.
pub fn check_config(config: &QueueConfig, seed: u64) -> Result<Report, Violation> {
    let claims = Claims {
        work_conserving: config.is_work_conserving(),
        ..Claims::default()
    };
    check(|random| Box::new(config.build(random)), claims, seed)
}

#[cfg(test)]
mod tests;
