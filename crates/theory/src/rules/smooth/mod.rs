//! Rules for traffic without large bursts, from queueing theory.

pub mod core_to_access;
pub mod small_queue;
pub mod tiny;
