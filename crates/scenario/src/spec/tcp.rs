//! The keys of `[tcp]`: the switches of `TcpConfig` under the same names.

use super::{AMOUNT, HOUR, Key, Kind, Spec, TIMER, key};
use crate::setting::Words;
use goodqueue_tcp::{
    AckRule, CongestionControlConfig, CubicVariant, DecreaseBasis, DuplicateAckRule,
    DuplicateAcksAtTimeout, EcnMode, FastRetransmitGuard, Handshake, IdleRestart, LossDetection,
    PartialAckTimer, Profile, ReceiveWindowRule, Recovery, RecoveryExit, RecoveryWindow,
    SackVariant, SlowStart, SynLossRule, TimingRule, WindowArithmetic,
};
use goodqueue_types::Span;

const PROFILES: &str = "profile's";

/// A switch: its default is the profile's.
const fn switch(name: &'static str, kind: Kind, example: &'static str, doc: &'static str) -> Key {
    key(name, kind, PROFILES, example, doc)
}

const fn word<W: Words>(name: &'static str, example: &'static str, doc: &'static str) -> Key {
    switch(name, Kind::Choice(W::WORDS), example, doc)
}

const fn flag(name: &'static str, doc: &'static str) -> Key {
    switch(name, Kind::Flag, "true", doc)
}

pub(crate) static TCP: Spec = Spec {
    name: "tcp",
    defaults: None,
    keys: &[
        key(
            "profile",
            Kind::Choice(Profile::WORDS),
            "\"rfc\"",
            "\"ns2\"",
            "A stack by name; the other keys change it. `rfc`: as the RFCs say today. `inet2011`: OMNeT++/INET of \
             2010 and 2011. `ns2`: ns-2.35's one-way agents. `linux`: Linux 6.18 with default settings.",
        ),
        switch(
            "congestion_control",
            Kind::Either(&[
                Kind::Choice(CongestionControlConfig::WORDS),
                Kind::Tagged {
                    tag: "kind",
                    variants: CongestionControlConfig::VARIANTS,
                },
            ]),
            "\"cubic\"",
            "What the congestion window follows, by name or as a table with parameters: \
             `{ kind = \"cubic\", beta = 0.8 }`. See `docs/congestion-controls.md`.",
        ),
        word::<SlowStart>(
            "slow_start",
            "\"hystart_plus_plus\"",
            "What ends slow start before a loss: nothing (`classic`), Linux's `hystart`, HyStart++ (RFC 9406), or what \
             the control does in Linux (`auto`: `hystart` for `cubic`, `classic` for the others).",
        ),
        key(
            "alpha",
            Kind::Number {
                min: 0.0,
                max: 1_000.0,
            },
            "1",
            "0.31",
            "Segments added per round trip; for `gaimd` only.",
        ),
        key(
            "beta",
            Kind::Fraction,
            "0.5",
            "0.125",
            "Share of the window given up at a loss; for `gaimd` only.",
        ),
        word::<Recovery>(
            "recovery",
            "\"sack\"",
            "Loss recovery: Tahoe, Reno (RFC 2581), NewReno (RFC 6582) or SACK (RFC 6675).",
        ),
        switch(
            "mss",
            Kind::Size {
                min: 1,
                max: 65_495,
            },
            "\"536B\"",
            "Largest payload of a segment.",
        ),
        switch(
            "initial_window",
            Kind::Either(&[
                Kind::Packets {
                    min: 1,
                    max: 10_000,
                },
                Kind::Choice(&["rfc5681"]),
            ]),
            "\"10p\"",
            "Congestion window at the start, in segments, or the table of RFC 5681 section 3.1.",
        ),
        switch(
            "initial_ssthresh",
            Kind::Either(&[
                AMOUNT,
                Kind::Packets {
                    min: 1,
                    max: 1_000_000,
                },
                Kind::Choice(&["unlimited", "receive_window"]),
            ]),
            "\"64KiB\"",
            "Slow-start threshold at the start, in bytes or segments.",
        ),
        switch(
            "receive_window",
            Kind::Size {
                min: 1,
                max: 1 << 30,
            },
            "\"100kB\"",
            "Receive buffer, and so the largest window advertised. At most 1 GiB (RFC 7323 section 2.3).",
        ),
        switch(
            "receive_window_moderation",
            Kind::Either(&[
                Kind::Size {
                    min: 1,
                    max: 1 << 30,
                },
                Kind::Choice(&["off"]),
            ]),
            "\"64KiB\"",
            "Dynamic right-sizing of the receive buffer: it starts with this size and grows towards `receive_window` as \
             the application takes data.",
        ),
        switch(
            "receive_window_pace",
            Kind::Either(&[Kind::Rate, Kind::Choice(&["off"])]),
            "\"1Mbps\"",
            "How fast the receiver opens its window, from two segments at the start: its right edge moves on at this \
             rate at most, a segment at a time, and an ACK tells of each.",
        ),
        flag(
            "window_scaling",
            "Whether windows above 65535 bytes can be advertised (RFC 7323 section 2).",
        ),
        flag(
            "byte_counting",
            "Appropriate byte counting (RFC 3465) instead of a step per ACK.",
        ),
        flag(
            "limited_transmit",
            "New data on the first two duplicate ACKs (RFC 3042).",
        ),
        switch(
            "duplicate_ack_threshold",
            Kind::Integer { min: 1, max: 1_000 },
            "3",
            "Duplicate ACKs that trigger fast retransmit.",
        ),
        word::<AckRule>(
            "ack_rule",
            "\"linux\"",
            "When data in order are acknowledged: every n-th segment, or as Linux does (quick ACKs at the start, then \
             delays between 40 ms and `delayed_ack_timeout`).",
        ),
        switch(
            "ack_every",
            Kind::Integer { min: 1, max: 1_000 },
            "2",
            "Acknowledge every n-th full segment at once; 1 acknowledges each.",
        ),
        switch(
            "opening_acks",
            Kind::Integer {
                min: 0,
                max: 1_000_000,
            },
            "400",
            "With `ack_rule = \"linux\"`, segments at the start of a connection that are each acknowledged at once, as \
             Linux does while its receive window grows towards a large buffer.",
        ),
        switch(
            "delayed_ack_timeout",
            TIMER,
            "\"200ms\"",
            "Longest time an ACK is held back.",
        ),
        flag("dsack", "Report duplicate data in SACK blocks (RFC 2883)."),
        flag("nagle", "Nagle's algorithm (RFC 1122 section 4.2.3.4)."),
        switch(
            "timestamps",
            Kind::Either(&[TIMER, Kind::Choice(&["none"])]),
            "\"1ms\"",
            "Tick of the timestamps option (RFC 7323 section 3), or none for no such option.",
        ),
        word::<LossDetection>(
            "loss_detection",
            "\"rack\"",
            "How NewReno and SACK notice losses before a timeout: by duplicate ACKs, or by time (RFC 8985).",
        ),
        flag(
            "tail_loss_probe",
            "Probe a silent tail after two round trips (RFC 8985 section 7); with `rack` only.",
        ),
        word::<RecoveryWindow>(
            "recovery_window",
            "\"prr\"",
            "The window in fast recovery with `rack`: ssthresh at once, or proportional rate reduction with the \
             conservative or the slow-start bound (RFC 6937), or with the bound chosen per ACK (Linux).",
        ),
        flag(
            "frto",
            "New data after a timeout tell whether it was spurious (RFC 5682); with `rack` only.",
        ),
        flag(
            "undo",
            "Take a spurious reduction back, by DSACK or timestamps (RFC 3708, RFC 4015); with `rack` only.",
        ),
        flag(
            "adaptive_reordering",
            "Tolerate as much reordering as was seen (Linux); with `rack` only.",
        ),
        flag(
            "pacing",
            "Send at a pace: the control's, or cwnd per round trip with Linux's gains; with `rack` only.",
        ),
        switch(
            "header",
            Kind::Size { min: 0, max: 120 },
            "\"40B\"",
            "IP and TCP header without options.",
        ),
        flag("option_bytes", "Whether TCP options add to packet sizes."),
        word::<EcnMode>(
            "ecn",
            "\"rfc3168\"",
            "Explicit congestion notification: none; ECE until CWR (RFC 3168); ECE per packet (DCTCP, RFC 8257); a counter \
             of marked packets (accurate ECN, RFC 9768).",
        ),
        flag(
            "l4s",
            "With `ecn`, data carry ECT(1), the mark of scalable traffic (RFC 9331), and not ECT(0).",
        ),
        switch(
            "rto",
            Kind::Table(&RTO),
            "{ minimum = \"200ms\" }",
            "Retransmission timer (RFC 6298).",
        ),
        word::<Handshake>(
            "handshake",
            "\"three_way\"",
            "`three_way`: SYN, SYN-ACK, ACK. `one_way`: ns-2's SYN, acknowledged like data.",
        ),
        word::<SynLossRule>(
            "syn_loss",
            "\"tsl\"",
            "The start after a lost SYN or SYN-ACK: one segment (RFC 5681 section 3.1); one segment after two timeouts \
             (Linux); or `details.tsl_initial_window` and `details.tsl_ssthresh`.",
        ),
        switch(
            "details",
            Kind::Table(&DETAILS),
            "{ timing = \"anything\" }",
            "Finer points on which implementations differ.",
        ),
    ],
};

pub(crate) static RTO: Spec = Spec {
    name: "rto",
    defaults: None,
    keys: &[
        switch("initial", TIMER, "\"1s\"", "Before the first sample."),
        switch("minimum", TIMER, "\"200ms\"", "Lower bound."),
        switch("maximum", TIMER, "\"60s\"", "Upper bound."),
        switch(
            "granularity",
            Kind::Span {
                min: Span::ZERO,
                max: HOUR,
            },
            "\"1ms\"",
            "Clock granularity G.",
        ),
        switch(
            "estimator",
            Kind::Choice(&["rfc6298", "inet2011", "linux", "ns2_ticks"]),
            "\"rfc6298\"",
            "How samples become a timeout. `inet2011`: both gains 1/8, deviation from 0.75 s, no special first \
             sample. `linux`: the minimum bounds the margin above the mean. `ns2_ticks`: whole ticks of the granularity.",
        ),
        key(
            "srtt_gain",
            Kind::Fraction,
            "0.125",
            "0.125",
            "Gain of the mean; for `rfc6298` only.",
        ),
        key(
            "rttvar_gain",
            Kind::Fraction,
            "0.25",
            "0.25",
            "Gain of the deviation; for `rfc6298` only.",
        ),
    ],
};

pub(crate) static DETAILS: Spec = Spec {
    name: "details",
    defaults: None,
    keys: &[
        word::<WindowArithmetic>(
            "window_arithmetic",
            "\"real\"",
            "Window in whole bytes (growth at least a byte per ACK, RFC 5681 equation 3) or as a real number, which a loss \
             may leave at whole segments (ns-2 before 2006).",
        ),
        word::<DecreaseBasis>(
            "decrease_basis",
            "\"window\"",
            "What a loss halves: data outstanding without limited transmit's (RFC 5681), all data outstanding, \
             the same less a segment for each duplicate ACK (ns-3), the window before inflation (ns-2), or the \
             inflated window (INET).",
        ),
        flag(
            "whole_segment_ssthresh",
            "Cut ssthresh to whole segments, not the window (ns-2).",
        ),
        switch(
            "slow_start_limit",
            Kind::Either(&[
                Kind::Packets {
                    min: 1,
                    max: 1_000_000,
                },
                Kind::Choice(&["unlimited"]),
            ]),
            "\"2p\"",
            "Most segments that an ACK adds in slow start with `byte_counting` (RFC 3465's L; 1 after a timeout). \
             `unlimited`: all it acknowledges, exactly up to ssthresh (Linux).",
        ),
        word::<CubicVariant>(
            "cubic_variant",
            "\"linux\"",
            "Whose CUBIC: RFC 9438's, or Linux's (shortest round trip, Reno estimate without section 4.3's faster \
             part, a least growth).",
        ),
        flag(
            "grow_only_when_limited",
            "Grow the window only if it was in use (RFC 7661 section 4.1).",
        ),
        word::<DuplicateAckRule>(
            "duplicate_acks",
            "\"any\"",
            "What counts as a duplicate ACK: RFC 5681 section 2, the same without the window (INET), or any ACK that \
             repeats the highest (ns-2).",
        ),
        word::<FastRetransmitGuard>(
            "fast_retransmit_guard",
            "\"never\"",
            "When Tahoe and Reno refuse a fast retransmit for what the last recovery covered: never (INET), after a \
             timeout, or after any recovery (ns-2's `bugFix_`). NewReno always refuses.",
        ),
        flag(
            "new_ack_lifts_guard",
            "Forget that guard at the first new ACK outside recovery (INET).",
        ),
        flag(
            "fast_retransmit_restarts_timer",
            "Restart the retransmission timer at a fast retransmit (ns-2, BSD).",
        ),
        word::<PartialAckTimer>(
            "partial_ack_timer",
            "\"every\"",
            "Which partial ACKs of NewReno restart the timer (RFC 6582 section 4).",
        ),
        flag(
            "partial_ack_resets_duplicates",
            "A partial ACK of NewReno starts the count of duplicate ACKs again (INET).",
        ),
        flag(
            "partial_ack_ends_inflation",
            "A partial ACK of NewReno takes back all inflation, not just what it acknowledges (ns-2 before 2003).",
        ),
        word::<RecoveryExit>(
            "recovery_exit",
            "\"ssthresh\"",
            "Window after fast recovery: ssthresh; ssthresh and a step of growth (ns-3); at most max(flight, MSS) + MSS; at most flight + MSS (INET); or \
             unchanged (ns-2).",
        ),
        switch(
            "recovery_burst",
            Kind::Either(&[
                Kind::Packets {
                    min: 1,
                    max: 1_000_000,
                },
                Kind::Choice(&["unlimited"]),
            ]),
            "\"2p\"",
            "Most segments per ACK during fast recovery beside the retransmission.",
        ),
        flag(
            "limited_transmit_old_data",
            "Limited transmit sends old data, too, after go-back-N (ns-2).",
        ),
        word::<SackVariant>(
            "sack_variant",
            "\"rfc6675\"",
            "How SACK information steers recovery.",
        ),
        flag("rescue_retransmission", "Rule 4 of RFC 6675's NextSeg."),
        flag(
            "timeout_clears_scoreboard",
            "Forget SACK information at a timeout (RFC 2018 section 8).",
        ),
        flag(
            "every_timeout_lowers_ssthresh",
            "Not only the first for the same data (RFC 5681 section 3.1).",
        ),
        word::<DuplicateAcksAtTimeout>(
            "duplicate_acks_at_timeout",
            "\"kept\"",
            "Whether a timeout forgets the duplicate ACKs counted: yes, not in Tahoe (ns-2), no (INET).",
        ),
        word::<IdleRestart>(
            "idle_restart",
            "\"never\"",
            "What silence does to the window: nothing; the initial window after an RTO (RFC 5681 section 4.1); one \
             segment an RTO after the last new ACK (ns-2); one segment an RTO after sending (INET).",
        ),
        word::<TimingRule>(
            "timing",
            "\"anything\"",
            "Which transmissions are timed: new data outside recovery (Karn), new data (ns-2), or anything (INET).",
        ),
        flag("handshake_sample", "Take a round-trip sample from the SYN."),
        switch(
            "rto_after_syn_loss",
            Kind::Either(&[TIMER, Kind::Choice(&["none"])]),
            "\"3s\"",
            "Lower bound of the RTO when data start after a SYN was lost (RFC 6298 section 5.7).",
        ),
        flag(
            "segmentation_offload",
            "Send in units of what the pace sends in about a millisecond, two segments at least; less waits for a near ACK (Linux); with `rack` only.",
        ),
        switch(
            "linear_syn_timeouts",
            Kind::Integer { min: 0, max: 100 },
            "4",
            "So many timeouts of the SYN double no timeout (Linux 6.5 and later: 4).",
        ),
        switch(
            "tsl_initial_window",
            Kind::Packets {
                min: 1,
                max: 10_000,
            },
            "\"3p\"",
            "Window after a lost SYN or SYN-ACK with `syn_loss = \"tsl\"`.",
        ),
        switch(
            "tsl_ssthresh",
            Kind::Packets {
                min: 1,
                max: 1_000_000,
            },
            "\"16p\"",
            "Slow-start threshold after a lost SYN or SYN-ACK with `syn_loss = \"tsl\"`.",
        ),
        flag("separate_acks", "Acknowledge with pure ACKs only (INET)."),
        flag(
            "strict_ack_acceptance",
            "Ignore, and answer, a pure ACK from below the receive window (RFC 793, INET).",
        ),
        flag(
            "acks_carry_snd_nxt",
            "Pure ACKs carry SND.NXT, which go-back-N pulls back (INET).",
        ),
        word::<ReceiveWindowRule>(
            "receive_window_rule",
            "\"inet2011\"",
            "How the receiver opens its window: by at least min(buffer / 2, MSS) (RFC 1122 section 4.2.3.3), or INET's \
             free buffer, less out-of-order data, zero below a segment and a quarter of the buffer.",
        ),
        switch(
            "persist_initial",
            Kind::Either(&[TIMER, Kind::Choice(&["rto"])]),
            "\"5s\"",
            "First interval of zero-window probes (RFC 1122 section 4.2.2.17).",
        ),
        switch(
            "sack_blocks",
            Kind::Integer { min: 1, max: 4 },
            "3",
            "Most SACK blocks in an ACK.",
        ),
        switch(
            "sack_option_overhead",
            Kind::Size { min: 0, max: 40 },
            "\"4B\"",
            "Bytes that SACK blocks add to a packet beyond 8 each.",
        ),
    ],
};
