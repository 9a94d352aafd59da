//! Theory of buffer sizes: the published rules, and calibrated theory with its intervals.
//!
//! A [`Link`] is all that the theory depends on. [`rules`] has a file for each published rule and lists
//! them in [`RULES`]. [`calibrated`] multiplies published forms by corrections that were fitted to
//! simulations, and finds the smallest buffer that keeps the bounds of a link.
//!
//! Rates are in bits per second, times in seconds, sizes in bytes, and buffers in packets. All
//! functions come from `libm` where a result has to have the same bytes on every machine, also in
//! WebAssembly.

pub mod calibrated;
mod control;
mod format;
mod link;
mod other_traffic;
pub mod rules;
pub mod throughput;

pub use control::{Control, control_words};
pub use link::{Link, Profile, RTT_STEPS, rtt_range};
pub use other_traffic::OtherTraffic;
pub use rules::{Advice, RULES, Rule, rules_for};
