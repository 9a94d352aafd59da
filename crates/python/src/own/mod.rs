//! Queue disciplines and congestion controls that the user wrote in Python.

pub mod control;
pub mod episode;
pub mod queue;
pub mod raised;
pub mod views;
