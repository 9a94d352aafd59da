//! The machine on which a script runs: sockets, the connection behind them, and the comparison of
//! its packets with the script.

mod calls;
mod clock;
mod connection;
pub mod driver;
mod expect;
mod fast_open;
mod info;
mod matcher;
mod offload;
mod settings;
