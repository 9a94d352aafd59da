//! Conversion of a scenario to the links and routes of a run.

pub mod layout;
pub mod link;
pub mod memory;
pub mod path;
pub mod topology;
pub mod traffic;

use crate::flow::FlowGroup;
use crate::network::path::Path;
use crate::network::topology::{Access, DuplexLink, LinkDirection, Shape};
use crate::scenario::Scenario;
use goodqueue_sim::{Autorate, BetweenLosses, Equipment, FlowConfig, LinkConfig, Network};
use goodqueue_types::{Hosts, LinkId, RandomStream, Span, Time};
use std::sync::Arc;

/// Links of a pair of hosts, in this order after those of the trunk.
const NEAR_UP: usize = 0;
const NEAR_DOWN: usize = 1;
const FAR_UP: usize = 2;
const FAR_DOWN: usize = 3;
const LINKS_PER_PAIR: usize = 4;

pub(crate) fn build(scenario: &Scenario) -> Network {
    let hosts = &scenario.layout.hosts;
    let trunk = &scenario.topology.trunk;
    let mut links = Vec::with_capacity(2 * trunk.len() + LINKS_PER_PAIR * hosts.len());
    for index in 0..trunk.len() {
        links.extend([false, true].map(|backward| trunk_link(scenario, index, backward)));
    }
    if let Some(access) = &scenario.topology.access {
        add_access(&mut links, access, scenario);
    }
    let mut network = Network {
        seed: scenario.seed,
        end: Time::ZERO + scenario.duration,
        warmup: Time::ZERO + scenario.warmup,
        links,
        pools: scenario.topology.pools.clone(),
        flows: flows(scenario),
        record: scenario.record,
    };
    // Both directions of a cable follow each other.
    for (index, link) in (0_u32..).zip(&mut network.links) {
        if link.pause.is_some() {
            link.opposite = Some(LinkId(index ^ 1));
        }
    }
    add_autorates(&mut network, scenario);
    network.keep_in_step();
    network
}

/// Gives each link whose shaper is set by a program this program and its ping flows.
fn add_autorates(network: &mut Network, scenario: &Scenario) {
    for (index, link) in scenario.topology.trunk.iter().enumerate() {
        for (at, direction) in [(2 * index, &link.forward), (2 * index + 1, &link.reverse)] {
            let Some(config) = direction.autorate.clone() else {
                continue;
            };
            let is_its =
                |flow: &FlowConfig| scenario.flows[flow.group as usize].name == config.law().ping();
            let flows = (0_u32..).zip(&network.flows);
            let pings = flows.filter(|(_, flow)| is_its(flow)).map(|(id, _)| id);
            let pings = pings.collect();
            network.links[at].autorate = Some(Box::new(Autorate { config, pings }));
        }
    }
}

/// Returns one direction of a link between routers.
pub(crate) fn trunk_link(scenario: &Scenario, index: usize, backward: bool) -> LinkConfig {
    let observed = Observed {
        observed: true,
        burst_gap: scenario.layout.traffic.effective_rtt(index),
    };
    let link = &scenario.topology.trunk[index];
    if backward {
        let name = format!("{}.reverse", link.name);
        direction(&name, &link.reverse, link.reverse.delay, observed)
    } else {
        direction(&link.name, &link.forward, link.forward.delay, observed)
    }
}

/// Measurements at a link.
#[derive(Clone, Copy)]
struct Observed {
    observed: bool,
    burst_gap: Option<Span>,
}

fn direction(name: &str, config: &LinkDirection, delay: Span, observed: Observed) -> LinkConfig {
    LinkConfig {
        name: name.to_owned(),
        rate: config.rate,
        delay,
        burst_gap: observed.burst_gap,
        observed: observed.observed,
        equipment: Arc::new(equipment(config)),
    }
}

fn equipment(config: &LinkDirection) -> Equipment {
    Equipment {
        service: config.service.clone(),
        framing: config.framing,
        queue: config.queue.clone(),
        pool: config.pool,
        drop_list: config.drop_list.clone(),
        loss: config.loss,
        impairments: config.impairments.clone(),
        pause: config.pause,
        autorate: None,
        opposite: None,
        in_step: false,
    }
}

/// Returns the access links of a pair of hosts without their delays, both directions of the near one
/// first. There are none without access links.
pub(crate) fn access_links(scenario: &Scenario) -> Vec<LinkConfig> {
    let none = Observed {
        observed: scenario.record_access,
        burst_gap: None,
    };
    let access = scenario.topology.access.iter();
    let links = access.flat_map(|access| [&access.near, &access.far]);
    links
        .flat_map(|link: &DuplexLink| {
            let one = |config| direction(&link.name, config, Span::ZERO, none);
            [one(&link.forward), one(&link.reverse)]
        })
        .collect()
}

/// Adds the access links of each pair of hosts, which share their equipment.
fn add_access(links: &mut Vec<LinkConfig>, access: &Access, scenario: &Scenario) {
    let layout = &scenario.layout;
    let kinds = access_links(scenario);
    let (near, far) = kinds.split_at(kinds.len() / 2);
    for (pair, rtt) in layout.hosts.iter().zip(layout.host_rtts()) {
        let delays = pair.access_delays(access);
        let name = pair.name(&scenario.flows);
        let mut add = |both: &[LinkConfig], up: Span, down: Span| {
            for (link, (delay, suffix)) in both.iter().zip([(up, ""), (down, ".reverse")]) {
                links.push(LinkConfig {
                    name: [&name, ".", &link.name, suffix].concat(),
                    delay,
                    burst_gap: Some(rtt),
                    ..link.clone()
                });
            }
        };
        add(near, delays.near_up, delays.near_down);
        add(far, delays.far_up, delays.far_down);
    }
}

fn flows(scenario: &Scenario) -> Vec<FlowConfig> {
    let placed = scenario.layout.flows.iter().enumerate();
    placed
        .map(|(id, flow)| {
            let group = &scenario.flows[flow.group()];
            let pair = scenario.topology.access.is_some().then_some(flow.host());
            let path = group.paths.at(flow.index());
            let (forward, reverse) = routes(path, scenario.topology.trunk.len(), pair);
            FlowConfig {
                name: group.flow_name(flow.index()),
                group: flow.group() as u32,
                start: start(scenario.seed, group, flow.index(), id as u64),
                forward,
                reverse,
                hosts: hosts(scenario, path, pair, id),
                dscp: group.dscp,
                stop: group
                    .stop_within(scenario.duration)
                    .map(|stop| Time::ZERO + stop),
                workload: group.workload.clone(),
                interface: group.interface.clone(),
                between_losses: between_losses(scenario.seed, group, flow.index(), id as u64),
            }
        })
        .collect()
}

/// Returns the hosts at both ends of flow `id`. Those with links of their own are `pair`. Without
/// such links a node of a graph is a host. The nodes of a row are routers, at which every flow has
/// its own hosts.
fn hosts(scenario: &Scenario, path: &Path, pair: Option<usize>, id: usize) -> Hosts {
    if pair.is_none() && scenario.topology.shape == Shape::Graph {
        return Hosts {
            client: path.from as u16,
            server: path.to as u16,
        };
    }
    let host = pair.unwrap_or(id);
    Hosts {
        client: (2 * host) as u16,
        server: (2 * host + 1) as u16,
    }
}

fn start(seed: u64, group: &FlowGroup, index: u64, id: u64) -> Time {
    let jitter = RandomStream::new(seed, "start", id).span_below(group.jitter());
    Time::ZERO + group.start + group.start_interval * index + jitter
}

/// Returns the position between two losses at which a flow begins, if its group gives the window of
/// the last loss.
fn between_losses(seed: u64, group: &FlowGroup, index: u64, id: u64) -> Option<BetweenLosses> {
    let peaks = &group.peak_windows;
    let peak = *peaks.get((index % peaks.len().max(1) as u64) as usize)?;
    let mut random = RandomStream::new(seed, "phase", id);
    let phase = random.unit();
    let larger = 1.0 + group.peak_spread * (2.0 * random.unit() - 1.0);
    Some(BetweenLosses {
        peak: libm::round(f64::from(peak) * larger) as u32,
        phase,
    })
}

/// Returns the links from client to server and back.
fn routes(path: &Path, trunk: usize, pair: Option<usize>) -> (Vec<LinkId>, Vec<LinkId>) {
    let host = |link| pair.map(|pair| LinkId((2 * trunk + LINKS_PER_PAIR * pair + link) as u32));
    let between = |up, way: &[LinkId], down| {
        let way = way.iter().copied();
        host(up).into_iter().chain(way).chain(host(down)).collect()
    };
    if path.reversed() {
        (
            between(FAR_UP, &path.forward, NEAR_DOWN),
            between(NEAR_UP, &path.reverse, FAR_DOWN),
        )
    } else {
        (
            between(NEAR_UP, &path.forward, FAR_DOWN),
            between(FAR_UP, &path.reverse, NEAR_DOWN),
        )
    }
}
