//! A congestion control and a queue discipline of one's own.

mod gentle;
mod stale;

pub use gentle::{Gentle, gentle};
pub use stale::{Stale, stale};
