//! What a limit comes to in every unit: people think in different ones.

use crate::flow::FlowGroup;
use crate::queue::drain_rate;
use crate::scenario::Scenario;
use crate::units::UnitError;
use crate::workload::largest_packet;
use goodqueue_queue::Limit;
use goodqueue_types::{Framing, Rate, Span};

/// What a limit counts, to be printed beside every limit.
pub const LIMIT_COUNTS: &str =
    "frames waiting, not the one in transmission; bytes include link-layer framing";

/// A buffer in every unit; `None` without a limit or where a unit has no meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferEcho {
    /// The link's name.
    pub link: String,
    /// The link's rate.
    pub rate: Rate,
    /// The limit that the queue enforces.
    pub limit: Limit,
    /// Largest frame of the scenario on this link, in bytes; packets are converted by it.
    pub frame_bytes: u64,
    /// The IP packet in it.
    pub packet_bytes: u64,
    /// Mean base round-trip time of the flows that cross the link; `None` if none does.
    pub base_rtt: Option<Span>,
    /// Whole frames that may wait.
    pub packets: Option<u64>,
    /// Frame bytes that may wait.
    pub bytes: Option<u64>,
    /// Milliseconds that the link takes to send them.
    pub ms: Option<f64>,
    /// Multiples of rate × base round-trip time.
    pub bdp: Option<f64>,
}

pub(crate) fn echo(scenario: &Scenario, link: &str, limit: Limit) -> Result<BufferEcho, UnitError> {
    let (index, direction) = scenario.find_link(link)?;
    let reverse = link != scenario.topology.trunk[index].name;
    let frame = |framing| largest_frame(&scenario.flows, index, reverse, framing);
    let frame_bytes = frame(direction.framing);
    let base_rtt = scenario.layout.mean_base_rtt(Some(index));
    let bytes = match limit {
        Limit::Packets(packets) => Some(packets * frame_bytes),
        Limit::Bytes(bytes) => Some(bytes),
        Limit::Unlimited => None,
    };
    let packets = match limit {
        Limit::Packets(packets) => Some(packets),
        _ => bytes.map(|bytes| bytes / frame_bytes),
    };
    let bits_per_second = drain_rate(&direction.queue, direction.rate).0 as f64;
    let ms = bytes.map(|bytes| bytes as f64 * 8e3 / bits_per_second);
    let bdp_bytes = base_rtt.map(|rtt| bits_per_second * rtt.as_secs_f64() / 8.0);
    let bdp = bytes
        .zip(bdp_bytes.filter(|bdp| *bdp > 0.0))
        .map(|(bytes, bdp_bytes)| bytes as f64 / bdp_bytes);
    Ok(BufferEcho {
        link: link.to_owned(),
        rate: direction.rate,
        limit,
        frame_bytes,
        packet_bytes: frame(Framing::default()),
        base_rtt,
        packets,
        bytes,
        ms,
        bdp,
    })
}

/// The largest frame that flows send over a link of the trunk in one direction; a full Ethernet
/// payload if none crosses it.
pub(crate) fn largest_frame(
    flows: &[FlowGroup],
    link: usize,
    reverse: bool,
    framing: Framing,
) -> u64 {
    let crossing = flows
        .iter()
        .filter(|group| (group.from.min(group.to)..group.from.max(group.to)).contains(&link));
    largest_frame_among(crossing, reverse, framing)
}

/// The largest frame that any flow sends over a link that all could cross.
pub(crate) fn largest_frame_of_all(flows: &[FlowGroup], reverse: bool, framing: Framing) -> u64 {
    largest_frame_among(flows.iter(), reverse, framing)
}

fn largest_frame_among<'a>(
    flows: impl Iterator<Item = &'a FlowGroup>,
    reverse: bool,
    framing: Framing,
) -> u64 {
    let packet = flows
        .map(|group| largest_packet(&group.workload, group.reversed() != reverse))
        .max();
    // A direction without packets of its own (behind datagrams nobody answers) counts as crossed
    // by nothing.
    let packet = packet.filter(|bytes| *bytes > 0).unwrap_or(1_500);
    framing.frame_bytes(packet as u32)
}
