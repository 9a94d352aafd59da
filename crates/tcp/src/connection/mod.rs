//! A connection: its states from the handshake to TIME-WAIT, and the options and marks of its
//! segments.

pub(crate) mod accurate_ecn;
pub(crate) mod ecn;
pub(crate) mod endpoint;
pub(crate) mod fast_open;
pub(crate) mod feedback;
pub(crate) mod opening;
pub(crate) mod reset;
pub(crate) mod stamps;
pub(crate) mod stats;
pub(crate) mod time_wait;
