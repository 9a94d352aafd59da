//! The engine of the lab's page: questions of the page in, answers out.
//!
//! Questions and answers are JSON text, the same from the local server and in WebAssembly ([`Job`]).
//! The largest answer is the picture of a run: its summary, its buffers, and series of links and
//! flows in a fixed number of columns. Its size depends on the columns and not on the length of the
//! run. Another answer has the packets of a short part of the run, at most a fixed number. The same question gets the same bytes on every machine, also in WebAssembly.

mod bounds;
mod calibrated;
mod contents;
mod experiment;
mod figures;
mod job;
mod packets;
mod probe;
mod refusal;
mod thin;

pub use bounds::Bounds;
pub use experiment::{Experiment, Run, Setting, View};
pub use job::Job;
pub use packets::{PacketRun, Watch};
pub use refusal::LabError;
