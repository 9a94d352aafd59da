//! A limit in every unit, because readers think in different ones.

use crate::language::units::UnitError;
use crate::scenario::Scenario;
use goodqueue_queue::{Configuration, Limit};
use goodqueue_types::{Framing, Rate, Span};

/// Explanation of a limit, to be printed beside every limit.
pub const LIMIT_COUNTS: &str =
    "frames waiting, not the one in transmission; bytes include link-layer framing";

/// A buffer in every unit. `None` without a limit, or if a unit has no meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferEcho {
    /// The link's name.
    pub link: String,
    /// The link's rate, if it has one.
    pub rate: Option<Rate>,
    /// The limit that the queue enforces.
    pub limit: Limit,
    /// Largest frame of the scenario on this link in bytes, with which packets are converted.
    pub frame_bytes: u64,
    /// IP packet in that frame, in bytes.
    pub packet_bytes: u64,
    /// Mean base round-trip time of the flows that cross the link; `None` if none does.
    pub base_rtt: Option<Span>,
    /// Number of whole frames that may wait.
    pub packets: Option<u64>,
    /// Number of frame bytes that may wait.
    pub bytes: Option<u64>,
    /// Milliseconds that the link takes to send them.
    pub ms: Option<f64>,
    /// Multiples of rate × base round-trip time.
    pub bdp: Option<f64>,
}

pub(crate) fn echo(scenario: &Scenario, link: &str, limit: Limit) -> Result<BufferEcho, UnitError> {
    let at = scenario.find_link(link)?;
    let direction = scenario.topology.direction(at);
    let traffic = &scenario.layout.traffic;
    let frame_bytes = traffic.largest_frame(at, direction.framing);
    let base_rtt = traffic.mean_base_rtt_on(at);
    let bytes = match limit {
        Limit::Packets(packets) => Some(packets * frame_bytes),
        Limit::Bytes(bytes) => Some(bytes),
        Limit::Unlimited => None,
    };
    let packets = match limit {
        Limit::Packets(packets) => Some(packets),
        _ => bytes.map(|bytes| bytes / frame_bytes),
    };
    let rate = (!direction.only_delays()).then_some(direction.rate);
    let drains = rate.map(|rate| direction.queue.drain_rate(rate).0 as f64);
    let ms = bytes
        .zip(drains)
        .map(|(bytes, bps)| bytes as f64 * 8e3 / bps);
    let bdp_bytes = base_rtt.zip(drains);
    let bdp_bytes = bdp_bytes.map(|(rtt, bps)| bps * rtt.as_secs_f64() / 8.0);
    let bdp = bytes
        .zip(bdp_bytes.filter(|bdp| *bdp > 0.0))
        .map(|(bytes, bdp_bytes)| bytes as f64 / bdp_bytes);
    Ok(BufferEcho {
        link: link.to_owned(),
        rate,
        limit,
        frame_bytes,
        packet_bytes: traffic.largest_frame(at, Framing::default()),
        base_rtt,
        packets,
        bytes,
        ms,
        bdp,
    })
}
