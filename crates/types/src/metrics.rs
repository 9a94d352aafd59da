//! Variables of a sender's loss recovery and congestion control, for logs.

use crate::{Rate, Span};

/// Variables of a TCP sender at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderMetrics {
    /// Shortest round-trip time, if it is known.
    pub min_rtt: Option<Span>,
    /// Smoothed round-trip time, if there was a sample.
    pub smoothed_rtt: Option<Span>,
    /// Last sample of the round-trip time, if there was one.
    pub latest_rtt: Option<Span>,
    /// Variation of the round-trip time, if there was a sample.
    pub rtt_variance: Option<Span>,
    /// Number of consecutive timeouts.
    pub timeouts: u32,
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow-start threshold in bytes, if it has a value.
    pub ssthresh: Option<u64>,
    /// The sender's estimate of its bytes in the network.
    pub bytes_in_flight: u64,
    /// Number of segments that are outstanding, less those that were acknowledged selectively.
    pub packets_in_flight: u32,
    /// Pacing rate, if sending is paced.
    pub pacing_rate: Option<Rate>,
    /// True if the sender repairs losses after a timeout.
    pub after_timeout: bool,
}
