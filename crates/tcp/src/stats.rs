//! What an endpoint reports about itself.

use crate::cc::CongestionControl;
use crate::config::Recovery;
use crate::endpoint::TcpEndpoint;
use crate::limits::{Limited, TimeLimited};
use goodqueue_types::{Rate, Span, Time};

/// Counts since the connection began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpStats {
    /// Bytes handed to the application, in order.
    pub delivered_bytes: u64,
    /// Payload bytes that arrived, duplicates included.
    pub received_payload_bytes: u64,
    /// Of these, bytes that had arrived before.
    pub duplicate_payload_bytes: u64,
    /// Segments sent that carry payload, first transmissions and repetitions.
    pub segments_sent: u64,
    /// Of these, segments that begin with data sent before.
    pub retransmitted_segments: u64,
    /// Payload bytes sent that had been sent before.
    pub retransmitted_bytes: u64,
    /// Expiries of the retransmission timer, handshake and FIN included.
    pub timeouts: u64,
    /// Fast retransmits: entries into loss recovery by duplicate or selective ACKs.
    pub fast_retransmits: u64,
    /// Packets that arrived marked with congestion experienced.
    pub marked_packets: u64,
    /// Windows reduced for an ECN echo.
    pub ecn_reductions: u64,
    /// Payload bytes cumulatively acknowledged by the peer.
    pub acked_bytes: u64,
}

impl TcpStats {
    /// Adds what another connection counted.
    pub fn add(&mut self, other: &Self) {
        // Taken apart, so that the compiler names a count that is forgotten.
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

/// A look at the state of an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Where the connection is.
    pub state: ConnectionState,
    /// Where loss recovery is.
    pub phase: Phase,
    /// Congestion window in bytes, inflation by duplicate ACKs included.
    pub cwnd: u64,
    /// Slow-start threshold in bytes; none before the first loss if it starts unlimited.
    pub ssthresh: Option<u64>,
    /// Sequence space sent and not cumulatively acknowledged, in bytes.
    pub bytes_in_flight: u64,
    /// RFC 6675's pipe in bytes during SACK recovery, else `bytes_in_flight` less SACKed bytes.
    pub pipe: u64,
    /// The peer's receive window in bytes.
    pub send_window: u64,
    /// Smoothed round-trip time; none before the first sample.
    pub srtt: Option<Span>,
    /// Round-trip time variation; none before the first sample.
    pub rttvar: Option<Span>,
    /// Retransmission timeout, backoff included.
    pub rto: Span,
    /// Least round-trip time; none before the first sample, or where it is not kept.
    pub min_rtt: Option<Span>,
    /// What the sender waits for.
    pub limited: Limited,
    /// Since when.
    pub limited_since: Time,
    /// The state of congestion.
    pub ca_state: CaState,
    /// Segments outstanding (`tcpi_unacked`).
    pub unacked: u32,
    /// Segments SACKed, or counted as such from duplicate ACKs.
    pub sacked: u32,
    /// Segments marked lost.
    pub lost: u32,
    /// Retransmissions in flight.
    pub retrans: u32,
    /// Duplicate ACKs or segments of reordering that are tolerated before a loss is assumed.
    pub reordering: u32,
    /// How often reordering was seen.
    pub reordering_seen: u32,
    /// Timeouts, or probes of a closed window, in a row.
    pub backoff: u32,
    /// The pace, in bits per second, if there is one.
    pub pacing_rate: Option<Rate>,
    /// What the receiver takes for a full segment of the peer, in bytes (`tcpi_rcv_mss`).
    pub receive_mss: u32,
}

/// States of congestion by the names of Linux's `tcp_info`, in its order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaState {
    /// Nothing unusual.
    #[default]
    Open,
    /// Something is SACKed or counted as such; the window is as it was.
    Disorder,
    /// The window is being reduced without a loss.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a timeout.
    Loss,
}

/// States of a connection that matter to a simulation (RFC 9293 section 3.3.2, the closing states
/// folded into two flags of the endpoint).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConnectionState {
    /// Neither opened nor listening.
    #[default]
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// SYN sent.
    SynSent,
    /// SYN received, SYN-ACK sent.
    SynReceived,
    /// Open for data.
    Established,
}

/// Phases of loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing is being repaired.
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
        let by_pipe = sender.phase == Phase::FastRecovery && self.config.recovery == Recovery::Sack;
        TcpInfo {
            state: self.state,
            phase: sender.phase,
            cwnd: sender.window_now(),
            ssthresh: (ssthresh != u64::MAX).then_some(ssthresh),
            bytes_in_flight: sender.in_flight(),
            pipe: if let Some(ledger) = &sender.ledger {
                u64::from(ledger.records.in_flight()) * u64::from(self.config.mss)
            } else if by_pipe {
                sender.pipe.max(0) as u64
            } else {
                sender.in_flight() - sender.scoreboard.sacked_bytes()
            },
            send_window: sender.window,
            srtt: sender.rtt.srtt(&self.config.rto),
            rttvar: sender.rtt.rttvar(&self.config.rto),
            rto: sender.rtt.rto(),
            limited: sender.limited,
            limited_since: sender.limited_since(),
            receive_mss: self.receiver.full_segment(&self.config),
            ..self.transmission_info()
        }
    }

    /// What the records of transmissions know, or what comes nearest to it.
    fn transmission_info(&self) -> TcpInfo {
        let sender = &self.sender;
        let Some(ledger) = &sender.ledger else {
            let mss = u64::from(self.config.mss);
            return TcpInfo {
                ca_state: match sender.phase {
                    Phase::Open if sender.duplicate_acks > 0 => CaState::Disorder,
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
            min_rtt: ledger.min_rtt.get(),
            ca_state: ledger.state,
            unacked: ledger.records.out(),
            sacked: ledger.records.sacked_out,
            lost: ledger.records.lost_out,
            retrans: ledger.records.resent_out,
            reordering: ledger.reordering,
            reordering_seen: ledger.reordering_events,
            backoff: ledger.backoff,
            pacing_rate: sender.controller.pacing_rate(),
            ..TcpInfo::default()
        }
    }

    /// How long the sender has waited for what, up to `now`.
    pub fn time_limited(&self, now: Time) -> TimeLimited {
        let is_gone = self.state == ConnectionState::Closed;
        self.sender.time_limited(now, is_gone)
    }
}
