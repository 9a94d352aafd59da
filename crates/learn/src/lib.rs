//! Runs that pause for decisions: reports about flows and queues, actions, and episodes.
//!
//! A decision about a congestion control is due at the flow's first ACK after an interval. The run
//! pauses after the event that brought this ACK. The action holds from the flow's next ACK, loss
//! event or timeout, so it does not matter how far the engine has worked ahead.

mod flow;
mod queue;
mod report;

pub use flow::{Action, FlowEpisode, Steering};
pub use queue::{QueueEpisode, QueueReport};
pub use report::{Every, Monitor, Report};
