//! What a TCP endpoint can be told. One [`TcpConfig`] is shared by all endpoints of a flow.

use goodqueue_types::Span;

/// Everything configurable about an endpoint. A profile fills it; a scenario overrides fields.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpConfig {
    /// Which numbers the congestion window follows.
    pub congestion_control: CongestionControlConfig,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// Largest payload of a segment, in bytes.
    pub mss: u32,
    /// Congestion window at the start, in bytes.
    pub initial_window: InitialWindow,
    /// Slow-start threshold at the start, in bytes; `None` is arbitrarily high (RFC 5681).
    pub initial_ssthresh: Option<u64>,
    /// Receive buffer, and so the largest window advertised, in bytes.
    pub receive_window: u64,
    /// Whether windows above 65,535 bytes can be advertised (RFC 7323 section 2).
    pub window_scaling: bool,
    /// Appropriate byte counting (RFC 3465) instead of one step per ACK.
    pub byte_counting: bool,
    /// Send new data on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Duplicate ACKs that trigger fast retransmit.
    pub duplicate_ack_threshold: u32,
    /// ACK every n-th full segment (1: each), or when the timeout passes.
    pub ack_every: u32,
    /// Longest time an ACK is held back.
    pub delayed_ack_timeout: Span,
    /// Nagle's algorithm (RFC 1122 section 4.2.3.4).
    pub nagle: bool,
    /// Bytes of IP and TCP header without options.
    pub header: u16,
    /// Whether TCP options (MSS, window scale, SACK) add to packet sizes.
    pub option_bytes: bool,
    /// Retransmission timer.
    pub rto: RtoConfig,
    /// How a connection opens.
    pub handshake: Handshake,
}

/// Congestion controls by the names people type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CongestionControlConfig {
    /// Additive increase by one segment, decrease by half.
    Reno,
    /// Additive increase by α segments per round trip, decrease to (1 − β).
    Gaimd {
        /// Segments added per round trip.
        alpha: f64,
        /// Share of the window given up.
        beta: f64,
    },
}

/// Loss recovery by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Fast retransmit, then slow start.
    Tahoe,
    /// Fast recovery until the first new ACK (RFC 2581).
    Reno,
    /// Fast recovery with partial ACKs (RFC 6582).
    NewReno,
    /// Selective acknowledgements (RFC 6675).
    Sack,
}

/// Initial congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// This many segments.
    Segments(u32),
    /// The table of RFC 5681 section 3.1.
    Rfc5681,
}

/// Retransmission timer (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RtoConfig {
    /// Before the first sample.
    pub initial: Span,
    /// Lower bound.
    pub minimum: Span,
    /// Upper bound.
    pub maximum: Span,
    /// Clock granularity G.
    pub granularity: Span,
}

/// How a connection opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// SYN, SYN-ACK, ACK.
    ThreeWay,
    /// ns-2's one-way agents: a SYN without payload, acknowledged like data; then data.
    OneWay,
}
