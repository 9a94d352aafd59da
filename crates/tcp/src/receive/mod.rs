//! The receiving half: the data in order, the window that it offers, and its ACKs.

pub(crate) mod delayed_ack;
pub(crate) mod reassembly;
pub(crate) mod receive_window;
pub(crate) mod receiver;
