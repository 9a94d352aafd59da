//! Upper bounds of workloads' packets on a link.

use goodqueue_sim::{PacketSize, SessionConfig, VoiceConfig, WorkloadConfig};
use goodqueue_tcp::TcpConfig;
use goodqueue_types::Span;

/// Largest number of bytes that a link adds to a packet.
const FRAMING: u128 = 1_024;
/// Largest IP packet in bytes.
const LARGEST_PACKET: u128 = 65_535;

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
        WorkloadConfig::Bulk { tcp, .. } => window(tcp),
        // Data travel in both directions.
        WorkloadConfig::Echo { tcp, .. } => 2 * window(tcp),
        WorkloadConfig::Game(game) => [game.interval, game.server_interval]
            .map(|interval| datagrams(interval, LARGEST_PACKET))
            .iter()
            .sum(),
        WorkloadConfig::Session { tcp, session } => {
            let connections = match &**session {
                SessionConfig::Transfers(config) => events(config.interval),
                SessionConfig::Exchanges(_) | SessionConfig::Video(_) => 1,
                SessionConfig::Web(config) => 2 * u128::from(config.parallel),
            };
            connections * window(tcp)
        }
        WorkloadConfig::ConstantBitRate { interval, packet }
        | WorkloadConfig::OnOff {
            interval, packet, ..
        }
        | WorkloadConfig::Voice(VoiceConfig {
            interval, packet, ..
        })
        | WorkloadConfig::Ping { interval, packet } => datagrams(*interval, u128::from(*packet)),
        WorkloadConfig::Bursts {
            mean_interval,
            packets,
            packet,
        } => u128::from(*packets) * datagrams(*mean_interval, u128::from(*packet)),
        WorkloadConfig::Poisson {
            mean_interval,
            packet,
        } => match packet {
            PacketSize::Fixed(bytes) => datagrams(*mean_interval, u128::from(*bytes)),
            PacketSize::Exponential(mean) => datagrams(*mean_interval, 2 * *mean as u128),
        },
    }
}

/// Returns the largest IP packet from client to server, or backward.
pub(crate) fn largest_packet(workload: &WorkloadConfig, backward: bool) -> u64 {
    match workload {
        // Data travel in both directions.
        WorkloadConfig::Session { tcp, .. } | WorkloadConfig::Echo { tcp, .. } => {
            u64::from(tcp.header_bytes()) + u64::from(tcp.mss)
        }
        WorkloadConfig::Bulk { tcp, .. } => {
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
        WorkloadConfig::Ping { packet, .. } => u64::from(*packet),
        // There may be no largest size; the mean is used instead, as for exponential sizes below.
        WorkloadConfig::Game(game) => {
            let packet = if backward {
                &game.server_packet
            } else {
                &game.packet
            };
            packet.mean() as u64
        }
        _ if backward => 0,
        WorkloadConfig::ConstantBitRate { packet, .. }
        | WorkloadConfig::OnOff { packet, .. }
        | WorkloadConfig::Bursts { packet, .. }
        | WorkloadConfig::Voice(VoiceConfig { packet, .. })
        | WorkloadConfig::Poisson {
            packet: PacketSize::Fixed(packet),
            ..
        } => u64::from(*packet),
        // There is no largest size; packets are converted with the mean.
        WorkloadConfig::Poisson {
            packet: PacketSize::Exponential(mean),
            ..
        } => *mean as u64,
    }
}
