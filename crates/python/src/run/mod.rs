//! Runs of scenarios: reading, changing and running them, and their results.

pub mod batch;
pub mod explain;
mod job;
mod long_flows;
pub mod outcome;
pub mod scenario;
pub mod worker;
