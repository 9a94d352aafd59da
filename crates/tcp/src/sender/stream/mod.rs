//! What to send: the data written and sent so far, and which segment may leave next.

pub(crate) mod sending;
pub(crate) mod transmit;
pub(crate) mod units;
