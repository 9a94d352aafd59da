//! What was sent and is not acknowledged yet: a record for each segment, the ranges that the
//! receiver has reported, and the delivery rates that follow from both.

pub(crate) mod meter;
pub(crate) mod rate;
pub(crate) mod records;
pub(crate) mod scoreboard;
