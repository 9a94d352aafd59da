//! Configuration of a TCP endpoint. One [`TcpConfig`] is shared by both endpoints of a flow.
//!
//! Each switch is declared once, with its key in scenario files. Its default is the value of the
//! profile `rfc`, and `profiles` has the values of the others.

mod details;
pub(crate) mod profiles;
mod start;

use crate::connection::accurate_ecn::OPTION_BYTES;
use goodqueue_types::parameters::{
    HOUR, Key, Kind, LARGEST, TIMER, flag, fraction, integer, one_of, size, span, words,
};
use goodqueue_types::{Rate, Span, Time, parameters, words};

pub use crate::cc::CongestionControlConfig;
pub use details::{
    CubicVariant, DecreaseBasis, Details, DuplicateAckRule, DuplicateAcksAtTimeout,
    FastRetransmitGuard, IdleRestart, PartialAckTimer, ReceiveWindowRule, RecoveryExit,
    SackVariant, TimingRule, WindowArithmetic,
};
pub use start::{InitialSsthresh, InitialWindow};

/// Key of a switch that is on or off.
const FLAG: Key = flag().example("true");

parameters! {
    /// Configuration of an endpoint. A [profile](TcpConfig::profile) fills it and a scenario
    /// overrides fields. Both ends of a connection use the same one, so options need no
    /// negotiation: window scaling and SACK are on at both ends or at neither.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TcpConfig("tcp", "profile's") {
        /// Congestion control.
        congestion_control: CongestionControlConfig = CongestionControlConfig::Reno => one_of(&[
            Kind::Choice(CongestionControlConfig::NAMES),
            Kind::Tagged { tag: "kind", variants: CongestionControlConfig::VARIANTS },
        ]).example("cubic")
            .doc("The congestion control, by name or as a table with parameters: `{ \
            kind = \"cubic\", beta = 0.8 }`. See `docs/congestion-controls.md`.");
        /// Rule that ends slow start before a loss does.
        slow_start: SlowStart = SlowStart::Auto => words::<SlowStart>().example("hystart_plus_plus")
            .doc("Rule that ends slow start before a loss: none (`classic`), Linux's `hystart`, \
            the same for paced senders (`hystart_paced`), HyStart++ (RFC 9406), or the rule of the control in Linux (`auto`: `hystart` for \
            `cubic`, `classic` for the others).");
        /// Loss recovery: Tahoe, Reno (RFC 2581), NewReno (RFC 6582) or SACK (RFC 6675).
        recovery: Recovery = Recovery::Sack => words::<Recovery>().example("sack");
        /// Largest payload of a segment.
        ///
        /// The unit is bytes.
        mss: u32 = 1460 => size(1, 65_495).example("536B");
        /// Congestion window at the start, in segments, or the table of RFC 5681 section 3.1.
        ///
        /// RFC 6928, which every large stack has followed since 2013, has 10 segments.
        initial_window: InitialWindow = InitialWindow::Segments(10) => one_of(&[
            Kind::Packets { min: 1, max: 10_000 },
            Kind::Choice(&["rfc5681"]),
        ]).example("10p");
        /// Slow-start threshold at the start, in bytes or segments.
        initial_ssthresh: InitialSsthresh = InitialSsthresh::Unlimited => one_of(&[
            Kind::Size { min: 1, max: LARGEST },
            Kind::Packets { min: 1, max: 1_000_000 },
            Kind::Choice(&["unlimited", "receive_window"]),
        ]).example("64KiB");
        /// Receive buffer, and so the largest window advertised. At most 1 GiB (RFC 7323 section
        /// 2.3).
        receive_window: u64 = 4 << 20 => size(1, 1 << 30).example("100kB");
        /// Dynamic right-sizing of the receive buffer: it starts with this size and grows towards
        /// `receive_window` as the application takes data.
        ///
        /// Fisk and Feng 2001; `tcp_moderate_rcvbuf` in Linux. If none, the buffer always has
        /// `receive_window` bytes.
        receive_window_moderation: Option<u64> = None => one_of(&[
            Kind::Size { min: 1, max: 1 << 30 },
            Kind::Choice(&["off"]),
        ]).example("64KiB");
        /// Rate at which the right edge of the advertised window moves, with which a receiver that
        /// knows the rate of the path limits a sender. If none, the edge moves as far as the buffer
        /// allows at once.
        receive_window_pace: Option<Rate> = None
            => one_of(&[Kind::Rate, Kind::Choice(&["off"])]).example("1Mbps")
            .doc("Largest rate at which the receiver's window opens, from two segments at the start: \
            its right edge moves a segment at a time, and an ACK reports each step.");
        /// True if windows above 65,535 bytes can be advertised (RFC 7323 section 2).
        window_scaling: bool = true => FLAG
            .doc("Whether windows above 65535 bytes can be advertised (RFC 7323 section 2).");
        /// Appropriate byte counting (RFC 3465) instead of a step per ACK.
        byte_counting: bool = true => FLAG;
        /// New data on the first two duplicate ACKs (RFC 3042).
        limited_transmit: bool = true => FLAG;
        /// Duplicate ACKs that trigger fast retransmit.
        duplicate_ack_threshold: u32 = 3 => integer(1, 1_000).example("3");
        /// Rule by which data in order are acknowledged: every n-th segment, or as Linux does (quick ACKs at
        /// the start, then delays between 40 ms and `delayed_ack_timeout`).
        ///
        /// RFC 5681 section 4.2 requires an ACK for at least every second segment, within 500 ms.
        /// 200 ms is BSD's value.
        ack_rule: AckRule = AckRule::EveryNth => words::<AckRule>().example("linux");
        /// Acknowledge every n-th full segment at once; 1 acknowledges each.
        ack_every: u32 = 2 => integer(1, 1_000).example("2");
        /// Number of first segments that [`AckRule::Linux`] acknowledges at once, because the
        /// receiver's window still grows (`tcp_grow_window` of Linux 6.18).
        opening_acks: u32 = 0 => integer(0, 1_000_000).example("400")
            .doc("With `ack_rule = \"linux\"`, segments at the start of a connection that are each \
            acknowledged at once, as Linux does while its receive window grows towards a \
            large buffer.");
        /// Longest time an ACK is held back.
        ///
        /// The delay may be shorter with [`AckRule::Linux`], but it is at least 40 ms.
        delayed_ack_timeout: Span = Span::from_millis(200) => Key::new(TIMER).example("200ms");
        /// Report duplicate data in SACK blocks (RFC 2883).
        dsack: bool = false => FLAG;
        /// Nagle's algorithm (RFC 1122 section 4.2.3.4).
        nagle: bool = true => FLAG;
        /// Tick of the timestamps option (RFC 7323 section 3), or none for no such option.
        timestamps: Option<Span> = None => one_of(&[TIMER, Kind::Choice(&["none"])]).example("1ms");
        /// Method by which losses are detected before a timeout.
        loss_detection: LossDetection = LossDetection::DuplicateAcks
            => words::<LossDetection>().example("rack")
            .doc("How NewReno and SACK notice losses before a timeout: by duplicate ACKs, or by \
            time (RFC 8985).");
        /// Keep a record of each transmission for NewReno and SACK, which RACK and the following
        /// switches up to `pacing` need. `rack` keeps records in any case.
        ///
        /// Without records recovery works on sequence numbers alone, which is faster.
        records: bool = false => FLAG;
        /// Probe a silent tail after two round trips (RFC 8985 section 7); with `rack` only.
        tail_loss_probe: bool = false => FLAG;
        /// The window in fast recovery with `records`: ssthresh at once, or proportional rate
        /// reduction with the conservative or the slow-start bound (RFC 6937), or with the bound
        /// chosen per ACK (Linux).
        recovery_window: RecoveryWindow = RecoveryWindow::Ssthresh
            => words::<RecoveryWindow>().example("prr");
        /// Detect a spurious timeout by new data that are sent after it (RFC 5682); with `records`
        /// only.
        frto: bool = false => FLAG;
        /// Take a spurious reduction back, by DSACK or timestamps (RFC 3708, RFC 4015); with
        /// `records` only.
        undo: bool = false => FLAG;
        /// Tolerate as much reordering as was seen (Linux); with `records` only.
        ///
        /// RFC 4653; Linux's `tcpi_reordering`.
        adaptive_reordering: bool = false => FLAG;
        /// Send at a pacing rate: that of the congestion control, or cwnd per round trip with
        /// Linux's gains; with `records` only.
        pacing: bool = false => FLAG;
        /// IP and TCP header without options.
        header: u16 = 40 => size(0, 120).example("40B");
        /// True if TCP options (MSS, window scale, SACK) add to packet sizes.
        option_bytes: bool = true => FLAG
            .doc("Whether TCP options add to packet sizes.");
        /// Explicit congestion notification: none; ECE until CWR (RFC 3168); ECE per packet (DCTCP,
        /// RFC 8257); a counter of marked packets (accurate ECN, RFC 9768).
        ///
        /// RFC 3168 leaves ECN to the host.
        ecn: EcnMode = EcnMode::Off => words::<EcnMode>().example("rfc3168");
        /// Segments that carry the AccECN option, with `accecn` only: none, those after a change and
        /// three per round trip (`minimum`), or all with room for it.
        ///
        /// The values are those of `tcp_ecn_option` in Linux, whose default is 2 (`full`).
        accecn_option: AccEcnReports = AccEcnReports::Full
            => words::<AccEcnReports>().example("minimum")
            .doc("With `ecn = \"accecn\"`, the segments with the AccECN option, which counts marked \
            bytes: none (`off`), the fewest that RFC 9768 requires (`minimum`), or all with room \
            for it (`full`, Linux). `mss` leaves 12 bytes for it, unless it is given.");
        /// True if data carry ECT(1), as scalable traffic does (RFC 9331 section 4.1), not ECT(0).
        ///
        /// RFC 9331 requires a scalable congestion control for ECT(1).
        l4s: bool = false => FLAG
            .doc("With `ecn`, data carry ECT(1), the mark of scalable traffic (RFC 9331), and not \
            ECT(0).");
        /// Share of the window that remains after an ECN echo in congestion avoidance (alternative
        /// backoff with ECN, RFC 8511): 0.8 for `reno`, 0.85 for `cubic`. `none`: the same share as
        /// after a loss.
        ///
        /// Controls other than `reno`, `gaimd` and `cubic` ignore it.
        beta_ecn: Option<f64> = None
            => one_of(&[Kind::Fraction, Kind::Choice(&["none"])]).example("0.8");
        /// Retransmission timer (RFC 6298).
        rto: RtoConfig = RtoConfig::default()
            => Key::new(Kind::Table(RtoConfig::SPEC)).example("{ minimum = \"200ms\" }");
        /// `three_way`: SYN, SYN-ACK, ACK. `one_way`: ns-2's SYN, acknowledged like data.
        handshake: Handshake = Handshake::ThreeWay => words::<Handshake>().example("three_way");
        /// TCP Fast Open (RFC 7413): data in the SYN of a client that has a cookie of the server.
        ///
        /// RFC 7413 is experimental. Linux permits it to clients and requires a socket option.
        fast_open: FastOpen = FastOpen::Off => words::<FastOpen>().example("request")
            .doc("TCP Fast Open (RFC 7413): data in the SYN. `request`: the first connection of a \
            flow requests a cookie, and later ones have it. `cookie`: all have one from an earlier \
            visit.");
        /// The start after a lost SYN or SYN-ACK: one segment (RFC 5681 section 3.1); one segment
        /// after two timeouts (Linux); or `details.tsl_initial_window` and `details.tsl_ssthresh`.
        syn_loss: SynLossRule = SynLossRule::Rfc5681 => words::<SynLossRule>().example("tsl");
        /// Details in which implementations differ.
        details: Details = Details::default()
            => Key::new(Kind::Table(Details::SPEC)).example("{ timing = \"anything\" }");
    }
}

parameters! {
    /// Parameters of the retransmission timer (RFC 6298).
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct RtoConfig("rto", "profile's") {
        /// Before the first sample.
        initial: Span = Span::from_secs(1) => Key::new(TIMER).example("1s");
        /// Lower bound.
        minimum: Span = Span::from_secs(1) => Key::new(TIMER).example("200ms");
        /// Upper bound.
        maximum: Span = Span::from_secs(60) => Key::new(TIMER).example("60s");
        /// Clock granularity G.
        granularity: Span = Span::from_millis(1) => span(Span::ZERO, HOUR).example("1ms");
        /// Estimator that computes the timeout from samples.
        estimator: RttEstimatorConfig = RttEstimatorConfig::Rfc6298
            => words::<RttEstimatorConfig>().example("rfc6298")
            .doc("How samples become a timeout. `inet2011`: both gains 1/8, deviation from 0.75 s, \
            no special first sample. `linux`: the minimum bounds the margin above the mean. \
            `ns2_ticks`: whole ticks of the granularity.");
        /// Gain of the mean; for `rfc6298` only.
        srtt_gain: f64 = 0.125 => fraction().default("0.125").example("0.125");
        /// Gain of the deviation; for `rfc6298` only.
        rttvar_gain: f64 = 0.25 => fraction().default("0.25").example("0.25");
    }
}

words! {
    /// Rule that ends slow start before a loss does.
    pub enum SlowStart {
        /// The rule of the control in Linux: `HyStart` for CUBIC, classic for the others.
        Auto = "auto",
        /// Slow start ends only at ssthresh.
        Classic = "classic",
        /// `HyStart` by ACK trains and delay, as in Linux's CUBIC.
        HyStart = "hystart",
        /// `HyStart` as Linux's CUBIC has it if the sender is paced, by `fq` or by TCP.
        HyStartPaced = "hystart_paced",
        /// HyStart++ of RFC 9406.
        HyStartPlusPlus = "hystart_plus_plus",
    }

    /// Method by which losses are detected. `Rack` works only with NewReno and SACK.
    pub enum LossDetection {
        /// Detection by the number of duplicate ACKs, or by the data SACKed above (RFC 5681, RFC
        /// 6675).
        DuplicateAcks = "duplicate_acks",
        /// Detection by time, from a record of each transmission (RFC 8985, as in Linux). Without
        /// SACK, duplicate ACKs are counted instead.
        Rack = "rack",
    }

    /// Window during fast recovery, if transmissions are recorded.
    pub enum RecoveryWindow {
        /// The window is ssthresh at once (RFC 6675).
        Ssthresh = "ssthresh",
        /// Proportional rate reduction with the conservative bound (RFC 6937 PRR-CRB).
        PrrCrb = "prr_crb",
        /// Proportional rate reduction with the slow-start bound (RFC 6937 PRR-SSRB).
        PrrSsrb = "prr_ssrb",
        /// PRR with the bound chosen per ACK (draft-ietf-tcpm-prr-rfc6937bis, Linux).
        Prr = "prr",
    }

    /// Loss recovery by its usual name.
    pub enum Recovery {
        /// Fast retransmit, then slow start.
        Tahoe = "tahoe",
        /// Fast recovery until the first new ACK (RFC 2581).
        Reno = "reno",
        /// Fast recovery with partial ACKs (RFC 6582).
        NewReno = "newreno",
        /// Selective acknowledgements (RFC 6675).
        Sack = "sack",
    }

    /// Rule for the ACKs of data in order. Segments that leave or fill a hole, and old data, are
    /// acknowledged at once (RFC 5681 section 4.2).
    pub enum AckRule {
        /// An ACK is sent for every `ack_every`-th segment, or after `delayed_ack_timeout`.
        EveryNth = "every_nth",
        /// Linux's rule. ACKs are sent at once for the first 16 segments (fewer with a small
        /// window) unless both ends send data, and again after old data or a long silence.
        /// Otherwise an ACK is sent when more than a full segment waits for it, or after a delay
        /// between 40 ms and `delayed_ack_timeout` that follows the gaps between segments.
        Linux = "linux",
    }

    /// Explicit congestion notification, and the method by which a receiver reports marks. Data are
    /// sent as ECT(0). SYNs are not ECN-capable. Pure ACKs, probes and retransmissions are with
    /// accurate ECN only, as in Linux.
    pub enum EcnMode {
        /// The connection does not use ECN.
        Off = "off",
        /// RFC 3168: ACKs carry ECE from a mark on until the sender reports that it has reduced.
        Rfc3168 = "rfc3168",
        /// RFC 8257: ECE reports for each packet if it was marked.
        Dctcp = "dctcp",
        /// RFC 9768: segments carry the low three bits of a count of marked packets, and in an option
        /// counts of bytes.
        AccEcn = "accecn",
    }

    /// Segments that carry the AccECN option (RFC 9768 section 3.2.3.3), once the peer's has arrived.
    pub enum AccEcnReports {
        /// No segment carries the option.
        Off = "off",
        /// Segments after a change of the arriving ECN field or a mark carry the option, and three
        /// per round trip.
        Minimum = "minimum",
        /// Every segment with room for the option carries it.
        Full = "full",
    }

    /// Handshake of a connection.
    pub enum Handshake {
        /// The handshake of RFC 9293: SYN, SYN-ACK, ACK.
        ThreeWay = "three_way",
        /// The start of ns-2's one-way agents: a SYN without payload, acknowledged like data, and
        /// then data. Windows are carried unscaled and exactly.
        OneWay = "one_way",
    }

    /// Use of TCP Fast Open (RFC 7413) by the clients and servers of a flow.
    pub enum FastOpen {
        /// A SYN carries no data.
        Off = "off",
        /// The client requests a cookie and uses it in later connections of its flow.
        Request = "request",
        /// The client has a cookie from an earlier visit.
        Cookie = "cookie",
    }

    /// Start of a connection whose SYN or SYN-ACK was sent more than once.
    pub enum SynLossRule {
        /// The window is one segment and ssthresh stays (RFC 5681 section 3.1).
        Rfc5681 = "rfc5681",
        /// The window is one segment after more than one timeout (Linux). ssthresh stays.
        Linux = "linux",
        /// The window is `tsl_initial_window` and ssthresh `tsl_ssthresh` segments: the start in a
        /// study of RED that varies both. With 1 and 2 it is that of ns-2.
        Tsl = "tsl",
    }

    /// Estimator that computes the timeout from round-trip samples.
    pub enum RttEstimatorConfig {
        /// RFC 6298: the first sample R sets SRTT = R and RTTVAR = R/2; later ones move them by the
        /// gains; RTO = SRTT + max(G, 4·RTTVAR).
        Rfc6298 = "rfc6298",
        /// INET 2010/11: the first sample is not special. SRTT starts at 0 and RTTVAR at 0.75 s,
        /// and both move by 1/8 of the new error. RTO = SRTT + 4·RTTVAR.
        Inet2011 = "inet2011",
        /// Linux: integers in microseconds. The minimum bounds the margin above SRTT, which follows
        /// the largest deviation of each round trip.
        Linux = "linux",
        /// ns-2.35: whole ticks of the granularity in fixed point (`T_SRTT_BITS` 3, `T_RTTVAR_BITS`
        /// 2). The minimum applies before the backoff factor.
        Ns2Ticks = "ns2_ticks",
    }
}

impl TcpConfig {
    /// Returns true if recovery keeps a record of each transmission, for NewReno and SACK: by the
    /// switch `records`, or with RACK, which detects losses from records. The congestion control has
    /// no part in this.
    pub fn records_segments(&self) -> bool {
        (self.records || self.loss_detection == LossDetection::Rack)
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
        let timestamps = if stamped { 12 } else { 0 };
        let accecn = if self.accecn_option == AccEcnReports::Full {
            self.accecn_room()
        } else {
            0
        };
        u32::from(self.header) + timestamps + accecn
    }

    /// Returns the MSS that a SYN offers, which includes the options of a data segment.
    pub fn offered_mss(&self) -> u32 {
        self.mss + self.header_bytes() - u32::from(self.header)
    }

    /// Returns the bytes that data segments have to leave for the AccECN option.
    pub fn accecn_room(&self) -> u32 {
        let reports = self.ecn == EcnMode::AccEcn && self.accecn_option != AccEcnReports::Off;
        if reports && self.option_bytes {
            u32::from(OPTION_BYTES)
        } else {
            0
        }
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
