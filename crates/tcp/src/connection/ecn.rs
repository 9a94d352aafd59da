//! Explicit congestion notification: the negotiation between the two ends, the receiver's feedback
//! and the sender's reaction (RFC 3168, RFC 8257, RFC 9768).

use goodqueue_types::{Ecn, Segment, SegmentFlags};

use crate::config::EcnMode;

const ECE: SegmentFlags = SegmentFlags::ECE;
const CWR: SegmentFlags = SegmentFlags::CWR;
const AE: SegmentFlags = SegmentFlags::AE;

/// Value from which both ends count marked packets (RFC 9768 section 3.2.1). An end without ECN
/// would not show it.
const FIRST_COUNT: u32 = 5;
/// Mask of the counter on the wire, which has three bits.
const COUNTER_MASK: u32 = 7;
/// Number of marked packets that requires an ACK (RFC 9768 section 3.2.2.5.1).
const MARKS_PER_ACK: u32 = 2;

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
    /// Number of marked packets received, and the number that the last ACK reported.
    received: u32,
    told: u32,
    /// ECN field of the SYN or SYN-ACK, which accurate ECN reports once.
    handshake: Ecn,
    handshake_told: bool,
    /// Number of marked packets that the peer reported.
    peer_received: u32,
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
}

impl EcnState {
    pub fn new(mode: EcnMode, l4s: bool) -> Option<Box<Self>> {
        let state = Self {
            mode,
            codepoint: if l4s { Ecn::Capable1 } else { Ecn::Capable0 },
            echo: false,
            early_ack: None,
            received: FIRST_COUNT,
            told: FIRST_COUNT,
            handshake: Ecn::NotCapable,
            handshake_told: true,
            peer_received: FIRST_COUNT,
            reduced_until: 0,
            reduction_to_tell: false,
            losses: 0,
        };
        (mode != EcnMode::Off).then(|| Box::new(state))
    }

    /// Returns the flags that request ECN in a SYN. A SYN sent again requests nothing, because a
    /// device on the path may drop such requests (RFC 3168 section 6.1.1.1).
    pub fn syn_flags(&self, first: bool) -> SegmentFlags {
        match self.mode {
            _ if !first => SegmentFlags::default(),
            EcnMode::AccEcn => AE.with(CWR).with(ECE),
            _ => CWR.with(ECE),
        }
    }

    /// Handles a SYN from a packet with this ECN field. Returns true if the connection has ECN.
    pub fn on_syn(&mut self, segment: &Segment, mark: Ecn) -> bool {
        self.handshake = mark;
        if !segment.flags.contains(CWR.with(ECE)) {
            return false;
        }
        if self.mode == EcnMode::AccEcn && !segment.flags.contains(AE) {
            self.fall_back();
        }
        true
    }

    /// Returns true if the peer counts marks, so that the sender knows the share of them.
    pub fn counts_marks(&self) -> bool {
        self.mode != EcnMode::Rfc3168
    }

    /// Changes to classic feedback. It does not count marks, which scalable traffic needs, so data
    /// are no longer sent as ECT(1) (RFC 9331 section 4.2).
    fn fall_back(&mut self) {
        self.mode = EcnMode::Rfc3168;
        self.codepoint = Ecn::Capable0;
    }

    /// Returns the flags of a SYN-ACK that accepts ECN.
    pub fn syn_ack_flags(&self) -> SegmentFlags {
        match self.mode {
            EcnMode::AccEcn => counter_flags(handshake_code(self.handshake)),
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
            0b001 | 0b101 => self.fall_back(),
            _ => {
                self.handshake = mark;
                self.handshake_told = false;
            }
        }
        true
    }

    /// Handles a packet with payload while `next` is expected and `ack_waits` is true if an ACK
    /// waits. Returns true if an ACK must leave at once.
    pub fn on_data(&mut self, segment: &Segment, mark: Ecn, next: u64, ack_waits: bool) -> bool {
        let marked = mark == Ecn::Experienced;
        match self.mode {
            EcnMode::AccEcn => {
                self.received = self.received.wrapping_add(u32::from(marked));
                self.received.wrapping_sub(self.told) >= MARKS_PER_ACK
            }
            // RFC 8257 section 3.2: each ACK reports marked packets or unmarked ones, never both.
            EcnMode::Dctcp => {
                let changes = marked != self.echo;
                if changes && ack_waits && segment.seq == next {
                    self.early_ack = Some(next);
                }
                self.echo = marked;
                changes
            }
            // RFC 3168 section 6.1.3: the echo lasts from the mark until the sender has reduced.
            // Both changes are reported at once, because a sender with a window of one would wait
            // for them.
            _ => {
                let before = self.echo;
                self.echo &= !segment.flags.contains(CWR);
                let answered = before != self.echo;
                self.echo |= marked;
                answered || before != self.echo
            }
        }
    }

    /// Returns the flags of a segment with an acknowledgement.
    pub fn ack_flags(&mut self) -> SegmentFlags {
        if self.mode != EcnMode::AccEcn {
            return if self.echo {
                ECE
            } else {
                SegmentFlags::default()
            };
        }
        if !self.handshake_told {
            self.handshake_told = true;
            return counter_flags(handshake_code(self.handshake));
        }
        self.told = self.received;
        counter_flags(self.received)
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
    pub fn feedback(&mut self, flags: SegmentFlags, acked: u64, mss: u32) -> Feedback {
        let mss = u64::from(mss);
        match self.mode {
            EcnMode::AccEcn => {
                let packets = self.newly_marked(flags, acked.div_ceil(mss) as u32);
                self.peer_received = self.peer_received.wrapping_add(packets);
                let marked = u64::from(packets) * mss;
                Feedback {
                    echo: packets > 0,
                    marked,
                }
            }
            EcnMode::Dctcp => {
                let echo = flags.contains(ECE);
                Feedback {
                    echo,
                    marked: acked * u64::from(echo),
                }
            }
            _ => Feedback {
                echo: flags.contains(ECE),
                marked: 0,
            },
        }
    }

    /// Returns by how much the peer's counter has increased. If one ACK covers so many packets that
    /// it may have wrapped, the largest possible increase is assumed (RFC 9768 appendix A.1).
    fn newly_marked(&self, flags: SegmentFlags, acked_packets: u32) -> u32 {
        let least = counter(flags).wrapping_sub(self.peer_received) & COUNTER_MASK;
        if acked_packets <= COUNTER_MASK {
            least
        } else {
            acked_packets - ((acked_packets - least) & COUNTER_MASK)
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

/// Returns the counter in the flags AE, CWR and ECE.
fn counter(flags: SegmentFlags) -> u32 {
    let bit = |flag| u32::from(flags.contains(flag));
    bit(AE) << 2 | bit(CWR) << 1 | bit(ECE)
}

fn counter_flags(count: u32) -> SegmentFlags {
    let set = |bit, flag| {
        if count & bit == 0 {
            SegmentFlags::default()
        } else {
            flag
        }
    };
    set(4, AE).with(set(2, CWR)).with(set(1, ECE))
}

/// Returns the code by which accurate ECN reports the ECN field of a SYN or SYN-ACK (RFC 9768
/// tables 2 and 3).
fn handshake_code(mark: Ecn) -> u32 {
    match mark {
        Ecn::NotCapable => 0b010,
        Ecn::Capable1 => 0b011,
        Ecn::Capable0 => 0b100,
        Ecn::Experienced => 0b110,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9768 section 3.2.2.5: three bits hold up to seven marks. If an ACK covers more packets,
    /// the largest possible number is assumed.
    #[test]
    fn the_counter_wraps() {
        let mut ecn = EcnState::new(EcnMode::AccEcn, false).expect("on");
        let told = |ecn: &mut EcnState, count: u32, packets: u64| {
            ecn.feedback(counter_flags(count), packets * 1000, 1000)
                .marked
                / 1000
        };
        assert_eq!(told(&mut ecn, 5, 2), 0);
        assert_eq!(told(&mut ecn, 7, 2), 2);
        assert_eq!(told(&mut ecn, 7 + 3, 3), 3);
        assert_eq!(told(&mut ecn, 10 + 7, 7), 7);
        // Ten packets move the counter by one, so one or nine are marked.
        assert_eq!(told(&mut ecn, 18, 10), 9);
    }

    #[test]
    fn counters_and_flags() {
        for count in 0..8 {
            assert_eq!(counter(counter_flags(count)), count);
        }
        // RFC 9768 section 3.2.1: the initial value 5 is AE and ECE.
        assert_eq!(counter_flags(FIRST_COUNT), AE.with(ECE));
    }
}
