//! TCP's switches: each is named once here, for reading and for writing.

use crate::congestion;
use crate::error::Checked;
use crate::reader::{Field, Reader};
use crate::setting::{ReadFrom, Setting, Visitor, WriteTo, words};
use crate::spec::{DETAILS, Kind, RTO, TCP};
use crate::units::format_size;
use goodqueue_tcp::{
    AckRule, CubicVariant, DecreaseBasis, Details, DuplicateAckRule, DuplicateAcksAtTimeout,
    EcnMode, FastRetransmitGuard, Handshake, IdleRestart, InitialSsthresh, InitialWindow,
    LossDetection, PartialAckTimer, Profile, ReceiveWindowRule, Recovery, RecoveryExit,
    RecoveryWindow, RtoConfig, RttEstimatorConfig, SackVariant, SlowStart, SynLossRule, TcpConfig,
    TimingRule, WindowArithmetic,
};
use goodqueue_types::Span;

words! {
    Profile { "rfc" = Rfc, "inet2011" = Inet2011, "ns2" = Ns2, "linux" = Linux }
    Recovery { "tahoe" = Tahoe, "reno" = Reno, "newreno" = NewReno, "sack" = Sack }
    AckRule { "every_nth" = EveryNth, "linux" = Linux }
    EcnMode { "off" = Off, "rfc3168" = Rfc3168, "dctcp" = Dctcp, "accecn" = AccEcn }
    SynLossRule { "rfc5681" = Rfc5681, "linux" = Linux, "tsl" = Tsl }
    Handshake { "three_way" = ThreeWay, "one_way" = OneWay }
    WindowArithmetic { "whole_bytes" = WholeBytes, "real" = Real, "real_whole_decrease" = RealWholeDecrease }
    LossDetection { "duplicate_acks" = DuplicateAcks, "rack" = Rack }
    RecoveryWindow { "ssthresh" = Ssthresh, "prr_crb" = PrrCrb, "prr_ssrb" = PrrSsrb, "prr" = Prr }
    DecreaseBasis {
        "flight_size" = FlightSize,
        "outstanding" = Outstanding,
        "less_duplicates" = LessDuplicates,
        "congestion_window" = CongestionWindow,
        "window" = Window,
        "inflated_window" = InflatedWindow,
    }
    DuplicateAckRule { "rfc5681" = Rfc5681, "no_payload" = NoPayload, "any" = Any }
    PartialAckTimer { "first" = First, "every" = Every }
    RecoveryExit {
        "ssthresh" = Ssthresh,
        "ssthresh_and_growth" = SsthreshAndGrowth,
        "flight_plus_one" = FlightPlusOne,
        "bare_flight_plus_one" = BareFlightPlusOne,
        "unchanged" = Unchanged,
    }
    FastRetransmitGuard { "never" = Never, "after_timeout" = AfterTimeout, "always" = Always }
    ReceiveWindowRule { "rfc1122" = Rfc1122, "inet2011" = Inet2011 }
    SackVariant { "rfc6675" = Rfc6675, "ns2_sack1" = Ns2Sack1 }
    DuplicateAcksAtTimeout { "forgotten" = Forgotten, "kept_by_tahoe" = KeptByTahoe, "kept" = Kept }
    IdleRestart {
        "never" = Never,
        "initial_window" = InitialWindow,
        "halved" = Halved,
        "one_segment" = OneSegment,
        "one_segment_since_sending" = OneSegmentSinceSending,
    }
    SlowStart {
        "auto" = Auto,
        "classic" = Classic,
        "hystart" = HyStart,
        "hystart_plus_plus" = HyStartPlusPlus,
    }
    CubicVariant { "rfc9438" = Rfc9438, "linux" = Linux }
    TimingRule { "outside_recovery" = OutsideRecovery, "new_data" = NewData, "anything" = Anything }
}

impl Setting for InitialWindow {
    fn read(field: &Field<'_>) -> Checked<Self> {
        Ok(match Option::<u32>::read(field)? {
            Some(segments) => Self::Segments(segments),
            None => Self::Rfc5681,
        })
    }
    fn write(&self, kind: Kind) -> String {
        match self {
            Self::Segments(segments) => Some(*segments).write(kind),
            Self::Rfc5681 => None::<u32>.write(kind),
        }
    }
}

impl Setting for InitialSsthresh {
    fn read(field: &Field<'_>) -> Checked<Self> {
        match field.as_text() {
            Some("unlimited") => Ok(Self::Unlimited),
            Some("receive_window") => Ok(Self::ReceiveWindow),
            Some(text) if text.ends_with('p') => Ok(Self::Segments(field.packets()? as u32)),
            _ => field.size().map(Self::Bytes),
        }
    }
    fn write(&self, _: Kind) -> String {
        match self {
            Self::Unlimited => "\"unlimited\"".to_owned(),
            Self::ReceiveWindow => "\"receive_window\"".to_owned(),
            Self::Segments(segments) => format!("\"{segments}p\""),
            Self::Bytes(bytes) => format!("\"{}\"", format_size(*bytes)),
        }
    }
}

// The configuration is destructured field by field, so that the compiler reports a switch without a
// key.

fn visit_main(v: &mut impl Visitor, c: &mut TcpConfig) -> Checked<()> {
    let TcpConfig {
        slow_start,
        recovery,
        mss,
        initial_window,
        initial_ssthresh,
        receive_window,
        receive_window_moderation,
        receive_window_pace,
        window_scaling,
        byte_counting,
        limited_transmit,
        duplicate_ack_threshold,
        ack_rule,
        ack_every,
        opening_acks,
        delayed_ack_timeout,
        dsack,
        nagle,
        timestamps,
        loss_detection,
        tail_loss_probe,
        recovery_window,
        frto,
        undo,
        adaptive_reordering,
        pacing,
        header,
        option_bytes,
        ecn,
        l4s,
        handshake,
        syn_loss,
        congestion_control: _,
        rto: _,
        details: _,
    } = c;
    v.visit("slow_start", slow_start)?;
    v.visit("recovery", recovery)?;
    v.visit("mss", mss)?;
    v.visit("initial_window", initial_window)?;
    v.visit("initial_ssthresh", initial_ssthresh)?;
    v.visit("receive_window", receive_window)?;
    v.visit("receive_window_moderation", receive_window_moderation)?;
    v.visit("receive_window_pace", receive_window_pace)?;
    v.visit("window_scaling", window_scaling)?;
    v.visit("byte_counting", byte_counting)?;
    v.visit("limited_transmit", limited_transmit)?;
    v.visit("duplicate_ack_threshold", duplicate_ack_threshold)?;
    v.visit("ack_rule", ack_rule)?;
    v.visit("ack_every", ack_every)?;
    v.visit("opening_acks", opening_acks)?;
    v.visit("delayed_ack_timeout", delayed_ack_timeout)?;
    v.visit("dsack", dsack)?;
    v.visit("nagle", nagle)?;
    v.visit("timestamps", timestamps)?;
    v.visit("loss_detection", loss_detection)?;
    v.visit("tail_loss_probe", tail_loss_probe)?;
    v.visit("recovery_window", recovery_window)?;
    v.visit("frto", frto)?;
    v.visit("undo", undo)?;
    v.visit("adaptive_reordering", adaptive_reordering)?;
    v.visit("pacing", pacing)?;
    v.visit("header", header)?;
    v.visit("option_bytes", option_bytes)?;
    v.visit("ecn", ecn)?;
    v.visit("l4s", l4s)?;
    v.visit("handshake", handshake)?;
    v.visit("syn_loss", syn_loss)
}

fn visit_rto(v: &mut impl Visitor, c: &mut TcpConfig) -> Checked<()> {
    let RtoConfig {
        initial,
        minimum,
        maximum,
        granularity,
        estimator: _,
    } = &mut c.rto;
    v.visit("initial", initial)?;
    v.visit("minimum", minimum)?;
    v.visit("maximum", maximum)?;
    v.visit("granularity", granularity)
}

fn visit_details(v: &mut impl Visitor, c: &mut TcpConfig) -> Checked<()> {
    let Details {
        window_arithmetic,
        decrease_basis,
        whole_segment_ssthresh,
        slow_start_limit,
        cubic_variant,
        grow_only_when_limited,
        duplicate_acks,
        fast_retransmit_guard,
        new_ack_lifts_guard,
        fast_retransmit_restarts_timer,
        partial_ack_timer,
        partial_ack_resets_duplicates,
        partial_ack_ends_inflation,
        recovery_exit,
        recovery_burst,
        limited_transmit_old_data,
        sack_variant,
        rescue_retransmission,
        timeout_clears_scoreboard,
        every_timeout_lowers_ssthresh,
        duplicate_acks_at_timeout,
        idle_restart,
        timing,
        handshake_sample,
        rto_after_syn_loss,
        segmentation_offload,
        linear_syn_timeouts,
        tsl_initial_window,
        tsl_ssthresh,
        separate_acks,
        strict_ack_acceptance,
        acks_carry_snd_nxt,
        receive_window_rule,
        persist_initial,
        sack_blocks,
        sack_option_overhead,
    } = &mut c.details;
    v.visit("window_arithmetic", window_arithmetic)?;
    v.visit("decrease_basis", decrease_basis)?;
    v.visit("whole_segment_ssthresh", whole_segment_ssthresh)?;
    v.visit("slow_start_limit", slow_start_limit)?;
    v.visit("cubic_variant", cubic_variant)?;
    v.visit("grow_only_when_limited", grow_only_when_limited)?;
    v.visit("duplicate_acks", duplicate_acks)?;
    v.visit("fast_retransmit_guard", fast_retransmit_guard)?;
    v.visit("new_ack_lifts_guard", new_ack_lifts_guard)?;
    v.visit(
        "fast_retransmit_restarts_timer",
        fast_retransmit_restarts_timer,
    )?;
    v.visit("partial_ack_timer", partial_ack_timer)?;
    v.visit(
        "partial_ack_resets_duplicates",
        partial_ack_resets_duplicates,
    )?;
    v.visit("partial_ack_ends_inflation", partial_ack_ends_inflation)?;
    v.visit("recovery_exit", recovery_exit)?;
    v.visit("recovery_burst", recovery_burst)?;
    v.visit("limited_transmit_old_data", limited_transmit_old_data)?;
    v.visit("sack_variant", sack_variant)?;
    v.visit("rescue_retransmission", rescue_retransmission)?;
    v.visit("timeout_clears_scoreboard", timeout_clears_scoreboard)?;
    v.visit(
        "every_timeout_lowers_ssthresh",
        every_timeout_lowers_ssthresh,
    )?;
    v.visit("duplicate_acks_at_timeout", duplicate_acks_at_timeout)?;
    v.visit("idle_restart", idle_restart)?;
    v.visit("timing", timing)?;
    v.visit("handshake_sample", handshake_sample)?;
    v.visit("rto_after_syn_loss", rto_after_syn_loss)?;
    v.visit("segmentation_offload", segmentation_offload)?;
    v.visit("linear_syn_timeouts", linear_syn_timeouts)?;
    v.visit("tsl_initial_window", tsl_initial_window)?;
    v.visit("tsl_ssthresh", tsl_ssthresh)?;
    v.visit("separate_acks", separate_acks)?;
    v.visit("strict_ack_acceptance", strict_ack_acceptance)?;
    v.visit("acks_carry_snd_nxt", acks_carry_snd_nxt)?;
    v.visit("receive_window_rule", receive_window_rule)?;
    v.visit("persist_initial", persist_initial)?;
    v.visit("sack_blocks", sack_blocks)?;
    v.visit("sack_option_overhead", sack_option_overhead)
}

/// Reads the configuration of a flow: its profile, then `[tcp]`, then its own table.
pub(crate) fn read(common: Option<&Reader<'_>>, own: Option<&Reader<'_>>) -> Checked<TcpConfig> {
    let mut profile = Profile::Rfc;
    for table in [common, own].into_iter().flatten() {
        if let Some(field) = table.get("profile") {
            profile = Profile::read(&field)?;
        }
    }
    let mut config = TcpConfig::profile(profile);
    for table in [common, own].into_iter().flatten() {
        read_table(table, &mut config)?;
        check(table, &config)?;
    }
    Ok(config)
}

fn read_table(table: &Reader<'_>, config: &mut TcpConfig) -> Checked<()> {
    congestion::read(table, &mut config.congestion_control)?;
    visit_main(&mut ReadFrom(table), config)?;
    congestion::imply_ecn(table, config);
    if let Some(rto) = table.table("rto")? {
        visit_rto(&mut ReadFrom(&rto), config)?;
        read_estimator(&rto, &mut config.rto.estimator)?;
    }
    if let Some(details) = table.table("details")? {
        visit_details(&mut ReadFrom(&details), config)?;
    }
    Ok(())
}

fn read_estimator(table: &Reader<'_>, estimator: &mut RttEstimatorConfig) -> Checked<()> {
    match table.choice("estimator")? {
        Some("inet2011") => *estimator = RttEstimatorConfig::Inet2011,
        Some("linux") => *estimator = RttEstimatorConfig::Linux,
        Some("ns2_ticks") => *estimator = RttEstimatorConfig::Ns2Ticks,
        Some(_) => {
            *estimator = RttEstimatorConfig::Rfc6298 {
                alpha: 0.125,
                beta: 0.25,
            }
        }
        None => {}
    }
    for key in ["srtt_gain", "rttvar_gain"] {
        let Some(field) = table.get(key) else {
            continue;
        };
        let RttEstimatorConfig::Rfc6298 { alpha, beta } = estimator else {
            let help = format!("add estimator = \"rfc6298\", or leave {key} out");
            return Err(field.problem(format!("\"{key}\" belongs to rfc6298"), help));
        };
        *(if key == "srtt_gain" { alpha } else { beta }) = field.fraction()?;
    }
    Ok(())
}

/// Checks relations between switches.
fn check(table: &Reader<'_>, config: &TcpConfig) -> Checked<()> {
    if config.mss + u32::from(config.header) > 65_535 {
        let help = "IP packets have at most 65535 bytes: write a smaller mss";
        return Err(table.problem("mss", "segment and header exceed an IP packet", help));
    }
    congestion::check(table, config)?;
    check_guard(table, config)?;
    let rto = &config.rto;
    if rto.minimum > rto.maximum || rto.initial > rto.maximum {
        let message = "the timer's maximum is below its minimum or initial value";
        return Err(table.problem("rto", message, "write a larger \"maximum\""));
    }
    if rto.estimator == RttEstimatorConfig::Ns2Ticks && rto.granularity == Span::ZERO {
        let message = "the estimator \"ns2_ticks\" counts ticks, and \"granularity\" is 0";
        return Err(table.problem("rto", message, "write granularity = \"10ms\", as in ns-2"));
    }
    if config
        .details
        .rto_after_syn_loss
        .is_some_and(|rto_min| rto_min > rto.maximum)
    {
        let message = "\"details.rto_after_syn_loss\" is above the timer's maximum";
        return Err(table.problem("rto", message, "write a larger \"maximum\""));
    }
    Ok(())
}

/// Checks the guard against duplicate ACKs. A fast retransmit of data that had arrived is answered
/// by a duplicate ACK. If one duplicate suffices, that ACK must not start the next fast retransmit.
fn check_guard(table: &Reader<'_>, config: &TcpConfig) -> Checked<()> {
    let details = &config.details;
    let guarded = !details.new_ack_lifts_guard
        && (config.recovery == Recovery::NewReno
            || details.fast_retransmit_guard == FastRetransmitGuard::Always);
    let counts = matches!(config.recovery, Recovery::Reno | Recovery::NewReno);
    if config.duplicate_ack_threshold > 1 || guarded || !counts {
        return Ok(());
    }
    let message = "one duplicate ACK starts a fast retransmit, and its own duplicate the next";
    let help = "write duplicate_ack_threshold = 3, or details = { fast_retransmit_guard = \
                \"always\", new_ack_lifts_guard = false }";
    Err(table.problem("duplicate_ack_threshold", message, help))
}

/// Writes every switch as an inline TOML table that reads back the same.
pub(crate) fn write(config: &TcpConfig) -> String {
    let mut config = config.clone();
    let mut main = WriteTo::new(&TCP);
    congestion::write(&config.congestion_control, &mut main);
    let mut rto = WriteTo::new(&RTO);
    let mut details = WriteTo::new(&DETAILS);
    let visits = visit_main(&mut main, &mut config)
        .and_then(|()| visit_rto(&mut rto, &mut config))
        .and_then(|()| visit_details(&mut details, &mut config));
    debug_assert!(visits.is_ok(), "writing does not fail");
    match config.rto.estimator {
        RttEstimatorConfig::Inet2011 => rto.push("estimator", "\"inet2011\""),
        RttEstimatorConfig::Linux => rto.push("estimator", "\"linux\""),
        RttEstimatorConfig::Ns2Ticks => rto.push("estimator", "\"ns2_ticks\""),
        RttEstimatorConfig::Rfc6298 { alpha, beta } => {
            rto.push("estimator", "\"rfc6298\"");
            rto.push("srtt_gain", &format!("{alpha}"));
            rto.push("rttvar_gain", &format!("{beta}"));
        }
    }
    main.push("rto", &rto.inline());
    main.push("details", &details.inline());
    main.inline()
}
