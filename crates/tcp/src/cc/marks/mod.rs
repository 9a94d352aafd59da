//! Controls that follow the share of marked packets.

pub mod dctcp;
pub mod prague;
