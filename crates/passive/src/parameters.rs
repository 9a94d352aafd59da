//! The parameters of the sizing rule BSCL (theory: `N_b`, `T_e`, `C_e`, L, alpha, M), with intervals
//! by the bootstrap over flows and bursts.

use crate::Nanos;
use crate::bursts::Burst;
use crate::flow::Flow;
use crate::quantile::quantile;
use crate::report::Stretch;
use goodqueue_types::RandomStream;

/// Resamples: enough for 95 % limits to 5 % of their distance (Efron and Tibshirani, 1993, ch. 13).
const RESAMPLES: usize = 1000;

/// Stretches that a capture is cut into to see how it varies.
const STRETCHES: usize = 20;

/// A value and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Lower limit of the interval.
    pub low: f64,
    /// Upper limit of the interval.
    pub high: f64,
}

/// The parameters; none where nothing tells them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parameters {
    /// Locally bottlenecked persistent flows, on average over time.
    pub flows: Option<Estimate>,
    /// Effective round-trip time in seconds: the harmonic mean over these flows, by their time.
    pub round_trip_s: Option<Estimate>,
    /// Their rate together, in bits per second as the capture counts frames.
    pub capacity_bps: Option<Estimate>,
    /// Mean length of a loss burst in packets, but for those of the start-up.
    pub burst: Option<Estimate>,
    /// Burst length by flows.
    pub alpha: Option<Estimate>,
    /// Bytes of a full packet.
    pub packet_bytes: Option<Estimate>,
}

/// What a flow adds to the sums.
#[derive(Clone, Copy, Default)]
struct Part {
    local: f64,
    /// Sum of 1 / T by time, and the time that it is over.
    inverse: f64,
    timed: f64,
    bits: f64,
    weight: f64,
    packet: f64,
}

impl Part {
    fn of(flow: &Flow, duration: f64) -> Self {
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

    /// `N_b`, `T_e`, `C_e`, M.
    fn values(&self) -> [f64; 4] {
        [
            self.local,
            self.timed / self.inverse,
            self.bits,
            self.packet / self.weight,
        ]
    }
}

/// The effective round trip alone, in nanoseconds.
pub fn effective_round_trip(flows: &[Flow], duration: Nanos) -> Option<f64> {
    let sum = sum_of(
        flows
            .iter()
            .map(|flow| Part::of(flow, duration as f64 * 1e-9)),
    );
    (sum.inverse > 0.0).then(|| sum.timed / sum.inverse * 1e9)
}

fn sum_of(parts: impl Iterator<Item = Part>) -> Part {
    let mut sum = Part::default();
    parts.for_each(|part| sum.add(&part));
    sum
}

/// All parameters of a capture of this duration.
///
/// Intervals of the round trip and of M are over flows, of L over bursts. The flows are not a sample
/// of others, though: how many there are and what they carry vary in time, so `N_b` and `C_e` have
/// intervals over stretches of the capture.
pub fn parameters(
    flows: &[Flow],
    bursts: &[Burst],
    series: &[Stretch],
    duration: Nanos,
    seed: u64,
) -> Parameters {
    let whole = duration as f64 * 1e-9;
    let parts: Vec<_> = flows.iter().map(|flow| Part::of(flow, whole)).collect();
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
    // What passed in a stretch, scaled to the share that these flows have of it.
    draws[2]
        .iter_mut()
        .for_each(|draw| *draw *= capacity / mean_passed);
    let burst = lengths.iter().sum::<f64>() / lengths.len() as f64;
    let told = |index: usize, value: f64| estimate(value, draws[index].clone());
    Parameters {
        flows: told(0, local),
        round_trip_s: told(1, round_trip),
        capacity_bps: told(2, capacity),
        burst: told(3, burst),
        alpha: told(4, burst / local),
        packet_bytes: told(5, packet),
    }
}

/// Counted flows that were there in each of [`STRETCHES`] equal stretches of time.
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

/// Throughput in as many stretches.
fn passed(series: &[Stretch]) -> Vec<f64> {
    let bins = series.len().div_ceil(STRETCHES).max(1);
    let mean = |bins: &[Stretch]| {
        bins.iter().map(|bin| bin.throughput_bps).sum::<f64>() / bins.len() as f64
    };
    series.chunks(bins).map(mean).collect()
}

/// One of several; there is at least one.
fn pick<'a, T>(random: &mut RandomStream, values: &'a [T]) -> &'a T {
    &values[(random.unit() * values.len() as f64) as usize]
}

/// Percentiles of the draws around a value; none unless it is a number above 0.
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
