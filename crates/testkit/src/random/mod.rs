//! Random networks with random queues, on which tests run both engines.

mod any_queue;
mod coincidences;
mod graph;
mod moody_queue;
mod network;
mod sessions;

pub use coincidences::coincidences;
pub use graph::graphs;
pub use network::{interrupt_some, networks, pause_some};
