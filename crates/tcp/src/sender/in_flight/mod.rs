//! The data that are sent and not acknowledged yet: a record for each segment, the ranges that the
//! receiver has reported, and the delivery rates that follow from both.

pub(crate) mod meter;
pub(crate) mod rate;
pub(crate) mod record;
pub(crate) mod records;
pub(crate) mod scoreboard;
mod tight;
