//! Rules for flows that pace, estimate a rate, or follow marks.

pub mod bbr;
pub mod marks;
pub mod variance;
