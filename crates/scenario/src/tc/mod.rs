//! Linux's `tc`: its lines as our parameters, and ours as its commands.
//!
//! What is counted: the kernel takes a packet with its 14-byte Ethernet header (not the frame
//! check sequence, preamble or gap), so bytes of `tc` are bytes here on a link with `framing =
//! "14B"`. For a link with other framing, commands scale queue sizes by the largest packet, so
//! that as many of them fit. A packet limit counts one segment here; the kernel counts one
//! aggregate of up to 64 KiB where offload is on.

mod read;
mod units;
mod write;

use crate::units::UnitError;
use goodqueue_queue::QueueConfig;

pub use read::parse_qdisc;
pub use write::qdisc_commands;

/// What the kernel counts of the link layer.
pub const ETHERNET_HEADER: u32 = 14;

/// A queue as `tc` describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Qdisc {
    /// Its parameters.
    pub queue: QueueConfig,
    /// What the line does not show, and what was taken for it.
    pub notes: Vec<String>,
}

fn refuse<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, UnitError> {
    Err(UnitError {
        message: message.into(),
        help: help.into(),
    })
}
