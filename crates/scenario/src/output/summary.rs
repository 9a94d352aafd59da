//! The summary of a run for machines. docs/results.md documents every key; they are stable.

use crate::output::buffers::{BufferEcho, LIMIT_COUNTS};
use crate::output::groups::FlowTables;
use crate::scenario::{SCHEMA_VERSION, Scenario};
use goodqueue_sim::PoolOutcome;
use goodqueue_sim::{
    Distribution, FlowClass, FlowOutcome, Limited, LinkConfig, LinkOutcome, Metric, Network,
    OneWayDelay, Outcome, Signal,
};
use goodqueue_types::DropReason;
use goodqueue_types::parameters::Words;
use serde_json::{Map, Value, json};

/// Returns the summary of one run of a scenario.
pub fn summary_json(scenario: &Scenario, network: &Network, outcome: &Outcome) -> Value {
    let observed = network.links.iter().filter(|config| config.observed);
    let links: Map<String, Value> = outcome
        .links
        .iter()
        .zip(observed)
        .map(|(link, config)| (link.name.clone(), link_json(scenario, config, link)))
        .collect();
    let flows =
        FlowTables::from_scenario(scenario, |_, flow| flow_json(network, &outcome.flows[flow]));
    let totals = &outcome.totals;
    let mut summary = json!({
        "schema_version": SCHEMA_VERSION,
        "title": scenario.title(),
        "seed": scenario.seed(),
        "measured_s": outcome.measured_s,
        "links": links,
        "flows": flows.each,
        "totals": {
            "sent": totals.sent,
            "duplicated": totals.duplicated,
            "delivered": totals.delivered,
            "delivered_forward": totals.delivered_forward,
            "dropped": totals.dropped,
            "queued": totals.queued,
            "in_flight": totals.in_flight,
            "events": totals.events,
        },
    });
    if totals.split > 0 {
        summary["totals"]["split"] = json!(totals.split);
    }
    let pools = outcome.pools.iter();
    let pools: Map<String, Value> = pools.map(|p| (p.name.clone(), pool_json(p))).collect();
    insert_unless_empty(&mut summary, "pools", pools);
    insert_unless_empty(&mut summary, "groups", flows.groups);
    summary
}

/// Adds a table to a summary, unless the table is empty.
pub(crate) fn insert_unless_empty(summary: &mut Value, key: &str, table: Map<String, Value>) {
    if !table.is_empty() {
        summary[key] = Value::Object(table);
    }
}

fn pool_json(pool: &PoolOutcome) -> Value {
    let mut keys = json!({ "capacity_bytes": pool.capacity_bytes });
    if let Value::Object(map) = &mut keys {
        distribution(map, "occupancy_bytes", &pool.occupancy_bytes);
    }
    keys
}

/// Returns one buffer in every unit, as in the summary.
pub fn buffer_json(buffer: &BufferEcho) -> Value {
    json!({
        "packets": buffer.packets,
        "bytes": buffer.bytes,
        "ms": buffer.ms,
        "bdp": buffer.bdp,
        "counts": LIMIT_COUNTS,
    })
}

pub(crate) fn link_json(scenario: &Scenario, config: &LinkConfig, link: &LinkOutcome) -> Value {
    debug_assert_eq!(
        config.name, link.name,
        "observed links come in network order"
    );
    let queue = config.queue.word();
    // The scenario does not know the limit of a queue that no file can describe.
    let limit = queue.and_then(|_| scenario.buffer(&link.name).ok());
    let mut keys = json!({
        "rate_bps": (!config.only_delays()).then_some(config.rate.0),
        "delay_s": config.delay.as_secs_f64(),
        "framing_bytes": config.framing.overhead,
        "framing_minimum_bytes": config.framing.minimum,
        "framing_cells": config.framing.cells.word(),
        "queue": queue.unwrap_or("custom"),
        "limit": limit.as_ref().map_or(Value::Null, buffer_json),
        "utilization": link.utilization,
        "throughput_bps": link.throughput_bps,
        "arrivals": link.arrivals,
        "departures": link.departures,
        "drops": link.drops,
        "loss_rate": link.loss_rate,
        "marks": link.marks,
        "shares": shares_json(scenario, link),
        "busy_periods": link.busy_periods.count,
        "mean_busy_period_s": link.busy_periods.mean_s,
        "max_busy_period_s": link.busy_periods.max_s,
        "duplicates": link.duplicates,
        "reordered": link.reordered,
        "event_mean_backlog_packets": link.event_mean_backlog_packets,
        "average_queue_mean": link.average_queue.map(|average| average.mean),
        "average_queue_variance": link.average_queue.map(|average| average.variance),
    });
    if let Value::Object(map) = &mut keys {
        for reason in DropReason::ALL {
            let (drops, marks) = (link.drops_by, link.marks_by);
            map.insert(
                format!("drops_{}", reason.name()),
                json!(drops[reason as usize]),
            );
            if reason.can_mark() {
                map.insert(
                    format!("marks_{}", reason.name()),
                    json!(marks[reason as usize]),
                );
            }
        }
        distribution(map, "backlog_packets", &link.backlog_packets);
        distribution(map, "backlog_bytes", &link.backlog_bytes);
        distribution(map, "queueing_delay_s", &link.queueing_delay_s);
        loss_bursts(map, link);
        fairness(map, link);
        pauses(map, link);
        autorate(map, link);
    }
    keys
}

/// Adds the pauses of a link with flow control.
fn pauses(map: &mut Map<String, Value>, link: &LinkOutcome) {
    if let Some(pause) = link.pause {
        map.insert("pauses".to_owned(), json!(pause.pauses));
        map.insert("paused_s".to_owned(), json!(pause.paused.as_secs_f64()));
        map.insert("peak_waiting_bytes".to_owned(), json!(pause.peak_bytes));
        map.insert("pause_cycle".to_owned(), json!(pause.in_cycle));
    }
}

/// Adds the rates that a program gave the link's shaper.
fn autorate(map: &mut Map<String, Value>, link: &LinkOutcome) {
    if let Some(rates) = link.autorate {
        map.insert("mean_shaper_rate_bps".to_owned(), json!(rates.mean_bps));
        map.insert("min_shaper_rate_bps".to_owned(), json!(rates.min.0));
        map.insert("max_shaper_rate_bps".to_owned(), json!(rates.max.0));
        map.insert("shaper_rate_changes".to_owned(), json!(rates.changes));
    }
}

fn fairness(map: &mut Map<String, Value>, link: &LinkOutcome) {
    let fairness = link.fairness;
    for (name, value) in [
        ("jain_index", fairness.index),
        ("mean_interval_jain_index", fairness.mean),
        ("min_interval_jain_index", fairness.min),
        ("fairness_interval_s", Some(fairness.interval_s)),
    ] {
        map.insert(name.to_owned(), json!(value));
    }
}

fn loss_bursts(map: &mut Map<String, Value>, link: &LinkOutcome) {
    let bursts = link.loss_bursts;
    let of = bursts.unwrap_or_default();
    map.insert("loss_bursts".to_owned(), json!(bursts.map(|b| b.count)));
    map.insert("mean_flows_hit".to_owned(), json!(of.mean_flows_hit));
    map.insert("loss_synchronization".to_owned(), json!(of.synchronization));
    distribution(map, "loss_burst_packets", &of.packets);
}

/// Returns the share of a link of each group of flows, by the groups' names.
fn shares_json(scenario: &Scenario, link: &LinkOutcome) -> Value {
    let shares = link.shares.iter();
    let shares = shares.map(|(group, share)| {
        let name = &scenario.flows[*group as usize].name;
        (name.clone(), json!(share))
    });
    Value::Object(shares.collect())
}

pub(crate) fn flow_json(network: &Network, flow: &FlowOutcome) -> Value {
    let mut keys = json!({
        "goodput_bps": flow.goodput_bps,
        "throughput_bps": flow.throughput_bps,
        "packets_sent": flow.packets_sent,
        "packets_received": flow.packets_received,
        "packets_lost": flow.packets_lost,
        "retransmissions": flow.retransmissions,
        "timeouts": flow.timeouts,
        "duplicate_share": flow.duplicate_share,
        "completion_time_s": flow.completion_time_s,
        "slowdown": flow.slowdown,
        "losses_at": signals_json(network, flow, |signal| signal.drops),
        "marks_at": signals_json(network, flow, |signal| signal.marks),
    });
    if let Value::Object(map) = &mut keys {
        distribution(map, "rtt_s", &flow.rtt_s);
        one_way_delay(map, "", &flow.one_way());
        one_way_delay(map, "reverse_", &flow.one_way_back());
        limits(map, network, flow);
        for (name, metric) in &flow.app.metrics {
            match metric {
                Metric::Count(count) => {
                    map.insert((*name).to_owned(), json!(count));
                }
                Metric::Seconds(values) | Metric::Ratio(values) => {
                    distribution(map, name, values);
                }
                Metric::Number(number) => {
                    map.insert((*name).to_owned(), json!(number));
                }
            }
        }
    }
    keys
}

/// Adds delays and their variation for one direction.
fn one_way_delay(map: &mut Map<String, Value>, direction: &str, delay: &OneWayDelay) {
    let figures = [
        ("min", "one_way_delay_s", delay.min_s),
        ("p99", "pdv_s", delay.p99_pdv_s),
        ("p999", "pdv_s", delay.p999_pdv_s),
    ];
    for (statistic, name, value) in figures {
        map.insert(format!("{statistic}_{direction}{name}"), json!(value));
    }
    map.insert(format!("{direction}data_span_s"), json!(delay.span_s));
    distribution(map, &format!("{direction}one_way_delay_s"), &delay.delay_s);
    distribution(map, &format!("{direction}ipdv_s"), &delay.ipdv_s);
}

/// Returns counts of a flow's packets by the links at which a signal occurred.
fn signals_json(network: &Network, flow: &FlowOutcome, count: fn(&Signal) -> u32) -> Value {
    let mut counts: Map<String, Value> = Map::new();
    for signal in flow.signals.iter().filter(|signal| count(signal) > 0) {
        let name = network.links[signal.link().0 as usize].name.clone();
        counts.insert(name, json!(count(signal)));
    }
    Value::Object(counts)
}

/// Adds the factors that limited a TCP flow, and their places.
fn limits(map: &mut Map<String, Value>, network: &Network, flow: &FlowOutcome) {
    let of = flow.limited.as_ref();
    let total: f64 = of.map_or(0.0, |of| of.seconds.iter().sum());
    let mut shares = Map::new();
    for limited in Limited::ALL.into_iter().filter(|l| *l != Limited::Nothing) {
        let share = of.filter(|_| total > 0.0);
        let share = share.map(|of| of.seconds[limited as usize] / total);
        shares.insert(limited.name().to_owned(), json!(share));
    }
    let bottleneck = of.and_then(|of| of.bottleneck);
    let bottleneck = bottleneck.map(|link| network.links[link.0 as usize].name.clone());
    let class = of.and_then(|of| of.class);
    map.insert("limited_by".to_owned(), Value::Object(shares));
    map.insert("bottleneck".to_owned(), json!(bottleneck));
    map.insert("class".to_owned(), json!(class.map(FlowClass::name)));
}

/// Adds `mean_<name>`, `p50_<name>`, `p95_<name>`, `p99_<name>` and `max_<name>`.
fn distribution(map: &mut Map<String, Value>, name: &str, values: &Distribution) {
    let figures = [
        ("mean", values.mean),
        ("p50", values.p50),
        ("p95", values.p95),
        ("p99", values.p99),
        ("max", values.max),
    ];
    for (statistic, value) in figures {
        map.insert([statistic, "_", name].concat(), json!(value));
    }
}
