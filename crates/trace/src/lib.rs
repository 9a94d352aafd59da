//! Readers of packet traces that other tools wrote, and writers of traces that other tools read.

pub mod read;
pub mod write;
