//! How a flow began: how far its slow start went, and how many of its first segments were
//! acknowledged one by one.
//!
//! Linux acknowledges each segment while its receive window still grows towards a large buffer
//! (`tcp_grow_window`), and every second one after that. Slow start grows twice as fast meanwhile, and
//! where it ends (by HyStart's clock, or by a loss) hangs on chance that no model repeats.

/// Slow start adds what is acknowledged; the fastest growth after it is CUBIC's, half of that.
const SLOW_START_GROWTH: f64 = 0.7;

/// Growth is looked at over so large a part of the flight.
const PART: u64 = 8;

/// Growth is looked at over so many segments at least.
const LEAST_SEGMENTS: u64 = 4;

/// State of the estimate of one flow's beginning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opening {
    /// Where the stream begins, as far as it was seen.
    first: Option<u64>,
    /// Acknowledgements of one segment, and of more.
    acks: [u64; 2],
    /// Segments that these acknowledged.
    segments: u64,
    /// The acknowledgements where those of one were in the largest majority, and the segment reached.
    until: ([u64; 2], u64),
    /// Segments that these acknowledged.
    before: u64,
    /// What was acknowledged, and in flight, when growth was looked at last.
    looked: Option<(u64, u64)>,
    /// The largest flight while it grew as slow start does.
    reached: u64,
    /// Growth was slower when it was looked at last.
    slowed: bool,
    /// Something was lost.
    over: bool,
}

impl Opening {
    /// Data in order were acknowledged: so many segments at once, up to `ack`.
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

    /// New data left when everything up to `una` was acknowledged and `flight` bytes were not.
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
        if acknowledged < (before / PART).max(LEAST_SEGMENTS * mss) {
            return;
        }
        let grown = flight.saturating_sub(before);
        let growth = grown as f64 / acknowledged as f64;
        // Slow start may have ended within the part that was looked at.
        if growth >= SLOW_START_GROWTH || (!self.slowed && growth >= SLOW_START_GROWTH / 2.0) {
            self.reached = self.reached.max(flight);
        }
        self.slowed = growth < SLOW_START_GROWTH;
        self.looked = Some((una, flight));
    }

    /// Slow start is over: something was lost.
    pub fn lost(&mut self) {
        self.over = true;
    }

    /// Segments at the start that were acknowledged one by one.
    pub fn one_by_one(&self) -> u64 {
        self.until.1
    }

    /// Segments for each acknowledgement after that; none if there was none.
    pub fn segments_per_ack(&self) -> Option<f64> {
        let acks = self.acks.iter().sum::<u64>() - self.until.0.iter().sum::<u64>();
        (acks > 0).then(|| (self.segments - self.before) as f64 / acks as f64)
    }

    /// Bytes in flight at the end of slow start; none if a loss ended it, or nothing did.
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
    fn slow_start_ends_where_growth_slows() {
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
    fn slow_start_that_a_loss_ends_has_no_end_of_its_own() {
        let (mut opening, mss) = (Opening::default(), 1000);
        for segment in 0..60_u64 {
            opening.sent(segment * mss, (10 + segment) * mss, mss);
        }
        opening.lost();
        opening.sent(100 * mss, 70 * mss, mss);
        assert_eq!(opening.reached(), None);
    }
}
