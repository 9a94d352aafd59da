//! The ends of a flow: agents, and their path without other traffic.

pub mod agent;
mod baseline;
pub mod ideal;
pub mod interface;
pub mod path;
