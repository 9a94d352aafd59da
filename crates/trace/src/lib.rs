//! Packet traces in and out: what other tools write is read, and what they read is written.

pub mod read;
pub mod write;
