//! The beginning of a flow: the flight at the end of slow start, and the number of first segments
//! that were acknowledged one by one.
//!
//! Linux acknowledges each segment while its receive window grows towards a large buffer
//! (`tcp_grow_window`), and then every second one. During this time slow start grows twice as fast.
//! The end of slow start (by HyStart or by a loss) depends on chance, which no model reproduces.

/// Least growth of the flight per acknowledged byte in slow start. Slow start adds 1; the fastest
/// growth after it is CUBIC's, half of that.
const SLOW_START_GROWTH: f64 = 0.7;

/// Growth is measured over this fraction of the flight.
const PART: u64 = 8;

/// Smallest number of segments over which growth is measured.
const MIN_SEGMENTS: u64 = 4;

/// State of the estimate of one flow's beginning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opening {
    /// First position of the stream that was seen.
    first: Option<u64>,
    /// Number of ACKs of one segment, and of more.
    acks: [u64; 2],
    /// Number of segments that these ACKs acknowledged.
    segments: u64,
    /// Numbers of ACKs, and of segments, at the time of the largest majority of ACKs of one
    /// segment.
    until: ([u64; 2], u64),
    /// Segments that these acknowledged.
    before: u64,
    /// Acknowledged position, and bytes in flight, at the last measurement of growth.
    looked: Option<(u64, u64)>,
    /// Largest flight while it grew as in slow start.
    reached: u64,
    /// True if growth was slower at the last measurement.
    slowed: bool,
    /// True after the first loss.
    over: bool,
}

impl Opening {
    /// Records an ACK of `segments` segments in order, up to `ack`.
    pub fn acknowledged(&mut self, segments: u64, ack: u64, mss: u64) {
        if segments == 0 {
            return;
        }
        self.acks[usize::from(segments > 1)] += 1;
        self.segments += segments;
        let majority = |acks: [u64; 2]| i128::from(acks[0]) - i128::from(acks[1]);
        if majority(self.acks) > majority(self.until.0) {
            let position = ack.saturating_sub(self.first.unwrap_or(ack));
            self.until = (self.acks, (position + mss / 2) / mss);
            self.before = self.segments;
        }
    }

    /// Records new data sent when all data up to `una` were acknowledged and `flight` bytes were in
    /// flight.
    pub fn sent(&mut self, una: u64, flight: u64, mss: u64) {
        self.first.get_or_insert(una);
        if self.over {
            return;
        }
        let Some((base, before)) = self.looked else {
            (self.looked, self.reached) = (Some((una, flight)), flight);
            return;
        };
        let acknowledged = una.saturating_sub(base);
        if acknowledged < (before / PART).max(MIN_SEGMENTS * mss) {
            return;
        }
        let grown = flight.saturating_sub(before);
        let growth = grown as f64 / acknowledged as f64;
        // Slow start may have ended within the measured part.
        if growth >= SLOW_START_GROWTH || (!self.slowed && growth >= SLOW_START_GROWTH / 2.0) {
            self.reached = self.reached.max(flight);
        }
        self.slowed = growth < SLOW_START_GROWTH;
        self.looked = Some((una, flight));
    }

    /// Ends slow start because of a loss.
    pub fn lost(&mut self) {
        self.over = true;
    }

    /// Returns the number of first segments that were acknowledged one by one.
    pub fn one_by_one(&self) -> u64 {
        self.until.1
    }

    /// Returns the mean number of segments per ACK after these. None without such an ACK.
    pub fn segments_per_ack(&self) -> Option<f64> {
        let acks = self.acks.iter().sum::<u64>() - self.until.0.iter().sum::<u64>();
        (acks > 0).then(|| (self.segments - self.before) as f64 / acks as f64)
    }

    /// Returns the bytes in flight at the end of slow start. None if a loss ended it, or if it did
    /// not end.
    pub fn reached(&self) -> Option<u64> {
        self.slowed.then_some(self.reached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_segments_are_acknowledged_one_by_one() {
        let (mut opening, mss) = (Opening::default(), 1000);
        opening.sent(1, 10 * mss, mss);
        for segment in 1..=400 {
            opening.acknowledged(1, 1 + segment * mss, mss);
        }
        for round in 0..90 {
            opening.acknowledged(2, 1 + (402 + 5 * round) * mss, mss);
            opening.acknowledged(2, 1 + (404 + 5 * round) * mss, mss);
            opening.acknowledged(1, 1 + (405 + 5 * round) * mss, mss);
        }
        assert_eq!(opening.one_by_one(), 400);
        assert!((opening.segments_per_ack().unwrap() - 5.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn slow_start_ends_when_growth_slows() {
        let (mut opening, mss) = (Opening::default(), 1000);
        let mut window = 10;
        for segment in 0..400_u64 {
            opening.sent(segment * mss, window * mss, mss);
            window += u64::from(window < 80) + u64::from(window >= 80 && segment % 80 == 0);
        }
        let reached = opening.reached().unwrap() / mss;
        assert!((72..=84).contains(&reached), "{reached}");
    }

    #[test]
    fn slow_start_ended_by_a_loss_reports_no_flight() {
        let (mut opening, mss) = (Opening::default(), 1000);
        for segment in 0..60_u64 {
            opening.sent(segment * mss, (10 + segment) * mss, mss);
        }
        opening.lost();
        opening.sent(100 * mss, 70 * mss, mss);
        assert_eq!(opening.reached(), None);
    }
}
