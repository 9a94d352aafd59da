//! Estimate of the round-trip time from the spacing of the first flights (Jiang and Dovrolis, CCR
//! 32(3), 2002). The first segment of the second flight follows the first segment of the first
//! flight by one round trip.

use crate::Nanos;

const MOST_SEGMENTS: usize = 40;

/// First data of a direction.
#[derive(Debug, Default)]
pub struct FirstFlights {
    seen: Vec<(Nanos, u32)>,
    done: bool,
}

impl FirstFlights {
    /// Adds a segment with data. Returns true if the estimate may have changed.
    pub fn add(&mut self, time: Nanos, payload: u32, again: bool) -> bool {
        // After a retransmission the spacing of flights is not that of slow start.
        self.done |= again || self.seen.len() >= MOST_SEGMENTS;
        if !self.done {
            self.seen.push((time, payload));
        }
        !self.done
    }

    /// Returns the estimate: the end of the largest gap among the first full segments. The gap must
    /// be longer than half of the time from the first segment to its end, and at least two segments
    /// must precede it.
    pub fn estimate(&self, mss: u32, least_segments: usize) -> Option<Nanos> {
        let full = self
            .seen
            .iter()
            .take_while(|(_, payload)| *payload >= mss)
            .count();
        let full = &self.seen[..full];
        // A damaged file may state any length, so the sum may exceed 32 bits.
        let segments_of = |flight: &[(Nanos, u32)]| -> u64 {
            let counts = flight.iter().map(|(_, payload)| payload.div_ceil(mss));
            counts.map(u64::from).sum()
        };
        if segments_of(full) < least_segments as u64 {
            return None;
        }
        let first = full.first()?.0;
        // The first such gap ends the first flight; later ones end later flights.
        for (index, pair) in full.windows(2).enumerate() {
            let (gap, whole) = (pair[1].0 - pair[0].0, pair[1].0 - first);
            if gap * 2 > whole && segments_of(&full[..=index]) >= 2 && whole >= 1_000_000 {
                return Some(whole);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_a_damaged_file_do_not_overflow() {
        let mut flights = FirstFlights::default();
        for ms in [0, 1, 2, 50] {
            flights.add(ms * 1_000_000, u32::MAX, false);
        }
        assert_eq!(flights.estimate(1, 5), Some(1_000_000));
    }

    #[test]
    fn the_start_of_the_second_flight_gives_the_round_trip() {
        let mut flights = FirstFlights::default();
        for (ms, payload) in [
            (0, 1448),
            (1, 1448),
            (2, 1448),
            (50, 1448),
            (51, 1448),
            (52, 1448),
        ] {
            flights.add(ms * 1_000_000, payload, false);
        }
        assert_eq!(flights.estimate(1448, 5), Some(50_000_000));
        assert_eq!(flights.estimate(1448, 7), None);
        flights.add(60_000_000, 1448, true);
        flights.add(61_000_000, 1448, false);
        assert_eq!(flights.estimate(1448, 7), None);
    }
}
