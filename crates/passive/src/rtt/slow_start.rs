//! Estimate of the round-trip time from the spacing of the first flights (Jiang and Dovrolis, CCR
//! 32(3), 2002). The first segment of the second flight follows the first segment of the first
//! flight by one round trip.

use crate::Nanos;
use crate::rtt::FIRST_TIMEOUT;
use std::ops::RangeInclusive;

const MAX_SEGMENTS: usize = 40;

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
        self.done |= again || self.seen.len() >= MAX_SEGMENTS;
        if !self.done {
            self.seen.push((time, payload));
        }
        !self.done
    }

    /// Returns the estimate: the end of the largest gap among the first full segments. The gap must
    /// be longer than half of the time from the first segment to its end, and at least two segments
    /// must precede it. A flow whose beginning was not seen may pause at any time, so its third
    /// flight must follow as the second one does.
    pub fn estimate(&self, mss: u32, least_segments: usize, begun: bool) -> Option<Nanos> {
        let full = self
            .seen
            .iter()
            .take_while(|(_, payload)| *payload >= mss)
            .count();
        let full = &self.seen[..full];
        if segments_of(full, mss) < least_segments as u64 {
            return None;
        }
        let second = next_flight(full, mss)?;
        let whole = full[second].0 - full[0].0;
        let confirmed = || {
            let later = &full[second..];
            let third = next_flight(later, mss)?;
            let ratio = (later[third].0 - later[0].0) as f64 / whole as f64;
            let sizes = [&full[..second], &later[..third]].map(|flight| segments_of(flight, mss));
            (ALIKE.contains(&ratio) && sizes[1] > sizes[0]).then_some(())
        };
        let is_beginning = begun || confirmed().is_some();
        // Without an answer in this time the sender would have sent again.
        (is_beginning && whole < FIRST_TIMEOUT).then_some(whole)
    }
}

/// Ratios of the times of successive flights in slow start: those of one round trip.
const ALIKE: RangeInclusive<f64> = 0.75..=1.33;

/// Returns the number of segments. A damaged file may state any length, so the sum may exceed 32
/// bits.
fn segments_of(flight: &[(Nanos, u32)], mss: u32) -> u64 {
    let counts = flight.iter().map(|(_, payload)| payload.div_ceil(mss));
    counts.map(u64::from).sum()
}

/// Returns the index at which the second flight begins. The first such gap ends the first flight;
/// later ones end later flights.
fn next_flight(full: &[(Nanos, u32)], mss: u32) -> Option<usize> {
    let first = full.first()?.0;
    let gap = |pair: &[(Nanos, u32)]| (pair[1].0 - pair[0].0, pair[1].0 - first);
    let mut gaps = full.windows(2).map(gap).enumerate();
    let found = gaps.find(|(index, (gap, whole))| {
        gap * 2 > *whole && segments_of(&full[..=*index], mss) >= 2 && *whole >= 1_000_000
    });
    found.map(|(index, _)| index + 1)
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
        assert_eq!(flights.estimate(1, 5, true), Some(1_000_000));
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
        assert_eq!(flights.estimate(1448, 5, true), Some(50_000_000));
        assert_eq!(flights.estimate(1448, 7, true), None);
        flights.add(60_000_000, 1448, true);
        flights.add(61_000_000, 1448, false);
        assert_eq!(flights.estimate(1448, 7, true), None);
    }

    #[test]
    fn a_pause_of_the_application_is_no_round_trip() {
        let flights = |times: &[i64]| {
            let mut flights = FirstFlights::default();
            for ms in times {
                flights.add(ms * 1_000_000, 1448, false);
            }
            flights
        };
        // Two messages of three segments, and a pause of 0.8 s or of 21 s.
        for pause in [800, 21_000] {
            let times = [0, 1, 2, pause, pause + 1, pause + 2];
            assert_eq!(flights(&times).estimate(1448, 5, false), None);
        }
        let long = flights(&[0, 1, 2, 21_000, 21_001, 21_002]);
        assert_eq!(long.estimate(1448, 5, true), None);
        // A flight of two, four and eight segments.
        let slow_start = [0, 1, 50, 51, 52, 53, 100, 101, 102, 103];
        let whole = flights(&slow_start).estimate(1448, 5, false);
        assert_eq!(whole, Some(50_000_000));
    }
}
