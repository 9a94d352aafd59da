//! Queues of smooth traffic: M/M/1/K and M/D/1/K.
//!
//! K counts the packet in transmission; a buffer holds K - 1.

use crate::format::percent;
use crate::link::Link;
use crate::rules::{Advice, Bound, Kind, Rule, Trial};

/// Largest number of places that is tried.
const MAX_PLACES: usize = 10_000;

/// Number of terms of the arrival distribution. For a load of up to 1, the probability of half as many
/// arrivals during one packet is already 0 in floating point.
const MAX_ARRIVALS: usize = 512;

/// Unnormalised probability above which all are scaled down: above a load of 1 they grow without end.
const MAX_WEIGHT: f64 = 1e200;

/// Returns the loss of queues with exponential sizes and 1, 2 ... places.
fn mm1k_losses(load: f64) -> impl Iterator<Item = f64> {
    (1_u64..).map(move |places| mm1k_loss(load, places))
}

/// Returns the loss with exponential sizes: (1 - r) r^K / (1 - r^(K+1)); 1/(K+1) for r = 1.
fn mm1k_loss(load: f64, places: u64) -> f64 {
    let places = places as f64;
    if load >= 1.0 {
        return 1.0 / (places + 1.0);
    }
    (1.0 - load) * libm::pow(load, places) / (1.0 - libm::pow(load, places + 1.0))
}

/// The exact loss of queues with equal sizes and 1, 2 ... places, at departures.
///
/// Nothing is subtracted, so that small losses keep all digits. Let `pi_i` be the unnormalised
/// probability that a departure leaves i packets, and A the number of arrivals while a packet is sent.
/// The chain moves down to a state j as often as it rises above it:
///
/// ```text
/// pi_(j+1) P(A = 0) = pi_0 P(A > j) + sum over i = 1 .. j of pi_i P(A > j + 1 - i)
/// ```
///
/// which does not depend on the number of places. With K places, the queue accepts K - i arrivals
/// during a packet, or K - 1 after an empty queue, and loses the rest.
struct Md1kLosses {
    /// Probability of no arrival during a packet.
    none: f64,
    /// Probabilities P(A > n).
    above: Vec<f64>,
    /// Means of the arrivals beyond n, the sums of P(A > n), P(A > n + 1) ...
    excess: Vec<f64>,
    /// Unnormalised probabilities `pi_i`.
    left: Vec<f64>,
    /// Sum of `left`.
    total: f64,
}

impl Md1kLosses {
    fn new(load: f64) -> Self {
        let above = poisson_tail(load);
        Self {
            none: libm::exp(-load),
            excess: sums_from_end(&above),
            above,
            left: vec![1.0],
            total: 1.0,
        }
    }

    /// Returns the sum of a tail at the free places of each state; an arrival ends state 0.
    fn after(&self, tail: &[f64]) -> f64 {
        let places = self.left.len();
        let first = (places + 1).saturating_sub(tail.len());
        let states = self.left.iter().enumerate().skip(first);
        states
            .map(|(state, weight)| weight * tail[places - state.max(1)])
            .sum()
    }
}

impl Iterator for Md1kLosses {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        let lost = self.after(&self.excess) / self.total;
        let next = self.after(&self.above) / self.none;
        self.left.push(next);
        self.total += next;
        if next > MAX_WEIGHT {
            self.left
                .iter_mut()
                .for_each(|weight| *weight /= MAX_WEIGHT);
            self.total /= MAX_WEIGHT;
        }
        Some(lost / (1.0 + lost))
    }
}

/// Returns P(A > n) for n = 0, 1 ... as far as floating point distinguishes it from zero.
fn poisson_tail(mean: f64) -> Vec<f64> {
    let mut factorial = 0.0;
    let mut chances = Vec::with_capacity(2 * MAX_ARRIVALS);
    for count in 1..2 * MAX_ARRIVALS {
        let count = count as f64;
        factorial += libm::log(count);
        chances.push(libm::exp(count * libm::log(mean) - mean - factorial));
    }
    let mut above = sums_from_end(&chances);
    above.truncate(MAX_ARRIVALS);
    above
}

/// Returns the sum of the values from each place on; the last, 0, is that of no value.
fn sums_from_end(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; values.len() + 1];
    for place in (0..values.len()).rev() {
        sums[place] = sums[place + 1] + values[place];
    }
    sums
}

/// Returns the smallest K that keeps the loss; None if none that is tried does.
fn least_places(losses: impl Iterator<Item = f64>, bound: f64) -> Option<usize> {
    let place = losses.take(MAX_PLACES).position(|loss| loss <= bound)?;
    Some(place + 1)
}

fn advise_with<L: Iterator<Item = f64>>(link: &Link, losses: impl Fn(f64) -> L) -> Advice {
    let load = link.min_utilization;
    let Some(most) = link.max_loss_rate else {
        return Advice {
            broken: vec!["needs a bound on loss (--max-loss)".to_owned()],
            ..Advice::default()
        };
    };
    let places = least_places(losses(load), most);
    let adapts = (!link.paced).then(|| {
        "arrivals are not a Poisson process, because TCP senders send bursts and adapt to loss"
            .to_owned()
    });
    let none = places
        .is_none()
        .then(|| "at this load no such queue keeps the loss".to_owned());
    Advice {
        packets: places.map(|places| (places - 1).max(1) as f64),
        broken: adapts.into_iter().chain(none).collect(),
        notes: vec![format!("offered load {}", percent(load, 0))],
    }
}

/// The rule for exponential sizes.
pub const RULE_MM1K: Rule = Rule {
    name: "mm1k",
    title: "M/M/1/K",
    equation: "p = (1 - r) r^K / (1 - r^(K+1)), B = K - 1",
    source: "Kleinrock, Queueing Systems I, 1975, section 3.6",
    assumptions: &[
        "Poisson arrivals that do not adapt",
        "exponential packet sizes",
    ],
    kind: Kind::Rule,
    bound: Bound::AtLeast,
    trial: Trial::Classic,
    advise: |link| advise_with(link, mm1k_losses),
};

/// The rule for equal sizes.
pub const RULE_MD1K: Rule = Rule {
    name: "md1k",
    title: "M/D/1/K",
    equation: "p = 1 - 1/(pi_0 + r), B = K - 1",
    source: "the chain embedded at departures; Gross and Harris, Fundamentals of Queueing Theory",
    assumptions: &["Poisson arrivals that do not adapt", "packets of one size"],
    kind: Kind::Rule,
    bound: Bound::AtLeast,
    trial: Trial::Classic,
    advise: |link| advise_with(link, Md1kLosses::new),
};

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64, relative: f64) {
        assert!(
            (found / expected - 1.0).abs() <= relative,
            "{found} is not {expected}"
        );
    }

    #[test]
    fn small_queues_lose_what_kleinrocks_formulas_give() {
        for (places, loss) in [(10, 0.0508), (20, 0.01365), (50, 5.18e-4)] {
            near(mm1k_loss(0.9, places), loss, 1e-3);
        }
        near(mm1k_loss(1.0, 20), 0.0476, 1e-3);
        let losses: Vec<f64> = Md1kLosses::new(0.9).take(50).collect();
        for (places, loss) in [(10, 0.01663), (20, 0.001_853), (50, 3.65e-6)] {
            near(losses[places - 1], loss, 2e-3);
        }
    }

    /// The loss of a long queue falls by e^-s per place, where s > 0 solves r (e^s - 1) = s.
    #[test]
    fn a_queue_of_packets_of_one_size_is_exact_however_rare_its_losses() {
        let load = 0.98;
        let (mut low, mut high) = (0.01, 1.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if load * libm::expm1(middle) < middle {
                low = middle;
            } else {
                high = middle;
            }
        }
        let losses: Vec<f64> = Md1kLosses::new(load).take(2_000).collect();
        assert!(losses[1_999] < 1e-30);
        for pair in losses[400..].windows(2) {
            near(libm::log(pair[0] / pair[1]), low, 1e-4);
        }
        let wanted = least_places(Md1kLosses::new(load), 1e-6).unwrap();
        assert!(losses[wanted - 1] <= 1e-6 && losses[wanted - 2] > 1e-6 && wanted > 200);
    }

    /// A long M/D/1/K at a load of 1 loses 1/(2K): a Brownian motion between two barriers. None of
    /// 10,000 places loses as little as one in a million.
    #[test]
    fn a_saturated_queue_loses_one_packet_in_twice_its_places() {
        let wanted = least_places(Md1kLosses::new(1.0), 1e-3).unwrap();
        assert!(wanted.abs_diff(500) <= 2);
        assert_eq!(least_places(Md1kLosses::new(1.0), 1e-6), None);
    }

    /// Above a load of 1 a long queue loses 1 - 1/r.
    #[test]
    fn an_overloaded_queue_loses_what_exceeds_its_rate() {
        let loss = Md1kLosses::new(1.25).nth(5_000).unwrap();
        near(loss, 0.2, 1e-6);
    }
}
