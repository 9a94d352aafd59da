//! Controls that grow until a packet is lost.

pub mod cubic;
pub mod gaimd;
pub mod illinois;
pub mod reno;
pub mod scalable;
pub mod westwood;
