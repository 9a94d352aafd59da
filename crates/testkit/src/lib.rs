//! Shared code of goodqueue's tests: an engine simple enough to be verified by reading, closed-form
//! models, and random networks on which both engines run.

mod any_queue;
pub mod closed_form;
mod comparison;
pub mod dumbbell;
mod moody_queue;
mod mutation;
pub mod packetdrill;
mod plain_service;
pub mod random_graph;
pub mod random_network;
mod reference;

pub use comparison::compare;
pub use mutation::Mutation;
pub use reference::{run_mutant, run_reference};
