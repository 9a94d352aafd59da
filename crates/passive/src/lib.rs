//! Analysis of packet traces: flows, round-trip times, bottlenecks and loss bursts.
//!
//! An [`Analyzer`] takes packets in order of time, from one tapping point or from two (before and
//! after the target link), and produces a [`Report`]. The memory per flow is bounded. A flow that
//! has ended is judged and reduced to a [`Flow`].

mod analyzer;
mod connection;
mod files;
mod flow;
mod json;
mod link;
mod loss;
mod ns2;
mod quantile;
pub mod records;
mod repeats;
mod report;
mod rtt;
mod sound;
mod thinned;
mod thresholds;

pub use analyzer::{Analyzer, Tap};
pub use connection::counts::Counts;
pub use connection::opening::Opening;
pub use files::{FileError, Options, Reading, analyze_files};
pub use flow::classify::{Bottleneck, Class, Control, Shares};
pub use flow::{Flow, RttFigures};
pub use link::bursts::Burst;
pub use link::parameters::{Estimate, Parameters};
pub use link::{Buffer, Link, QueueKind, Stretch};
pub use loss::{Loss, Place};
pub use report::{Report, Totals};
pub use thresholds::Thresholds;

/// Time in nanoseconds. In results it counts from the start of the capture.
pub type Nanos = i64;
