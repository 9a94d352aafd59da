//! Sans-IO TCP endpoints.
//!
//! An endpoint is full-duplex and knows no clock, network or timer: its owner calls it with the
//! time and carries away what it has to send.

mod config;

pub use config::{
    CongestionControlConfig, Handshake, InitialWindow, Recovery, RtoConfig, TcpConfig,
};
