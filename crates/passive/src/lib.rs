//! Analysis of packet traces: flows, round-trip times, bottlenecks and loss bursts.
//!
//! An [`Analyzer`] takes packets in order of time, from one tapping point or from two (before and
//! after the target link), and produces a [`Report`]. The memory per flow is bounded. A flow that
//! has ended is judged and reduced to a [`Flow`].

mod analyzer;
mod bursts;
mod classify;
mod connection;
mod crossing;
mod files;
mod flights;
mod flow;
mod half;
mod history;
mod json;
mod link;
mod loss;
mod ns2;
mod opening;
mod parameters;
mod quantile;
mod rate;
mod report;
mod rounds;
mod rtt;
mod scoreboard;
mod segment_size;
mod sequence;
mod slow_start;
mod target;
mod thinned;
mod thresholds;

pub use analyzer::{Analyzer, Tap, Totals};
pub use bursts::Burst;
pub use classify::{Bottleneck, Class, Control, Shares};
pub use files::{FileError, Options, Reading, analyze_files};
pub use flow::{Flow, RttFigures};
pub use half::Counts;
pub use link::{Buffer, Link, QueueKind};
pub use loss::{Loss, Place};
pub use opening::Opening;
pub use parameters::{Estimate, Parameters};
pub use report::{Report, Stretch};
pub use thresholds::Thresholds;

/// Time in nanoseconds. In results it counts from the start of the capture.
pub type Nanos = i64;
