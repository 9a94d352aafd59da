//! Packet conversations of an endpoint with a scripted peer.

mod accurate_ecn;
mod closing;
mod ecn;
mod fast_open;
mod guards;
mod linux_recovery;
mod opening;
mod rack_at_ssthresh;
mod receiving;
mod sending;
mod units;
