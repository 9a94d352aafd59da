//! The tables of one link: framing, rate changes, losses, impairments, flow control and shared buffers.

pub mod autorate;
pub mod framing;
pub mod impairment;
pub mod loss;
pub mod pause;
pub mod pool;
pub mod service;
