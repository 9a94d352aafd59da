//! Theory of buffer sizes.

pub mod calibrated;
pub mod link;
pub mod rules;
