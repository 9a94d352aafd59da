//! Losses are detected here: by duplicate ACKs and SACK (RFC 5681, RFC 6675), by time (RACK-TLP, RFC
//! 8985) and by timeouts (RFC 6298).

pub(crate) mod duplicate_acks;
pub(crate) mod duplicates;
pub(crate) mod expiry;
pub(crate) mod rack;
pub(crate) mod reordering;
pub(crate) mod rtt;
pub(crate) mod sack;
pub(crate) mod tail_probe;
pub(crate) mod timers;
pub(crate) mod timing;
