//! The named profiles, which are tables of switches.

use goodqueue_types::{Span, words};

use crate::cc::{CubicConfig, PragueConfig};
use crate::config::{
    AckRule, CongestionControlConfig, CubicVariant, DecreaseBasis, Details, DuplicateAckRule,
    DuplicateAcksAtTimeout, EcnMode, FastRetransmitGuard, Handshake, IdleRestart, InitialSsthresh,
    InitialWindow, LossDetection, PartialAckTimer, ReceiveWindowRule, Recovery, RecoveryExit,
    RecoveryWindow, RtoConfig, RttEstimatorConfig, SackVariant, SynLossRule, TcpConfig, TimingRule,
    WindowArithmetic,
};

words! {
    /// Profiles by name.
    pub enum Profile {
        /// Present standards, without timestamps.
        Rfc = "rfc",
        /// TCP of the INET framework for OMNeT++, releases of July 2010 and February 2011.
        Inet2011 = "inet2011",
        /// ns-2.35's one-way agents and sinks with their default settings.
        Ns2 = "ns2",
        /// Linux 6.18 with default settings. Timers are exact and not rounded to ticks.
        Linux = "linux",
        /// The `linux` profile with Prague, accurate ECN and ECT(1) (L4S).
        Prague = "prague",
    }
}

impl TcpConfig {
    /// Returns the settings of a profile.
    pub fn profile(profile: Profile) -> Self {
        match profile {
            Profile::Rfc => rfc(),
            Profile::Inet2011 => inet2011(),
            Profile::Ns2 => ns2(),
            Profile::Linux => linux(),
            Profile::Prague => prague(),
        }
    }
}

/// Returns the profile of the standards track, which the declarations of the switches contain.
fn rfc() -> TcpConfig {
    TcpConfig::default()
}

/// Returns the profile read from INET's source (`TCPConnection`, `TCPBaseAlg`, `TCPReno`,
/// `TCPNewReno`), the same in the releases of 23 July 2010 and 25 February 2011. From 1.99.0 (March
/// 2011) on a pure ACK from below the window counts if it acknowledges something new.
fn inet2011() -> TcpConfig {
    TcpConfig {
        recovery: Recovery::Reno,
        mss: 536,
        initial_window: InitialWindow::Segments(1),
        initial_ssthresh: InitialSsthresh::Bytes(65535),
        receive_window: 14 * 536,
        byte_counting: false,
        limited_transmit: false,
        ack_every: 1,
        // INET's nagleEnabled only holds back segments cut by the window, which is silly-window
        // avoidance. The tail of the data always leaves at once.
        nagle: false,
        rto: RtoConfig {
            initial: Span::from_secs(3),
            minimum: Span::from_secs(1),
            maximum: Span::from_secs(240),
            granularity: Span::ZERO,
            estimator: RttEstimatorConfig::Inet2011,
            ..rfc().rto
        },
        details: Details {
            decrease_basis: DecreaseBasis::InflatedWindow,
            grow_only_when_limited: false,
            duplicate_acks: DuplicateAckRule::NoPayload,
            fast_retransmit_guard: FastRetransmitGuard::Never,
            new_ack_lifts_guard: true,
            partial_ack_timer: PartialAckTimer::Every,
            partial_ack_resets_duplicates: true,
            recovery_exit: RecoveryExit::BareFlightPlusOne,
            every_timeout_lowers_ssthresh: true,
            duplicate_acks_at_timeout: DuplicateAcksAtTimeout::Kept,
            idle_restart: IdleRestart::OneSegmentSinceSending,
            timing: TimingRule::Anything,
            handshake_sample: false,
            rto_after_syn_loss: None,
            separate_acks: true,
            strict_ack_acceptance: true,
            acks_carry_snd_nxt: true,
            receive_window_rule: ReceiveWindowRule::Inet2011,
            persist_initial: Some(Span::from_secs(5)),
            ..rfc().details
        },
        ..rfc()
    }
}

/// Returns the profile read from ns-2.35's source (`tcp.cc`, `tcp-newreno.cc`, `tcp-sack1.cc`,
/// `tcp-sink.cc`) and `ns-default.tcl`. Sizes count packets there: packet k ≥ 1 is our bytes 1 + (k
/// − 1)·MSS onward.
fn ns2() -> TcpConfig {
    TcpConfig {
        recovery: Recovery::Tahoe,
        mss: 1000,
        initial_window: InitialWindow::Segments(2),
        initial_ssthresh: InitialSsthresh::ReceiveWindow,
        // In ns-2 `window_` is 20 packets.
        receive_window: 20_000,
        byte_counting: false,
        ack_every: 1,
        nagle: false,
        rto: RtoConfig {
            initial: Span::from_secs(3),
            minimum: Span::from_millis(200),
            maximum: Span::from_secs(60),
            granularity: Span::from_millis(10),
            estimator: RttEstimatorConfig::Ns2Ticks,
            ..rfc().rto
        },
        handshake: Handshake::OneWay,
        // ns-2 treats a timeout of the SYN like any other: a window of one halves to the minimum.
        syn_loss: SynLossRule::Tsl,
        details: Details {
            window_arithmetic: WindowArithmetic::Real,
            decrease_basis: DecreaseBasis::Window,
            whole_segment_ssthresh: true,
            grow_only_when_limited: false,
            duplicate_acks: DuplicateAckRule::Any,
            fast_retransmit_guard: FastRetransmitGuard::Always,
            fast_retransmit_restarts_timer: true,
            recovery_exit: RecoveryExit::Unchanged,
            recovery_burst: Some(2),
            limited_transmit_old_data: true,
            sack_variant: SackVariant::Ns2Sack1,
            rescue_retransmission: false,
            timeout_clears_scoreboard: true,
            every_timeout_lowers_ssthresh: true,
            duplicate_acks_at_timeout: DuplicateAcksAtTimeout::KeptByTahoe,
            idle_restart: IdleRestart::OneSegment,
            timing: TimingRule::NewData,
            rto_after_syn_loss: None,
            sack_blocks: 3,
            sack_option_overhead: 0,
            ..rfc().details
        },
        ..rfc()
    }
}

/// Returns the profile read from and measured on Linux 6.18 with its default settings (HZ 250).
fn linux() -> TcpConfig {
    TcpConfig {
        congestion_control: CongestionControlConfig::Cubic(CubicConfig::default()),
        // The MSS is 1500 bytes less headers and timestamps.
        mss: 1448,
        // tcp_rmem has a maximum of 6 MiB and starts at 128 KiB, of which half is for the window.
        receive_window: 6 << 20,
        receive_window_moderation: Some(64 << 10),
        ack_rule: AckRule::Linux,
        dsack: true,
        timestamps: Some(Span::from_millis(1)),
        loss_detection: LossDetection::Rack,
        records: true,
        tail_loss_probe: true,
        recovery_window: RecoveryWindow::Prr,
        frto: true,
        undo: true,
        adaptive_reordering: true,
        syn_loss: SynLossRule::Linux,
        rto: RtoConfig {
            minimum: Span::from_millis(200),
            maximum: Span::from_secs(120),
            estimator: RttEstimatorConfig::Linux,
            ..rfc().rto
        },
        details: Details {
            decrease_basis: DecreaseBasis::CongestionWindow,
            whole_segment_ssthresh: true,
            idle_restart: IdleRestart::Halved,
            slow_start_limit: None,
            cubic_variant: CubicVariant::Linux,
            segmentation_offload: true,
            sack_compression: true,
            linear_syn_timeouts: 4,
            ..rfc().details
        },
        ..rfc()
    }
}

/// Returns the profile of L4S senders (RFC 9331).
fn prague() -> TcpConfig {
    TcpConfig {
        congestion_control: CongestionControlConfig::Prague(PragueConfig::default()),
        ecn: EcnMode::AccEcn,
        l4s: true,
        // The MSS is that of Linux less the AccECN option.
        mss: linux().mss - 12,
        ..linux()
    }
}
