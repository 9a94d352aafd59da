//! Upper bounds of workloads' packets on a link.

use goodqueue_sim::{SessionConfig, WorkloadConfig};
use goodqueue_tcp::TcpConfig;
use goodqueue_types::Span;

/// Largest number of bytes that a link adds to a packet.
const FRAMING: u128 = 1_024;

/// Returns an upper bound on the frame bytes of a flow that wait in the network at once.
pub(crate) fn most_waiting(workload: &WorkloadConfig, duration: Span) -> u128 {
    // A Poisson source does not reach twice the mean plus a thousand.
    let events = |interval: Span| 2 * u128::from(duration.0 / interval.0.max(1)) + 1_000;
    let datagrams = |interval: Span, bytes: u128| events(interval) * (bytes + FRAMING);
    let window = |tcp: &TcpConfig| {
        let mss = u128::from(tcp.mss);
        let window = tcp.receive_window.max(tcp.initial_window.bytes(tcp.mss));
        // Each segment counts twice: data, and as many retransmissions or ACKs.
        let segments = 2 * (u128::from(window) / mss + 1);
        segments * (mss + u128::from(tcp.header) + FRAMING)
    };
    match workload {
        WorkloadConfig::Stream { tcp, .. } if workload.is_bulk() => window(tcp),
        // Data travel in both directions.
        WorkloadConfig::Stream { tcp, .. } => 2 * window(tcp),
        WorkloadConfig::Session { tcp, session } => {
            let connections = match &**session {
                SessionConfig::Transfers(config) => events(config.interval),
                SessionConfig::Exchanges(_) | SessionConfig::Video(_) => 1,
                SessionConfig::Web(config) => 2 * u128::from(config.parallel),
            };
            connections * window(tcp)
        }
        WorkloadConfig::Source(source) => {
            let (packets, bytes) = source.most_at_once();
            let of_a_packet = |interval| datagrams(interval, u128::from(bytes));
            u128::from(packets) * source.intervals().map(of_a_packet).sum::<u128>()
        }
    }
}

/// Returns the largest IP packet from client to server, or backward.
pub(crate) fn largest_packet(workload: &WorkloadConfig, backward: bool) -> u64 {
    match workload {
        WorkloadConfig::Stream { tcp, .. } if workload.is_bulk() => {
            let options = if tcp.option_bytes && tcp.recovery == goodqueue_tcp::Recovery::Sack {
                // This is the size of an ACK with all its SACK blocks.
                let room = if tcp.timestamps.is_some() { 3 } else { 4 };
                let blocks = u64::from(tcp.details.sack_blocks).min(room);
                8 * blocks + u64::from(tcp.details.sack_option_overhead)
            } else {
                0
            };
            if backward {
                (u64::from(tcp.header_bytes()) + options).max(1)
            } else {
                u64::from(tcp.header_bytes()) + u64::from(tcp.mss)
            }
        }
        // Data travel in both directions.
        WorkloadConfig::Session { tcp, .. } | WorkloadConfig::Stream { tcp, .. } => {
            u64::from(tcp.header_bytes()) + u64::from(tcp.mss)
        }
        WorkloadConfig::Source(source) => source.largest_packet(backward).into(),
    }
}
