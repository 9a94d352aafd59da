//! The packet-level simulator.

mod network;
mod outcome;

pub use network::{
    FlowConfig, LinkConfig, Network, PacketSize, QueueConfig, Record, WorkloadConfig,
};
pub use outcome::{Distribution, FlowOutcome, LinkOutcome, Outcome, Series, Totals};
