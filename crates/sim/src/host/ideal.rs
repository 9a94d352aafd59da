//! The performance of a flow's path without other traffic.

use crate::network::{FlowConfig, LinkConfig, Network};
use goodqueue_tcp::TcpConfig;
use goodqueue_types::{Bytes, Direction, Framing, LinkId, Rate, Span};

/// Path of a flow without other traffic.
#[derive(Clone, Copy, Debug)]
pub struct IdealPath {
    /// Propagation delay in both directions together.
    pub base_rtt: Span,
    /// Rate and framing of the slowest link of each direction.
    slowest: [(Rate, Framing); 2],
}

impl IdealPath {
    /// Returns the path of a flow of this network.
    pub fn new(network: &Network, flow: &FlowConfig) -> Self {
        let links = |route: &[LinkId]| -> Vec<&LinkConfig> {
            route
                .iter()
                .map(|id| &network.links[id.0 as usize])
                .collect()
        };
        let (there, back) = (links(&flow.forward), links(&flow.reverse));
        let slowest = |links: &[&LinkConfig]| {
            let slowest = links.iter().min_by_key(|link| link.rate.0);
            slowest.map_or((Rate(u64::MAX), Framing::default()), |link| {
                (link.rate, link.framing)
            })
        };
        let delays = there.iter().chain(&back).map(|link| link.delay.0).sum();
        Self {
            base_rtt: Span(delays),
            slowest: [slowest(&there), slowest(&back)],
        }
    }

    /// Returns a path without links.
    #[cfg(test)]
    pub fn nowhere() -> Self {
        Self {
            base_rtt: Span::ZERO,
            slowest: [(Rate(u64::MAX), Framing::default()); 2],
        }
    }

    /// Returns the rate of the slowest link in this direction.
    pub fn rate(&self, data: Direction) -> Rate {
        self.slowest[data as usize].0
    }

    /// Returns the time of a transfer of `bytes` bytes: one round trip, and the transmission of its
    /// frames at the slowest link.
    pub fn transfer_time(&self, bytes: u64, data: Direction, tcp: &TcpConfig) -> Span {
        let (rate, framing) = self.slowest[data as usize];
        let (mss, header) = (u64::from(tcp.mss), tcp.header_bytes());
        let full = (bytes / mss) * framing.frame_bytes(header + tcp.mss);
        let rest = match bytes % mss {
            0 => 0,
            rest => framing.frame_bytes(header + rest as u32),
        };
        self.base_rtt + rate.transmission_time(Bytes(full + rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Record, WorkloadConfig};
    use goodqueue_queue::Limit;
    use goodqueue_types::{Hosts, Time};
    use std::sync::Arc;

    #[test]
    fn a_transfer_alone_takes_a_round_trip_and_its_transmission() {
        let link = |rate, delay| {
            let delay = Span::from_millis(delay);
            let mut link = LinkConfig::drop_tail(Rate(rate), delay, Limit::Unlimited);
            link.framing = Framing::bytes(10);
            link
        };
        let tcp = Arc::new(TcpConfig {
            mss: 950,
            header: 40,
            ..TcpConfig::default()
        });
        let flow = FlowConfig {
            name: String::new(),
            group: 0,
            start: Time::ZERO,
            forward: vec![LinkId(0), LinkId(1)],
            reverse: vec![LinkId(2)],
            hosts: Hosts::default(),
            dscp: 0,
            between_losses: None,
            interface: None,
            stop: None,
            workload: WorkloadConfig::bulk(tcp.clone(), None),
        };
        let network = Network {
            seed: 1,
            end: Time::ZERO,
            warmup: Time::ZERO,
            links: vec![link(8_000_000, 1), link(2_000_000, 2), link(4_000_000, 5)],
            pools: Vec::new(),
            flows: vec![flow],
            record: Record::default(),
        };
        let path = IdealPath::new(&network, &network.flows[0]);
        let time = |bytes, data| path.transfer_time(bytes, data, &tcp);
        // Two frames of 1000 bytes and one of 51 are sent at 2 Mb/s or at 4 Mb/s.
        let bits = 8 * 2_051;
        let there = Span::from_millis(8) + Span(bits * 500_000);
        assert_eq!(time(1_901, Direction::Forward), there);
        let back = Span::from_millis(8) + Span(bits * 250_000);
        assert_eq!(time(1_901, Direction::Reverse), back);
        assert_eq!(time(950, Direction::Forward), Span::from_millis(12));
    }
}
