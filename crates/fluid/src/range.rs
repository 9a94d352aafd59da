//! Range of validity: links on which the hybrid engine was compared with the packet engine.

use std::fmt;

use crate::link::{FluidControl, FluidLink, FluidQueue};

/// Least mean window, in packets, with a full link and an empty queue.
pub const MIN_WINDOW: f64 = 8.0;

/// Least buffer, in packets.
pub const MIN_BUFFER: f64 = 6.0;

/// Smallest ratio of a receiver's window to a flow's share of link and buffer at which the window does
/// not limit the flow.
const FREE: f64 = 2.0;

/// Reason why a link lies outside the range of validity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OutOfRange {
    /// The link has no long flows.
    NoFlows,
    /// The mean window, in packets, is so small that timeouts determine the rates of flows.
    SmallWindows {
        /// The mean window.
        window: f64,
    },
    /// Links of this kind have not been compared with the packet engine.
    Untried {
        /// The property that was not compared, in words that fit into "with …".
        what: &'static str,
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
                 {MIN_WINDOW} or more, because smaller windows live on timeouts"
            ),
            Self::Untried { what } => write!(
                to,
                "the hybrid engine has not been compared with the packet engine with {what}"
            ),
            Self::SmallBuffer { packets } => write!(
                to,
                "the hybrid engine needs a buffer of at least {MIN_BUFFER} packets, not {packets:.0}, \
                 because single packets matter in smaller ones"
            ),
        }
    }
}

impl std::error::Error for OutOfRange {}

/// Checks that the link lies inside the range of validity.
///
/// # Errors
/// Returns the reason why the link is outside the range.
pub fn range(link: &FluidLink) -> Result<(), OutOfRange> {
    let flows = link.flows();
    if flows == 0 || link.groups.iter().any(|group| group.rtts.is_empty()) {
        return Err(OutOfRange::NoFlows);
    }
    let packets = link.queue.packets();
    let bdp = link.packets_per_second() * link.mean_rtt_s();
    if let Some(what) = untried(link, FREE * (bdp + packets) / flows as f64) {
        return Err(OutOfRange::Untried { what });
    }
    let window = bdp / flows as f64;
    if window < MIN_WINDOW {
        return Err(OutOfRange::SmallWindows { window });
    }
    if packets < MIN_BUFFER {
        return Err(OutOfRange::SmallBuffer { packets });
    }
    Ok(())
}

/// Returns the property of a link that was not compared with packets, in words; none if all were.
/// Receivers' windows above `free` packets limit no flow.
fn untried(link: &FluidLink, free: f64) -> Option<&'static str> {
    if !matches!(link.queue, FluidQueue::DropTail { .. }) {
        return Some("queues other than drop tail on more than a few links");
    }
    if link.background.share > 0.0 {
        return Some("traffic beside the long flows");
    }
    let first = &link.groups[0];
    for group in &link.groups {
        if group.paced {
            return Some("paced senders");
        }
        if group.acks.packets > 2.0 {
            return Some("receivers that acknowledge more than two packets at once");
        }
        if group.max_window < free {
            return Some("windows that a receiver bounds");
        }
        let alike = (group.control, group.acks, group.sender);
        if alike != (first.control, first.acks, first.sender) {
            return Some("flows of several kinds");
        }
        let known = match group.control {
            FluidControl::Gaimd { .. } => group.control == FluidControl::RENO,
            FluidControl::Cubic { .. } => true,
            FluidControl::Scalable { .. } => false,
        };
        if !known {
            return Some("congestion controls other than Reno and CUBIC");
        }
    }
    None
}
