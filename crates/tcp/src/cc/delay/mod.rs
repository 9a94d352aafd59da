//! Controls that keep the queueing delay at a target.

pub mod ledbat;
pub mod vegas;
