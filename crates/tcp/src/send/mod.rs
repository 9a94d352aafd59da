//! The sending half: the segments that may leave, the timers, and the measurements of what is sent.

pub(crate) mod limits;
pub(crate) mod meter;
pub(crate) mod pacing;
pub(crate) mod rate;
pub(crate) mod rtt;
pub(crate) mod sender;
pub(crate) mod sending;
pub(crate) mod timers;
pub(crate) mod transmit;
pub(crate) mod units;
pub(crate) mod validation;
