//! Congestion signals: the numbers of packets of each flow that each link dropped and marked.

use crate::measure::link_meter::Window;
use crate::{LinkConfig, Network};
use goodqueue_queue::Limit;
use goodqueue_types::{Direction, FlowId, LinkId, Packet, Time};

/// Drops and marks of the packets that hosts sent in the window, by flow, direction and link. All
/// entries exist from the start, so that counting does not allocate.
#[derive(Clone, Debug)]
pub struct Signals {
    window: Window,
    /// Entries in order of flow, direction and link.
    counts: Vec<Signal>,
}

/// Drops and marks of one flow's packets in one direction at one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    flow: u32,
    /// Twice the link's number, plus one in the reverse direction.
    link_and_direction: u32,
    /// Number of packets dropped.
    pub drops: u32,
    /// Number of packets marked.
    pub marks: u32,
}

impl Signal {
    fn key(flow: FlowId, direction: Direction, link: LinkId) -> (u32, u32) {
        (flow.0, 2 * link.0 + direction as u32)
    }

    /// Returns the link.
    pub fn link(&self) -> LinkId {
        LinkId(self.link_and_direction / 2)
    }

    /// Returns the sum of drops and marks.
    pub fn strength(&self) -> u64 {
        u64::from(self.drops) + u64::from(self.marks)
    }

    /// Returns true if the packets went in the forward direction.
    pub fn is_forward(&self) -> bool {
        self.link_and_direction.is_multiple_of(2)
    }
}

/// Returns true if a link can drop or mark packets.
fn can_signal(link: &LinkConfig) -> bool {
    link.fifo_limit() != Some(Limit::Unlimited) || !link.drop_list.is_empty()
}

impl Signals {
    /// Creates counts of zero for all flows and links.
    pub fn new(network: &Network) -> Self {
        let mut counts = Vec::new();
        for (flow, config) in (0..).map(FlowId).zip(&network.flows) {
            let forward = config
                .forward
                .iter()
                .map(|link| (Direction::Forward, *link));
            let reverse = config
                .reverse
                .iter()
                .map(|link| (Direction::Reverse, *link));
            let ways = forward.chain(reverse);
            let ways = ways.filter(|(_, link)| can_signal(&network.links[link.0 as usize]));
            let first = counts.len();
            counts.extend(ways.map(|(direction, link)| {
                let (flow, link_and_direction) = Signal::key(flow, direction, link);
                Signal {
                    flow,
                    link_and_direction,
                    drops: 0,
                    marks: 0,
                }
            }));
            counts[first..].sort_unstable_by_key(|signal| signal.link_and_direction);
        }
        counts.shrink_to_fit();
        Self {
            window: Window {
                from: network.warmup,
                to: network.end,
            },
            counts,
        }
    }

    fn find(&mut self, link: LinkId, packet: &Packet, now: Time) -> Option<&mut Signal> {
        if packet.sent < self.window.from || now > self.window.to {
            return None;
        }
        let key = Signal::key(packet.flow, packet.direction, link);
        let place = self
            .counts
            .binary_search_by_key(&key, |signal| (signal.flow, signal.link_and_direction));
        Some(&mut self.counts[place.expect("a link on the packet's route that can drop")])
    }

    /// Counts a packet that a link dropped, by its packets on the wire.
    #[cold]
    pub fn drop(&mut self, link: LinkId, packet: &Packet, now: Time) {
        if let Some(signal) = self.find(link, packet, now) {
            signal.drops += packet.segments();
        }
    }

    /// Counts a packet that a link marked, by its packets on the wire.
    #[cold]
    pub fn mark(&mut self, link: LinkId, packet: &Packet, now: Time) {
        if let Some(signal) = self.find(link, packet, now) {
            signal.marks += packet.segments();
        }
    }

    /// Returns the counts of a flow.
    pub fn of_flow(&self, flow: FlowId) -> &[Signal] {
        let begin = self.counts.partition_point(|signal| signal.flow < flow.0);
        let end = self.counts.partition_point(|signal| signal.flow <= flow.0);
        &self.counts[begin..end]
    }
}
