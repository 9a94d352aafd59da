//! Hosts of goodqueue's simulator that run the QUIC stack `quinn-proto`: real packets, real TLS and real
//! congestion control in virtual time, with all links and queues of a scenario.

mod application;
mod clock;
mod control;
mod endpoint;
mod entropy;
mod identifiers;
mod qlog;
pub mod real;
mod stack;
mod tls;

pub use application::Workload;
pub use control::{Control, Fault};
pub use qlog::Logs;
pub use stack::Quinn;
