//! Results of runs: captures, summaries and the lives of flows.

mod captures;
mod explain;
mod summary;
