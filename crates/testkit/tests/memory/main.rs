//! Memory of runs, measured with a counting allocator.

mod active_flow;
mod allocation;
