//! Who shares a host, and every flow's base round-trip time.

use crate::flow::FlowGroup;
use crate::topology::Topology;
use crate::units::format_span;
use goodqueue_types::Span;
use std::collections::BTreeMap;

/// Hosts and flows in place.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Pairs of hosts; empty without access links.
    pub hosts: Vec<HostPair>,
    /// Flows in network order.
    pub flows: Vec<PlacedFlow>,
}

/// A client's and a server's host with their access links.
#[derive(Clone, Debug)]
pub(crate) struct HostPair {
    pub name: String,
    /// Nodes where the pair is attached, the lower first.
    pub nodes: (usize, usize),
    /// Base round-trip time, if a flow gives it.
    pub rtt: Option<Span>,
}

/// One flow of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedFlow {
    pub group: usize,
    pub index: u64,
    /// Index of its pair of hosts; meaningless without access links.
    pub host: usize,
    pub base_rtt: Span,
    nodes: (usize, usize),
    is_tcp: bool,
}

/// Flows that cannot be placed so.
pub(crate) struct Misplaced {
    pub group: usize,
    pub key: &'static str,
    pub message: String,
    pub help: String,
}

impl Layout {
    pub(crate) fn new(topology: &Topology, groups: &[FlowGroup]) -> Result<Self, Misplaced> {
        let hosts = if topology.access.is_some() {
            share_hosts(groups)?
        } else {
            Hosts::default()
        };
        let trips = round_trips(topology);
        let mut flows = Vec::new();
        for (group, config) in groups.iter().enumerate() {
            let nodes = ends(config);
            let between = Span(trips[nodes.1].0 - trips[nodes.0].0);
            for index in 0..config.count {
                let host = hosts.of_flow.get(flows.len()).copied().unwrap_or(0);
                let rtt = hosts.pairs.get(host).and_then(|pair| pair.rtt);
                if let Some(rtt) = rtt.filter(|rtt| *rtt < between) {
                    return Err(too_short(group, config, rtt, between));
                }
                let base_rtt = rtt.unwrap_or(between + access_round_trip(topology));
                let is_tcp = config.is_tcp();
                flows.push(PlacedFlow {
                    group,
                    index,
                    host,
                    base_rtt,
                    nodes,
                    is_tcp,
                });
            }
        }
        Ok(Self {
            hosts: hosts.pairs,
            flows,
        })
    }

    /// Mean base round-trip time of the TCP flows that cross a link of the trunk, or of all
    /// flows if none is TCP; for access links (`None`) of all of the scenario.
    pub(crate) fn mean_base_rtt(&self, link: Option<usize>) -> Option<Span> {
        let crosses = |flow: &&PlacedFlow| {
            link.is_none_or(|link| (flow.nodes.0..flow.nodes.1).contains(&link))
        };
        let mean = |flows: &mut dyn Iterator<Item = &PlacedFlow>| {
            let (sum, count) = flows.fold((0u128, 0u128), |(sum, count), flow| {
                (sum + u128::from(flow.base_rtt.0), count + 1)
            });
            (count > 0).then(|| Span(((sum + count / 2) / count) as u64))
        };
        mean(&mut self.flows.iter().filter(|flow| flow.is_tcp).filter(crosses))
            .or_else(|| mean(&mut self.flows.iter().filter(crosses)))
    }
}

impl Layout {
    /// The harmonic mean of the base round-trip times of the TCP flows that cross a link of the
    /// trunk, or of all flows if none is TCP: the effective round-trip time of Dhamdhere, Jiang and
    /// Dovrolis (INFOCOM 2005, equation 12).
    pub(crate) fn effective_rtt(&self, link: usize) -> Option<Span> {
        let crosses = |flow: &&PlacedFlow| (flow.nodes.0..flow.nodes.1).contains(&link);
        let mean = |flows: &mut dyn Iterator<Item = &PlacedFlow>| {
            let (sum, count) = flows.fold((0.0, 0_u32), |(sum, count), flow| {
                (sum + 1.0 / flow.base_rtt.as_secs_f64(), count + 1)
            });
            (count > 0).then(|| Span::from_secs_f64(f64::from(count) / sum))
        };
        mean(&mut self.flows.iter().filter(|flow| flow.is_tcp).filter(crosses))
            .or_else(|| mean(&mut self.flows.iter().filter(crosses)))
    }

    /// The base round-trip time of the flows of each pair of hosts.
    pub(crate) fn host_rtts(&self) -> Vec<Span> {
        let mut rtts = vec![Span::ZERO; self.hosts.len()];
        for flow in &self.flows {
            if let Some(rtt) = rtts.get_mut(flow.host) {
                *rtt = flow.base_rtt;
            }
        }
        rtts
    }
}

/// The delays of a pair's access links.
pub(crate) struct AccessDelays {
    pub near_up: Span,
    pub near_down: Span,
    pub far_up: Span,
    pub far_down: Span,
}

impl HostPair {
    /// As configured; or what the trunk leaves of the round-trip time in four equal parts, the odd
    /// picoseconds on the way there.
    pub(crate) fn access_delays(&self, topology: &Topology) -> AccessDelays {
        let Some(access) = &topology.access else {
            unreachable!("hosts without access links")
        };
        let Some(rtt) = self.rtt else {
            return AccessDelays {
                near_up: access.near.forward.delay,
                near_down: access.near.reverse.delay,
                far_up: access.far.forward.delay,
                far_down: access.far.reverse.delay,
            };
        };
        let trips = round_trips(topology);
        let rest = rtt
            .saturating_sub(Span(trips[self.nodes.1].0 - trips[self.nodes.0].0))
            .0;
        let part = |odd: u64| Span(rest / 4 + u64::from(rest % 4 > odd));
        AccessDelays {
            near_up: part(0),
            far_down: part(1),
            far_up: part(2),
            near_down: part(3),
        }
    }
}

#[derive(Default)]
struct Hosts {
    pairs: Vec<HostPair>,
    /// By flow in network order.
    of_flow: Vec<usize>,
}

/// Gathers flows by host; those on one host must agree where it stands and how far apart.
fn share_hosts(groups: &[FlowGroup]) -> Result<Hosts, Misplaced> {
    let mut hosts = Hosts::default();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for (group, config) in groups.iter().enumerate() {
        for index in 0..config.count {
            let name = config
                .host
                .clone()
                .unwrap_or_else(|| config.flow_name(index));
            let rtt = config.rtt.map(|spread| spread.of(index));
            let host = *known.entry(name.clone()).or_insert(hosts.pairs.len());
            hosts.of_flow.push(host);
            let Some(pair) = hosts.pairs.get_mut(host) else {
                hosts.pairs.push(HostPair {
                    name,
                    nodes: ends(config),
                    rtt,
                });
                continue;
            };
            let refuse = |key, message, help: &str| Misplaced {
                group,
                key,
                message,
                help: help.to_owned(),
            };
            if pair.nodes != ends(config) {
                let message = format!("the hosts \"{name}\" stand at two places");
                return Err(refuse(
                    "host",
                    message,
                    "give its flows the same \"from\" and \"to\"",
                ));
            }
            match (pair.rtt, rtt) {
                (Some(first), Some(second)) if first != second => {
                    let (first, second) = (format_span(first), format_span(second));
                    let message =
                        format!("flows on the hosts \"{name}\" have rtt {first} and {second}");
                    let help = "give them one rtt, or hosts of their own";
                    return Err(refuse("rtt", message, help));
                }
                (first, second) => pair.rtt = first.or(second),
            }
        }
    }
    Ok(hosts)
}

fn ends(group: &FlowGroup) -> (usize, usize) {
    (group.from.min(group.to), group.from.max(group.to))
}

fn too_short(group: usize, config: &FlowGroup, rtt: Span, between: Span) -> Misplaced {
    let (rtt, between) = (format_span(rtt), format_span(between));
    Misplaced {
        group,
        key: if config.rtt.is_some() { "rtt" } else { "host" },
        message: format!("a base round-trip time of {rtt} is below {between}"),
        help: format!("write at least \"{between}\", which the links between the hosts take"),
    }
}

/// Propagation from node 0 to node k and back, for every k.
fn round_trips(topology: &Topology) -> Vec<Span> {
    let mut trips = vec![Span::ZERO];
    for link in &topology.trunk {
        let before = trips[trips.len() - 1];
        trips.push(before + link.forward.delay + link.reverse.delay);
    }
    trips
}

fn access_round_trip(topology: &Topology) -> Span {
    let link = |link: &crate::topology::DuplexLink| link.forward.delay + link.reverse.delay;
    topology
        .access
        .as_ref()
        .map_or(Span::ZERO, |access| link(&access.near) + link(&access.far))
}
