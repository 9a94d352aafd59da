//! Super-segments: several TCP segments that a host and the queues behind it handle as one packet
//! (segmentation and receive offload).

use crate::{Body, Framing, Packet, Segment, SegmentFlags};

/// Largest payload of a super-segment, in bytes: 64 KiB less the headers (Linux: `sk_gso_max_size`).
pub const MAX_PAYLOAD: u32 = 65_536 - 320;

/// Flags that only the last segment of a super-segment may have.
const LAST: u16 = SegmentFlags::PSH.0 | SegmentFlags::FIN.0;

impl Segment {
    /// Returns the payload of each segment of a super-segment, of which the last may have less, in
    /// bytes, or 0 of an ordinary segment.
    #[inline]
    pub fn unit(&self) -> u16 {
        self.sack.unit()
    }

    /// Returns the number of segments on the wire.
    #[inline]
    pub fn segments(&self) -> u32 {
        if self.sack.has_unit() {
            self.payload.div_ceil(u32::from(self.unit()))
        } else {
            1
        }
    }

    /// Returns the payload of a full segment: that of all segments but the last, or of the only one.
    pub fn full(&self) -> u32 {
        match u32::from(self.unit()) {
            0 => self.payload,
            unit => unit,
        }
    }

    /// Appends a segment and returns true if it is the next one of the same stream and has the same
    /// header but for sequence number, PSH and FIN, as Linux's `tcp_gro_receive` requires. Otherwise
    /// returns false and changes nothing. Nothing follows a segment that is not full, or one with
    /// PSH or FIN.
    pub fn absorb(&mut self, next: &Self) -> bool {
        let full = self.full();
        let fits = next.payload > 0
            && next.full() <= full
            && (next.unit() == 0 || next.full() == full)
            && full > 0
            && self.payload.is_multiple_of(full)
            && self.payload + next.payload <= MAX_PAYLOAD;
        let mut alike = Self {
            seq: self.seq + u64::from(self.payload),
            flags: SegmentFlags(self.flags.0 | next.flags.0 & LAST),
            payload: next.payload,
            ..*self
        };
        alike.sack.set_unit(next.unit());
        let ends = self.flags.0 & (LAST | SegmentFlags::SYN.0 | SegmentFlags::RST.0) != 0;
        let Ok(unit) = u16::try_from(full) else {
            return false;
        };
        if !fits || ends || *next != alike {
            return false;
        }
        self.payload += next.payload;
        self.sack.set_unit(unit);
        self.flags = next.flags;
        true
    }
}

impl Packet {
    /// Returns the number of packets on the wire: the segments of a super-segment, otherwise 1.
    #[inline]
    pub fn segments(&self) -> u32 {
        1 + u32::from(self.more_segments)
    }

    /// Returns the bytes that the packet takes on a link, with a frame for each of its segments
    /// (Linux: `qdisc_pkt_len_init`).
    #[inline]
    pub fn frame_bytes(&self, framing: Framing) -> u64 {
        if self.more_segments == 0 {
            return framing.frame_bytes(self.size);
        }
        match &self.body {
            Body::Tcp(segment) => frames(segment, framing),
            _ => framing.frame_bytes(self.size),
        }
    }

    /// Appends the segment of the next packet and returns true if the two are at most 256 segments
    /// that [`Segment::absorb`] merges, with the same labels and ECN field.
    pub fn absorb(&mut self, next: &Self) -> bool {
        let alike = self.ecn == next.ecn
            && self.connection == next.connection
            && self.dscp == next.dscp
            && self.direction == next.direction
            && self.segments() + next.segments() <= 256;
        let (Body::Tcp(segment), Body::Tcp(other)) = (&mut self.body, &next.body) else {
            return false;
        };
        if !alike || !segment.absorb(other) {
            return false;
        }
        self.size += next.size;
        self.more_segments += 1 + next.more_segments;
        true
    }

    /// Returns the packets on the wire, each with its own number.
    pub fn pieces(&self) -> impl Iterator<Item = Self> + use<> {
        let whole = *self;
        (0..self.segments()).map(move |index| whole.piece(index))
    }

    fn piece(mut self, index: u32) -> Self {
        let last = index + 1 == self.segments();
        let Body::Tcp(segment) = &mut self.body else {
            return self;
        };
        let unit = u32::from(segment.unit());
        if unit == 0 {
            return self;
        }
        let before = index * unit;
        segment.seq += u64::from(before);
        segment.payload = (segment.payload - before).min(unit);
        segment.sack.set_unit(0);
        if !last {
            segment.flags.0 &= !LAST;
        }
        self.size = segment.ip_bytes();
        self.more_segments = 0;
        self.number += u64::from(index);
        self
    }
}

/// Returns the bytes of all frames of a super-segment.
#[cold]
fn frames(segment: &Segment, framing: Framing) -> u64 {
    let (header, full) = (u32::from(segment.header), segment.full());
    let whole = segment.segments() - 1;
    let rest = segment.payload - whole * full;
    u64::from(whole) * framing.frame_bytes(header + full) + framing.frame_bytes(header + rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AccEcnOption, AccEcnOrder, Cells, Ecn, Timestamps};

    /// Returns a packet of `payload` bytes from `seq` on.
    fn packet(seq: u64, payload: u32) -> Packet {
        let segment = Segment {
            seq,
            payload,
            header: 52,
            flags: SegmentFlags::ACK,
            ..Segment::default()
        };
        Packet {
            size: segment.ip_bytes(),
            body: Body::Tcp(segment),
            ..Packet::default()
        }
    }

    fn segment(packet: &mut Packet) -> &mut Segment {
        match &mut packet.body {
            Body::Tcp(segment) => segment,
            _ => panic!("a TCP packet"),
        }
    }

    /// Returns packets of 1448 bytes and a last one of `rest`, merged as far as the first takes
    /// them, and the number that it took.
    fn merged(count: u64, rest: u32) -> (Packet, u64) {
        let mut whole = packet(1, 1_448);
        let more = (1..count).map(|index| packet(1 + 1_448 * index, 1_448));
        let last = packet(1 + 1_448 * count, rest);
        let taken = more.chain([last]).take_while(|next| whole.absorb(next));
        let taken = taken.count() as u64;
        (whole, 1 + taken)
    }

    #[test]
    fn the_pieces_of_merged_packets_are_the_packets() {
        let (whole, taken) = merged(4, 100);
        assert_eq!((taken, whole.segments()), (5, 5));
        assert_eq!(whole.size, 4 * 1_500 + 152);
        let expected = (0..5).map(|index| {
            let one = packet(1 + 1_448 * index, if index == 4 { 100 } else { 1_448 });
            Packet {
                number: index,
                ..one
            }
        });
        assert_eq!(
            whole.pieces().collect::<Vec<_>>(),
            expected.collect::<Vec<_>>()
        );
        assert_eq!(packet(1, 10).pieces().collect::<Vec<_>>(), [packet(1, 10)]);
    }

    #[test]
    fn a_super_segment_takes_a_frame_for_each_segment() {
        let (whole, _) = merged(4, 100);
        // Ethernet's 14 bytes, and 32 cells of 53 bytes for 1500, 4 for 152 with AAL5's trailer.
        assert_eq!(
            whole.frame_bytes(Framing::bytes(14)),
            5 * 14 + 4 * 1_500 + 152
        );
        let atm = Framing {
            overhead: 8,
            minimum: 0,
            cells: Cells::Atm,
        };
        assert_eq!(whole.frame_bytes(atm), 4 * 32 * 53 + 4 * 53);
    }

    #[test]
    fn at_most_64_kib_are_merged() {
        // Linux sends 45 segments of 1448 bytes at once.
        assert_eq!(merged(60, 1_448).1, 45);
    }

    #[test]
    fn only_full_segments_with_the_same_header_are_followed() {
        let next = |change: &dyn Fn(&mut Segment)| {
            let mut next = packet(1_449, 1_448);
            change(segment(&mut next));
            packet(1, 1_448).absorb(&next)
        };
        assert!(next(&|_| ()));
        assert!(next(
            &|other| other.flags = other.flags.with(SegmentFlags::PSH)
        ));
        assert!(!next(&|other| other.seq += 1));
        assert!(!next(&|other| other.payload += 1));
        assert!(!next(&|other| other.payload = 0));
        assert!(!next(&|other| other.ack = 5));
        assert!(!next(&|other| other.window = 5));
        assert!(!next(&|other| assert!(other.sack.push(0, 5_000, 6_000))));
        assert!(!next(
            &|other| other.timestamps = Timestamps { value: 1, echo: 1 }
        ));
        assert!(!next(
            &|other| other.flags = other.flags.with(SegmentFlags::CWR)
        ));
        let short = |first: u32| packet(1, first).absorb(&packet(1 + u64::from(first), 50));
        assert!(short(50) && !short(49) && !short(0));
        let mut pushed = packet(1, 1_448);
        segment(&mut pushed).flags = SegmentFlags::ACK.with(SegmentFlags::PSH);
        assert!(!pushed.absorb(&packet(1_449, 1_448)));
        let marked = Packet {
            ecn: Ecn::Experienced,
            ..packet(1_449, 1_448)
        };
        assert!(!packet(1, 1_448).absorb(&marked));
    }

    #[test]
    fn a_super_segment_keeps_the_option_of_accurate_ecn_and_has_no_blocks() {
        let option = AccEcnOption::new(AccEcnOrder::Capable1First, &[1, 2, 3]);
        let with_option = |seq| {
            let mut one = packet(seq, 1_448);
            segment(&mut one).set_accecn(option);
            one
        };
        let mut whole = with_option(1);
        assert!(whole.absorb(&with_option(1_449)));
        let merged = segment(&mut whole);
        assert_eq!((merged.accecn(), merged.unit()), (option, 1_448));
        assert!(merged.sack.is_empty() && merged.sack.ranges(0).next().is_none());
        merged.sack.pop();
        assert!(!merged.sack.push(0, 5, 6));
        assert_eq!((merged.unit(), merged.sack.len()), (1_448, 0));
    }

    #[test]
    fn the_last_piece_alone_has_push_and_fin() {
        let mut whole = packet(1, 1_448);
        let mut last = packet(1_449, 7);
        let end = SegmentFlags::PSH.with(SegmentFlags::FIN);
        segment(&mut last).flags = SegmentFlags::ACK.with(end);
        assert!(whole.absorb(&last));
        let flags: Vec<_> = whole
            .pieces()
            .map(|mut piece| segment(&mut piece).flags)
            .collect();
        assert_eq!(flags, [SegmentFlags::ACK, SegmentFlags::ACK.with(end)]);
    }
}
