//! Results for the target link: throughput, losses, queueing delay and buffer.

pub(crate) mod bursts;
pub(crate) mod parameters;
pub(crate) mod rate;
pub(crate) mod target;

use crate::Nanos;
use crate::flow::Flow;
use crate::link::rate::Rated;
use crate::link::target::Passages;
use crate::loss::Loss;
use crate::quantile::quantile;
use crate::sound::{bits_per_second, share};
use crate::thresholds::Thresholds;

/// Kind of queue, by the backlog at its drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueKind {
    /// The queue drops when it is full.
    Fifo,
    /// The queue drops before it is full.
    Aqm,
    /// The drops are too few for a decision.
    Unknown,
}

impl QueueKind {
    /// Returns the name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Aqm => "aqm",
            Self::Unknown => "unknown",
        }
    }
}

/// Estimated buffer of the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buffer {
    /// Time to drain the buffer, in seconds. With two tapping points it is the median wait at
    /// drops. With one it is the 90th percentile of the growth of round-trip times.
    pub seconds: f64,
    /// Lower bound, in seconds: a tenth of the drops came at a shorter queue. With one tapping point
    /// it is the median of the growth of round-trip times.
    pub low: f64,
    /// Upper bound, in seconds: a tenth of the drops came at a longer queue. With one tapping point
    /// it is the largest growth of round-trip times.
    pub high: f64,
    /// Buffer in bytes.
    pub bytes: f64,
    /// Buffer in packets, at least one.
    pub packets: f64,
}

/// The target link.
#[derive(Clone, Debug)]
pub struct Link {
    /// Rate in bits per second. Frames count as in the capture.
    pub rate_bps: Option<f64>,
    /// True if the user gave the rate.
    pub rate_given: bool,
    /// Bits per second of the frames that passed, as in the capture.
    /// None if all packets have the same time.
    pub throughput_bps: Option<f64>,
    /// Throughput over rate, from 0 to 1.
    pub utilization: Option<f64>,
    /// TCP payload bits per second that passed, without repetitions.
    pub goodput_bps: Option<f64>,
    /// TCP packets with data that arrived in the measured direction, including those lost.
    pub packets: u64,
    /// Packets of the measured direction lost at the link.
    pub lost_packets: u64,
    /// Lost packets over arrived packets, from 0 to 1. None without packets.
    pub loss_rate: Option<f64>,
    /// Queueing delay in seconds: minimum, median, 99th percentile, maximum, mean.
    pub queueing_delay_s: Option<[f64; 5]>,
    /// Estimated buffer, if the rate is known.
    pub buffer: Option<Buffer>,
    /// Bytes of a frame beyond its IP packet, as in the capture: 14 for Ethernet.
    pub framing_bytes: Option<f64>,
    /// Kind of the queue.
    pub queue_kind: QueueKind,
}

/// Bin of the time series.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// Start of the bin.
    pub time: Nanos,
    /// Length of the bin.
    pub width: Nanos,
    /// Bits per second that passed.
    pub throughput_bps: f64,
    /// Throughput over rate, from 0 to 1: packets that arrive faster wait.
    pub utilization: Option<f64>,
    /// Number of flows between their first and last packet.
    pub active_flows: u32,
    /// Packets lost at the link.
    pub losses: u64,
    /// Mean wait in seconds.
    pub delay_mean_s: Option<f64>,
    /// Longest wait in seconds.
    pub delay_max_s: Option<f64>,
}

/// Waits of all packets, and the queue at drops, in nanoseconds.
pub(crate) struct Waits {
    spread: Option<[f64; 5]>,
    /// Queue at drops: lower limit, estimate, upper limit.
    pub at_drops: Option<[f64; 3]>,
    kind: QueueKind,
}

impl Waits {
    /// Computes the waits. Two tapping points show the waits of drops and packets in between. One
    /// tapping point shows the excess of round-trip times over the shortest one at times of loss.
    pub fn measure(
        passages: &Passages,
        losses: &[Loss],
        delays: &[Nanos],
        thresholds: &Thresholds,
    ) -> Self {
        let two_taps = passages.least.is_some();
        let mut drops: Vec<f64> = if two_taps {
            losses
                .iter()
                .filter_map(|loss| Some(loss.wait? as f64))
                .collect()
        } else {
            delays.iter().map(|delay| *delay as f64).collect()
        };
        drops.sort_unstable_by(f64::total_cmp);
        let at = |q: f64| quantile(&drops, q);
        // With one tapping point, a flow's shortest round trip may include a wait, so the larger
        // excesses are more accurate. Small excesses do not show the kind of the queue.
        let shares = if two_taps {
            [0.1, 0.5, 0.9]
        } else {
            [0.5, 0.9, 1.0]
        };
        let [low, full, high] = shares.map(at);
        let at_drops = low.zip(full).zip(high);
        let longest = if two_taps {
            passages.wait_quantile(0.999)
        } else {
            at(0.98)
        };
        let kind = match (at(0.25), longest) {
            (Some(quarter), Some(longest)) if drops.len() >= 5 && longest > 0.0 => {
                if quarter >= thresholds.fifo_share * longest {
                    QueueKind::Fifo
                } else if two_taps && quarter < thresholds.aqm_share * longest {
                    QueueKind::Aqm
                } else {
                    QueueKind::Unknown
                }
            }
            _ => QueueKind::Unknown,
        };
        let spread = |quantile: f64| passages.wait_quantile(quantile);
        Self {
            spread: spread(0.5).map(|median| {
                let largest = passages.longest_wait().unwrap_or(median).max(0.0);
                let mean = passages.mean_wait().unwrap_or(median);
                // Quantiles are those of a histogram, whose bins have a width.
                let p99 = spread(0.99).unwrap_or(median).min(largest);
                [0.0, median.min(p99), p99, largest, mean.clamp(0.0, largest)]
            }),
            at_drops: at_drops.map(|((low, full), high)| [low, full, high]),
            kind,
        }
    }
}

/// Bytes of the measured direction that passed the link.
pub(crate) struct Carried {
    /// Bytes of frames.
    pub bytes: f64,
    /// Payload bytes of TCP, without repetitions.
    pub useful: f64,
}

impl Carried {
    /// Computes them. Packets seen by one tapping point before the link include the lost ones.
    pub fn from_flows(flows: &[Flow], bytes: u64, seen_before: bool) -> Self {
        let forward = || flows.iter().filter(|flow| flow.forward);
        let lost: f64 = if seen_before {
            forward()
                .map(|flow| flow.counts.frame_bytes as f64 - flow.passed_bytes)
                .sum()
        } else {
            0.0
        };
        let useful: u64 = forward().map(|flow| flow.delivered_bytes).sum();
        let least = forward().filter(|flow| flow.is_held_back());
        let least: f64 = least.map(|flow| flow.passed_bytes).sum();
        // Some bytes of a flow may be counted in the opposite direction, if its frames appear in both.
        let bytes = (bytes as f64 - lost).max(useful as f64).max(least);
        Self {
            bytes,
            useful: useful as f64,
        }
    }
}

/// Combines the results of the link.
pub(crate) fn link(
    flows: &[Flow],
    drops: &[Loss],
    rated: &Rated,
    waits: &Waits,
    carried: &Carried,
    duration: Nanos,
) -> Link {
    let forward = || flows.iter().filter(|flow| flow.forward);
    let lost: u64 = drops.iter().map(|loss| u64::from(loss.packets)).sum();
    let seen: u64 = forward().map(|flow| flow.counts.packets).sum();
    // Packets seen behind the link do not include the lost ones, which arrived too.
    let packets = seen + if rated.seen_behind { lost } else { 0 };
    let throughput_bps = bits_per_second(carried.bytes, duration);
    let packet = forward().map(Flow::packet_bytes).max_by(f64::total_cmp);
    let used = throughput_bps.zip(rated.rate_bps);
    Link {
        rate_bps: rated.rate_bps,
        rate_given: rated.given,
        throughput_bps,
        utilization: used.and_then(|(throughput, rate)| share(throughput, rate)),
        goodput_bps: bits_per_second(carried.useful, duration),
        packets,
        lost_packets: lost,
        loss_rate: share(lost as f64, packets as f64),
        queueing_delay_s: waits.spread.map(|spread| spread.map(|wait| wait * 1e-9)),
        buffer: buffer(waits, rated.rate_bps, packet),
        framing_bytes: forward().map(Flow::framing_bytes).max_by(f64::total_cmp),
        queue_kind: waits.kind,
    }
}

/// Returns the buffer. A wait below the time of one packet shows none.
fn buffer(waits: &Waits, rate_bps: Option<f64>, packet: Option<f64>) -> Option<Buffer> {
    let [low, full, high] = waits.at_drops?;
    let bytes = rate_bps? * full * 1e-9 / 8.0;
    let packets = bytes / packet.filter(|packet| *packet > 0.0)?;
    (packets >= 1.0).then_some(Buffer {
        seconds: full * 1e-9,
        low: low * 1e-9,
        high: high * 1e-9,
        bytes,
        packets,
    })
}
