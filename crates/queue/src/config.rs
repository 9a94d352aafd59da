//! What a discipline can be told, and what it refuses to be told.

use crate::{Limit, QueueDiscipline};
use goodqueue_types::RandomStream;
use std::fmt::{self, Debug};
use std::sync::Arc;

/// Parameters of a discipline: plain values with resolved units.
pub trait Configuration: Clone + Debug + PartialEq {
    /// The discipline they are for.
    type Queue: QueueDiscipline;

    /// An empty queue. What it hashes with, if anything, it draws here.
    fn build(&self, random: &mut RandomStream) -> Self::Queue;

    /// The most that may wait.
    fn limit(&self) -> Limit;

    /// Sets the most that may wait: what a search for the smallest buffer turns.
    fn set_limit(&mut self, limit: Limit);

    /// Whether the parameters make sense together, for frames of up to `frame_bytes`.
    ///
    /// # Errors
    /// The parameter that does not, why, and what to write instead.
    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        refuse_small_limit(self.limit(), frame_bytes)
    }

    /// Whether the link is never idle while something waits: not so for shapers.
    fn is_work_conserving(&self) -> bool {
        true
    }
}

/// Why a configuration was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The parameter, by its name in scenario files.
    pub key: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

impl Refusal {
    /// A refusal of this parameter.
    pub fn new(key: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            key,
            message: message.into(),
            help: help.into(),
        }
    }
}

/// Refuses a limit into which not one frame of `frame_bytes` fits.
///
/// # Errors
/// If it is such a limit.
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

/// Makes queues of a kind from outside this crate.
#[derive(Clone)]
pub struct CustomQueue {
    /// Its name in messages.
    pub name: &'static str,
    /// Makes an empty one.
    pub make: Arc<dyn Fn() -> Box<dyn QueueDiscipline> + Send + Sync>,
    /// What it takes for its limit.
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
