//! Controls that keep the queueing delay at a target.

pub mod ledbat;
mod ns2_vegas;
pub mod vegas;
