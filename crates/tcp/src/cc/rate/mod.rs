//! Controls that send at the measured delivery rate.

pub mod bbr;
pub mod bbr3;
