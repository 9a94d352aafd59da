//! Real programs behind the simulator's links, in real time.

pub mod address;
pub mod answers;
pub mod emulator;
pub mod fabric;
pub mod fidelity;
pub mod ip;
#[cfg(target_os = "linux")]
pub mod linux;
pub mod record;
