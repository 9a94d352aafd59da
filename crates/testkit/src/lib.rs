//! Shared code of goodqueue's tests: an engine simple enough to be verified by reading, closed-form
//! models, and random networks on which both engines run.

pub mod closed_form;
mod comparison;
pub mod dumbbell;
mod mutation;
pub mod packetdrill;
mod random;
mod reference;

pub use comparison::compare;
pub use mutation::Mutation;
pub use random::{coincidences, graphs, interrupt_some, networks, pause_some};
pub use reference::{run_mutant, run_reference};
