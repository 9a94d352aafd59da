//! The engine of the lab's page: the text of a scenario in, the picture of its run out.
//!
//! A picture is JSON text: the summary of the run, its buffers, and series of links and flows in a
//! fixed number of columns. Its size depends on the columns and not on the length of the run. A
//! second picture has the packets of a short part of the run, at most a fixed number. The
//! same scenario gives the same bytes on every machine, also in WebAssembly.

mod experiment;
mod packets;
mod thin;

pub use experiment::{Bounds, Experiment, LabError, View};
pub use packets::Watch;
