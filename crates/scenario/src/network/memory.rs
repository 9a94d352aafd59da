//! Memory that a run needs, estimated from the scenario before anything is built.

use crate::flow::workload::{Amount, Offer, largest_packet, most_waiting, offer, transfers};
use crate::flow::{FlowGroup, RoundTrips};
use crate::network::layout::{HostPair, PlacedFlow};
use crate::network::path::Path;
use crate::network::topology::{LinkDirection, link_of};
use crate::network::{access_links, trunk_link};
use crate::output::groups::is_listed;
use crate::scenario::Scenario;
use goodqueue_queue::{Configuration, Limit};
use goodqueue_sim::{LinkConfig, Record, SessionConfig, WorkloadConfig, footprint};
use goodqueue_types::{LinkId, Rate, Span};
use std::collections::BTreeMap;

/// Number of links of a pair of hosts, in one direction each, on one path.
const LINKS_OF_HOSTS_ON_A_WAY: u64 = 2;

/// Bytes of a flow's own entry in the summary: about 70 figures with their names, as values in the core, as
/// JSON text there and in Python, and as Python objects. `tests/run/test_memory.py` compares it with a
/// run of many flows.
const SUMMARY_OF_FLOW: u64 = 24_000;

/// Bytes of a flow in the summary of a large group: its figures before they are sorted, and its
/// share of the tables' names.
const FIGURES_OF_FLOW: u64 = 400;

/// Bytes of a link in the summary, measured in the same way.
const SUMMARY_OF_LINK: u64 = 12_000;

/// Bytes of a connection's entries in lists of its session: its request, its deadlines, its start.
const REQUEST: u64 = 400;

/// Bytes of a connection in TIME-WAIT.
const RESTING: u64 = 128;

/// Time in seconds for which a connection in TIME-WAIT takes memory.
const TIME_WAIT_S: f64 = 60.0;

/// Number of copies of recorded data: rows in the core and columns of tables.
const COPIES_OF_RECORDS: u64 = 2;

/// Names of all kinds of parts.
pub const MEMORY_PARTS: [&str; 10] = [
    "flows",
    "flows in the summary",
    "links of routes",
    "packets under way",
    "open connections",
    "connections in TIME-WAIT",
    "links",
    "links of hosts",
    "packets in time series",
    "recorded hops of packets",
];

/// Memory of one kind of part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryPart {
    /// Name of the kind of part, in the plural.
    pub what: &'static str,
    /// Number of parts; an upper bound for packets, and an estimate for records.
    pub count: u64,
    /// Bytes per part.
    pub bytes_each: u64,
    /// True if the parts come while the run goes on.
    pub grows: bool,
}

/// Bytes of a flow in a run of the hybrid engine: its description, its state, its figures and its
/// name in metrics. Only a summary, which names every flow, needs more.
const HYBRID_FLOW: u64 = 600;

/// Returns the parts of a run by the hybrid engine.
pub(crate) fn parts_of_hybrid(scenario: &Scenario) -> Vec<MemoryPart> {
    vec![MemoryPart {
        what: "flows",
        count: scenario.layout.flows.len() as u64,
        bytes_each: HYBRID_FLOW,
        grows: false,
    }]
}

/// Returns the parts of a run with these records, as far as the scenario determines them.
pub(crate) fn parts(scenario: &Scenario, record: Record) -> Vec<MemoryPart> {
    let flows = scenario.layout.flows.len() as u64;
    let placed = size_of::<PlacedFlow>() + size_of::<HostPair>();
    let load = Load::from_scenario(scenario);
    let part = |what, count, bytes_each: u64| MemoryPart {
        what,
        count,
        bytes_each,
        grows: false,
    };
    let growing = |what, count, bytes_each| MemoryPart {
        grows: true,
        ..part(what, count, bytes_each)
    };
    let mut parts = vec![
        part(
            "flows",
            flows,
            flow(scenario) + placed as u64 + FIGURES_OF_FLOW,
        ),
        part("flows in the summary", listed(scenario), SUMMARY_OF_FLOW),
        part("links of routes", hops(scenario), footprint::hop() as u64),
        growing(
            "packets under way",
            load.under_way,
            footprint::packet() as u64,
        ),
        growing("open connections", load.open, load.connection),
        growing("connections in TIME-WAIT", load.resting, RESTING),
    ];
    parts.extend(links(scenario));
    if record.series {
        let bytes = footprint::series() as u64 * COPIES_OF_RECORDS;
        parts.push(growing("packets in time series", load.sent, bytes));
    }
    if record.packets {
        let bytes = footprint::events() as u64 * COPIES_OF_RECORDS;
        parts.push(growing("recorded hops of packets", load.crossings, bytes));
    }
    debug_assert!(
        parts.iter().all(|part| MEMORY_PARTS.contains(&part.what)),
        "a kind of part has no name"
    );
    parts.retain(|part| part.count > 0);
    parts
}

/// Returns the links, and the links of hosts that are not observed. Links of one kind count as the
/// largest of them.
fn links(scenario: &Scenario) -> [MemoryPart; 2] {
    let (mut watched, mut others) = ((0, 0), (0, 0));
    let mut add = |config: &LinkConfig, count: u64, routes: u64| {
        let (kind, summary) = if config.observed {
            (&mut watched, SUMMARY_OF_LINK)
        } else {
            (&mut others, 0)
        };
        kind.0 += count;
        kind.1 = (footprint::link(config, routes) as u64 + summary).max(kind.1);
    };
    let flows = scenario.layout.flows.len() as u64;
    for index in 0..scenario.topology.trunk.len() {
        for backward in [false, true] {
            add(&trunk_link(scenario, index, backward), 1, flows);
        }
    }
    let pairs = scenario.layout.hosts.len() as u64;
    for config in access_links(scenario) {
        add(&config, pairs, flows.div_ceil(pairs.max(1)));
    }
    let part = |what, (count, bytes_each)| MemoryPart {
        what,
        count,
        bytes_each,
        grows: false,
    };
    [part("links", watched), part("links of hosts", others)]
}

/// Returns the bytes of the flow whose kind needs most memory.
fn flow(scenario: &Scenario) -> u64 {
    let groups = scenario.flows.iter();
    let bytes = groups.map(|group| footprint::flow(&group.workload) as u64);
    bytes.max().unwrap_or(0)
}

/// Returns the number of flows that have an entry of their own in the summary.
fn listed(scenario: &Scenario) -> u64 {
    let groups = scenario.flows.iter();
    let listed = groups.filter(|group| is_listed(scenario, group));
    listed.map(|group| group.count).sum()
}

/// Returns the number of links on the routes of all flows, both directions.
fn hops(scenario: &Scenario) -> u64 {
    let of_hosts = match scenario.topology.access {
        Some(_) => 2 * LINKS_OF_HOSTS_ON_A_WAY,
        None => 0,
    };
    let groups = scenario.flows.iter();
    let paths = groups.flat_map(|group| group.paths.shares(group.count));
    paths
        .map(|(path, flows)| flows * ((path.forward.len() + path.reverse.len()) as u64 + of_hosts))
        .sum()
}

/// Numbers of packets.
#[derive(Default)]
struct Load {
    /// Largest number of packets in flight at once.
    under_way: u64,
    /// Packets sent in the whole run.
    sent: u64,
    /// Number of links that these packets cross.
    crossings: u64,
    /// Number of packets that links between routers carry, or that sources hand to their hosts'
    /// links in vain.
    work: u64,
    /// Connections of sessions that are open at once, and those in TIME-WAIT.
    open: u64,
    resting: u64,
    /// Bytes of both ends of an open connection.
    connection: u64,
}

/// Returns the number of packets that links between routers carry in a run, or that sources hand to
/// their hosts' links in vain. A change of a link's rate counts as a packet.
pub(crate) fn work(scenario: &Scenario) -> u64 {
    let trunk = scenario.topology.trunk.iter().map(|link| (link, 1));
    let pairs = scenario.layout.hosts.len() as u128;
    let access = scenario.topology.access.iter();
    let access = access.flat_map(|access| [(&access.near, pairs), (&access.far, pairs)]);
    let changes = trunk.chain(access).flat_map(|(link, copies)| {
        let services = [&link.forward.service, &link.reverse.service];
        let services = services.into_iter().flatten();
        services.map(move |service| copies * service.law().changes_in(scenario.duration))
    });
    let changes = saturated(changes.sum());
    Load::from_scenario(scenario).work.saturating_add(changes)
}

impl Load {
    fn from_scenario(scenario: &Scenario) -> Self {
        let mut by_slowest: BTreeMap<Option<usize>, Shared> = BTreeMap::new();
        for group in scenario.flows.iter() {
            for (path, flows) in group.paths.shares(group.count) {
                let (slowest, rate) = slowest(scenario, path, flows);
                let number = slowest.map(|link| link_of(link).0);
                let shared = by_slowest.entry(number).or_default();
                let limit = slowest.map(|link| scenario.topology.direction(link).queue.limit());
                shared.add(scenario, group, path, u128::from(flows), (rate, limit));
            }
        }
        let mut load = Self::default();
        for shared in by_slowest.into_values() {
            let sent = shared.sent();
            let crossings = sent.saturating_mul(shared.links + 2);
            load.under_way = load.under_way.saturating_add(shared.under_way());
            load.sent = load.sent.saturating_add(sent);
            load.crossings = load.crossings.saturating_add(crossings);
            let work = sent.saturating_add(saturated(shared.lost()));
            let work = work.saturating_mul(shared.links);
            load.work = load.work.saturating_add(work);
            load.open = load.open.saturating_add(shared.open());
            load.resting = load.resting.saturating_add(shared.resting as u64);
            load.connection = load.connection.max(shared.connection);
        }
        load
    }
}

/// Packets that flows with the same slowest link can have in flight, and send in the whole run.
#[derive(Default)]
struct Shared {
    /// Packets of all windows, or of datagrams if all wait.
    windows: Amount,
    /// Bytes in flight at the link's rate, and in its full buffer. Other links of a path have no
    /// standing queue, or are the slowest ones of other paths.
    room: u128,
    /// Packets of sources that wait before links without a limit and without the rate for them, and
    /// those of requests that their hosts cannot send in time.
    piled: u128,
    /// Packets of all flows but endless ones, in the whole run.
    finite: Amount,
    /// Those that are sent whatever the network does.
    regardless: Amount,
    /// Connections of sessions: all, those open at once in a network without a queue, and those in
    /// TIME-WAIT.
    connections: f64,
    usually_open: f64,
    resting: f64,
    /// Bytes of both ends of an open connection.
    connection: u64,
    /// Smallest packet in bytes of flows without end. None if there are no such flows.
    endless: Option<u128>,
    /// Bytes that the link can send in the run.
    capacity: u128,
    links: u64,
}

impl Shared {
    fn add(
        &mut self,
        scenario: &Scenario,
        group: &FlowGroup,
        path: &Path,
        flows: u128,
        (rate, limit): (Rate, Option<Limit>),
    ) {
        let duration = scenario.duration;
        let packet = u128::from(largest_packet(&group.workload, false).max(1));
        let base_rtt = group
            .rtt
            .as_ref()
            .map_or(path.round_trip, |rtt| mean(rtt, group.count.min(1_000)));
        let buffer = limit.map_or(0, |limit| match limit {
            Limit::Packets(packets) => u128::from(packets) * packet,
            Limit::Bytes(bytes) => u128::from(bytes),
            // The backlog without a limit cannot be predicted: windows bound it far too loosely, and
            // most such links never have a queue. A run that exceeds its memory is stopped.
            Limit::Unlimited => 0,
        });
        let room = buffer.saturating_add(bytes_in(rate, base_rtt) + packet);
        self.room = self.room.max(room);
        self.capacity = self.capacity.max(bytes_in(rate, duration));
        let waiting = most_waiting(&group.workload, duration) / packet;
        let window = Amount {
            packets: waiting,
            bytes: waiting.saturating_mul(packet),
        };
        self.windows.add(window, flows);
        match offer(&group.workload, duration) {
            Offer::Endless => {
                self.endless = Some(self.endless.map_or(packet, |other| other.min(packet)));
            }
            Offer::Waiting(amount) => self.finite.add(amount, flows),
            Offer::Regardless(amount) => {
                self.finite.add(amount, flows);
                self.regardless.add(amount, flows);
                let mut all = Amount::default();
                all.add(amount, flows);
                // Requests wait at their hosts, and transfers as connections.
                let slowest = match session_of(&group.workload) {
                    None => slowest_unlimited(scenario, path, flows as u64),
                    Some(SessionConfig::Transfers(_)) => Rate::UNLIMITED,
                    Some(_) => rate,
                };
                let carried = all.within(bytes_in(slowest, duration));
                self.piled = self.piled.saturating_add(all.packets - carried);
            }
        }
        self.links = self.links.max(path.forward.len() as u64);
        self.add_connections(&group.workload, duration, base_rtt, flows as f64);
    }

    fn add_connections(
        &mut self,
        workload: &WorkloadConfig,
        duration: Span,
        base_rtt: Span,
        flows: f64,
    ) {
        let (Some(session), Some(tcp)) = (session_of(workload), workload.tcp()) else {
            return;
        };
        let length = duration.as_secs_f64();
        // A transfer without a queue takes some round trips, or a timeout.
        let lasts = 1.0 + 10.0 * base_rtt.as_secs_f64();
        let short = |begun: f64| (begun, begun * (lasts / length).min(1.0));
        let (begun, open) = match session {
            SessionConfig::Transfers(config) => short(transfers(config, duration)),
            SessionConfig::Responsiveness(config) => {
                let (probes, open) = short(length / config.shortest_interval().as_secs_f64());
                let loads = f64::from(config.connections);
                (loads + probes, loads + open)
            }
            SessionConfig::Web(config) => (f64::from(config.parallel), config.parallel.into()),
            SessionConfig::Exchanges(_) | SessionConfig::Video(_) => (1.0, 1.0),
        };
        self.connections += flows * begun;
        self.usually_open += flows * open;
        self.resting += flows * begun * (TIME_WAIT_S / length).min(1.0);
        let both_ends = 2 * footprint::connection(tcp) as u64 + REQUEST;
        self.connection = self.connection.max(both_ends);
    }

    /// Returns the connections that are open at once. If the link cannot carry all packets, the
    /// connections of the others stay open.
    fn open(&self) -> u64 {
        let carried = self.finite.within(self.capacity) as f64;
        let late = 1.0 - carried / (self.finite.packets as f64).max(1.0);
        self.connections
            .min(self.usually_open + late.max(0.0) * self.connections) as u64
    }

    /// Returns the packets that sources send in vain, because the link cannot carry them.
    fn lost(&self) -> u128 {
        let sent = self.regardless;
        sent.packets - sent.within(self.capacity).min(sent.packets)
    }

    /// Returns the largest number of packets in flight at once.
    fn under_way(&self) -> u64 {
        saturated(self.windows.within(self.room).saturating_add(self.piled))
    }

    /// Returns the packets sent in the run. Flows without end use the capacity that others leave.
    fn sent(&self) -> u64 {
        let finite = self.finite.within(self.capacity);
        let left = self.capacity.saturating_sub(self.finite.bytes);
        saturated(finite + self.endless.map_or(0, |packet| left / packet))
    }
}

fn session_of(workload: &WorkloadConfig) -> Option<&SessionConfig> {
    match workload {
        WorkloadConfig::Session { session, .. } => Some(session),
        _ => None,
    }
}

/// Returns the mean of the first round-trip times of a group: flows with longer ones have more of
/// the link's rate in flight, and others less.
fn mean(rtts: &RoundTrips, flows: u64) -> Span {
    let sum: u128 = (0..flows).map(|index| u128::from(rtts.at(index).0)).sum();
    Span((sum / u128::from(flows.max(1))) as u64)
}

fn saturated(count: u128) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Returns the bytes that a link sends in this time.
fn bytes_in(rate: Rate, time: Span) -> u128 {
    u128::from(rate.0).saturating_mul(u128::from(time.0)) / 8_000_000_000_000
}

/// Returns the slowest link of a path that `flows` flows take, or none if their hosts' own links
/// together are slower, and its rate.
fn slowest(scenario: &Scenario, path: &Path, flows: u64) -> (Option<LinkId>, Rate) {
    let way = path.forward.iter();
    let rates = way.map(|link| (Some(*link), scenario.topology.direction(*link).rate));
    let pairs = flows.min(scenario.layout.hosts.len() as u64);
    let hosts = scenario.topology.access.iter().map(|access| {
        let each = access.near.forward.rate.min(access.far.forward.rate);
        (None, Rate(each.0.saturating_mul(pairs)))
    });
    let slowest = rates.chain(hosts).min_by_key(|(_, rate)| *rate);
    slowest.unwrap_or((None, Rate::UNLIMITED))
}

/// Returns the rate of the slowest link on the way of `flows` flows whose queue has no limit.
fn slowest_unlimited(scenario: &Scenario, path: &Path, flows: u64) -> Rate {
    let without_limit =
        |link: &&LinkDirection| link.queue.limit() == Limit::Unlimited && !link.only_delays();
    let way = path.forward.iter();
    let trunk = way.map(|link| scenario.topology.direction(*link));
    let trunk = trunk.filter(without_limit).map(|link| link.rate);
    let pairs = flows.min(scenario.layout.hosts.len() as u64);
    let access = scenario.topology.access.iter();
    let access = access.flat_map(|access| [&access.near.forward, &access.far.forward]);
    let access = access.filter(without_limit);
    let access = access.map(|link| Rate(link.rate.0.saturating_mul(pairs)));
    trunk.chain(access).min().unwrap_or(Rate::UNLIMITED)
}
