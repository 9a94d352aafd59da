//! Parameters of the sizing rule BSCL (`N_b`, `T_e`, `C_e`, L, alpha, M), with intervals from the
//! bootstrap over flows, bursts and stretches of time.

use crate::Nanos;
use crate::flow::Flow;
use crate::link::Stretch;
use crate::link::bursts::Burst;
use crate::quantile::quantile;
use goodqueue_types::RandomStream;

/// Number of resamples: enough to find 95 % limits to 5 % of their distance (Efron and Tibshirani,
/// 1993, ch. 13).
const RESAMPLES: usize = 1000;

/// Number of stretches into which a capture is divided to measure its variation over time.
const STRETCHES: usize = 20;

/// Estimate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Value of the estimate.
    pub value: f64,
    /// Lower limit of the interval.
    pub low: f64,
    /// Upper limit of the interval.
    pub high: f64,
}

/// Parameters of the rule. Parameters that the capture does not show are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parameters {
    /// Number of locally bottlenecked persistent flows, averaged over time.
    pub flows: Option<Estimate>,
    /// Effective round-trip time in seconds: the harmonic mean over these flows, weighted by time.
    pub round_trip_s: Option<Estimate>,
    /// Total rate of these flows, in bits per second of frames as captured.
    pub capacity_bps: Option<Estimate>,
    /// Mean length of a loss burst in packets, without bursts of the start-up.
    pub burst: Option<Estimate>,
    /// Burst length over number of flows.
    pub alpha: Option<Estimate>,
    /// Bytes of a full packet.
    pub packet_bytes: Option<Estimate>,
}

/// Contribution of a flow to the sums.
#[derive(Clone, Copy, Default)]
struct Part {
    local: f64,
    /// Integral of 1 / T over time, and the time over which it is taken.
    inverse: f64,
    timed: f64,
    bits: f64,
    weight: f64,
    packet: f64,
}

impl Part {
    fn from_flow(flow: &Flow, duration: f64) -> Self {
        if !flow.is_held_back() {
            return Self::default();
        }
        let time = flow.duration as f64 * 1e-9;
        let rtt = flow
            .rtt
            .base
            .map(|base| base as f64 * 1e-9)
            .filter(|rtt| *rtt > 0.0);
        let bytes = flow.counts.bytes as f64;
        Self {
            local: time / duration,
            inverse: rtt.map_or(0.0, |rtt| time / rtt),
            timed: rtt.map_or(0.0, |_| time),
            bits: flow.passed_bytes * 8.0 / duration,
            weight: bytes,
            packet: bytes * flow.packet_bytes(),
        }
    }

    fn add(&mut self, other: &Self) {
        self.local += other.local;
        self.inverse += other.inverse;
        self.timed += other.timed;
        self.bits += other.bits;
        self.weight += other.weight;
        self.packet += other.packet;
    }

    /// Returns `N_b`, `T_e`, `C_e` and M.
    fn values(&self) -> [f64; 4] {
        [
            self.local,
            self.timed / self.inverse,
            self.bits,
            self.packet / self.weight,
        ]
    }
}

/// Returns the effective round-trip time in nanoseconds.
pub fn effective_round_trip(flows: &[Flow], duration: Nanos) -> Option<f64> {
    let sum = sum_of(
        flows
            .iter()
            .map(|flow| Part::from_flow(flow, duration as f64 * 1e-9)),
    );
    (sum.inverse > 0.0).then(|| sum.timed / sum.inverse * 1e9)
}

fn sum_of(parts: impl Iterator<Item = Part>) -> Part {
    let mut sum = Part::default();
    parts.for_each(|part| sum.add(&part));
    sum
}

/// Returns all parameters of a capture of this duration.
///
/// Flows are resampled for the intervals of `T_e` and M, and bursts for that of L. The flows
/// present are not a sample of other flows. Their number and rate vary in time, so `N_b` and `C_e`
/// have intervals over stretches of the capture.
pub fn parameters(
    flows: &[Flow],
    bursts: &[Burst],
    series: &[Stretch],
    duration: Nanos,
    seed: u64,
) -> Parameters {
    let whole = duration as f64 * 1e-9;
    let parts: Vec<_> = flows
        .iter()
        .map(|flow| Part::from_flow(flow, whole))
        .collect();
    let counted: Vec<_> = parts
        .iter()
        .copied()
        .filter(|part| part.local > 0.0)
        .collect();
    let steady = bursts.iter().filter(|burst| !burst.start_up);
    let lengths: Vec<f64> = steady.map(|burst| burst.packets as f64).collect();
    let present = present(flows, duration);
    let passed = passed(series);
    let mut random = RandomStream::new(seed, "bootstrap", 0);
    let mut draws: [Vec<f64>; 6] = Default::default();
    for _ in 0..RESAMPLES {
        let sum = sum_of((0..counted.len()).map(|_| *pick(&mut random, &counted)));
        let [_, round_trip, _, packet] = sum.values();
        let mut mean = |values: &[f64]| {
            let sum: f64 = (0..values.len()).map(|_| *pick(&mut random, values)).sum();
            sum / values.len() as f64
        };
        let (local, busy, burst) = (mean(&present), mean(&passed), mean(&lengths));
        let values = [local, round_trip, busy, burst, burst / local, packet];
        for (draws, value) in draws.iter_mut().zip(values) {
            draws.push(value);
        }
    }
    let [local, round_trip, capacity, packet] = sum_of(counted.into_iter()).values();
    let mean_passed = passed.iter().sum::<f64>() / passed.len() as f64;
    // The throughput of a stretch is scaled to the share of these flows.
    draws[2]
        .iter_mut()
        .for_each(|draw| *draw *= capacity / mean_passed);
    let burst = lengths.iter().sum::<f64>() / lengths.len() as f64;
    let estimated = |index: usize, value: f64| estimate(value, draws[index].clone());
    Parameters {
        flows: estimated(0, local),
        round_trip_s: estimated(1, round_trip),
        capacity_bps: estimated(2, capacity),
        burst: estimated(3, burst),
        alpha: estimated(4, burst / local),
        packet_bytes: estimated(5, packet),
    }
}

/// Returns the mean number of counted flows in each of [`STRETCHES`] equal stretches of time.
fn present(flows: &[Flow], duration: Nanos) -> Vec<f64> {
    let mut present = vec![0.0; STRETCHES];
    let length = (duration as f64 / STRETCHES as f64).max(1.0);
    for flow in flows.iter().filter(|flow| flow.is_held_back()) {
        let (start, end) = (flow.start as f64, (flow.start + flow.duration) as f64);
        for (index, present) in present.iter_mut().enumerate() {
            let from = start.max(index as f64 * length);
            let to = end.min((index + 1) as f64 * length);
            *present += ((to - from) / length).max(0.0);
        }
    }
    present
}

/// Returns the throughput in the same stretches.
fn passed(series: &[Stretch]) -> Vec<f64> {
    let bins = series.len().div_ceil(STRETCHES).max(1);
    let mean = |bins: &[Stretch]| {
        bins.iter().map(|bin| bin.throughput_bps).sum::<f64>() / bins.len() as f64
    };
    series.chunks(bins).map(mean).collect()
}

/// Returns a random element of a non-empty list.
fn pick<'a, T>(random: &mut RandomStream, values: &'a [T]) -> &'a T {
    &values[(random.unit() * values.len() as f64) as usize]
}

/// Returns the value with percentiles of the draws, or none if the value is not a positive number.
fn estimate(value: f64, mut draws: Vec<f64>) -> Option<Estimate> {
    draws.retain(|draw| draw.is_finite());
    if !value.is_finite() || value <= 0.0 {
        return None;
    }
    draws.sort_unstable_by(f64::total_cmp);
    Some(Estimate {
        value,
        low: quantile(&draws, 0.025)?.min(value),
        high: quantile(&draws, 0.975)?.max(value),
    })
}
