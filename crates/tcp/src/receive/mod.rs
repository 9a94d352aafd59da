//! The receiving half of an endpoint: reassembly of the data, the offered window, and the ACKs.

pub(crate) mod delayed_ack;
pub(crate) mod reassembly;
pub(crate) mod receive_window;
pub(crate) mod receiver;
pub(crate) mod sack_compression;
