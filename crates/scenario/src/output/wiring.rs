//! A scenario's network with the numbers that ns-2 would give it.

use crate::scenario::Scenario;
use goodqueue_sim::{FlowConfig, Network, SourceConfig, WorkloadConfig};
use goodqueue_trace::write::{Terminals, Wire, Wiring};
use goodqueue_types::LinkId;
use std::collections::{BTreeSet, HashMap};

impl Scenario {
    /// Returns the network with ns-2's numbers. Nodes whose names all end in numbers, as in
    /// `node4`, have those. Otherwise clients come first, then the nodes of the file, then servers.
    pub(crate) fn wiring(&self, network: &Network) -> Wiring {
        let nodes = &self.topology.graph.nodes;
        let pairs = self.layout.hosts.len();
        let numbers = own_numbers(nodes).filter(|_| pairs == 0);
        let router = |node: usize| match &numbers {
            Some(numbers) => numbers[node],
            None => (pairs + node) as u32,
        };
        let mut ends = Vec::new();
        for link in 0..self.topology.trunk.len() {
            let (from, to) = self.topology.graph.ends(link);
            let (from, to) = (router(from), router(to));
            ends.extend([(from, to), (to, from)]);
        }
        for (index, pair) in self.layout.hosts.iter().enumerate() {
            let (near, far) = (index as u32, (pairs + nodes.len() + index) as u32);
            let (left, right) = (router(pair.nodes.0), router(pair.nodes.1));
            ends.extend([(near, left), (left, near), (far, right), (right, far)]);
        }
        let links = network.links.iter().zip(ends);
        let links: Vec<Wire> = links
            .map(|(config, (from, to))| Wire {
                from,
                to,
                rate: config.rate.0,
                delay: config.delay.as_secs_f64(),
            })
            .collect();
        let mut between = HashMap::new();
        let terminals = |flow: &FlowConfig| {
            let end = |link: Option<&LinkId>| link.map_or(Wire::default(), |l| links[l.0 as usize]);
            let (client, server) = (end(flow.forward.first()).from, end(flow.forward.last()).to);
            let count = between.entry((client, server)).or_insert(0);
            let port = *count;
            *count += 1;
            let (kind, mss) = kind_and_mss(&flow.workload);
            Terminals {
                client,
                server,
                port,
                kind,
                mss,
            }
        };
        let flows = network.flows.iter().map(terminals).collect();
        Wiring {
            links,
            flows,
            routes: network
                .flows
                .iter()
                .flat_map(|flow| [flow.forward.clone(), flow.reverse.clone()])
                .collect(),
        }
    }
}

/// Returns the numbers at the ends of names, if all are different.
fn own_numbers(names: &[String]) -> Option<Vec<u32>> {
    let number = |name: &String| {
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.parse().ok().filter(|number| *number < 1 << 20)
    };
    let numbers: Vec<u32> = names.iter().map(number).collect::<Option<_>>()?;
    let distinct: BTreeSet<&u32> = numbers.iter().collect();
    (distinct.len() == names.len()).then_some(numbers)
}

/// Returns ns-2's name for the packets of a workload, and the payload of its full segments.
fn kind_and_mss(workload: &WorkloadConfig) -> (&'static str, u64) {
    match workload {
        WorkloadConfig::Stream { tcp, .. } | WorkloadConfig::Session { tcp, .. } => {
            ("tcp", u64::from(tcp.mss))
        }
        WorkloadConfig::Source(SourceConfig::ConstantBitRate { .. }) => ("cbr", 0),
        WorkloadConfig::Source(SourceConfig::OnOff { .. }) => ("exp", 0),
        WorkloadConfig::Source(SourceConfig::Ping { .. }) => ("ping", 0),
        WorkloadConfig::Source(_) | WorkloadConfig::Foreign(_) => ("udp", 0),
    }
}
