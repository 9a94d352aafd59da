//! The distance by which segments may overtake one another before one of them counts as lost.

/// Largest tolerated reordering, in segments (Linux's `tcp_max_reordering`).
const MAX_DEGREE: u32 = 300;

/// The reordering that the sender tolerates and has seen.
#[derive(Debug)]
pub(crate) struct Reordering {
    /// Number of segments that may overtake another before it counts as lost (RFC 6675 `DupThresh`,
    /// adapted).
    degree: u32,
    /// Number of times that reordering was seen.
    events: u32,
}

impl Reordering {
    /// Begins with the threshold of the configuration, in segments.
    pub fn new(threshold: u32) -> Self {
        Self {
            degree: threshold,
            events: 0,
        }
    }

    /// Returns the number of segments that may overtake another before it counts as lost.
    #[inline]
    pub fn degree(&self) -> u32 {
        self.degree
    }

    /// Returns the number of times that reordering was seen.
    #[inline]
    pub fn events(&self) -> u32 {
        self.events
    }

    /// Records that a segment was delivered later than others.
    pub fn note(&mut self) {
        self.events += 1;
    }

    /// Tolerates so many segments if it is more than before.
    pub fn widen(&mut self, segments: u32) {
        self.degree = self.degree.max(segments.min(MAX_DEGREE));
    }

    /// Tolerates a distance in bytes if it is more than before.
    pub fn widen_to(&mut self, distance: u64, mss: u64) {
        if distance > u64::from(self.degree) * mss {
            self.degree = (distance.div_ceil(mss) as u32).min(MAX_DEGREE);
        }
    }

    /// Tolerates no more than the threshold, because the reordering was overestimated.
    pub fn narrow(&mut self, threshold: u32) {
        self.degree = self.degree.min(threshold);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tolerance_follows_the_largest_distance_up_to_linux_s_bound() {
        let mut reordering = Reordering::new(3);
        reordering.widen_to(3000, 1000);
        assert_eq!(reordering.degree(), 3);
        reordering.widen_to(4001, 1000);
        assert_eq!(reordering.degree(), 5, "five segments, the last one cut");
        reordering.widen(4);
        assert_eq!(reordering.degree(), 5);
        reordering.widen(1000);
        assert_eq!(reordering.degree(), MAX_DEGREE);
        reordering.narrow(3);
        assert_eq!(reordering.degree(), 3);
        assert_eq!(reordering.events(), 0);
    }
}
