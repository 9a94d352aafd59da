//! Accurate ECN feedback (RFC 9768): the counters of one end, their reports in the ACE field and in
//! the AccECN option, and the reading of the peer's reports.

use goodqueue_types::{AccEcnOption, AccEcnOrder, Ecn, Segment, SegmentFlags, Span, Time};

use crate::config::AccEcnReports;
use crate::connection::ecn::Feedback;

const ECE: SegmentFlags = SegmentFlags::ECE;
const CWR: SegmentFlags = SegmentFlags::CWR;
const AE: SegmentFlags = SegmentFlags::AE;

/// Value from which both ends count marked packets (RFC 9768 section 3.2.1). An end without ECN
/// would not show it.
const FIRST_COUNT: u32 = 5;
/// Mask of the ACE field, which has three bits.
const COUNTER_MASK: u32 = 7;
/// Number of marked packets that requires an ACK (RFC 9768 section 3.2.2.5.1).
const MARKS_PER_ACK: u32 = 2;

/// Code of a SYN-ACK that reports that our SYN was not ECN-capable, as it left.
const UNCHANGED: u32 = 0b010;
/// Code of a SYN-ACK that is reserved, and reports the same (RFC 9768 section 3.1.3).
const RESERVED: u32 = 0b101;

/// Values from which the byte counters of the option start, in the order ECT(1), CE, ECT(0) (RFC
/// 9768 section 3.2.3). A middlebox that overwrites counters with zeros is so detected.
const FIRST_BYTES: [u32; 3] = [1, 0, 1];
/// Place of the counter of CE in that order.
const CE_BYTES: usize = 1;
/// Number of bits of a byte counter.
const BYTE_BITS: u32 = 24;
/// Bits of a byte counter whose change requires the option (RFC 9768 section 3.2.3.3).
const LARGE_STEP: u32 = !((1 << 22) - 1);
/// Number of bytes sent without an option in return after which the counters may have wrapped, so
/// that the first option would be ambiguous (Linux).
const LATEST_START: u64 = (1 << 23) - 1;
/// Number of options per round trip that [`AccEcnReports::Minimum`] sends at least (RFC 9768 section
/// 3.2.3.3, `tcp_ecn_option_beacon` of Linux).
const BEACONS: u64 = 3;
/// Largest length of TCP options, in bytes (RFC 9293 section 3.1).
pub(crate) const OPTION_SPACE: usize = 40;
/// Bytes that the option with three counters and its padding takes.
pub(crate) const OPTION_BYTES: u16 = 12;

/// Mean number of packets per ACK, in 1/64, above which ACKs are taken to be thinned and not lost
/// (Linux).
const THINNED: u32 = 4 << 6;

/// State of accurate ECN at one end of a connection.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "orthogonal states, each named"
)]
pub(crate) struct AccurateEcn {
    reports: AccEcnReports,
    /// Number of marked packets received, and the number that the last ACK reported.
    received: u32,
    told: u32,
    /// ECN field of the SYN or SYN-ACK, which the next ACK has to report if the flag is false.
    handshake: Ecn,
    handshake_told: bool,
    /// Payload bytes received, by ECN field.
    bytes: [u32; 3],
    /// ECN field of the last packet.
    last: Ecn,
    /// Number of counters that the next option needs to show all changes.
    needed: usize,
    /// Number of segments that have to carry the option.
    demand: u8,
    /// Time at which the last option left.
    option_sent: Time,
    /// First byte of the last segment with old data, and true if the ACK of such data carried the
    /// option.
    old_data: u64,
    option_beside_old: bool,
    /// True if the peer has sent the option, so that the path lets it through.
    seen: bool,
    /// True if our options, or those of the peer, are lost or overwritten.
    stopped: bool,
    ignored: bool,
    /// Number of marked packets and of bytes by ECN field that the peer reported.
    peer_received: u32,
    peer_bytes: [u32; 3],
    /// Moving average of the packets per ACK, in 1/64.
    packets_per_ack: u32,
    /// True once a report has been read.
    checked: bool,
    /// True if the peer's first reports are wrong. Packets are then not ECN-capable (RFC 9768
    /// sections 3.2.2.3 and 3.2.2.4).
    broken: bool,
}

impl AccurateEcn {
    pub fn new(reports: AccEcnReports) -> Self {
        Self {
            reports,
            received: FIRST_COUNT,
            told: FIRST_COUNT,
            handshake: Ecn::NotCapable,
            handshake_told: true,
            bytes: [0; 3],
            last: Ecn::NotCapable,
            needed: 0,
            demand: 0,
            option_sent: Time::ZERO,
            old_data: u64::MAX,
            option_beside_old: false,
            seen: false,
            stopped: false,
            ignored: false,
            peer_received: FIRST_COUNT,
            peer_bytes: [0; 3],
            packets_per_ack: 0,
            checked: false,
            broken: false,
        }
    }

    /// Returns true if packets may be ECN-capable.
    pub fn is_sound(&self) -> bool {
        !self.broken
    }

    /// Handles a SYN from a packet with this ECN field.
    pub fn on_syn(&mut self, mark: Ecn) {
        self.handshake = mark;
        self.last = mark;
        self.demand = 1;
    }

    /// Handles a further SYN. If it does not request accurate ECN, our packets may not be ECN-capable
    /// (RFC 9768 section 3.1.5).
    pub fn on_syn_again(&mut self, mark: Ecn, requests: bool) {
        self.handshake = mark;
        self.broken |= !requests;
    }

    /// Handles a SYN-ACK that accepts accurate ECN. Its flags report the ECN field of our SYN, which
    /// was not ECN-capable.
    pub fn on_syn_ack(&mut self, segment: &Segment, mark: Ecn) {
        self.report_handshake(mark);
        self.received += u32::from(mark == Ecn::Experienced);
        self.broken = !matches!(counter(segment.flags), UNCHANGED | RESERVED);
        self.look_for_option(segment);
        self.demand = 2;
    }

    /// Requires the next ACK to report the ECN field of a SYN-ACK.
    pub fn report_handshake(&mut self, mark: Ecn) {
        self.handshake = mark;
        self.handshake_told = false;
    }

    /// Handles the ACK that ends the handshake, whose flags report the ECN field of our SYN-ACK (RFC
    /// 9768 table 4). Values that no present version of the protocol sends are accepted.
    pub fn on_third_ack(&mut self, segment: &Segment) {
        self.look_for_option(segment);
        self.broken |= matches!(counter(segment.flags), 0b000 | 0b011 | 0b100 | 0b110);
    }

    /// Counts a packet on the open connection. Returns true if it requires an ACK at once: its ECN
    /// field differs from that of the last packet, or enough marks wait for a report (RFC 9768
    /// section 3.2.2.5.1).
    pub fn on_packet(&mut self, segment: &Segment, mark: Ecn, next: u64) -> bool {
        let marked = mark == Ecn::Experienced;
        if marked {
            self.received = self.received.wrapping_add(segment.segments());
        }
        if segment.payload > 0 {
            self.count_bytes(segment.payload, mark);
            if segment.seq + u64::from(segment.payload) <= next {
                self.on_old_data(segment.seq);
            }
        }
        let changes = mark != self.last;
        if changes || marked {
            self.last = mark;
            // The second report shows unambiguously which ECN field the last packet had.
            self.demand = 2;
        }
        changes || self.received.wrapping_sub(self.told) >= MARKS_PER_ACK
    }

    fn count_bytes(&mut self, payload: u32, mark: Ecn) {
        let fields = AccEcnOrder::Capable1First.fields();
        let Some(place) = fields.iter().position(|field| *field == mark) else {
            return;
        };
        let before = self.bytes[place];
        self.bytes[place] = before.wrapping_add(payload);
        self.needed = self.needed.max(place + 1);
        if (before ^ self.bytes[place]) & LARGE_STEP != 0 {
            self.demand = self.demand.max(1);
        }
    }

    /// Handles a segment with old data. If the same data come a third time although the ACK of the
    /// second carried the option, the path drops segments with the option (Linux).
    fn on_old_data(&mut self, seq: u64) {
        self.stopped |= self.option_beside_old && seq == self.old_data;
        self.old_data = seq;
    }

    /// Returns the ACE field of a SYN-ACK.
    pub fn syn_ack_flags(&self) -> SegmentFlags {
        counter_flags(handshake_code(self.handshake))
    }

    /// Returns the ACE field of a segment with an acknowledgement.
    pub fn flags(&mut self) -> SegmentFlags {
        if !self.handshake_told {
            self.handshake_told = true;
            return counter_flags(handshake_code(self.handshake));
        }
        self.told = self.received;
        counter_flags(self.received)
    }

    /// Returns the option of a SYN-ACK. Its counters have their initial values, which the path must
    /// leave unchanged (RFC 9768 section 3.2.3.2.1). A SYN-ACK that is sent again has none.
    pub fn syn_ack_option(&self, first: bool, is_short: bool) -> AccEcnOption {
        if first && self.reports != AccEcnReports::Off {
            let counters = if is_short { 2 } else { 3 };
            AccEcnOption::new(AccEcnOrder::Capable1First, &FIRST_BYTES[..counters])
        } else {
            AccEcnOption::default()
        }
    }

    /// Adds the option to a segment, if it is due and fits. It may replace SACK blocks down to two.
    pub fn add_option(&mut self, now: Time, srtt: Option<Span>, room: Room, segment: &mut Segment) {
        let due = match self.reports {
            AccEcnReports::Off => false,
            AccEcnReports::Minimum => self.demand > 0 || self.is_beacon_due(now, srtt),
            AccEcnReports::Full => true,
        };
        if !due || !self.seen || self.stopped {
            return;
        }
        let Some(fit) = fit(self.needed, segment.sack.len(), room.has_timestamps) else {
            return;
        };
        if room.counts_options {
            let dropped = 8 * (segment.sack.len() - fit.blocks) as u16;
            segment.header = segment.header + fit.bytes - dropped;
        }
        while segment.sack.len() > fit.blocks {
            segment.sack.pop();
        }
        let reports_old = segment.sack.ranges(segment.ack).next();
        self.option_beside_old = reports_old.is_some_and(|(start, _)| start < segment.ack);
        let mut counters = FIRST_BYTES;
        for (counter, bytes) in counters.iter_mut().zip(self.bytes) {
            *counter = counter.wrapping_add(bytes);
        }
        segment.set_accecn(AccEcnOption::new(
            AccEcnOrder::Capable1First,
            &counters[..fit.counters],
        ));
        self.needed = 0;
        self.demand = self.demand.saturating_sub(1);
        self.option_sent = now;
    }

    fn is_beacon_due(&self, now: Time, srtt: Option<Span>) -> bool {
        now.saturating_since(self.option_sent) * BEACONS >= srtt.unwrap_or(Span::ZERO)
    }

    /// Checks the first option of the peer: its first and third counters start at 1, so a 0 shows
    /// that a middlebox has overwritten them (RFC 9768 section 3.2.3.2.4).
    fn look_for_option(&mut self, segment: &Segment) {
        if segment.accecn().is_present() && !self.seen {
            self.seen = true;
            let option = segment.accecn();
            let mut counters = option.counters();
            self.ignored |= counters.any(|(field, bytes)| field != Ecn::Experienced && bytes == 0);
        }
    }

    /// Checks the first report after the handshake, which newly covers `acked` bytes. A value of 0 is
    /// wrong if these are too few for the field to have returned to 0 by counting.
    pub fn check_first_report(&mut self, segment: &Segment, acked: u64, mss: u32) {
        if !self.checked {
            self.checked = true;
            self.broken |= counter(segment.flags) == 0 && acked <= 2 * u64::from(mss);
        }
        self.look_for_option(segment);
    }

    /// Reads the marks from an acknowledgement that newly covers `acked` bytes.
    pub fn feedback(&mut self, segment: &Segment, acked: u64, mss: u32) -> Feedback {
        let packets = acked.div_ceil(u64::from(mss)) as u32;
        if self.broken {
            return Feedback::default();
        }
        self.average(packets);
        if !self.seen && segment.ack > LATEST_START {
            self.ignored = true;
        }
        let reported = self.read_option(&segment.accecn());
        let marked_packets = self.newly_marked(segment.flags, packets, reported, mss);
        self.peer_received = self.peer_received.wrapping_add(marked_packets);
        let marked = reported.unwrap_or_else(|| {
            // The next option corrects this estimate.
            let estimate = marked_packets.wrapping_mul(mss);
            self.peer_bytes[CE_BYTES] = self.peer_bytes[CE_BYTES].wrapping_add(estimate);
            u64::from(estimate)
        });
        Feedback {
            echo: marked_packets > 0 || marked > 0,
            marked,
            holds_growth: marked > 0 && marked >= acked,
        }
    }

    /// Reads the byte counters. Returns the newly marked bytes, if the option reports them.
    fn read_option(&mut self, option: &AccEcnOption) -> Option<u64> {
        if self.ignored {
            return None;
        }
        let mut marked = None;
        let order = AccEcnOrder::Capable1First.fields();
        for (field, counter) in option.counters() {
            let place = order.iter().position(|other| *other == field)?;
            let counted = counter.wrapping_sub(FIRST_BYTES[place]);
            let step = counted.wrapping_sub(self.peer_bytes[place]) << (u32::BITS - BYTE_BITS);
            // An older ACK, or a correction of an estimate, has a negative step.
            let step = step as i32 >> (u32::BITS - BYTE_BITS);
            self.peer_bytes[place] = self.peer_bytes[place].wrapping_add_signed(step);
            if field == Ecn::Experienced {
                marked = Some(u64::from(step.max(0) as u32));
            }
        }
        marked
    }

    /// Adds an ACK of this many packets to the moving average.
    fn average(&mut self, packets: u32) {
        if packets == 0 {
            return;
        }
        let packets = packets.min(1 << 10) << 6;
        self.packets_per_ack = if self.packets_per_ack == 0 {
            packets
        } else {
            (63 * self.packets_per_ack + packets) / 64
        };
    }

    /// Returns by how much the peer's counter of packets has increased (RFC 9768 appendices A.1 and
    /// A.2.2). If one ACK covers so many packets that the field may have wrapped, the largest
    /// possible increase is assumed, unless the option reports too few bytes for it or ACKs are
    /// thinned.
    fn newly_marked(&self, flags: SegmentFlags, packets: u32, bytes: Option<u64>, mss: u32) -> u32 {
        let least = counter(flags).wrapping_sub(self.peer_received) & COUNTER_MASK;
        if packets <= COUNTER_MASK || self.packets_per_ack > THINNED {
            return least;
        }
        let most = packets - ((packets - least) & COUNTER_MASK);
        let size = |packets: u32| u64::from(packets) * u64::from(mss);
        match bytes {
            Some(bytes) if bytes <= size(least) && 2 * bytes < size(most) => least,
            _ => most,
        }
    }

    /// Returns the number of packets that the peer reported as marked.
    pub fn delivered_marked(&self) -> u32 {
        self.peer_received.wrapping_sub(FIRST_COUNT)
    }

    /// Returns the payload bytes that the peer reported, in the order ECT(1), CE, ECT(0).
    pub fn delivered_bytes(&self) -> [u32; 3] {
        self.peer_bytes
    }
}

/// Properties of a connection's headers that matter to the option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// True if every segment has timestamps.
    pub has_timestamps: bool,
    /// True if options add to the sizes of packets.
    pub counts_options: bool,
}

/// Option that fits into a header.
#[derive(Debug, PartialEq, Eq)]
struct Fit {
    counters: usize,
    blocks: usize,
    /// Bytes that the option takes besides the padding of the SACK blocks.
    bytes: u16,
}

/// Returns the largest option, of `needed` counters at least, that fits beside SACK blocks and
/// timestamps. If none fits, SACK blocks give way, but two remain (Linux). The option may take the
/// place of the two bytes that pad SACK blocks. Beside four blocks there is none
/// ([`Segment::set_accecn`]).
fn fit(needed: usize, blocks: usize, stamped: bool) -> Option<Fit> {
    let least = if needed > 0 { blocks.min(2) } else { blocks };
    (least..=blocks.min(3)).rev().find_map(|blocks| {
        let (padding, sack) = if blocks > 0 {
            (2, 4 + 8 * blocks)
        } else {
            (0, 0)
        };
        let room = OPTION_SPACE.saturating_sub(12 * usize::from(stamped) + sack);
        (needed..=3).rev().find_map(|counters| {
            let size = 2 + 3 * counters;
            let over = size % 4;
            let bytes = if over <= padding {
                size - over
            } else {
                size.next_multiple_of(4)
            };
            (bytes <= room).then_some(Fit {
                counters,
                blocks,
                bytes: bytes as u16,
            })
        })
    })
}

/// Returns the counter in the flags AE, CWR and ECE.
pub(crate) fn counter(flags: SegmentFlags) -> u32 {
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
mod tests;
