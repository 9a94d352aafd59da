//! Results of the hybrid engine under the names of the packet engine's figures.
//!
//! Figures that the hybrid engine does not compute are null. Only the link with the queue is
//! reported.

use super::Hybrid;
use crate::output::groups::FlowTables;
use crate::output::metrics::{GOODPUT, List, Sums, stem};
use crate::output::summary::{flow_json, insert_unless_empty, link_json};
use crate::scenario::SCHEMA_VERSION;
use goodqueue_fluid::{FluidFlow, FluidOutcome, FluidQueue};
use goodqueue_sim::{
    Distribution, Fairness, FlowOutcome, LinkConfig, LinkOutcome, LossBurstOutcome,
};
use goodqueue_types::{DropReason, Histogram};
use serde_json::{Map, Value, json};
use std::ops::Range;

/// Figures of links that need simulated packets.
const NOT_OF_LINKS: [&str; 2] = ["busy_periods", "fairness_interval_s"];
/// Figures of flows that need simulated packets.
const NOT_OF_FLOWS: [&str; 7] = [
    "throughput_bps",
    "packets_sent",
    "packets_received",
    "packets_lost",
    "retransmissions",
    "timeouts",
    "duplicate_share",
];
/// Number of reductions of a flow's window, which only the hybrid engine counts.
const LOSS_EVENTS: &str = "loss_events";

impl Hybrid {
    /// Returns the summary of a run.
    pub fn summary_json(&self, outcome: &FluidOutcome) -> Value {
        let scenario = &self.scenario;
        let network = scenario.network();
        let mut blank = flow_json(&network, &FlowOutcome::default());
        set_null(&mut blank, &NOT_OF_FLOWS);
        let flows = FlowTables::from_scenario(scenario, |group, flow| {
            let (mut keys, flow) = (blank.clone(), &outcome.flows[flow]);
            keys[GOODPUT] = json!(flow.goodput_packets_per_s * self.bits_of_packet(group));
            keys[LOSS_EVENTS] = json!(flow.loss_events);
            keys
        });
        let config = &network.links[self.at.0 as usize];
        let mut summary = json!({
            "schema_version": SCHEMA_VERSION,
            "engine": "hybrid",
            "title": scenario.title(),
            "seed": scenario.seed(),
            "measured_s": outcome.measured_s,
            "links": { &config.name: self.link_json(config, outcome) },
            "flows": flows.each,
            "totals": { "events": outcome.cost.slots + outcome.cost.updates },
        });
        insert_unless_empty(&mut summary, "groups", flows.groups);
        summary
    }

    /// Returns the figures of a run by name, as [`metrics`](crate::output::metrics()) returns those of a
    /// summary.
    pub fn metrics(&self, outcome: &FluidOutcome) -> Vec<(String, f64)> {
        let scenario = &self.scenario;
        let (trunk, backward) = crate::network::topology::link_of(self.at);
        let config = crate::network::trunk_link(scenario, trunk, backward);
        let mut links = Map::new();
        links.insert(config.name.clone(), self.link_json(&config, outcome));
        let mut list = List::default();
        list.link(&config.name, &links[&config.name]);
        let mut all = Vec::with_capacity(outcome.flows.len());
        for (group, members) in self.members() {
            let (bits, flows) = (self.bits_of_packet(group), &outcome.flows[members]);
            let goodputs = flows.iter().map(|flow| flow.goodput_packets_per_s * bits);
            let goodputs: Vec<f64> = goodputs.collect();
            let events = |flow: &FluidFlow| f64::from(flow.loss_events);
            let name = stem(&scenario.flows[group].name, [&links, &Map::new()]);
            list.column(&name, GOODPUT, &goodputs);
            list.column(
                &name,
                LOSS_EVENTS,
                &flows.iter().map(events).collect::<Vec<_>>(),
            );
            all.extend(goodputs);
        }
        list.all_flows(&[GOODPUT], |_| Sums::from_values(&all));
        list.into()
    }

    fn link_json(&self, config: &LinkConfig, outcome: &FluidOutcome) -> Value {
        let packet_bits = 8.0 * self.packet_bytes as f64;
        let mut link = LinkOutcome {
            name: config.name.clone(),
            utilization: outcome.utilization,
            throughput_bps: outcome.departures * packet_bits / outcome.measured_s,
            shares: self.shares(outcome),
            arrivals: whole(outcome.arrivals),
            departures: whole(outcome.departures),
            drops: whole(outcome.drops),
            loss_rate: outcome.loss_rate,
            fairness: Fairness {
                index: outcome.jain().filter(|_| outcome.flows.len() > 1),
                ..Fairness::default()
            },
            loss_bursts: Some(LossBurstOutcome {
                count: outcome.loss_bursts,
                packets: Distribution {
                    mean: Some(outcome.drops / outcome.loss_bursts as f64),
                    ..Distribution::default()
                },
                mean_flows_hit: Some(outcome.mean_flows_hit),
                synchronization: Some(outcome.mean_flows_hit / outcome.flows.len() as f64),
            })
            .filter(|bursts| bursts.count > 0),
            queueing_delay_s: seconds(&outcome.queueing_delay_ns),
            ..LinkOutcome::default()
        };
        link.drops_by[DropReason::Overlimit as usize] = link.drops;
        let mut keys = link_json(&self.scenario, config, &link);
        set_null(&mut keys, &NOT_OF_LINKS);
        if !matches!(self.link.queue, FluidQueue::DropTail { .. }) {
            // The engine does not distinguish the discipline's own drops from overflows.
            for reason in DropReason::ALL {
                set_null(&mut keys, &[&*format!("drops_{}", reason.name())]);
            }
        }
        keys
    }

    /// Returns the share of the goodput of each group of flows with data.
    fn shares(&self, outcome: &FluidOutcome) -> Vec<(u32, f64)> {
        let sum = |flows: &[FluidFlow]| -> f64 {
            flows.iter().map(|flow| flow.goodput_packets_per_s).sum()
        };
        let all = sum(&outcome.flows);
        let shares = self.members();
        let shares =
            shares.map(|(group, members)| (group as u32, sum(&outcome.flows[members]) / all));
        shares.filter(|(_, share)| *share > 0.0).collect()
    }

    /// Returns the groups of the scenario, each with the indices of its flows in an outcome.
    fn members(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let mut end = 0;
        self.scenario
            .flows
            .iter()
            .enumerate()
            .map(move |(place, group)| {
                let first = end;
                end += group.count as usize;
                (place, first..end)
            })
    }

    /// Returns the application bits in a full packet of a group.
    fn bits_of_packet(&self, group: usize) -> f64 {
        let bulk = self.scenario.flows[group].workload.as_bulk();
        bulk.map_or(0.0, |(tcp, _)| 8.0 * f64::from(tcp.mss))
    }
}

fn whole(count: f64) -> u64 {
    libm::round(count) as u64
}

fn set_null(keys: &mut Value, names: &[&str]) {
    for name in names {
        keys[*name] = Value::Null;
    }
}

fn seconds(nanoseconds: &Histogram) -> Distribution {
    let quantile = |q| nanoseconds.quantile(q).map(|value| value as f64 * 1e-9);
    Distribution {
        mean: nanoseconds.mean().map(|mean| mean * 1e-9),
        p50: quantile(0.5),
        p95: quantile(0.95),
        p99: quantile(0.99),
        max: nanoseconds.max().map(|max| max as f64 * 1e-9),
    }
}
