//! Everything that is written about a scenario or its run: the resolved file, limits in every unit,
//! summaries, flat lists of figures, and points for traces.

pub mod buffers;
pub mod explain;
pub mod groups;
pub mod metrics;
pub mod qdisc;
pub mod summary;
pub mod taps;
pub mod wiring;
pub mod write;
