//! Flows: their windows, and classes of flows with the same round-trip time.

pub mod class;
pub mod control;
