//! The segment size of a sender whose packets may have been captured as super-segments.

/// Number of sizes that are counted.
const SIZES: usize = 4;
/// Largest segment that networks carry, including jumbo frames.
const LARGEST: u32 = 9000;
/// Size that is assumed before anything is known: that of Ethernet with timestamps.
const USUAL: u32 = 1448;

/// State of the estimate of the segment size.
#[derive(Clone, Copy, Debug, Default)]
pub struct SegmentSize {
    /// The smaller of both ends' announced MSS.
    announced: Option<u32>,
    counts: [(u32, u32); SIZES],
    largest: u32,
    stamps: bool,
}

impl SegmentSize {
    /// Records the MSS that an end announced.
    pub fn announce(&mut self, mss: u16) {
        let mss = u32::from(mss).max(1);
        self.announced = Some(self.announced.map_or(mss, |other| other.min(mss)));
    }

    /// Records a segment with data.
    pub fn seen(&mut self, payload: u32, stamps: bool) {
        self.stamps |= stamps;
        self.largest = self.largest.max(payload);
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
            let most = announced.saturating_sub(options).max(1);
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
        common.unwrap_or(USUAL)
    }

    /// Returns the most frequent size. If candidates are multiples of one another, the smallest one
    /// is taken. If all sizes are larger than networks carry, only super-segments were seen.
    fn common(&self) -> Option<u32> {
        let most = self
            .counts
            .iter()
            .max_by_key(|count| count.1)
            .filter(|count| count.1 > 0)?
            .0;
        let parts = self
            .counts
            .iter()
            .filter(|(size, count)| *count > 0 && *size >= 500 && most.is_multiple_of(*size));
        let part = parts.map(|(size, _)| *size).min().unwrap_or(most);
        if part <= LARGEST {
            return Some(part);
        }
        let usual = [USUAL, 1460, 1440, 1428, 8948, 8960];
        usual
            .into_iter()
            .find(|size| part.is_multiple_of(*size))
            .or(Some(USUAL))
    }

    /// Returns the number of segments for this payload.
    pub fn segments(&self, payload: u32) -> u32 {
        payload.div_ceil(self.bytes()).max(1)
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
}
