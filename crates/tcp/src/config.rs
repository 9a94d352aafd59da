//! What a TCP endpoint can be told. One [`TcpConfig`] is shared by both endpoints of a flow.

use goodqueue_types::{Rate, Span, Time};

use crate::cc::{
    Bbr3Config, BbrConfig, CubicConfig, DctcpConfig, LedbatConfig, ScalableConfig, VegasConfig,
    WestwoodConfig,
};

/// Everything configurable about an endpoint. A [profile](TcpConfig::profile) fills it; a scenario
/// overrides fields. Both ends of a connection use the same one, so that options need no
/// negotiation: window scaling and SACK are on at both ends or at neither.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches, each named"
)]
pub struct TcpConfig {
    /// Which numbers the congestion window follows.
    pub congestion_control: CongestionControlConfig,
    /// What ends slow start before a loss does.
    pub slow_start: SlowStart,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// Largest payload of a segment, in bytes.
    pub mss: u32,
    /// Congestion window at the start, in bytes.
    pub initial_window: InitialWindow,
    /// Slow-start threshold at the start.
    pub initial_ssthresh: InitialSsthresh,
    /// Receive buffer, and so the largest window advertised, in bytes.
    pub receive_window: u64,
    /// Dynamic right-sizing (Fisk and Feng 2001; `tcp_moderate_rcvbuf` in Linux): the buffer starts
    /// with so many bytes and grows towards `receive_window` as fast as the application takes data.
    /// None: it is `receive_window` from the start.
    pub receive_window_moderation: Option<u64>,
    /// How fast the right edge of the window advertised may move: a receiver that knows the rate of
    /// the path holds a sender to it. None: as far as the buffer allows at once.
    pub receive_window_pace: Option<Rate>,
    /// Whether windows above 65,535 bytes can be advertised (RFC 7323 section 2).
    pub window_scaling: bool,
    /// Appropriate byte counting (RFC 3465) instead of one step per ACK.
    pub byte_counting: bool,
    /// Send new data on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Duplicate ACKs that trigger fast retransmit.
    pub duplicate_ack_threshold: u32,
    /// When data in order are acknowledged.
    pub ack_rule: AckRule,
    /// ACK every n-th full segment (1: each), or when the timeout passes.
    pub ack_every: u32,
    /// With [`AckRule::Linux`], segments at the start that are each acknowledged at once because the
    /// receiver's window still grows (`tcp_grow_window` of Linux 6.18).
    pub opening_acks: u32,
    /// Longest time an ACK is held back.
    /// With [`AckRule::Linux`] it may be less, but at least 40 ms.
    pub delayed_ack_timeout: Span,
    /// Report duplicate data in SACK blocks (RFC 2883).
    pub dsack: bool,
    /// Nagle's algorithm (RFC 1122 section 4.2.3.4).
    pub nagle: bool,
    /// The tick of the timestamps option (RFC 7323 section 3); none: no such option.
    pub timestamps: Option<Span>,
    /// How losses are noticed before a timeout.
    pub loss_detection: LossDetection,
    /// Probe a silent tail after two round trips (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// What the window is during fast recovery.
    pub recovery_window: RecoveryWindow,
    /// Send new data after a timeout to tell whether it was spurious (RFC 5682).
    pub frto: bool,
    /// Take a spurious reduction back (RFC 3708, RFC 4015).
    pub undo: bool,
    /// Tolerate as much reordering as was seen (RFC 4653's aim; Linux's `tcpi_reordering`).
    pub adaptive_reordering: bool,
    /// Send at a pace: the control's, or cwnd per round trip with Linux's gains.
    pub pacing: bool,
    /// Bytes of IP and TCP header without options.
    pub header: u16,
    /// Whether TCP options (MSS, window scale, SACK) add to packet sizes.
    pub option_bytes: bool,
    /// Explicit congestion notification.
    pub ecn: EcnMode,
    /// Data carry ECT(1), by which queues tell scalable traffic (RFC 9331 section 4.1), not ECT(0).
    pub l4s: bool,
    /// Retransmission timer.
    pub rto: RtoConfig,
    /// How a connection opens.
    pub handshake: Handshake,
    /// The window after a SYN or SYN-ACK was lost.
    pub syn_loss: SynLossRule,
    /// Finer points on which implementations differ.
    pub details: Details,
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
    /// RFC 9438.
    Cubic(CubicConfig),
    /// BBR, version 3.
    Bbr3(Bbr3Config),
    /// RFC 6817, a scavenger.
    Ledbat(LedbatConfig),
    /// Kelly's Scalable TCP.
    Scalable(ScalableConfig),
    /// RFC 8257.
    Dctcp(DctcpConfig),
    /// Westwood+: a loss leaves bandwidth times the shortest round trip.
    Westwood(WestwoodConfig),
    /// Keeps a few segments in the queue.
    Vegas(VegasConfig),
    /// BBR, version 1.
    Bbr(BbrConfig),
}

/// What ends slow start before a loss does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowStart {
    /// What the control does in Linux: `HyStart` for CUBIC, classic for the others.
    Auto,
    /// Nothing but ssthresh.
    Classic,
    /// ACK trains and delay, as in Linux's CUBIC.
    HyStart,
    /// RFC 9406.
    HyStartPlusPlus,
}

/// Where CUBIC of RFC 9438 and of Linux differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CubicVariant {
    /// The curve is read a smoothed round trip ahead; the Reno estimate grows by a segment per
    /// round trip beyond the window of the last loss (section 4.3).
    Rfc9438,
    /// The curve is read the shortest round trip ahead; the Reno estimate keeps its slope; at
    /// least a segment per hundred windows, and per twenty ACKs while no loss is remembered.
    Linux,
}

/// How losses are noticed. Only NewReno and SACK can do without counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// By duplicate ACKs, or by what is SACKed above (RFC 5681, RFC 6675).
    DuplicateAcks,
    /// By time, from a record of each transmission (RFC 8985, as in Linux). Without SACK duplicate
    /// ACKs count, as in Linux.
    Rack,
}

/// What the window is during fast recovery, where transmissions are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryWindow {
    /// ssthresh at once (RFC 6675).
    Ssthresh,
    /// Proportional rate reduction with the conservative bound (RFC 6937 PRR-CRB).
    PrrCrb,
    /// With the slow-start bound (RFC 6937 PRR-SSRB).
    PrrSsrb,
    /// With the bound chosen per ACK (draft-ietf-tcpm-prr-rfc6937bis, Linux).
    Prr,
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

/// When data in order are acknowledged. What leaves or fills a hole, and old data, are
/// acknowledged at once (RFC 5681 section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckRule {
    /// Every `ack_every`-th segment, or after `delayed_ack_timeout`.
    EveryNth,
    /// Linux: at once for the first 16 segments (fewer with a small window) unless both ends talk,
    /// and again after old data or a long silence; otherwise when more than a full segment is
    /// waiting, or after a delay between 40 ms and `delayed_ack_timeout` that follows the gaps
    /// between segments.
    Linux,
}

/// Explicit congestion notification: whether a connection asks for it, and how a receiver reports
/// marks. Data are sent as ECT(0); SYNs, pure ACKs, probes and retransmissions are not ECN-capable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnMode {
    /// None.
    Off,
    /// RFC 3168: ACKs carry ECE from a mark on until the sender says that it has reduced.
    Rfc3168,
    /// RFC 8257: ECE tells of each packet whether it was marked.
    Dctcp,
    /// RFC 9768: ACKs carry the low three bits of a count of marked packets.
    AccEcn,
}

/// Initial congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// This many segments.
    Segments(u32),
    /// The table of RFC 5681 section 3.1.
    Rfc5681,
}

/// Initial slow-start threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialSsthresh {
    /// Arbitrarily high, so that only loss ends the first slow start (RFC 5681 section 3.1).
    Unlimited,
    /// This many bytes.
    Bytes(u64),
    /// This many segments.
    Segments(u32),
    /// The whole segments of the receive window (ns-2, whose `ssthresh_` starts as `window_`).
    ReceiveWindow,
}

impl TcpConfig {
    /// The clock of the timestamps option (RFC 7323 section 5.4); it never shows 0.
    pub(crate) fn timestamp(&self, now: Time) -> u32 {
        let ticks = |tick: Span| ((now.0 / tick.0.max(1)) as u32).wrapping_add(1).max(1);
        self.timestamps.map_or(0, ticks)
    }

    /// The scale of windows, offered where the buffer needs it: the smallest with which it fits into 16
    /// bits (RFC 7323 section 2.3: at most 14). Without handshake windows travel exact.
    pub fn window_scale(&self) -> Option<u8> {
        let offered = self.window_scaling && self.handshake != Handshake::OneWay;
        let fits = |shift: &u8| self.receive_window >> shift <= 0xFFFF;
        let scale = (0..14).find(fits).unwrap_or(14);
        (offered && scale > 0).then_some(scale)
    }

    /// Bytes of the IP and TCP headers of a segment without SACK blocks.
    pub fn header_bytes(&self) -> u32 {
        let stamped = self.timestamps.is_some() && self.option_bytes;
        // Ten bytes and two of padding (RFC 7323 appendix A).
        u32::from(self.header) + if stamped { 12 } else { 0 }
    }

    /// The receive buffer at the start, in bytes.
    pub fn initial_receive_window(&self) -> u64 {
        self.receive_window_moderation
            .map_or(self.receive_window, |initial| {
                initial.min(self.receive_window)
            })
    }

    /// The window that a SYN offers, in bytes.
    pub fn syn_window(&self) -> u64 {
        let all = self.initial_receive_window();
        // Two segments: a receiver that acknowledges every second waits for no timer.
        self.receive_window_pace
            .map_or(all, |_| all.min(2 * u64::from(self.mss)))
    }

    /// The initial slow-start threshold in bytes, `u64::MAX` if there is none.
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
    /// The window in bytes for segments of `mss` bytes.
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
    /// How samples become a timeout.
    pub estimator: RttEstimatorConfig,
}

/// How round-trip samples become a timeout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RttEstimatorConfig {
    /// RFC 6298: the first sample R sets SRTT = R and RTTVAR = R/2; later ones move them by the
    /// gains; RTO = SRTT + max(G, 4·RTTVAR).
    Rfc6298 {
        /// Gain of the mean, α: 1/8 in the RFC.
        alpha: f64,
        /// Gain of the deviation, β: 1/4 in the RFC.
        beta: f64,
    },
    /// INET 2010/11: no special first sample; SRTT starts at 0 and RTTVAR at 0.75 s, both move by
    /// 1/8 of the new error; RTO = SRTT + 4·RTTVAR.
    Inet2011,
    /// Linux: integers in microseconds; the minimum bounds the margin above SRTT, which follows the
    /// largest deviation of each round trip.
    Linux,
    /// ns-2.35: whole ticks of the granularity in fixed point (`T_SRTT_BITS` 3, `T_RTTVAR_BITS`
    /// 2); the minimum applies before the backoff factor.
    Ns2Ticks,
}

/// How a connection opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// SYN, SYN-ACK, ACK.
    ThreeWay,
    /// ns-2's one-way agents: a SYN without payload, acknowledged like data; then data. Windows
    /// travel unscaled and exact.
    OneWay,
}

/// The start of a connection whose SYN or SYN-ACK was sent more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynLossRule {
    /// One segment; ssthresh stays (RFC 5681 section 3.1).
    Rfc5681,
    /// One timeout is forgiven; after more, one segment (Linux). ssthresh stays.
    Linux,
    /// `tsl_initial_window` and `tsl_ssthresh` segments: the start-up of a study of RED that varies
    /// both. With 1 and 2 it is what ns-2 does.
    Tsl,
}

/// Points on which real stacks and simulators differ. Each is one decision at one place of the
/// code; the profiles are tables of these and nothing else.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches, each named"
)]
pub struct Details {
    /// Whether the window is kept in whole bytes or as a real number.
    pub window_arithmetic: WindowArithmetic,
    /// What a loss halves.
    pub decrease_basis: DecreaseBasis,
    /// Cut ssthresh down to whole segments, and leave the window itself uncut (ns-2).
    pub whole_segment_ssthresh: bool,
    /// Most segments that an ACK adds to the window in slow start with byte counting (RFC 3465's L;
    /// one after a timeout). None: all that it acknowledges up to ssthresh, and the rest counts
    /// towards congestion avoidance (Linux).
    pub slow_start_limit: Option<u32>,
    /// Whose CUBIC.
    pub cubic_variant: CubicVariant,
    /// Grow the window only if it was in use: in slow start when less than twice the most that was
    /// in flight, else when it kept data back (RFC 7661 section 4.1; Linux's rule).
    pub grow_only_when_limited: bool,
    /// What counts as a duplicate ACK when no SACK information decides.
    pub duplicate_acks: DuplicateAckRule,
    /// When Tahoe and Reno refuse a fast retransmit because the ACK covers no more than was sent
    /// when the last recovery or timeout began. NewReno always refuses (RFC 6582 section 3.2 step 2).
    pub fast_retransmit_guard: FastRetransmitGuard,
    /// Forget the guard at the first new ACK outside recovery (INET).
    pub new_ack_lifts_guard: bool,
    /// Restart the retransmission timer when a fast retransmit begins (ns-2, BSD). RFC 6298
    /// restarts it for new ACKs only.
    pub fast_retransmit_restarts_timer: bool,
    /// Which partial ACKs of NewReno restart the retransmission timer.
    pub partial_ack_timer: PartialAckTimer,
    /// A partial ACK of NewReno starts the count of duplicate ACKs again, so that the next three
    /// inflate nothing (INET).
    pub partial_ack_resets_duplicates: bool,
    /// A partial ACK of NewReno takes back all inflation, not just what it acknowledges (ns-2 before
    /// 2003: `partial_window_deflation_` off).
    pub partial_ack_ends_inflation: bool,
    /// The window after NewReno's full ACK.
    pub recovery_exit: RecoveryExit,
    /// At most this many segments per ACK during fast recovery, the retransmission not counted
    /// (ns-2's NewReno: 2).
    pub recovery_burst: Option<u32>,
    /// Limited transmit as ns-2 does it: one segment per duplicate ACK, even if it is old data
    /// that go-back-N sends again.
    pub limited_transmit_old_data: bool,
    /// How SACK information steers recovery.
    pub sack_variant: SackVariant,
    /// RFC 6675 `NextSeg` rule 4.
    pub rescue_retransmission: bool,
    /// Forget SACK information at a timeout (RFC 2018 section 8); otherwise go-back-N skips what
    /// the receiver has (RFC 6675 section 5.1).
    pub timeout_clears_scoreboard: bool,
    /// Every timeout lowers ssthresh; otherwise only the first for the same data (RFC 5681
    /// section 3.1).
    pub every_timeout_lowers_ssthresh: bool,
    /// Whether a timeout forgets the duplicate ACKs counted.
    pub duplicate_acks_at_timeout: DuplicateAcksAtTimeout,
    /// What silence does to the window.
    pub idle_restart: IdleRestart,
    /// Which transmissions may be timed.
    pub timing: TimingRule,
    /// Take a round-trip sample from the SYN.
    pub handshake_sample: bool,
    /// Lower bound of the RTO when data start after a SYN was lost (RFC 6298 section 5.7: 3 s).
    pub rto_after_syn_loss: Option<Span>,
    /// Segments leave in units of what the pace sends in about a millisecond, two at least; less than
    /// a unit waits for the next ACK if that is near (Linux: TSO autosizing and deferral). With `rack`.
    pub segmentation_offload: bool,
    /// So many timeouts of the SYN double no timeout (Linux 6.5 and later: 4); those of the SYN-ACK
    /// always do.
    pub linear_syn_timeouts: u32,
    /// Initial window after a lost SYN or SYN-ACK, in segments, by [`SynLossRule::Tsl`].
    pub tsl_initial_window: u32,
    /// Slow-start threshold after a lost SYN or SYN-ACK, in segments, by [`SynLossRule::Tsl`].
    pub tsl_ssthresh: u32,
    /// Acknowledge with pure ACKs only, never with a data segment (INET).
    pub separate_acks: bool,
    /// A segment from below the receive window is answered with an ACK and otherwise ignored
    /// (RFC 793, INET), unless our own oldest data have just timed out; without the switch its
    /// acknowledgement always counts.
    pub strict_ack_acceptance: bool,
    /// Pure ACKs carry SND.NXT, which go-back-N pulls back (INET), instead of the highest sequence
    /// number sent (BSD, Linux).
    pub acks_carry_snd_nxt: bool,
    /// How the receiver opens its window.
    pub receive_window_rule: ReceiveWindowRule,
    /// First interval of zero-window probes; `None` is the current RTO (RFC 1122 section 4.2.2.17).
    pub persist_initial: Option<Span>,
    /// Most SACK blocks in an ACK, at most 4.
    pub sack_blocks: u8,
    /// Bytes that `n` SACK blocks add to a packet beyond 8·n, if any (2, padded: 4).
    pub sack_option_overhead: u8,
}

/// Whether the congestion window is kept in whole bytes or as a real number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowArithmetic {
    /// Whole bytes; per-ACK growth is max(1, ⌊MSS²/cwnd⌋) (RFC 5681 equation 3).
    WholeBytes,
    /// Real numbers; per-ACK growth is MSS²/cwnd (ns-2, in packets: 1/cwnd).
    Real,
    /// Real numbers, but a loss leaves whole segments (ns-2 before 2006: `precisionReduce_` off).
    RealWholeDecrease,
}

/// What a loss halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecreaseBasis {
    /// Data outstanding without those sent by limited transmit (RFC 5681 equation 4 and section 3.2).
    FlightSize,
    /// All data outstanding (the examples of RFC 6937 section 3.1 count so).
    Outstanding,
    /// All data outstanding less a segment for each duplicate ACK (ns-3 without SACK).
    LessDuplicates,
    /// cwnd (Linux).
    CongestionWindow,
    /// min(cwnd, receive window), the window as it was before any inflation (ns-2).
    Window,
    /// min(cwnd, receive window), inflation included (INET).
    InflatedWindow,
}

/// What counts as a duplicate ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicateAckRule {
    /// RFC 5681 section 2: data outstanding, no payload, no SYN or FIN, same acknowledgement, same
    /// window.
    Rfc5681,
    /// INET: as the RFC without the window; anything else that acknowledges nothing new resets the count.
    NoPayload,
    /// ns-2: every ACK that repeats the highest acknowledgement.
    Any,
}

/// When Tahoe and Reno refuse a fast retransmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastRetransmitGuard {
    /// Never (INET's Reno).
    Never,
    /// While go-back-N after a timeout has not covered what was sent before it.
    AfterTimeout,
    /// After a timeout and after a fast retransmit, but not while only the SYN is acknowledged (ns-2's
    /// `bugFix_`).
    Always,
}

/// Whether a timeout forgets the duplicate ACKs counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicateAcksAtTimeout {
    /// The count starts again.
    Forgotten,
    /// Only Tahoe goes on counting (ns-2).
    KeptByTahoe,
    /// All go on counting; Reno, whose recovery is a count of three or more, stays in it (INET).
    Kept,
}

/// Which partial ACKs of NewReno restart the retransmission timer (RFC 6582 section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialAckTimer {
    /// Only the first ("impatient").
    First,
    /// Every one ("slow but steady").
    Every,
}

/// The window after fast recovery (RFC 6582 section 3.2 step 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryExit {
    /// ssthresh.
    Ssthresh,
    /// ssthresh, and one step of growth for the ACK that ends recovery (ns-3).
    SsthreshAndGrowth,
    /// min(ssthresh, max(FlightSize, SMSS) + SMSS): no burst. Reno leaves with ssthresh.
    FlightPlusOne,
    /// min(ssthresh, FlightSize + SMSS) (INET). Reno leaves with ssthresh.
    BareFlightPlusOne,
    /// Whatever partial ACKs left of it, and one step of growth (ns-2).
    Unchanged,
}

/// How SACK information steers recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackVariant {
    /// RFC 6675: `IsLost`, `SetPipe`, `NextSeg`.
    Rfc6675,
    /// ns-2.35's Sack1: pipe starts at the flight less three segments, falls by one segment per
    /// ACK and by two per partial ACK; everything unSACKed below the highest SACKed segment counts
    /// as lost at once and is sent once.
    Ns2Sack1,
}

/// How the receiver opens its window. Neither ever takes back what it offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveWindowRule {
    /// The right edge moves by at least min(buffer/2, MSS) (RFC 1122 section 4.2.3.3).
    Rfc1122,
    /// The free buffer, out-of-order data counted as used; zero when it is less than a segment and
    /// than a quarter of the buffer (INET).
    Inet2011,
}

/// What silence does to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleRestart {
    /// Nothing.
    Never,
    /// After an RTO without sending and nothing outstanding: min(initial window, cwnd) (RFC 5681
    /// section 4.1).
    InitialWindow,
    /// With nothing outstanding, half for each RTO since the last sending, down to the initial
    /// window; a window not used for an RTO shrinks half way to what was (RFC 2861, Linux). Without
    /// records of transmissions as `InitialWindow`.
    Halved,
    /// An RTO after the last new ACK with nothing outstanding: one segment (ns-2, whose timer keeps
    /// running).
    OneSegment,
    /// More than an RTO since data were last sent by the window, outstanding or not: one segment,
    /// without what fast recovery had added (INET).
    OneSegmentSinceSending,
}

/// Which transmissions may be timed. One is timed at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimingRule {
    /// New data outside fast recovery; a retransmission of any kind stops the clock (Karn).
    OutsideRecovery,
    /// New data; entering recovery and timeouts stop the clock; a partial ACK of NewReno that
    /// covers the timed segment gives no sample (ns-2).
    NewData,
    /// Whatever the window lets out, go-back-N included; only a timeout stops the clock (INET).
    Anything,
}
