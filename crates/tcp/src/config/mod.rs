//! Configuration of a TCP endpoint. One [`TcpConfig`] is shared by both endpoints of a flow.

pub(crate) mod profiles;

use goodqueue_types::{Rate, Span, Time};

pub use crate::cc::CongestionControlConfig;

/// Configuration of an endpoint. A [profile](TcpConfig::profile) fills it and a scenario overrides
/// fields. Both ends of a connection use the same one, so options need no negotiation: window
/// scaling and SACK are on at both ends or at neither.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches, each named"
)]
pub struct TcpConfig {
    /// Congestion control.
    pub congestion_control: CongestionControlConfig,
    /// Rule that ends slow start before a loss does.
    pub slow_start: SlowStart,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Largest payload of a segment, in bytes.
    pub mss: u32,
    /// Congestion window at the start.
    pub initial_window: InitialWindow,
    /// Slow-start threshold at the start.
    pub initial_ssthresh: InitialSsthresh,
    /// Size of the receive buffer, which is also the largest advertised window, in bytes.
    pub receive_window: u64,
    /// Initial size of the receive buffer under dynamic right-sizing (Fisk and Feng 2001;
    /// `tcp_moderate_rcvbuf` in Linux), in bytes. The buffer grows towards `receive_window` as fast
    /// as the application takes data. If none, the buffer always has `receive_window` bytes.
    pub receive_window_moderation: Option<u64>,
    /// Rate at which the right edge of the advertised window moves, with which a receiver that
    /// knows the rate of the path limits a sender. If none, the edge moves as far as the buffer
    /// allows at once.
    pub receive_window_pace: Option<Rate>,
    /// True if windows above 65,535 bytes can be advertised (RFC 7323 section 2).
    pub window_scaling: bool,
    /// True for appropriate byte counting (RFC 3465), false for one step per ACK.
    pub byte_counting: bool,
    /// True if new data are sent on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Number of duplicate ACKs that triggers a fast retransmit.
    pub duplicate_ack_threshold: u32,
    /// Rule for the ACKs of data in order.
    pub ack_rule: AckRule,
    /// Number of full segments per ACK (1: each is acknowledged), unless the timeout passes first.
    pub ack_every: u32,
    /// Number of first segments that [`AckRule::Linux`] acknowledges at once, because the receiver's
    /// window still grows (`tcp_grow_window` of Linux 6.18).
    pub opening_acks: u32,
    /// Longest time for which an ACK is delayed. With [`AckRule::Linux`] it may be shorter, but it
    /// is at least 40 ms.
    pub delayed_ack_timeout: Span,
    /// True if duplicate data are reported in SACK blocks (RFC 2883).
    pub dsack: bool,
    /// True for Nagle's algorithm (RFC 1122 section 4.2.3.4).
    pub nagle: bool,
    /// Tick of the timestamps option (RFC 7323 section 3). If none, the option is not used.
    pub timestamps: Option<Span>,
    /// Method by which losses are detected before a timeout.
    pub loss_detection: LossDetection,
    /// True if a probe is sent after two round trips without ACKs (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// Window during fast recovery.
    pub recovery_window: RecoveryWindow,
    /// True if new data are sent after a timeout to detect if it was spurious (RFC 5682).
    pub frto: bool,
    /// True if a spurious reduction is undone (RFC 3708, RFC 4015).
    pub undo: bool,
    /// True if the reordering seen so far is tolerated (RFC 4653; Linux's `tcpi_reordering`).
    pub adaptive_reordering: bool,
    /// True if sending is paced at the control's rate or, with Linux's gains, cwnd per round trip.
    pub pacing: bool,
    /// Bytes of IP and TCP header without options.
    pub header: u16,
    /// True if TCP options (MSS, window scale, SACK) add to packet sizes.
    pub option_bytes: bool,
    /// Explicit congestion notification.
    pub ecn: EcnMode,
    /// True if data carry ECT(1), as scalable traffic does (RFC 9331 section 4.1), not ECT(0).
    pub l4s: bool,
    /// Retransmission timer.
    pub rto: RtoConfig,
    /// Handshake of a connection.
    pub handshake: Handshake,
    /// Window after a SYN or SYN-ACK was lost.
    pub syn_loss: SynLossRule,
    /// Details in which implementations differ.
    pub details: Details,
}

/// Rule that ends slow start before a loss does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowStart {
    /// The rule of the control in Linux: `HyStart` for CUBIC, classic for the others.
    Auto,
    /// Slow start ends only at ssthresh.
    Classic,
    /// `HyStart` by ACK trains and delay, as in Linux's CUBIC.
    HyStart,
    /// HyStart++ of RFC 9406.
    HyStartPlusPlus,
}

/// CUBIC of RFC 9438 or of Linux, which differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CubicVariant {
    /// The target is the curve's value one smoothed round-trip time ahead. The Reno estimate grows
    /// by a segment per round trip beyond the window of the last loss (section 4.3).
    Rfc9438,
    /// The target is the curve's value one shortest round-trip time ahead. The Reno estimate keeps
    /// its slope. The window grows by at least a segment per hundred windows, and per twenty ACKs
    /// before the first loss.
    Linux,
}

/// Method by which losses are detected. `Rack` works only with NewReno and SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// Detection by the number of duplicate ACKs, or by the data SACKed above (RFC 5681, RFC 6675).
    DuplicateAcks,
    /// Detection by time, from a record of each transmission (RFC 8985, as in Linux). Without SACK,
    /// duplicate ACKs are counted instead.
    Rack,
}

/// Window during fast recovery, if transmissions are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryWindow {
    /// The window is ssthresh at once (RFC 6675).
    Ssthresh,
    /// Proportional rate reduction with the conservative bound (RFC 6937 PRR-CRB).
    PrrCrb,
    /// Proportional rate reduction with the slow-start bound (RFC 6937 PRR-SSRB).
    PrrSsrb,
    /// PRR with the bound chosen per ACK (draft-ietf-tcpm-prr-rfc6937bis, Linux).
    Prr,
}

/// Loss recovery by its usual name.
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

/// Rule for the ACKs of data in order. Segments that leave or fill a hole, and old data, are
/// acknowledged at once (RFC 5681 section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckRule {
    /// An ACK is sent for every `ack_every`-th segment, or after `delayed_ack_timeout`.
    EveryNth,
    /// Linux's rule. ACKs are sent at once for the first 16 segments (fewer with a small window)
    /// unless both ends send data, and again after old data or a long silence. Otherwise an ACK is
    /// sent when more than a full segment waits for it, or after a delay between 40 ms and
    /// `delayed_ack_timeout` that follows the gaps between segments.
    Linux,
}

/// Explicit congestion notification, and the method by which a receiver reports marks. Data are
/// sent as ECT(0). SYNs, pure ACKs, probes and retransmissions are not ECN-capable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnMode {
    /// The connection does not use ECN.
    Off,
    /// RFC 3168: ACKs carry ECE from a mark on until the sender reports that it has reduced.
    Rfc3168,
    /// RFC 8257: ECE reports for each packet if it was marked.
    Dctcp,
    /// RFC 9768: ACKs carry the low three bits of a count of marked packets.
    AccEcn,
}

/// Initial congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// A number of segments.
    Segments(u32),
    /// The table of RFC 5681 section 3.1.
    Rfc5681,
}

/// Initial slow-start threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialSsthresh {
    /// Arbitrarily high, so that only loss ends the first slow start (RFC 5681 section 3.1).
    Unlimited,
    /// A number of bytes.
    Bytes(u64),
    /// A number of segments.
    Segments(u32),
    /// The whole segments in the receive window (ns-2, whose `ssthresh_` starts as `window_`).
    ReceiveWindow,
}

impl TcpConfig {
    /// Returns true if recovery keeps a record of each transmission: with RACK, which detects losses
    /// from these records, for NewReno and SACK. The congestion control has no part in this.
    pub fn records_segments(&self) -> bool {
        self.loss_detection == LossDetection::Rack
            && matches!(self.recovery, Recovery::NewReno | Recovery::Sack)
    }

    /// Returns the timestamp at `now` (RFC 7323 section 5.4). It is never 0.
    pub(crate) fn timestamp(&self, now: Time) -> u32 {
        let ticks = |tick: Span| ((now.0 / tick.0.max(1)) as u32).wrapping_add(1).max(1);
        self.timestamps.map_or(0, ticks)
    }

    /// Returns the window scale, if the buffer requires one: the smallest with which it fits into
    /// 16 bits (RFC 7323 section 2.3: at most 14). Without handshake windows are carried exactly.
    pub fn window_scale(&self) -> Option<u8> {
        let offered = self.window_scaling && self.handshake != Handshake::OneWay;
        let fits = |shift: &u8| self.receive_window >> shift <= 0xFFFF;
        let scale = (0..14).find(fits).unwrap_or(14);
        (offered && scale > 0).then_some(scale)
    }

    /// Returns the bytes of the IP and TCP headers of a segment without SACK blocks.
    pub fn header_bytes(&self) -> u32 {
        let stamped = self.timestamps.is_some() && self.option_bytes;
        // The option has ten bytes and two of padding (RFC 7323 appendix A).
        u32::from(self.header) + if stamped { 12 } else { 0 }
    }

    /// Returns the size of the receive buffer at the start, in bytes.
    pub fn initial_receive_window(&self) -> u64 {
        self.receive_window_moderation
            .map_or(self.receive_window, |initial| {
                initial.min(self.receive_window)
            })
    }

    /// Returns the window that a SYN offers, in bytes.
    pub fn syn_window(&self) -> u64 {
        let all = self.initial_receive_window();
        // Two segments suffice for a receiver that acknowledges every second one to need no timer.
        self.receive_window_pace
            .map_or(all, |_| all.min(2 * u64::from(self.mss)))
    }

    /// Returns the initial slow-start threshold in bytes, or `u64::MAX` if it is unlimited.
    pub fn initial_ssthresh_bytes(&self) -> u64 {
        let mss = u64::from(self.mss);
        match self.initial_ssthresh {
            InitialSsthresh::Unlimited => u64::MAX,
            InitialSsthresh::Bytes(bytes) => bytes,
            InitialSsthresh::Segments(n) => u64::from(n) * mss,
            InitialSsthresh::ReceiveWindow => self.receive_window / mss * mss,
        }
    }
}

impl InitialWindow {
    /// Returns the window in bytes for segments of `mss` bytes.
    pub fn bytes(self, mss: u32) -> u64 {
        let segments = match self {
            Self::Segments(n) => n,
            Self::Rfc5681 if mss > 2190 => 2,
            Self::Rfc5681 if mss > 1095 => 3,
            Self::Rfc5681 => 4,
        };
        u64::from(segments) * u64::from(mss)
    }
}

/// Parameters of the retransmission timer (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RtoConfig {
    /// Timeout before the first sample.
    pub initial: Span,
    /// Lower bound of the timeout.
    pub minimum: Span,
    /// Upper bound of the timeout.
    pub maximum: Span,
    /// Clock granularity G.
    pub granularity: Span,
    /// Estimator that computes the timeout from samples.
    pub estimator: RttEstimatorConfig,
}

/// Estimator that computes the timeout from round-trip samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RttEstimatorConfig {
    /// RFC 6298: the first sample R sets SRTT = R and RTTVAR = R/2; later ones move them by the
    /// gains; RTO = SRTT + max(G, 4·RTTVAR).
    Rfc6298 {
        /// Gain of the mean, α. The RFC has 1/8.
        alpha: f64,
        /// Gain of the deviation, β. The RFC has 1/4.
        beta: f64,
    },
    /// INET 2010/11: the first sample is not special. SRTT starts at 0 and RTTVAR at 0.75 s, and
    /// both move by 1/8 of the new error. RTO = SRTT + 4·RTTVAR.
    Inet2011,
    /// Linux: integers in microseconds. The minimum bounds the margin above SRTT, which follows the
    /// largest deviation of each round trip.
    Linux,
    /// ns-2.35: whole ticks of the granularity in fixed point (`T_SRTT_BITS` 3, `T_RTTVAR_BITS` 2).
    /// The minimum applies before the backoff factor.
    Ns2Ticks,
}

/// Handshake of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// The handshake of RFC 9293: SYN, SYN-ACK, ACK.
    ThreeWay,
    /// The start of ns-2's one-way agents: a SYN without payload, acknowledged like data, and then
    /// data. Windows are carried unscaled and exactly.
    OneWay,
}

/// Start of a connection whose SYN or SYN-ACK was sent more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynLossRule {
    /// The window is one segment and ssthresh stays (RFC 5681 section 3.1).
    Rfc5681,
    /// The window is one segment after more than one timeout (Linux). ssthresh stays.
    Linux,
    /// The window is `tsl_initial_window` and ssthresh `tsl_ssthresh` segments: the start in a
    /// study of RED that varies both. With 1 and 2 it is that of ns-2.
    Tsl,
}

/// Details in which real stacks and simulators differ. Each is one decision at one place of the
/// code. The profiles are tables of these decisions.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches, each named"
)]
pub struct Details {
    /// Arithmetic of the congestion window: whole bytes or a real number.
    pub window_arithmetic: WindowArithmetic,
    /// Quantity that a loss halves.
    pub decrease_basis: DecreaseBasis,
    /// True if ssthresh is rounded down to whole segments and the window is not (ns-2).
    pub whole_segment_ssthresh: bool,
    /// Largest number of segments that an ACK adds to the window in slow start with byte counting
    /// (RFC 3465's L; one after a timeout). If none, an ACK adds all that it acknowledges up to
    /// ssthresh, and the rest counts towards congestion avoidance (Linux).
    pub slow_start_limit: Option<u32>,
    /// CUBIC of RFC 9438 or of Linux.
    pub cubic_variant: CubicVariant,
    /// True if the window grows only if it was used: in slow start if it is less than twice the
    /// largest flight, otherwise if it held data back (RFC 7661 section 4.1; Linux's rule).
    pub grow_only_when_limited: bool,
    /// Rule for duplicate ACKs if no SACK information decides.
    pub duplicate_acks: DuplicateAckRule,
    /// Condition under which Tahoe and Reno refuse a fast retransmit because the ACK covers no more
    /// than was sent when the last recovery or timeout began. NewReno always refuses then (RFC 6582
    /// section 3.2 step 2).
    pub fast_retransmit_guard: FastRetransmitGuard,
    /// True if the first new ACK outside recovery lifts this guard (INET).
    pub new_ack_lifts_guard: bool,
    /// True if a fast retransmit restarts the timer (ns-2, BSD). In RFC 6298, only new ACKs do.
    pub fast_retransmit_restarts_timer: bool,
    /// Partial ACKs of NewReno that restart the retransmission timer.
    pub partial_ack_timer: PartialAckTimer,
    /// True if a partial ACK of NewReno resets the count of duplicate ACKs, so that the next three
    /// do not inflate the window (INET).
    pub partial_ack_resets_duplicates: bool,
    /// True if a partial ACK of NewReno removes all inflation, false if it removes the acknowledged
    /// bytes (ns-2 before 2003: `partial_window_deflation_` off).
    pub partial_ack_ends_inflation: bool,
    /// Window after NewReno's full ACK.
    pub recovery_exit: RecoveryExit,
    /// Largest number of segments per ACK in fast recovery, beside the retransmission (2 in ns-2).
    pub recovery_burst: Option<u32>,
    /// True for limited transmit as in ns-2: one segment per duplicate ACK, even if it is old data
    /// that go-back-N sends again.
    pub limited_transmit_old_data: bool,
    /// Algorithm of recovery with SACK information.
    pub sack_variant: SackVariant,
    /// True for rule 4 of RFC 6675's `NextSeg`, the rescue retransmission.
    pub rescue_retransmission: bool,
    /// True if a timeout clears the SACK information (RFC 2018 section 8). Otherwise go-back-N
    /// skips data that the receiver has (RFC 6675 section 5.1).
    pub timeout_clears_scoreboard: bool,
    /// True if every timeout lowers ssthresh, false if only the first for the same data does (RFC
    /// 5681 section 3.1).
    pub every_timeout_lowers_ssthresh: bool,
    /// Effect of a timeout on the count of duplicate ACKs.
    pub duplicate_acks_at_timeout: DuplicateAcksAtTimeout,
    /// Effect of an idle time on the window.
    pub idle_restart: IdleRestart,
    /// Rule for the transmissions whose round trip is measured.
    pub timing: TimingRule,
    /// True if the SYN gives a round-trip sample.
    pub handshake_sample: bool,
    /// Lower bound of the RTO when data start after a SYN was lost (RFC 6298 section 5.7: 3 s).
    pub rto_after_syn_loss: Option<Span>,
    /// True if segments leave in units of about a millisecond at the pace, and at least two. Less
    /// than a unit waits for the next ACK if that is near (Linux: TSO autosizing and deferral). It
    /// needs `rack`.
    pub segmentation_offload: bool,
    /// Number of first timeouts of the SYN that do not double the timeout (Linux 6.5 and later: 4).
    /// Timeouts of the SYN-ACK always do.
    pub linear_syn_timeouts: u32,
    /// Initial window after a lost SYN or SYN-ACK, in segments, for [`SynLossRule::Tsl`].
    pub tsl_initial_window: u32,
    /// Slow-start threshold after a lost SYN or SYN-ACK, in segments, for [`SynLossRule::Tsl`].
    pub tsl_ssthresh: u32,
    /// True if only pure ACKs acknowledge, never data segments (INET).
    pub separate_acks: bool,
    /// True if a segment from below the receive window is answered with an ACK and otherwise
    /// ignored (RFC 793, INET), unless the endpoint's oldest data have just timed out. If false,
    /// its acknowledgement always counts.
    pub strict_ack_acceptance: bool,
    /// True if pure ACKs carry SND.NXT, which go-back-N pulls back (INET), false if they carry the
    /// highest sequence number sent (BSD, Linux).
    pub acks_carry_snd_nxt: bool,
    /// Rule by which the receiver opens its window.
    pub receive_window_rule: ReceiveWindowRule,
    /// First interval of zero-window probes; `None` is the current RTO (RFC 1122 section 4.2.2.17).
    pub persist_initial: Option<Span>,
    /// Largest number of SACK blocks in an ACK, at most 4.
    pub sack_blocks: u8,
    /// Bytes that SACK blocks add to a packet besides 8 per block, if there are any (2, padded: 4).
    pub sack_option_overhead: u8,
}

/// Arithmetic of the congestion window: whole bytes or a real number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowArithmetic {
    /// Whole bytes. The growth per ACK is max(1, ⌊MSS²/cwnd⌋) (RFC 5681 equation 3).
    WholeBytes,
    /// Real numbers. The growth per ACK is MSS²/cwnd (ns-2, in packets: 1/cwnd).
    Real,
    /// Real numbers, but a loss leaves whole segments (ns-2 before 2006: `precisionReduce_` off).
    RealWholeDecrease,
}

/// Quantity that a loss halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecreaseBasis {
    /// Outstanding data without those of limited transmit (RFC 5681 equation 4, section 3.2).
    FlightSize,
    /// All outstanding data (as in the examples of RFC 6937 section 3.1).
    Outstanding,
    /// All outstanding data less a segment for each duplicate ACK (ns-3 without SACK).
    LessDuplicates,
    /// The congestion window (Linux).
    CongestionWindow,
    /// min(cwnd, receive window), without inflation (ns-2).
    Window,
    /// min(cwnd, receive window), with inflation (INET).
    InflatedWindow,
}

/// Rule for duplicate ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicateAckRule {
    /// RFC 5681 section 2: data are outstanding, and the ACK has no payload, no SYN or FIN, the
    /// same acknowledgement and the same window.
    Rfc5681,
    /// INET: as the RFC but for the window. Any other segment that acknowledges nothing new resets
    /// the count.
    NoPayload,
    /// ns-2: every ACK that repeats the highest acknowledgement.
    Any,
}

/// Condition under which Tahoe and Reno refuse a fast retransmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastRetransmitGuard {
    /// They never refuse (INET's Reno).
    Never,
    /// They refuse while go-back-N after a timeout has not covered the data sent before it.
    AfterTimeout,
    /// They refuse after a timeout and after a fast retransmit, but not while only the SYN is
    /// acknowledged (ns-2's `bugFix_`).
    Always,
}

/// Effect of a timeout on the count of duplicate ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicateAcksAtTimeout {
    /// The count is reset.
    Forgotten,
    /// Only Tahoe keeps the count (ns-2).
    KeptByTahoe,
    /// All keep the count. Reno, which is in recovery while the count is three or more, stays in it
    /// (INET).
    Kept,
}

/// Partial ACKs of NewReno that restart the retransmission timer (RFC 6582 section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialAckTimer {
    /// Only the first one ("impatient").
    First,
    /// Every one ("slow but steady").
    Every,
}

/// Window after fast recovery (RFC 6582 section 3.2 step 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryExit {
    /// The window is ssthresh.
    Ssthresh,
    /// The window is ssthresh plus one step of growth for the ACK that ends recovery (ns-3).
    SsthreshAndGrowth,
    /// The window is min(ssthresh, max(FlightSize, SMSS) + SMSS), so that no burst follows. With
    /// Reno it is ssthresh.
    FlightPlusOne,
    /// The window is min(ssthresh, FlightSize + SMSS) (INET). With Reno it is ssthresh.
    BareFlightPlusOne,
    /// The window is what partial ACKs left of it, plus one step of growth (ns-2).
    Unchanged,
}

/// Algorithm of recovery with SACK information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackVariant {
    /// RFC 6675 with `IsLost`, `SetPipe` and `NextSeg`.
    Rfc6675,
    /// ns-2.35's Sack1. Pipe starts at the flight less three segments, and falls by one segment per
    /// ACK and by two per partial ACK. All data below the highest SACKed segment that are not
    /// SACKed count as lost at once and are sent once.
    Ns2Sack1,
}

/// Rule by which the receiver opens its window. Neither rule ever shrinks the window offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveWindowRule {
    /// The right edge moves by at least min(buffer/2, MSS) (RFC 1122 section 4.2.3.3).
    Rfc1122,
    /// The window is the free buffer, with out-of-order data counted as used. It is zero if less
    /// than a segment and less than a quarter of the buffer are free (INET).
    Inet2011,
}

/// Effect of an idle time on the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleRestart {
    /// The window stays.
    Never,
    /// After an idle RTO, the window is min(initial window, cwnd) (RFC 5681 section 4.1).
    InitialWindow,
    /// While nothing is outstanding, the window halves for each RTO since the last transmission,
    /// down to the initial window. A window that was not fully used for an RTO shrinks half way to
    /// the used part (RFC 2861, Linux). Without records of transmissions, the rule is that of
    /// `InitialWindow`.
    Halved,
    /// An RTO after the last new ACK, with nothing outstanding, the window is one segment (ns-2,
    /// whose timer keeps running).
    OneSegment,
    /// More than an RTO after the window last let data out, outstanding or not, the window is one
    /// segment, without the inflation of fast recovery (INET).
    OneSegmentSinceSending,
}

/// Rule for the transmissions whose round trip is measured. One is measured at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimingRule {
    /// New data outside fast recovery. A retransmission of any kind stops the measurement (Karn).
    OutsideRecovery,
    /// New data. The start of recovery and timeouts stop the measurement. A partial ACK of NewReno
    /// that covers the measured segment gives no sample (ns-2).
    NewData,
    /// Any data that the window permits, even in go-back-N. A timeout ends the measurement (INET).
    Anything,
}
