//! The rules that every queue discipline keeps, and a driver that tests any discipline against
//! them: the built-in ones and a user's own.
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

/// Rule that a discipline broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Packets in = out + dropped + queued, in packets and in bytes. No packet leaves that did not
    /// enter.
    Conservation,
    /// The backlog equals the packets that entered minus those that left or were dropped.
    Backlog,
    /// The context's account has exactly the bytes that wait.
    Account,
    /// Packets of one flow, direction and class leave in the order in which they arrived.
    FlowOrder,
    /// The link is not idle while a packet waits.
    WorkConservation,
    /// A packet that is held back leaves eventually, and not before the time that the queue
    /// announced.
    Readiness,
    /// A clone behaves as the original from then on.
    Replay,
    /// Only ECN-capable packets are marked, and only for a reason for which a queue can mark.
    Marks,
    /// Only the ECN field of a packet changes.
    Contents,
}

/// Breach of a rule by a discipline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Rule that was broken.
    pub rule: Rule,
    /// Load under which it was broken.
    pub load: String,
    /// Number of the call at which the breach was seen, counted from 1.
    pub call: usize,
    /// Description of the breach.
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

/// Properties that a discipline claims to have, and the largest packet that the trial offers to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claims {
    /// True if the link is never idle while a packet waits.
    pub work_conserving: bool,
    /// Size of the largest IP packet that the trial offers, in bytes.
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

/// Tests a discipline under every load with some thousand packets each. `make` creates an empty
/// queue and may draw its hash seeds from the stream.
///
/// # Errors
/// Returns the first rule that the discipline broke.
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

/// Tests a built-in discipline as [`check`] does.
///
/// # Errors
/// Returns the first rule that the discipline broke.
pub fn check_config(config: &QueueConfig, seed: u64) -> Result<Report, Violation> {
    let claims = Claims {
        work_conserving: config.is_work_conserving(),
        ..Claims::default()
    };
    check(|random| Box::new(config.build(random)), claims, seed)
}

#[cfg(test)]
mod tests;
