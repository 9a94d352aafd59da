//! Active queue management: FIFOs that drop or mark before they are full.

pub mod blue;
pub mod codel;
pub mod dualpi2;
pub mod pi2;
pub mod pie;
pub mod red;
