//! The interface of a discipline's parameters, and the refusal of those that cannot work.

use crate::{Limit, QueueDiscipline};
use goodqueue_types::RandomStream;
use std::fmt::{self, Debug};
use std::sync::Arc;

/// Parameters of a discipline: plain values whose units are resolved.
pub trait Configuration: Clone + Debug + PartialEq {
    /// Discipline that the parameters configure.
    type Queue: QueueDiscipline;

    /// Creates an empty queue. A discipline that hashes draws its hash seed from `random`.
    fn build(&self, random: &mut RandomStream) -> Self::Queue;

    /// Returns the largest backlog.
    fn limit(&self) -> Limit;

    /// Sets the largest backlog. A search for the smallest buffer varies it.
    fn set_limit(&mut self, limit: Limit);

    /// Checks that the parameters work together, for frames of up to `frame_bytes` bytes.
    ///
    /// # Errors
    /// Returns the parameter at fault, the reason, and what to write instead.
    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        refuse_small_limit(self.limit(), frame_bytes)
    }

    /// Returns true if the link is never idle while a packet waits. A shaper returns false.
    fn is_work_conserving(&self) -> bool {
        true
    }
}

/// Refusal of a configuration, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Parameter by its name in scenario files.
    pub key: &'static str,
    /// Description of the fault.
    pub message: String,
    /// Advice on what to write instead.
    pub help: String,
}

impl Refusal {
    /// Creates a refusal of the parameter `key`.
    pub fn new(key: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            key,
            message: message.into(),
            help: help.into(),
        }
    }
}

/// Refuses a limit that is too small for one frame of `frame_bytes` bytes.
///
/// # Errors
/// Returns a [`Refusal`] if the limit is too small.
pub fn refuse_small_limit(limit: Limit, frame_bytes: u64) -> Result<(), Refusal> {
    if limit.admits(crate::Backlog::default(), frame_bytes) {
        return Ok(());
    }
    let message = match limit {
        Limit::Bytes(bytes) => {
            format!("a limit of {bytes} bytes is smaller than a frame of {frame_bytes} bytes")
        }
        _ => "a limit of no packet".to_owned(),
    };
    let help = "write a limit that at least one frame fits into, as in limit = \"1000p\"";
    Err(Refusal::new("limit", message, help))
}

/// Factory of queues of a kind that is defined outside this crate.
#[derive(Clone)]
pub struct CustomQueue {
    /// Name of the kind in messages.
    pub name: &'static str,
    /// Creates an empty queue.
    pub make: Arc<dyn Fn() -> Box<dyn QueueDiscipline> + Send + Sync>,
    /// Limit that the queue is asked about.
    pub limit: Limit,
}

impl Debug for CustomQueue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CustomQueue")
            .field("name", &self.name)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl PartialEq for CustomQueue {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.make, &other.make) && self.limit == other.limit
    }
}

impl Configuration for CustomQueue {
    type Queue = Box<dyn QueueDiscipline>;

    fn build(&self, _random: &mut RandomStream) -> Self::Queue {
        (self.make)()
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }
}
