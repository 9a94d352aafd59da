//! The segment size of a sender whose packets may have been captured as super-segments.

/// Number of sizes that are counted.
const SIZES: usize = 4;
/// Largest payload of a frame of at most one MTU of Ethernet, 1,500 bytes. Such a frame is one packet.
const PLAIN: u32 = 1460;
/// Largest segment that networks carry, including jumbo frames.
const LARGEST: u32 = 9000;
/// Size that is assumed before anything is known: that of Ethernet with timestamps.
const USUAL: u32 = 1448;
/// Smallest size that is taken for that of full segments. Smaller ones are small writes, or come
/// from a damaged announcement: hosts accept segments of 536 bytes (RFC 9293, section 3.7.1).
const MIN_FULL_SIZE: u32 = 500;

/// State of the estimate of the segment size.
#[derive(Clone, Copy, Debug, Default)]
pub struct SegmentSize {
    /// The smaller of both ends' announced MSS.
    announced: Option<u32>,
    counts: [(u32, u32); SIZES],
    largest: u32,
    /// Largest payload of a frame of at most one MTU.
    largest_plain: u32,
    /// Number and bytes of the segments above one MTU.
    large: (u32, u64),
    /// Smallest size with which such a segment was counted, or 0.
    finest: u32,
    stamps: bool,
}

impl SegmentSize {
    /// Records the MSS that an end announced.
    pub fn announce(&mut self, mss: u16) {
        let mss = u32::from(mss);
        self.announced = Some(self.announced.map_or(mss, |other| other.min(mss)));
    }

    /// Records a segment with data, and returns the number of packets that it was on the network.
    pub fn seen(&mut self, payload: u32, stamps: bool) -> u32 {
        self.stamps |= stamps;
        self.largest = self.largest.max(payload);
        self.count(payload);
        if payload <= PLAIN {
            self.largest_plain = self.largest_plain.max(payload);
            return 1;
        }
        self.large.0 = self.large.0.saturating_add(1);
        self.large.1 += u64::from(payload);
        let full = self.bytes();
        self.finest = if self.finest == 0 {
            full
        } else {
            self.finest.min(full)
        };
        payload.div_ceil(full)
    }

    fn count(&mut self, payload: u32) {
        if let Some(count) = self.counts.iter_mut().find(|count| count.0 == payload) {
            count.1 = count.1.saturating_add(1);
            return;
        }
        // The rarest size is replaced, or its count decreases (Misra and Gries).
        if let Some(rarest) = self.counts.iter_mut().min_by_key(|count| count.1) {
            if rarest.1 == 0 {
                *rarest = (payload, 1);
            } else {
                rarest.1 -= 1;
            }
        }
    }

    /// Returns the payload bytes of a full segment.
    pub fn bytes(&self) -> u32 {
        let common = self.common();
        if let Some(announced) = self.announced {
            let options = if self.stamps { 12 } else { 0 };
            let most = announced.saturating_sub(options).max(MIN_FULL_SIZE);
            // Some stacks do not subtract options. A sender may also use less than the announced
            // MSS; then most segments of a bulk sender have its largest size.
            let uncounted = common == Some(announced);
            let smaller = common == Some(self.largest) && self.largest < most;
            return if uncounted || smaller {
                common.unwrap_or(most)
            } else {
                most
            };
        }
        // No full segment is smaller than a frame that was seen whole.
        common.unwrap_or(USUAL).max(self.largest_plain)
    }

    /// Returns the most frequent size that can be that of full segments. If candidates are multiples
    /// of one another, the smallest one is taken. If all sizes are larger than networks carry, or
    /// multiples of a usual one, only super-segments were seen.
    fn common(&self) -> Option<u32> {
        let full = || {
            let sizes = self.counts.iter();
            sizes.filter(|(size, count)| *count > 0 && *size >= MIN_FULL_SIZE)
        };
        let most = full().max_by_key(|count| count.1)?.0;
        let parts = full().filter(|(size, _)| most.is_multiple_of(*size));
        let part = parts.map(|(size, _)| *size).min().unwrap_or(most);
        if part <= PLAIN {
            return Some(part);
        }
        let usual = [USUAL, 1460, 1440, 1428, 8948, 8960];
        let divisor = usual.into_iter().find(|size| part.is_multiple_of(*size));
        divisor.or(Some(if part <= LARGEST { part } else { USUAL }))
    }

    /// Returns the number of packets for this payload.
    pub fn segments(&self, payload: u32) -> u32 {
        if payload <= PLAIN {
            1
        } else {
            payload.div_ceil(self.bytes())
        }
    }

    /// Returns the number of packets of all segments, of which `counted` were counted while the
    /// size was being estimated. It is not above the number for the final size.
    pub fn packets(&self, counted: u64, segments: u64) -> u64 {
        let full = self.bytes();
        if self.finest == 0 || self.finest >= full {
            return counted;
        }
        let (large, bytes) = (u64::from(self.large.0), self.large.1);
        let plain = segments.saturating_sub(large);
        counted.min(plain + bytes.div_ceil(u64::from(full)).max(large))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn super_segments_do_not_hide_the_size() {
        let mut size = SegmentSize::default();
        for payload in [14_480, 1448, 2896, 14_480, 28_960, 14_480] {
            size.seen(payload, true);
        }
        assert_eq!((size.bytes(), size.segments(14_480)), (1448, 10));
        size.announce(1460);
        assert_eq!(size.bytes(), 1448);
        size.announce(1000);
        assert_eq!(size.bytes(), 988);
    }

    #[test]
    fn small_writes_are_not_full_segments() {
        let mut size = SegmentSize::default();
        for _ in 0..50 {
            assert_eq!(size.seen(12, false), 1);
        }
        assert_eq!(size.bytes(), USUAL);
        for _ in 0..4 {
            assert_eq!(size.seen(1460, false), 1);
        }
        assert_eq!((size.bytes(), size.packets(54, 54)), (1460, 54));
        assert_eq!(size.seen(14_600, false), 10);
    }

    #[test]
    fn damaged_announcements_do_not_multiply_packets() {
        let mut size = SegmentSize::default();
        size.announce(1);
        assert_eq!(size.seen(1448, true), 1);
        assert!(size.seen(64_000, true) <= 128);
    }

    #[test]
    fn packets_are_not_above_those_of_the_final_size() {
        let mut size = SegmentSize::default();
        // The first jumbo frame looks like a super-segment of a sender that announced nothing.
        let counted: u32 = [2896, 8900, 8900, 8900, 8900]
            .iter()
            .map(|payload| size.seen(*payload, true))
            .sum();
        assert_eq!(size.bytes(), 8900);
        assert!(counted > 5);
        assert_eq!(size.packets(u64::from(counted), 5), 5);
    }
}
