//! The interface of a discipline's parameters, and the refusal of those that cannot work.

use crate::{Limit, QueueDiscipline};
use goodqueue_types::parameters::{
    Declared, Given, Key, Parameter, Parameters, Refusal, Tc, Value,
};
use goodqueue_types::{RandomStream, Rate, Span};
use std::fmt::{self, Debug};
use std::sync::Arc;

/// Name of the key of a queue's largest backlog.
const LIMIT: &str = "limit";

/// Parameters of a discipline: plain values whose units are resolved.
pub trait Configuration: Clone + Debug + PartialEq + Parameters {
    /// Discipline that the parameters configure.
    type Queue: QueueDiscipline;

    /// Creates an empty queue. A discipline that hashes draws its hash seed from `random`.
    fn build(&self, random: &mut RandomStream) -> Self::Queue;

    /// Returns the largest backlog, the value of the key `limit`.
    fn limit(&self) -> Limit {
        self.get(LIMIT).map_or(Limit::Unlimited, Limit::from_value)
    }

    /// Sets the largest backlog. A search for the smallest buffer varies it.
    fn set_limit(&mut self, limit: Limit) {
        self.set(LIMIT, limit.value());
    }

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

    /// Returns the bytes of tables that an empty queue has outside its own structure.
    fn table_bytes(&self) -> usize {
        0
    }

    /// Returns the rate at which the queue drains in front of a link of rate `link`. A shaper may be
    /// slower than its link.
    fn drain_rate(&self, link: Rate) -> Rate {
        link
    }
}

/// Link in front of which a queue is, as far as the queue's parameters depend on it.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Rate of the link.
    pub rate: Rate,
    /// Propagation delay of the link.
    pub delay: Span,
    /// Mean base round-trip time of the flows that cross it.
    pub base_rtt: Option<Span>,
    /// Size of the largest frame that crosses it, in bytes.
    pub frame_bytes: u64,
}

/// Name in `tc` of Linux's discipline that equals a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Qdisc {
    /// Its name.
    Named(&'static str),
    /// Linux has no such discipline. The text is the reason, and what to use instead.
    None(&'static str, &'static str),
}

/// Options of `tc` that have no effect here.
#[derive(Clone, Copy, Debug)]
pub struct Ignored {
    /// Words of the options.
    pub words: &'static [&'static str],
    /// Number of values after each word.
    pub values: usize,
    /// Note for the user, or empty if nothing is lost.
    pub note: &'static str,
}

/// Keys of which a table may have only one.
#[derive(Clone, Copy, Debug)]
pub struct Exclusive {
    /// The keys. A message points at the last one that is given.
    pub keys: &'static [&'static str],
    /// Effect that two of them share, as in `both choose the band`.
    pub reason: &'static str,
}

impl Exclusive {
    /// Refuses a table with two of the keys.
    ///
    /// # Errors
    /// Returns the second of the keys, the reason, and what to write instead.
    pub fn check(self, has: impl Fn(&'static str) -> bool) -> Result<(), Refusal> {
        let mut given = self.keys.iter().copied().filter(|key| has(key));
        if let (Some(first), Some(second)) = (given.next(), given.next()) {
            let message = format!("\"{first}\" and \"{second}\" {}", self.reason);
            return Err(Refusal::new(second, message, "keep one of the two"));
        }
        Ok(())
    }
}

/// Parameters of a discipline that scenario files and `tc` can name. All but [`QDISC`](Self::QDISC)
/// follows from the declaration of the parameters unless a discipline says otherwise.
pub trait BuiltIn: Configuration + Declared + Default {
    /// Discipline of Linux.
    const QDISC: Qdisc;
    /// Options of `tc` that have no effect here.
    const IGNORED: &'static [Ignored] = &[];
    /// Keys of which a table may have only one.
    const EXCLUSIVE: Exclusive = Exclusive {
        keys: &[],
        reason: "",
    };
    /// Key of a rate that replaces the link's in limits in units of time.
    const RATE_KEY: Option<&'static str> = None;

    /// Creates the parameters from the values that a table gives, for a queue at this place.
    ///
    /// # Errors
    /// Returns the key at fault, the reason, and what to write instead.
    fn read(given: &Given, _place: &Place) -> Result<Self, Refusal> {
        let mut config = Self::default();
        config.apply(given);
        Ok(config)
    }

    /// Returns the discipline of Linux with these parameters.
    fn qdisc(&self) -> Qdisc {
        Self::QDISC
    }

    /// Returns the option of `tc` for a key.
    fn tc(key: &Key) -> Tc {
        key.tc
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
    /// Limit of the queue whose properties are requested.
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
}

impl Parameters for CustomQueue {
    fn keys(&self) -> &'static [Key] {
        &[]
    }

    fn get(&self, key: &str) -> Option<Value> {
        (key == LIMIT).then(|| self.limit.value())
    }

    fn set(&mut self, key: &str, value: Value) {
        if key == LIMIT {
            self.limit = Limit::from_value(value);
        }
    }
}
