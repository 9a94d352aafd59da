//! The counters and state that an endpoint reports.

use crate::cc::CongestionControl;
use crate::config::Recovery;
use crate::connection::endpoint::TcpEndpoint;
use crate::sender::limits::{Limited, TimeLimited};
use goodqueue_types::{Rate, Span, Time};

/// Counts since the connection began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpStats {
    /// Bytes handed to the application, in order.
    pub delivered_bytes: u64,
    /// Payload bytes that arrived, duplicates included.
    pub received_payload_bytes: u64,
    /// Payload bytes that had arrived before, or that lay beyond the receive window.
    pub duplicate_payload_bytes: u64,
    /// Number of segments sent with payload, first transmissions and repetitions.
    pub segments_sent: u64,
    /// Number of segments sent whose first byte had been sent before.
    pub retransmitted_segments: u64,
    /// Payload bytes sent that had been sent before.
    pub retransmitted_bytes: u64,
    /// Number of expiries of the retransmission timer, handshake and FIN included.
    pub timeouts: u64,
    /// Number of fast retransmits: entries into loss recovery by duplicate or selective ACKs.
    pub fast_retransmits: u64,
    /// Number of packets that arrived marked with congestion experienced.
    pub marked_packets: u64,
    /// Number of reductions of the window for an ECN echo.
    pub ecn_reductions: u64,
    /// Payload bytes cumulatively acknowledged by the peer.
    pub acked_bytes: u64,
}

impl TcpStats {
    /// Returns the payload bytes that arrived for the first time, in order or behind a hole.
    pub fn new_payload_bytes(&self) -> u64 {
        self.received_payload_bytes - self.duplicate_payload_bytes
    }

    /// Adds the counts of another connection.
    pub fn add(&mut self, other: &Self) {
        // The struct is taken apart, so that the compiler reports a count that is missing here.
        let Self {
            delivered_bytes,
            received_payload_bytes,
            duplicate_payload_bytes,
            segments_sent,
            retransmitted_segments,
            retransmitted_bytes,
            timeouts,
            fast_retransmits,
            marked_packets,
            ecn_reductions,
            acked_bytes,
        } = other;
        self.delivered_bytes += delivered_bytes;
        self.received_payload_bytes += received_payload_bytes;
        self.duplicate_payload_bytes += duplicate_payload_bytes;
        self.segments_sent += segments_sent;
        self.retransmitted_segments += retransmitted_segments;
        self.retransmitted_bytes += retransmitted_bytes;
        self.timeouts += timeouts;
        self.fast_retransmits += fast_retransmits;
        self.marked_packets += marked_packets;
        self.ecn_reductions += ecn_reductions;
        self.acked_bytes += acked_bytes;
    }
}

/// Snapshot of the state of an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// State of the connection.
    pub state: ConnectionState,
    /// Phase of loss recovery.
    pub phase: Phase,
    /// Congestion window in bytes, including inflation by duplicate ACKs.
    pub cwnd: u64,
    /// Slow-start threshold in bytes. None before the first loss if it starts unlimited.
    pub ssthresh: Option<u64>,
    /// Sequence space sent and not cumulatively acknowledged, in bytes.
    pub bytes_in_flight: u64,
    /// RFC 6675's pipe in bytes during SACK recovery, otherwise `bytes_in_flight` less SACKed
    /// bytes.
    pub pipe: u64,
    /// The peer's receive window in bytes.
    pub send_window: u64,
    /// Smoothed round-trip time. None before the first sample.
    pub srtt: Option<Span>,
    /// Round-trip time variation. None before the first sample.
    pub rttvar: Option<Span>,
    /// Retransmission timeout, including backoff.
    pub rto: Span,
    /// Shortest round-trip time. None before the first sample, or if it is not measured.
    pub min_rtt: Option<Span>,
    /// Cause that limits the sender.
    pub limited: Limited,
    /// Time since which it does.
    pub limited_since: Time,
    /// State of congestion.
    pub ca_state: CaState,
    /// Number of outstanding segments (`tcpi_unacked`).
    pub unacked: u32,
    /// Number of segments SACKed, or counted as such from duplicate ACKs.
    pub sacked: u32,
    /// Number of segments marked lost.
    pub lost: u32,
    /// Number of retransmissions in flight.
    pub retrans: u32,
    /// Number of duplicate ACKs or of reordered segments that are tolerated before a loss is
    /// assumed.
    pub reordering: u32,
    /// Number of times that reordering was seen.
    pub reordering_seen: u32,
    /// Number of consecutive timeouts, or of consecutive probes of a closed window.
    pub backoff: u32,
    /// Pacing rate, if sending is paced.
    pub pacing_rate: Option<Rate>,
    /// Payload that the receiver assumes in a full segment of the peer, in bytes (`tcpi_rcv_mss`).
    pub receive_mss: u32,
}

/// States of congestion by the names of Linux's `tcp_info`, in its order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaState {
    /// No segment is SACKed or lost.
    #[default]
    Open,
    /// A segment is SACKed or counted as such. The window is unchanged.
    Disorder,
    /// The window is being reduced without a loss.
    Cwr,
    /// The sender is in fast recovery.
    Recovery,
    /// A timeout has happened.
    Loss,
}

/// States of a connection that matter to a simulation (RFC 9293 section 3.3.2). Two flags of the
/// endpoint replace the closing states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConnectionState {
    /// The connection is neither opened nor listening.
    #[default]
    Closed,
    /// The endpoint waits for a SYN.
    Listen,
    /// The SYN is sent.
    SynSent,
    /// A SYN has arrived and the SYN-ACK is sent.
    SynReceived,
    /// The connection is open for data.
    Established,
}

/// Phases of loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// No loss is being repaired.
    #[default]
    Open,
    /// Fast recovery after duplicate or selective ACKs.
    FastRecovery,
    /// Go-back-N in slow start, after a timeout or Tahoe's fast retransmit.
    GoBackN,
}

impl TcpEndpoint {
    /// A look at the state.
    pub fn info(&self) -> TcpInfo {
        let sender = &self.sender;
        let ssthresh = sender.controller.ssthresh();
        let by_pipe = sender.course.is_in_fast_recovery() && self.config.recovery == Recovery::Sack;
        TcpInfo {
            state: self.state,
            phase: sender.course.phase(),
            cwnd: sender.window_now(),
            ssthresh: (ssthresh != u64::MAX).then_some(ssthresh),
            bytes_in_flight: sender.in_flight(),
            pipe: if let Some(ledger) = &sender.ledger {
                ledger.bytes_in_flight()
            } else if by_pipe {
                sender.accounting.pipe().max(0) as u64
            } else {
                sender.in_flight() - sender.scoreboard.sacked_bytes()
            },
            send_window: sender.peer.bytes(),
            srtt: sender.rtt.srtt(&self.config.rto),
            rttvar: sender.rtt.rttvar(&self.config.rto),
            rto: sender.rtt.rto(),
            limited: sender.limits.present(),
            limited_since: sender.limits.since(),
            receive_mss: self.receiver.full_segment(&self.config),
            ..self.transmission_info()
        }
    }

    /// Returns the state of transmissions by the records, or the nearest to it that a sender without
    /// records knows.
    fn transmission_info(&self) -> TcpInfo {
        let sender = &self.sender;
        let Some(ledger) = &sender.ledger else {
            let mss = u64::from(self.config.mss);
            return TcpInfo {
                ca_state: match sender.course.phase() {
                    Phase::Open if sender.duplicates.count() > 0 => CaState::Disorder,
                    Phase::Open => CaState::Open,
                    Phase::FastRecovery => CaState::Recovery,
                    Phase::GoBackN => CaState::Loss,
                },
                unacked: sender.in_flight().div_ceil(mss) as u32,
                sacked: (sender.scoreboard.sacked_bytes() / mss) as u32,
                reordering: self.config.duplicate_ack_threshold,
                ..TcpInfo::default()
            };
        };
        TcpInfo {
            pacing_rate: sender.controller.pacing_rate(),
            ..ledger.info()
        }
    }

    /// Returns the time that the sender has waited for each cause, up to `now`.
    pub fn time_limited(&self, now: Time) -> TimeLimited {
        let is_gone = self.state == ConnectionState::Closed;
        self.sender.limits.times(now, is_gone)
    }
}
