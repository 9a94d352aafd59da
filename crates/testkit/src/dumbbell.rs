//! The dumbbell topology: hosts with their own access links on both sides of one bottleneck.

use goodqueue_queue::Limit;
use goodqueue_sim::{FlowConfig, LinkConfig, Network, Record, WorkloadConfig};
use goodqueue_types::{Hosts, LinkId, Rate, Span, Time};

/// Index of the bottleneck among the links of a [`Dumbbell`].
pub const BOTTLENECK: LinkId = LinkId(0);
/// Index of the bottleneck's reverse link.
const BACK: LinkId = LinkId(1);

/// Flows that share a bottleneck. Each has four access links of its own: two at the client and two
/// at the server, one for each direction.
#[derive(Clone, Debug)]
pub struct Dumbbell {
    /// Seed of the run.
    pub seed: u64,
    /// Rate of the bottleneck.
    pub rate: Rate,
    /// Rate of the access links.
    pub access_rate: Rate,
    /// Limit of the bottleneck's queue.
    pub limit: Limit,
    /// Base RTT, without queueing and transmission times.
    pub round_trip: Span,
    /// Time at which measurements begin.
    pub warmup: Time,
    /// Time at which the run ends.
    pub end: Time,
}

impl Dumbbell {
    /// Builds the network that carries these flows, each with the time at which it starts.
    pub fn network(&self, flows: Vec<(Time, WorkloadConfig)>) -> Network {
        let mut links = vec![
            link("bottleneck", self.rate, self.round_trip / 4, self.limit),
            link(
                "bottleneck.reverse",
                self.rate,
                self.round_trip / 4,
                Limit::Unlimited,
            ),
        ];
        links[0].observed = true;
        let mut flow_configs = Vec::with_capacity(flows.len());
        for (index, (start, workload)) in flows.into_iter().enumerate() {
            let first = links.len() as u32;
            let access = link(
                "access",
                self.access_rate,
                self.round_trip / 8,
                Limit::Unlimited,
            );
            links.extend(vec![access; 4]);
            flow_configs.push(FlowConfig {
                name: format!("flow {index}"),
                group: 0,
                start,
                forward: vec![LinkId(first), BOTTLENECK, LinkId(first + 1)],
                reverse: vec![LinkId(first + 2), BACK, LinkId(first + 3)],
                hosts: Hosts {
                    client: 2 * index as u16,
                    server: 2 * index as u16 + 1,
                },
                dscp: 0,
                between_losses: None,
                interface: None,
                stop: None,
                workload,
            });
        }
        Network {
            seed: self.seed,
            warmup: self.warmup,
            end: self.end,
            links,
            pools: Vec::new(),
            flows: flow_configs,
            record: Record::default(),
        }
    }
}

/// Returns a link without framing or drop list that is not observed.
pub fn link(name: &str, rate: Rate, delay: Span, limit: Limit) -> LinkConfig {
    LinkConfig {
        name: name.to_owned(),
        ..LinkConfig::drop_tail(rate, delay, limit)
    }
}
