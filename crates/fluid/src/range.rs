//! Where the hybrid engine has been shown to agree with the packet engine.

use std::fmt;

use crate::link::FluidLink;

/// Least mean window, in packets, with a full link and an empty queue.
pub const LEAST_WINDOW: f64 = 8.0;

/// Least buffer, in packets.
pub const LEAST_BUFFER: f64 = 4.0;

/// Why a link lies outside the range of validity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OutOfRange {
    /// There are no long flows.
    NoFlows,
    /// The mean window, in packets, is so small that flows live on timeouts.
    SmallWindows {
        /// The mean window.
        window: f64,
    },
    /// The buffer, in packets, is so small that single packets decide.
    SmallBuffer {
        /// The buffer.
        packets: f64,
    },
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFlows => write!(to, "the hybrid engine needs long flows"),
            Self::SmallWindows { window } => write!(
                to,
                "flows have {window:.1} packets in flight on average; the hybrid engine needs \
                 {LEAST_WINDOW} or more, because smaller windows live on timeouts"
            ),
            Self::SmallBuffer { packets } => write!(
                to,
                "a buffer of {packets:.0} packets; the hybrid engine needs {LEAST_BUFFER} or more, \
                 because single packets decide below"
            ),
        }
    }
}

impl std::error::Error for OutOfRange {}

/// Returns whether the link lies inside the range of validity.
///
/// # Errors
/// With the reason why it does not.
pub fn range(link: &FluidLink) -> Result<(), OutOfRange> {
    let flows = link.flows();
    if flows == 0 || link.groups.iter().any(|group| group.rtts.is_empty()) {
        return Err(OutOfRange::NoFlows);
    }
    let share = 1.0 - link.background.share;
    let window = share * link.packets_per_second() * link.mean_rtt_s() / flows as f64;
    if window < LEAST_WINDOW {
        return Err(OutOfRange::SmallWindows { window });
    }
    let packets = link.queue.packets();
    if packets < LEAST_BUFFER {
        return Err(OutOfRange::SmallBuffer { packets });
    }
    Ok(())
}
