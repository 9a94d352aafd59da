//! Words that switches of TCP choose from.

use goodqueue_types::words;

words! {
    /// Rule that ends slow start before a loss does.
    pub enum SlowStart {
        /// The rule of the control in Linux: `HyStart` for CUBIC, classic for the others.
        Auto = "auto",
        /// Slow start ends only at ssthresh.
        Classic = "classic",
        /// `HyStart` by ACK trains and delay, as in Linux's CUBIC.
        HyStart = "hystart",
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
    /// sent as ECT(0). SYNs, pure ACKs, probes and retransmissions are not ECN-capable.
    pub enum EcnMode {
        /// The connection does not use ECN.
        Off = "off",
        /// RFC 3168: ACKs carry ECE from a mark on until the sender reports that it has reduced.
        Rfc3168 = "rfc3168",
        /// RFC 8257: ECE reports for each packet if it was marked.
        Dctcp = "dctcp",
        /// RFC 9768: ACKs carry the low three bits of a count of marked packets.
        AccEcn = "accecn",
    }

    /// Handshake of a connection.
    pub enum Handshake {
        /// The handshake of RFC 9293: SYN, SYN-ACK, ACK.
        ThreeWay = "three_way",
        /// The start of ns-2's one-way agents: a SYN without payload, acknowledged like data, and
        /// then data. Windows are carried unscaled and exactly.
        OneWay = "one_way",
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
