//! Estimate of the round-trip time from flights (T-RAT: Zhang, Breslau, Paxson and Shenker, SIGCOMM
//! 2002), for data whose ACKs were not seen.
//!
//! A sender that sends a window per round trip sends flights of segments. The segments are grouped
//! into flights for each of many candidate round-trip times. The estimate is the candidate whose
//! successive flights have sizes as successive windows do.

use crate::Nanos;

/// Number of segments that are judged together. Round trips are assumed constant within them
/// (T-RAT).
const BLOCK: usize = 256;
/// Smallest number of segments that allows an estimate (own).
const MIN_SEGMENTS: usize = 64;
/// Largest number of blocks judged of a direction (own).
const MAX_BLOCKS: usize = 64;
/// Number of candidates: 3 ms times powers of 1.3, up to 3 s (T-RAT).
const CANDIDATES: i32 = 27;
/// Smallest candidate, in nanoseconds (T-RAT).
const SHORTEST_NS: f64 = 3e6;
/// Ratio of successive candidates (T-RAT). A flight begins within this factor of a candidate after
/// the previous one.
const STEP: f64 = 1.3;

/// Index of dispersion (variance over mean of the segments in equal times) below which segments are
/// evenly spaced. For a Poisson process it is 1 (own).
const EVEN: f64 = 0.5;
/// Mean number of segments in one of these times (own).
const IN_A_TIME: usize = 4;

/// Segments that wait to be judged, and the estimates of the earlier blocks.
#[derive(Debug, Default)]
pub struct Flights {
    block: Vec<(Nanos, u32)>,
    estimates: Vec<Nanos>,
    blocks: usize,
}

impl Flights {
    /// Takes a segment, or several captured as one. `following` is the share of flights whose size
    /// must fit a window after the previous flight's.
    pub fn add(&mut self, time: Nanos, segments: u32, following: f64) {
        if self.blocks >= MAX_BLOCKS {
            return;
        }
        self.block.push((time, segments));
        if self.block.len() >= BLOCK {
            self.judge(following);
        }
    }

    fn judge(&mut self, following: f64) {
        self.blocks += 1;
        self.estimates.extend(best(&self.block, following));
        self.block.clear();
    }

    /// Returns the median over all blocks if at least half of the estimates are within a step of
    /// it.
    pub fn round_trip(mut self, following: f64) -> Option<Nanos> {
        if self.block.len() >= MIN_SEGMENTS {
            self.judge(following);
        }
        self.estimates.sort_unstable();
        let median = *self.estimates.get(self.estimates.len() / 2)?;
        let within = |estimate: &&Nanos| {
            let ratio = **estimate as f64 / median as f64;
            (1.0 / STEP..STEP).contains(&ratio)
        };
        (self.estimates.iter().filter(within).count() * 2 >= self.blocks).then_some(median)
    }
}

/// Returns the candidate with the strongest evidence, refined to the median spacing of its flights.
fn best(block: &[(Nanos, u32)], following: f64) -> Option<Nanos> {
    let span = (block.last()?.0 - block.first()?.0) as f64;
    // Evenly spaced segments have no flights, so all candidates are equally likely.
    if dispersion(block) < EVEN {
        return None;
    }
    (0..CANDIDATES)
        .map(|power| SHORTEST_NS * STEP.powi(power))
        .take_while(|candidate| 4.0 * candidate < span)
        .filter_map(|candidate| Grouping::from_block(block, candidate).judged(candidate, following))
        .filter(|(evidence, _)| *evidence > 0.0)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, spacing)| spacing)
}

/// Returns the index of dispersion: the variance of the packets in equal times over their mean.
fn dispersion(block: &[(Nanos, u32)]) -> f64 {
    let mut counts = vec![0.0_f64; block.len().div_ceil(IN_A_TIME)];
    let first = block[0].0;
    let length = (block[block.len() - 1].0 - first) / counts.len() as Nanos + 1;
    for (time, _) in block {
        let place = ((time - first) / length).max(0) as usize;
        let last = counts.len() - 1;
        counts[place.min(last)] += 1.0;
    }
    let mean = block.len() as f64 / counts.len() as f64;
    let squares: f64 = counts.iter().map(|count| (count - mean).powi(2)).sum();
    squares / counts.len() as f64 / mean
}

/// Flights of a block for one candidate: segments, and time to the next flight.
#[derive(Debug, Default)]
struct Grouping(Vec<(u32, Nanos)>);

impl Grouping {
    /// Groups a block. A flight begins after the largest gap that ends about a round trip after the
    /// beginning of the previous flight (T-RAT). If no segment came then, it begins with the next
    /// segment.
    fn from_block(block: &[(Nanos, u32)], candidate: f64) -> Self {
        let (earliest, latest) = ((candidate / STEP) as Nanos, (candidate * STEP) as Nanos);
        let (mut flights, mut begin) = (Self::default(), 0);
        loop {
            let since = |place: usize| block[place].0 - block[begin].0;
            let after = (begin + 1..block.len()).find(|place| since(*place) >= earliest);
            let Some(after) = after else { return flights };
            let near = (after..block.len()).take_while(|place| since(*place) <= latest);
            let next = near
                .max_by_key(|place| block[*place].0 - block[*place - 1].0)
                .unwrap_or(after);
            let segments = block[begin..next].iter().map(|segment| segment.1).sum();
            flights.0.push((segments, since(next)));
            begin = next;
        }
    }

    /// Returns the log-likelihood ratio of successive flights from a window to those of randomly
    /// sent packets, and the median time between flights.
    fn judged(&self, candidate: f64, following: f64) -> Option<(f64, Nanos)> {
        let near = |spacing: Nanos| spacing as f64 <= candidate * STEP;
        let mut spacings: Vec<_> = self.0.iter().map(|flight| flight.1).collect();
        spacings.retain(|spacing| near(*spacing));
        if spacings.len() * 2 < self.0.len() || spacings.len() < 4 {
            return None;
        }
        let evidence = self.0.windows(2).map(|pair| {
            let [(before, first), (after, second)] = [pair[0], pair[1]];
            let chance = by_chance(f64::midpoint(f64::from(before), f64::from(after)));
            if near(first) && near(second) && follows(before, after) {
                (following / chance).ln()
            } else {
                ((1.0 - following) / (1.0 - chance)).ln()
            }
        });
        let evidence = evidence.sum();
        spacings.sort_unstable();
        Some((evidence, spacings[spacings.len() / 2]))
    }
}

/// Returns true if the window is constant, or grows by one segment per round trip (congestion
/// avoidance).
fn follows(before: u32, after: u32) -> bool {
    before.abs_diff(after) <= 1
}

/// Returns the probability that two Poisson numbers of this mean differ by at most one.
fn by_chance(mean: f64) -> f64 {
    (1.5 / (std::f64::consts::PI * mean.max(1.0)).sqrt()).min(0.9)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flights of a sender, spread over half a round trip of 50 ms, with its losses.
    #[test]
    fn the_spacing_of_flights_gives_the_round_trip() {
        let mut flights = Flights::default();
        let mut window = 12;
        for round in 0..100_i64 {
            for segment in 0..window {
                let wait = 25_000_000 / window * segment;
                flights.add(round * 50_000_000 + wait, 1, 0.7);
            }
            window = if window >= 24 { 12 } else { window + 1 };
        }
        let estimate = flights.round_trip(0.7).unwrap();
        assert!((estimate - 50_000_000).abs() < 5_000_000, "{estimate}");
    }

    #[test]
    fn even_segments_have_no_flights() {
        let mut flights = Flights::default();
        (0..1000).for_each(|number| flights.add(number * 3_000_000, 1, 0.7));
        assert_eq!(flights.round_trip(0.7), None);
    }

    /// Damaged times may jump over years repeatedly.
    #[test]
    fn jumping_times_do_not_overflow() {
        let (mut flights, far) = (Flights::default(), 100_000_000_000_000_000);
        for number in 0..1000 {
            flights.add(if number % 3 == 0 { far } else { -far }, 1, 0.7);
        }
        assert_eq!(flights.round_trip(0.7), None);
    }
}
