//! Switches for details in which implementations differ, with the words that they choose from.

use super::FLAG;
use goodqueue_types::parameters::{Key, Kind, TIMER, integer, one_of, packets, size, words};
use goodqueue_types::{Span, parameters, words};

/// Key of a number of segments that may be unlimited.
const SEGMENTS: Key = one_of(&[
    Kind::Packets {
        min: 1,
        max: 1_000_000,
    },
    Kind::Choice(&["unlimited"]),
]);

parameters! {
    /// Details in which real stacks and simulators differ. Each is one decision at one place of the
    /// code. The profiles are tables of these decisions.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Details("details", "profile's") {
        /// Window in whole bytes (growth at least a byte per ACK, RFC 5681 equation 3) or as a real
        /// number, which a loss may leave at whole segments (ns-2 before 2006).
        window_arithmetic: WindowArithmetic = WindowArithmetic::WholeBytes
            => words::<WindowArithmetic>().example("real");
        /// Quantity that a loss halves.
        decrease_basis: DecreaseBasis = DecreaseBasis::FlightSize
            => words::<DecreaseBasis>().example("window")
            .doc("Amount that a loss halves: data outstanding without limited transmit's (RFC 5681), \
            all data outstanding, the same less a segment for each duplicate ACK (ns-3), the \
            window before inflation (ns-2), or the inflated window (INET).");
        /// Cut ssthresh to whole segments, not the window (ns-2).
        whole_segment_ssthresh: bool = false => FLAG;
        /// Most segments that an ACK adds in slow start with `byte_counting` (RFC 3465's L; 1 after
        /// a timeout). `unlimited`: all it acknowledges, exactly up to ssthresh (Linux).
        ///
        /// The rest of an ACK without limit counts towards congestion avoidance.
        slow_start_limit: Option<u32> = Some(2) => SEGMENTS.example("2p");
        /// Variant of CUBIC: RFC 9438's, or Linux's (shortest round trip, Reno estimate without
        /// section 4.3's faster part, a least growth).
        cubic_variant: CubicVariant = CubicVariant::Rfc9438
            => words::<CubicVariant>().example("linux");
        /// Grow the window only if it was in use (RFC 7661 section 4.1).
        ///
        /// The window is in use in slow start if it is less than twice the largest flight, and
        /// otherwise if it held data back (Linux's rule).
        grow_only_when_limited: bool = true => FLAG;
        /// Rule for duplicate ACKs if no SACK information decides.
        duplicate_acks: DuplicateAckRule = DuplicateAckRule::Rfc5681
            => words::<DuplicateAckRule>().example("any")
            .doc("Definition of a duplicate ACK: RFC 5681 section 2, the same without the window \
            (INET), or any ACK that repeats the highest (ns-2).");
        /// Condition under which Tahoe and Reno refuse a fast retransmit of data that the last
        /// recovery covered: never (INET), after a timeout, or after any recovery (ns-2's
        /// `bugFix_`). NewReno always refuses.
        ///
        /// The ACK then covers no more than was sent when the last recovery or timeout began (RFC
        /// 6582 section 3.2 step 2).
        fast_retransmit_guard: FastRetransmitGuard = FastRetransmitGuard::AfterTimeout
            => words::<FastRetransmitGuard>().example("never");
        /// Lift the guard of `fast_retransmit_guard` at the first new ACK outside recovery (INET).
        new_ack_lifts_guard: bool = false => FLAG;
        /// Restart the retransmission timer at a fast retransmit (ns-2, BSD).
        ///
        /// RFC 6298 has only new ACKs restart it.
        fast_retransmit_restarts_timer: bool = false => FLAG;
        /// Partial ACKs of NewReno that restart the timer (RFC 6582 section 4).
        partial_ack_timer: PartialAckTimer = PartialAckTimer::First
            => words::<PartialAckTimer>().example("every");
        /// A partial ACK of NewReno starts the count of duplicate ACKs again (INET).
        ///
        /// The next three duplicate ACKs then do not inflate the window.
        partial_ack_resets_duplicates: bool = false => FLAG;
        /// A partial ACK of NewReno removes the whole inflation of the window, not only the part
        /// that it acknowledges (ns-2 before 2003).
        ///
        /// ns-2: `partial_window_deflation_` off.
        partial_ack_ends_inflation: bool = false => FLAG;
        /// Window after fast recovery: ssthresh; ssthresh and a step of growth (ns-3); at most
        /// max(flight, MSS) + MSS; at most flight + MSS (INET); or unchanged (ns-2).
        recovery_exit: RecoveryExit = RecoveryExit::FlightPlusOne
            => words::<RecoveryExit>().example("ssthresh");
        /// Most segments per ACK during fast recovery beside the retransmission.
        ///
        /// 2 in ns-2.
        recovery_burst: Option<u32> = None => SEGMENTS.example("2p");
        /// Limited transmit sends old data, too, after go-back-N (ns-2).
        ///
        /// One segment per duplicate ACK, even if it is old data that go-back-N sends again.
        limited_transmit_old_data: bool = false => FLAG;
        /// Algorithm of recovery with SACK information.
        sack_variant: SackVariant = SackVariant::Rfc6675
            => words::<SackVariant>().example("rfc6675")
            .doc("How SACK information steers recovery.");
        /// Rule 4 of RFC 6675's NextSeg.
        rescue_retransmission: bool = true => FLAG;
        /// Forget SACK information at a timeout (RFC 2018 section 8).
        ///
        /// Otherwise go-back-N skips data that the receiver has (RFC 6675 section 5.1).
        timeout_clears_scoreboard: bool = false => FLAG;
        /// Every timeout lowers ssthresh, not only the first one for the same data (RFC 5681
        /// section 3.1).
        ///
        /// True if every timeout lowers ssthresh, false if only the first for the same data does.
        every_timeout_lowers_ssthresh: bool = false => FLAG;
        /// Effect of a timeout on the count of duplicate ACKs.
        duplicate_acks_at_timeout: DuplicateAcksAtTimeout = DuplicateAcksAtTimeout::Forgotten
            => words::<DuplicateAcksAtTimeout>().example("kept")
            .doc("Whether a timeout forgets the duplicate ACKs counted: yes, not in Tahoe (ns-2), \
            no (INET).");
        /// Effect of an idle time on the window.
        idle_restart: IdleRestart = IdleRestart::InitialWindow
            => words::<IdleRestart>().example("never")
            .doc("The window after silence: unchanged; the initial window after an RTO (RFC \
            5681 section 4.1); one segment an RTO after the last new ACK (ns-2); one segment \
            an RTO after sending (INET).");
        /// Transmissions that are timed: new data outside recovery (Karn), new data (ns-2), or
        /// anything (INET).
        timing: TimingRule = TimingRule::OutsideRecovery
            => words::<TimingRule>().example("anything");
        /// Take a round-trip sample from the SYN.
        handshake_sample: bool = true => FLAG;
        /// Lower bound of the RTO when data start after a SYN was lost (RFC 6298 section 5.7).
        rto_after_syn_loss: Option<Span> = Some(Span::from_secs(3))
            => one_of(&[TIMER, Kind::Choice(&["none"])]).example("3s");
        /// Send units of the data that the pacing rate sends in about a millisecond, at least two
        /// segments. Fewer data wait if an ACK is near (Linux); with `records` only.
        ///
        /// Linux: TSO autosizing and deferral.
        segmentation_offload: bool = false => FLAG;
        /// Delay ACKs that report the fourth and later segments behind a hole, by up to 1.1 ms, and
        /// send one for all; with `ack_rule = "linux"` and SACK only.
        ///
        /// Linux: `tcp_comp_sack_delay_ns`.
        sack_compression: bool = false => FLAG;
        /// Number of first timeouts of the SYN after which the timeout does not double (Linux 6.5 and
        /// later: 4).
        ///
        /// Timeouts of the SYN-ACK always do.
        linear_syn_timeouts: u32 = 0 => integer(0, 100).example("4");
        /// Window after a lost SYN or SYN-ACK with `syn_loss = "tsl"`.
        tsl_initial_window: u32 = 1 => packets(1, 10_000).example("3p");
        /// Slow-start threshold after a lost SYN or SYN-ACK with `syn_loss = "tsl"`.
        tsl_ssthresh: u32 = 2 => packets(1, 1_000_000).example("16p");
        /// Acknowledge with pure ACKs only (INET).
        separate_acks: bool = false => FLAG;
        /// Ignore, and answer, a pure ACK from below the receive window (RFC 793, INET).
        ///
        /// The ACK counts if the endpoint's oldest data have just timed out. If false, it always
        /// counts.
        strict_ack_acceptance: bool = false => FLAG;
        /// Pure ACKs carry SND.NXT, which go-back-N pulls back (INET).
        ///
        /// If false, they carry the highest sequence number sent (BSD, Linux).
        acks_carry_snd_nxt: bool = false => FLAG;
        /// Rule by which the receiver opens its window.
        receive_window_rule: ReceiveWindowRule = ReceiveWindowRule::Rfc1122
            => words::<ReceiveWindowRule>().example("inet2011")
            .doc("How the receiver opens its window: by at least min(buffer / 2, MSS) (RFC 1122 \
            section 4.2.3.3), or INET's free buffer, less out-of-order data, zero below a \
            segment and a quarter of the buffer.");
        /// First interval of zero-window probes (RFC 1122 section 4.2.2.17).
        ///
        /// `None` is the current RTO.
        persist_initial: Option<Span> = None
            => one_of(&[TIMER, Kind::Choice(&["rto"])]).example("5s");
        /// Most SACK blocks in an ACK.
        sack_blocks: u8 = 4 => integer(1, 4).example("3");
        /// Bytes that SACK blocks add to a packet beyond 8 each.
        ///
        /// 2, padded: 4.
        sack_option_overhead: u8 = 4 => size(0, 40).example("4B");
    }
}

words! {
    /// CUBIC of RFC 9438 or of Linux, which differ.
    pub enum CubicVariant {
        /// The target is the curve's value one smoothed round-trip time ahead. The Reno estimate
        /// grows by a segment per round trip beyond the window of the last loss (section 4.3).
        Rfc9438 = "rfc9438",
        /// The target is the curve's value one shortest round-trip time ahead. The Reno estimate
        /// keeps its slope. The window grows by at least a segment per hundred windows, and per
        /// twenty ACKs before the first loss.
        Linux = "linux",
    }

    /// Arithmetic of the congestion window: whole bytes or a real number.
    pub enum WindowArithmetic {
        /// Whole bytes. The growth per ACK is max(1, ⌊MSS²/cwnd⌋) (RFC 5681 equation 3).
        WholeBytes = "whole_bytes",
        /// Real numbers. The growth per ACK is MSS²/cwnd (ns-2, in packets: 1/cwnd).
        Real = "real",
        /// Real numbers, but a loss leaves whole segments (ns-2 before 2006: `precisionReduce_`
        /// off).
        RealWholeDecrease = "real_whole_decrease",
    }

    /// Quantity that a loss halves.
    pub enum DecreaseBasis {
        /// Outstanding data without those of limited transmit (RFC 5681 equation 4, section 3.2).
        FlightSize = "flight_size",
        /// All outstanding data (as in the examples of RFC 6937 section 3.1).
        Outstanding = "outstanding",
        /// All outstanding data less a segment for each duplicate ACK (ns-3 without SACK).
        LessDuplicates = "less_duplicates",
        /// The congestion window (Linux).
        CongestionWindow = "congestion_window",
        /// min(cwnd, receive window), without inflation (ns-2).
        Window = "window",
        /// min(cwnd, receive window), with inflation (INET).
        InflatedWindow = "inflated_window",
    }

    /// Rule for duplicate ACKs.
    pub enum DuplicateAckRule {
        /// RFC 5681 section 2: data are outstanding, and the ACK has no payload, no SYN or FIN, the
        /// same acknowledgement and the same window.
        Rfc5681 = "rfc5681",
        /// INET: as the RFC but for the window. Any other segment that acknowledges nothing new
        /// resets the count.
        NoPayload = "no_payload",
        /// ns-2: every ACK that repeats the highest acknowledgement.
        Any = "any",
    }

    /// Condition under which Tahoe and Reno refuse a fast retransmit.
    pub enum FastRetransmitGuard {
        /// They never refuse (INET's Reno).
        Never = "never",
        /// They refuse while go-back-N after a timeout has not covered the data sent before it.
        AfterTimeout = "after_timeout",
        /// They refuse after a timeout and after a fast retransmit, but not while only the SYN is
        /// acknowledged (ns-2's `bugFix_`).
        Always = "always",
    }

    /// Effect of a timeout on the count of duplicate ACKs.
    pub enum DuplicateAcksAtTimeout {
        /// The count is reset.
        Forgotten = "forgotten",
        /// Only Tahoe keeps the count (ns-2).
        KeptByTahoe = "kept_by_tahoe",
        /// All keep the count. Reno, which is in recovery while the count is three or more, stays
        /// in it (INET).
        Kept = "kept",
    }

    /// Partial ACKs of NewReno that restart the retransmission timer (RFC 6582 section 4).
    pub enum PartialAckTimer {
        /// The first one restarts it ("impatient").
        First = "first",
        /// Every one restarts it ("slow but steady").
        Every = "every",
    }

    /// Window after fast recovery (RFC 6582 section 3.2 step 3).
    pub enum RecoveryExit {
        /// The window is ssthresh.
        Ssthresh = "ssthresh",
        /// The window is ssthresh plus one step of growth for the ACK that ends recovery (ns-3).
        SsthreshAndGrowth = "ssthresh_and_growth",
        /// The window is min(ssthresh, max(FlightSize, SMSS) + SMSS), so that no burst follows.
        /// With Reno it is ssthresh.
        FlightPlusOne = "flight_plus_one",
        /// The window is min(ssthresh, FlightSize + SMSS) (INET). With Reno it is ssthresh.
        BareFlightPlusOne = "bare_flight_plus_one",
        /// The window is what partial ACKs left of it, plus one step of growth (ns-2).
        Unchanged = "unchanged",
    }

    /// Algorithm of recovery with SACK information.
    pub enum SackVariant {
        /// RFC 6675 with `IsLost`, `SetPipe` and `NextSeg`.
        Rfc6675 = "rfc6675",
        /// ns-2.35's Sack1. Pipe starts at the flight less three segments, and falls by one segment
        /// per ACK and by two per partial ACK. All data below the highest SACKed segment that are
        /// not SACKed count as lost at once and are sent once.
        Ns2Sack1 = "ns2_sack1",
    }

    /// Rule by which the receiver opens its window. Neither rule ever shrinks the window offered.
    pub enum ReceiveWindowRule {
        /// The right edge moves by at least min(buffer/2, MSS) (RFC 1122 section 4.2.3.3).
        Rfc1122 = "rfc1122",
        /// The window is the free buffer, with out-of-order data counted as used. It is zero if
        /// less than a segment and less than a quarter of the buffer are free (INET).
        Inet2011 = "inet2011",
    }

    /// Effect of an idle time on the window.
    pub enum IdleRestart {
        /// The window stays.
        Never = "never",
        /// After an idle RTO, the window is min(initial window, cwnd) (RFC 5681 section 4.1).
        InitialWindow = "initial_window",
        /// While nothing is outstanding, the window halves for each RTO since the last
        /// transmission, down to the initial window. A window that was not fully used for an RTO
        /// shrinks half way to the used part (RFC 2861, Linux). Without records of transmissions,
        /// the rule is that of `InitialWindow`.
        Halved = "halved",
        /// An RTO after the last new ACK, with nothing outstanding, the window is one segment
        /// (ns-2, whose timer keeps running).
        OneSegment = "one_segment",
        /// More than an RTO after the window last let data out, outstanding or not, the window is
        /// one segment, without the inflation of fast recovery (INET).
        OneSegmentSinceSending = "one_segment_since_sending",
    }

    /// Rule for the transmissions whose round trip is measured. One is measured at a time.
    pub enum TimingRule {
        /// New data outside fast recovery. A retransmission of any kind stops the measurement
        /// (Karn).
        OutsideRecovery = "outside_recovery",
        /// New data. The start of recovery and timeouts stop the measurement. A partial ACK of
        /// NewReno that covers the measured segment gives no sample (ns-2).
        NewData = "new_data",
        /// Any data that the window permits, even in go-back-N. A timeout ends the measurement
        /// (INET).
        Anything = "anything",
    }
}
