//! Hosts, time and processes on Linux.

pub mod clock;
pub mod host;
pub mod namespace;
pub mod netlink;
pub mod nftables;
pub mod run;
pub mod sandbox;
pub mod uplink;
pub mod used;
