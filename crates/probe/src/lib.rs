//! The estimators of a probe, which finds the buffer and the queue of a path by sending packets
//! through it.
//!
//! Nothing here but [`net`] reads a clock or a socket. A [`Prober`] says which phase of packets
//! is next and draws the conclusions. A [`Sender`] and a [`Receiver`] carry a phase out, in real or
//! in virtual time. All times are readings of a clock in nanoseconds; the clocks of the two ends may
//! differ by any constant.

pub mod estimate;
#[cfg(target_os = "linux")]
pub mod net;
mod phase;
mod prober;
mod receiver;
mod record;
mod sender;

pub use phase::{Codepoint, Cost, Path, Pattern, Phase, PhaseError};
pub use prober::{Prober, Report};
pub use receiver::Receiver;
pub use record::{Feedback, Ping, Record, Recording, Stream};
pub use sender::{Outgoing, Sender};

/// Bytes of the IPv4 and UDP headers of a packet.
pub const HEADERS: u32 = 28;
/// IP size of the large packets, in bytes. Tunnels that add up to 100 bytes pass it unfragmented.
pub const LARGE: u32 = 1400;
/// IP size of the small packets of a ramp, in bytes.
pub const SMALL: u32 = 466;
/// IP size of pings and of the packets of the sparse stream, in bytes.
pub const TINY: u32 = 96;
