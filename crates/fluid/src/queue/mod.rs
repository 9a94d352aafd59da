//! The queue of the link: packets that wait, and laws that drop before it is full.

pub mod fifo;
pub mod law;
