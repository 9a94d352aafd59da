//! The target link: what passed it, what it lost, what waited in it.

use crate::Nanos;
use crate::flow::Flow;
use crate::loss::Loss;
use crate::quantile::quantile;
use crate::rate::Rated;
use crate::target::Passages;
use crate::thresholds::Thresholds;

/// How a queue drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueKind {
    /// When it is full.
    Fifo,
    /// Before.
    Aqm,
    /// There is too little to tell.
    Unknown,
}

impl QueueKind {
    /// Name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Aqm => "aqm",
            Self::Unknown => "unknown",
        }
    }
}

/// The buffer that the link seems to have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buffer {
    /// How long it takes to drain, in seconds: the median of what packets waited at drops; from one
    /// tapping point nine tenths of what round trips grew to.
    pub seconds: f64,
    /// A tenth of drops came at a shorter queue; from one tapping point, half.
    pub low: f64,
    /// A tenth of drops came at a longer queue; from one tapping point, none.
    pub high: f64,
    /// The same in bytes and packets, if the rate is known.
    pub bytes: Option<f64>,
    /// The same in packets.
    pub packets: Option<f64>,
}

/// The target link.
#[derive(Clone, Debug)]
pub struct Link {
    /// Its rate in bits per second, frames counted as the capture has them.
    pub rate_bps: Option<f64>,
    /// Whether that was given.
    pub rate_given: bool,
    /// Bits per second that passed, of frames as the capture has them.
    pub throughput_bps: f64,
    /// Throughput over rate, from 0 to 1.
    pub utilization: Option<f64>,
    /// Payload bits per second of TCP that passed, each byte once.
    pub goodput_bps: f64,
    /// Packets with data of TCP that came in the measured direction, whether they passed or not.
    pub packets: u64,
    /// Packets of the measured direction lost here.
    pub lost_packets: u64,
    /// Lost packets over packets that came, from 0 to 1.
    pub loss_rate: f64,
    /// Least, median, 99th percentile, largest, mean; seconds.
    pub queueing_delay_s: Option<[f64; 5]>,
    /// The buffer.
    pub buffer: Option<Buffer>,
    /// Bytes of a frame beyond its IP packet, as the capture has them: 14 of Ethernet.
    pub framing_bytes: Option<f64>,
    /// How the queue drops.
    pub queue_kind: QueueKind,
}

/// How long packets waited, and how long at drops; nanoseconds.
pub(crate) struct Waits {
    spread: Option<[f64; 5]>,
    /// The queue when it dropped: the lower limit, the estimate, the upper limit.
    pub at_drops: Option<[f64; 3]>,
    kind: QueueKind,
}

impl Waits {
    /// From what drops and packets waited between two tapping points; from one, by how much round
    /// trips were above their least when something was lost.
    pub fn of(
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
        // A flow's least round trip may have waited itself: from one tapping point the larger excesses
        // are the better ones, and small ones tell nothing of how the queue drops.
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
                let largest = passages.longest_wait().unwrap_or(median);
                let mean = passages.mean_wait().unwrap_or(median);
                [0.0, median, spread(0.99).unwrap_or(median), largest, mean]
            }),
            at_drops: at_drops.map(|((low, full), high)| [low, full, high]),
            kind,
        }
    }
}

/// The link by all that was found.
pub(crate) fn link(
    flows: &[Flow],
    drops: &[Loss],
    rated: &Rated,
    waits: &Waits,
    duration: Nanos,
) -> Link {
    let seconds = (duration as f64 * 1e-9).max(1e-9);
    let forward = || flows.iter().filter(|flow| flow.forward);
    let lost: u64 = drops.iter().map(|loss| u64::from(loss.packets)).sum();
    let seen: u64 = forward().map(|flow| flow.counts.packets).sum();
    // Seen behind the link, what it lost came, too.
    let packets = seen + if rated.seen_behind { lost } else { 0 };
    // From one tapping point before the link, what it lost was seen, too.
    let lost_bytes: f64 = if rated.seen_before {
        forward()
            .map(|flow| flow.counts.frame_bytes as f64 - flow.passed_bytes)
            .sum()
    } else {
        0.0
    };
    let throughput_bps = (rated.bytes as f64 - lost_bytes) * 8.0 / seconds;
    let delivered: u64 = forward().map(|flow| flow.delivered_bytes).sum();
    let packet = forward().map(Flow::packet_bytes).max_by(f64::total_cmp);
    Link {
        rate_bps: rated.rate_bps,
        rate_given: rated.given,
        throughput_bps,
        utilization: rated.rate_bps.map(|rate| throughput_bps / rate),
        goodput_bps: delivered as f64 * 8.0 / seconds,
        packets,
        lost_packets: lost,
        loss_rate: if packets > 0 {
            lost as f64 / packets as f64
        } else {
            0.0
        },
        queueing_delay_s: waits.spread.map(|spread| spread.map(|wait| wait * 1e-9)),
        buffer: waits.at_drops.map(|[low, full, high]| {
            let bytes = rated.rate_bps.map(|rate| rate * full * 1e-9 / 8.0);
            Buffer {
                seconds: full * 1e-9,
                low: low * 1e-9,
                high: high * 1e-9,
                bytes,
                packets: bytes.zip(packet).map(|(bytes, packet)| bytes / packet),
            }
        }),
        framing_bytes: forward().map(Flow::framing_bytes).max_by(f64::total_cmp),
        queue_kind: waits.kind,
    }
}
