//! Explicit congestion notification: the negotiation between the two ends, the receiver's feedback
//! and the sender's reaction (RFC 3168, RFC 8257, RFC 9768).

use goodqueue_types::{Ecn, Segment, SegmentFlags};

use crate::config::{EcnMode, TcpConfig};
use crate::connection::accurate_ecn::{AccurateEcn, counter};

const ECE: SegmentFlags = SegmentFlags::ECE;
const CWR: SegmentFlags = SegmentFlags::CWR;
const AE: SegmentFlags = SegmentFlags::AE;

/// State of ECN on a connection that requests or has it.
#[derive(Debug)]
pub(crate) struct EcnState {
    mode: EcnMode,
    /// ECN field of data packets.
    pub codepoint: Ecn,
    /// Echo in ACKs: true while a mark is not answered by CWR, or (DCTCP) if the last packet was
    /// marked.
    echo: bool,
    /// DCTCP: acknowledgement number of the ACK that has to leave before the change of `echo`.
    pub early_ack: Option<u64>,
    /// Counters of accurate ECN.
    pub accurate: AccurateEcn,
    /// Sequence number that must be exceeded by an acknowledgement before the next reduction.
    reduced_until: u64,
    /// True if the next new data must report a reduction.
    reduction_to_tell: bool,
    /// Number of fast retransmits and timeouts so far. Each lowered the window.
    losses: u64,
}

/// Information of an ACK about marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Feedback {
    /// True if a packet was marked.
    pub echo: bool,
    /// Number of marked bytes, or 0 with RFC 3168, which does not report it.
    pub marked: u64,
    /// True if the ACK must not grow the window, because it does not report that only part of the
    /// data was marked.
    pub holds_growth: bool,
}

impl EcnState {
    pub fn new(config: &TcpConfig) -> Option<Box<Self>> {
        let state = Self {
            mode: config.ecn,
            codepoint: if config.l4s {
                Ecn::Capable1
            } else {
                Ecn::Capable0
            },
            echo: false,
            early_ack: None,
            accurate: AccurateEcn::new(config.accecn_option),
            reduced_until: 0,
            reduction_to_tell: false,
            losses: 0,
        };
        (config.ecn != EcnMode::Off).then(|| Box::new(state))
    }

    /// Returns the flags that request ECN in a SYN after `sent` earlier ones. A device on the path
    /// may drop such requests, so a SYN that is sent again requests no classic ECN (RFC 3168 section
    /// 6.1.1.1), and accurate ECN is requested twice (RFC 9768 section 3.1.4).
    pub fn syn_flags(&self, sent: u16) -> SegmentFlags {
        match self.mode {
            EcnMode::AccEcn if sent <= 1 => AE.with(CWR).with(ECE),
            _ if sent == 0 => CWR.with(ECE),
            _ => SegmentFlags::default(),
        }
    }

    /// Handles a SYN from a packet with this ECN field. Returns true if the connection has ECN. Any
    /// flags but those of classic ECN request accurate ECN (RFC 9768 section 3.1.3).
    pub fn on_syn(&mut self, segment: &Segment, mark: Ecn) -> bool {
        let code = counter(segment.flags);
        if self.mode == EcnMode::AccEcn && !matches!(code, 0b000 | 0b011) {
            self.accurate.on_syn(mark);
            return true;
        }
        self.fall_back();
        code & 0b011 == 0b011
    }

    /// Handles a SYN that is repeated before the connection is open.
    pub fn on_syn_again(&mut self, segment: &Segment, mark: Ecn) {
        if self.is_accurate() {
            let requests = !matches!(counter(segment.flags), 0b000 | 0b011);
            self.accurate.on_syn_again(mark, requests);
        }
    }

    /// Returns true if the connection has accurate ECN, or requests it.
    pub fn is_accurate(&self) -> bool {
        self.mode == EcnMode::AccEcn
    }

    /// Returns true if the peer counts marks, so that the sender knows the share of them.
    pub fn counts_marks(&self) -> bool {
        self.mode != EcnMode::Rfc3168
    }

    /// Changes to classic feedback. It does not count marks, which scalable traffic needs, so data
    /// are no longer sent as ECT(1) (RFC 9331 section 4.2).
    fn fall_back(&mut self) {
        if self.is_accurate() {
            self.mode = EcnMode::Rfc3168;
            self.codepoint = Ecn::Capable0;
        }
    }

    /// Returns the flags of a SYN-ACK that accepts ECN, after `sent` earlier ones. A device on the
    /// path may drop SYN-ACKs with the flags of accurate ECN, so the third has none (RFC 9768
    /// section 3.2.3.2.2).
    pub fn syn_ack_flags(&self, sent: u16) -> SegmentFlags {
        match self.mode {
            EcnMode::AccEcn if sent > 1 => SegmentFlags::default(),
            EcnMode::AccEcn => self.accurate.syn_ack_flags(),
            _ => ECE,
        }
    }

    /// Handles the SYN-ACK. Returns true if the connection has ECN (RFC 3168 section 6.1.1, RFC
    /// 9768 table 2).
    pub fn on_syn_ack(&mut self, segment: &Segment, mark: Ecn) -> bool {
        let code = counter(segment.flags);
        if self.mode != EcnMode::AccEcn {
            return code & 0b011 == 0b001;
        }
        match code {
            0b000 | 0b111 => return false,
            0b001 => self.fall_back(),
            _ => self.accurate.on_syn_ack(segment, mark),
        }
        true
    }

    /// Returns the ECN field of a packet that leaves. With accurate ECN every packet after the
    /// handshake is ECN-capable, as in Linux. With the others only new data are (RFC 3168 section
    /// 6.1.5).
    pub fn field(&self, is_new_data: bool) -> Ecn {
        let is_capable = if self.is_accurate() {
            self.accurate.is_sound()
        } else {
            is_new_data
        };
        if is_capable {
            self.codepoint
        } else {
            Ecn::NotCapable
        }
    }

    /// Handles a packet while `next` is expected and `ack_waits` is true if an ACK waits. Returns true
    /// if an ACK must leave at once.
    pub fn on_packet(&mut self, segment: &Segment, mark: Ecn, next: u64, ack_waits: bool) -> bool {
        if self.is_accurate() {
            return self.accurate.on_packet(segment, mark, next) && segment.payload > 0;
        }
        segment.payload > 0 && self.on_data(segment, mark, next, ack_waits)
    }

    /// Handles a packet with payload if the feedback is an echo.
    fn on_data(&mut self, segment: &Segment, mark: Ecn, next: u64, ack_waits: bool) -> bool {
        let marked = mark == Ecn::Experienced;
        if self.mode == EcnMode::Dctcp {
            // RFC 8257 section 3.2: each ACK reports marked packets or unmarked ones, never both.
            let changes = marked != self.echo;
            if changes && ack_waits && segment.seq == next {
                self.early_ack = Some(next);
            }
            self.echo = marked;
            return changes;
        }
        // RFC 3168 section 6.1.3: the echo lasts from the mark until the sender has reduced. Both
        // changes are reported at once, because a sender with a window of one would wait for them.
        let before = self.echo;
        self.echo &= !segment.flags.contains(CWR);
        let answered = before != self.echo;
        self.echo |= marked;
        answered || before != self.echo
    }

    /// Returns the flags of a segment with an acknowledgement.
    pub fn ack_flags(&mut self) -> SegmentFlags {
        if self.is_accurate() {
            self.accurate.flags()
        } else if self.echo {
            ECE
        } else {
            SegmentFlags::default()
        }
    }

    /// Returns the flags of the ACK that leaves before the change of DCTCP's state.
    pub fn early_ack_flags(&self) -> SegmentFlags {
        if self.echo {
            SegmentFlags::default()
        } else {
            ECE
        }
    }

    /// Returns the flags of a segment with new data.
    pub fn data_flags(&mut self) -> SegmentFlags {
        if std::mem::take(&mut self.reduction_to_tell) && self.mode != EcnMode::AccEcn {
            CWR
        } else {
            SegmentFlags::default()
        }
    }

    /// Reads the marks from an acknowledgement that newly covers `acked` bytes.
    pub fn feedback(&mut self, segment: &Segment, acked: u64, mss: u32) -> Feedback {
        let echo = segment.flags.contains(ECE);
        match self.mode {
            EcnMode::AccEcn => self.accurate.feedback(segment, acked, mss),
            EcnMode::Dctcp => Feedback {
                echo,
                marked: acked * u64::from(echo),
                holds_growth: echo,
            },
            _ => Feedback {
                echo,
                marked: 0,
                holds_growth: echo,
            },
        }
    }

    /// Returns true if an echo in an ACK of `ack` requires a reduction, which happens once per
    /// window (RFC 3168 section 6.1.2). `losses` counts the losses that have lowered the window,
    /// the last of them up to `recover`.
    pub fn may_reduce(&mut self, ack: u64, losses: u64, recover: u64) -> bool {
        self.note_losses(losses, recover);
        ack > self.reduced_until
    }

    /// Records losses, which lower the window too. The next new data report the reduction (RFC 3168
    /// section 6.1.2).
    pub fn note_losses(&mut self, losses: u64, recover: u64) {
        if losses != self.losses {
            self.losses = losses;
            self.reduction_to_tell = true;
            self.reduced_until = self.reduced_until.max(recover);
        }
    }

    /// Records a reduction of the window while data up to `max_sent` are outstanding.
    pub fn reduced(&mut self, max_sent: u64) {
        self.reduced_until = max_sent;
        self.reduction_to_tell = true;
    }
}
