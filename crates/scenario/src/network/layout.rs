//! Hosts and their flows, and every flow's base round-trip time.

use crate::flow::FlowGroup;
use crate::language::units::format_span;
use crate::network::topology::{Access, Topology};
use crate::network::traffic::Traffic;
use goodqueue_types::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Hosts, and flows with their hosts.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Pairs of hosts; empty without access links.
    pub hosts: Vec<HostPair>,
    /// Flows in network order.
    pub flows: Vec<PlacedFlow>,
    /// Traffic of the flows on the links.
    pub traffic: Traffic,
}

/// A client's and a server's host with their access links.
#[derive(Clone, Debug)]
pub(crate) struct HostPair {
    /// The first of its flows, as a group and an index in it. The pair's name follows from it.
    first: (u32, u32),
    /// Nodes to which the pair is attached, the earlier first.
    pub nodes: (usize, usize),
    /// Propagation delay between those nodes, both directions.
    between: Span,
    /// Base round-trip time, if a flow gives it.
    pub rtt: Option<Span>,
}

/// One flow of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedFlow {
    group: u32,
    index: u32,
    host: u32,
    pub base_rtt: Span,
}

impl PlacedFlow {
    /// Returns the index of its group.
    pub(crate) fn group(&self) -> usize {
        self.group as usize
    }

    /// Returns its index in the group.
    pub(crate) fn index(&self) -> u64 {
        u64::from(self.index)
    }

    /// Returns the index of its pair of hosts, which has no meaning without access links.
    pub(crate) fn host(&self) -> usize {
        self.host as usize
    }
}

/// Two flows of one pair of hosts whose nodes or round-trip times differ.
pub(crate) struct Misplaced {
    pub group: usize,
    pub key: &'static str,
    pub message: String,
    pub help: String,
}

impl Layout {
    pub(crate) fn new(topology: &Topology, groups: &[FlowGroup]) -> Result<Self, Misplaced> {
        check_rates(topology, groups)?;
        let hosts = if topology.access.is_some() {
            share_hosts(groups)?
        } else {
            Hosts::default()
        };
        let mut flows = Vec::with_capacity(count(groups));
        for (group, config) in groups.iter().enumerate() {
            for index in 0..config.count {
                let between = config.paths.at(index).round_trip;
                let host = hosts.of_flow.get(flows.len()).copied().unwrap_or(0);
                let pair = hosts.pairs.get(host as usize);
                let rtt = pair.and_then(|pair| pair.rtt);
                if let Some(rtt) = rtt.filter(|rtt| *rtt < between) {
                    return Err(too_short(group, config, rtt, between));
                }
                if let Some(pair) = pair.filter(|pair| rtt.is_some() && pair.between != between) {
                    return Err(two_lengths(group, &pair.name(groups)));
                }
                let base_rtt = rtt.unwrap_or(between + access_round_trip(topology));
                flows.push(PlacedFlow {
                    group: group as u32,
                    index: index as u32,
                    host,
                    base_rtt,
                });
            }
        }
        Ok(Self {
            hosts: hosts.pairs,
            traffic: Traffic::new(topology.trunk.len(), groups, &flows),
            flows,
        })
    }
}

impl Layout {
    /// Returns the base round-trip time of the flows of each pair of hosts.
    pub(crate) fn host_rtts(&self) -> Vec<Span> {
        let mut rtts = vec![Span::ZERO; self.hosts.len()];
        for flow in &self.flows {
            if let Some(rtt) = rtts.get_mut(flow.host()) {
                *rtt = flow.base_rtt;
            }
        }
        rtts
    }
}

/// Delays of a pair's access links.
pub(crate) struct AccessDelays {
    pub near_up: Span,
    pub near_down: Span,
    pub far_up: Span,
    pub far_down: Span,
}

impl HostPair {
    /// Returns the pair's name: the `host` of its group, or else the name of its flow.
    pub(crate) fn name(&self, groups: &[FlowGroup]) -> String {
        let (group, index) = self.first;
        let group = &groups[group as usize];
        let host = group.host.clone();
        host.unwrap_or_else(|| group.flow_name(u64::from(index)))
    }

    /// Returns the configured delays. With a given round-trip time, returns the part that the links
    /// in between leave, in four equal parts; odd picoseconds are on the forward path.
    pub(crate) fn access_delays(&self, access: &Access) -> AccessDelays {
        let Some(rtt) = self.rtt else {
            return AccessDelays {
                near_up: access.near.forward.delay,
                near_down: access.near.reverse.delay,
                far_up: access.far.forward.delay,
                far_down: access.far.reverse.delay,
            };
        };
        let rest = rtt.saturating_sub(self.between).0;
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
    /// Index of the pair of each flow, in network order.
    of_flow: Vec<u32>,
}

/// Groups flows by host. Flows of one host must agree on its node and its round-trip time.
fn share_hosts(groups: &[FlowGroup]) -> Result<Hosts, Misplaced> {
    let count = count(groups);
    let mut hosts = Hosts {
        pairs: Vec::with_capacity(count),
        of_flow: Vec::with_capacity(count),
    };
    // Flows have different names, so two flows share a pair only if a group names its host.
    let named: BTreeSet<&str> = groups.iter().filter_map(|g| g.host.as_deref()).collect();
    let mut known: BTreeMap<String, u32> = BTreeMap::new();
    for (group, config) in groups.iter().enumerate() {
        for index in 0..config.count {
            let name = match &config.host {
                Some(host) => Some(host.clone()),
                None if named.is_empty() => None,
                None => Some(config.flow_name(index)).filter(|name| named.contains(&**name)),
            };
            let rtt = config.rtt.as_ref().map(|rtt| rtt.at(index));
            let path = config.paths.at(index);
            let new = hosts.pairs.len() as u32;
            let host = name
                .clone()
                .map_or(new, |name| *known.entry(name).or_insert(new));
            hosts.of_flow.push(host);
            let Some(pair) = hosts.pairs.get_mut(host as usize) else {
                hosts.pairs.push(HostPair {
                    first: (group as u32, index as u32),
                    nodes: path.nodes(),
                    between: path.round_trip,
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
            let name = name.unwrap_or_default();
            if pair.nodes != path.nodes() {
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
    // Groups that name their host have fewer pairs than flows.
    hosts.pairs.shrink_to_fit();
    Ok(hosts)
}

/// Returns the number of flows of all groups.
fn count(groups: &[FlowGroup]) -> usize {
    groups.iter().map(|group| group.count as usize).sum()
}

/// Refuses flows without any limit on their rate, which would send without end in no time.
fn check_rates(topology: &Topology, groups: &[FlowGroup]) -> Result<(), Misplaced> {
    for (group, config) in groups.iter().enumerate() {
        let without = config
            .paths
            .each()
            .position(|path| !topology.has_rate(path));
        if let Some(index) = without {
            let name = config.flow_name(index as u64);
            return Err(Misplaced {
                group,
                key: "to",
                message: format!("the flow \"{name}\" crosses no link with a rate"),
                help: "give a link on its way a rate, as in rate = \"10Gbps\"".to_owned(),
            });
        }
    }
    Ok(())
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

fn two_lengths(group: usize, host: &str) -> Misplaced {
    Misplaced {
        group,
        key: "host",
        message: format!(
            "flows on the hosts \"{host}\" have one rtt and routes of different length"
        ),
        help: "give them hosts of their own, or no rtt".to_owned(),
    }
}

fn access_round_trip(topology: &Topology) -> Span {
    let link =
        |link: &crate::network::topology::DuplexLink| link.forward.delay + link.reverse.delay;
    topology
        .access
        .as_ref()
        .map_or(Span::ZERO, |access| link(&access.near) + link(&access.far))
}
