//! The round trip by a search for flights (T-RAT: Zhang, Breslau, Paxson and Shenker, SIGCOMM 2002),
//! for data whose acknowledgements were not seen.
//!
//! A window sent once in a round trip makes flights. Segments are grouped into flights for each of
//! many candidate round-trip times; the candidate wins whose flights follow one another as windows
//! do.

use crate::Nanos;

/// Segments judged together: round trips are taken to be steady so long (T-RAT).
const BLOCK: usize = 256;
/// Fewer tell nothing (own).
const LEAST: usize = 64;
/// Blocks judged of a direction (own).
const MOST_BLOCKS: usize = 64;
/// Candidates are 3 ms times powers of 1.3, up to 3 s (T-RAT).
const CANDIDATES: i32 = 27;
/// See above.
const SHORTEST_NS: f64 = 3e6;
/// See above: a flight begins within a step of a candidate after the one before.
const STEP: f64 = 1.3;

/// Below this variance of the segments in equal times over their mean, they come evenly: by chance it
/// is 1 (own).
const EVEN: f64 = 0.5;
/// Segments in one of these times, on average (own).
const IN_A_TIME: usize = 4;

/// Segments that wait to be judged, and what came of those before.
#[derive(Debug, Default)]
pub struct Flights {
    block: Vec<(Nanos, u32)>,
    estimates: Vec<Nanos>,
    blocks: usize,
}

impl Flights {
    /// So many segments passed; `following` is the share of flights that follow the one before as
    /// windows do.
    pub fn add(&mut self, time: Nanos, segments: u32, following: f64) {
        if self.blocks >= MOST_BLOCKS {
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

    /// The median of all blocks, if half of them are within a step of it.
    pub fn round_trip(mut self, following: f64) -> Option<Nanos> {
        if self.block.len() >= LEAST {
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

/// The candidate whose flights tell the most, refined to the median spacing of its flights.
fn best(block: &[(Nanos, u32)], following: f64) -> Option<Nanos> {
    let span = (block.last()?.0 - block.first()?.0) as f64;
    // Evenly sent, it has no flights: whatever the candidate, they are all alike.
    if dispersion(block) < EVEN {
        return None;
    }
    (0..CANDIDATES)
        .map(|power| SHORTEST_NS * STEP.powi(power))
        .take_while(|candidate| 4.0 * candidate < span)
        .filter_map(|candidate| Grouping::of(block, candidate).judged(candidate, following))
        .filter(|(evidence, _)| *evidence > 0.0)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, spacing)| spacing)
}

/// The variance of the packets in equal times over their mean.
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

/// A block's flights by one candidate: segments, and time to the next.
#[derive(Debug, Default)]
struct Grouping(Vec<(u32, Nanos)>);

impl Grouping {
    /// A flight begins after the largest gap that ends about a round trip after the last one's
    /// beginning (T-RAT), and where nothing came then with what comes first.
    fn of(block: &[(Nanos, u32)], candidate: f64) -> Self {
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

    /// How much more likely successive flights are those of a window than of packets sent at random,
    /// and the median time between them.
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

/// A window that is fixed, or grows by one segment in a round trip (congestion avoidance).
fn follows(before: u32, after: u32) -> bool {
    before.abs_diff(after) <= 1
}

/// How often flights of packets sent at random (Poisson's, of this mean) differ by one at most.
fn by_chance(mean: f64) -> f64 {
    (1.5 / (std::f64::consts::PI * mean.max(1.0)).sqrt()).min(0.9)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of a sender, spread over half a round trip of 50 ms, and its losses.
    #[test]
    fn flights_tell_the_round_trip() {
        let mut flights = Flights::default();
        let mut window = 12;
        for round in 0..100_i64 {
            for segment in 0..window {
                let wait = 25_000_000 / window * segment;
                flights.add(round * 50_000_000 + wait, 1, 0.7);
            }
            window = if window >= 24 { 12 } else { window + 1 };
        }
        let told = flights.round_trip(0.7).unwrap();
        assert!((told - 50_000_000).abs() < 5_000_000, "{told}");
    }

    #[test]
    fn even_segments_have_no_flights() {
        let mut flights = Flights::default();
        (0..1000).for_each(|number| flights.add(number * 3_000_000, 1, 0.7));
        assert_eq!(flights.round_trip(0.7), None);
    }

    /// Damaged times may jump over years, again and again.
    #[test]
    fn jumping_times_fit() {
        let (mut flights, far) = (Flights::default(), 100_000_000_000_000_000);
        for number in 0..1000 {
            flights.add(if number % 3 == 0 { far } else { -far }, 1, 0.7);
        }
        assert_eq!(flights.round_trip(0.7), None);
    }
}
