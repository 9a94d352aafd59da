//! Rules that bound the loss rate.

pub mod bscl;
pub mod capacity_ratio;
pub mod fpq;
