//! The summary of a run for machines. docs/results.md documents every key; they are stable.

use crate::buffers::{BufferEcho, LIMIT_COUNTS};
use crate::scenario::{SCHEMA_VERSION, Scenario};
use goodqueue_sim::{Distribution, FlowOutcome, LinkConfig, LinkOutcome, Network, Outcome};
use serde_json::{Map, Value, json};

/// The summary of one run of a scenario.
pub fn summary_json(scenario: &Scenario, outcome: &Outcome) -> Value {
    let network = scenario.network();
    let links: Map<String, Value> = outcome
        .links
        .iter()
        .map(|link| (link.name.clone(), link_json(scenario, &network, link)))
        .collect();
    let flows: Map<String, Value> = outcome
        .flows
        .iter()
        .map(|flow| (flow.name.clone(), flow_json(flow)))
        .collect();
    let totals = &outcome.totals;
    json!({
        "schema_version": SCHEMA_VERSION,
        "title": scenario.title(),
        "seed": scenario.seed(),
        "measured_s": outcome.measured_s,
        "links": links,
        "flows": flows,
        "totals": {
            "sent": totals.sent,
            "delivered": totals.delivered,
            "dropped": totals.dropped,
            "queued": totals.queued,
            "in_flight": totals.in_flight,
            "events": totals.events,
        },
    })
}

/// One buffer in every unit, as in the summary.
pub fn buffer_json(buffer: &BufferEcho) -> Value {
    json!({
        "packets": buffer.packets,
        "bytes": buffer.bytes,
        "ms": buffer.ms,
        "bdp": buffer.bdp,
        "counts": LIMIT_COUNTS,
    })
}

fn link_json(scenario: &Scenario, network: &Network, link: &LinkOutcome) -> Value {
    let mut keys = json!({
        "limit": scenario.buffer(&link.name).as_ref().map_or(Value::Null, buffer_json),
        "utilization": link.utilization,
        "throughput_bps": link.throughput_bps,
        "arrivals": link.arrivals,
        "departures": link.departures,
        "drops": link.drops,
        "drops_overlimit": link.drops_overlimit,
        "drops_link_loss": link.drops_link_loss,
        "loss_rate": link.loss_rate,
        "event_mean_backlog_packets": link.event_mean_backlog_packets,
    });
    if let Value::Object(map) = &mut keys {
        let config = network.links.iter().find(|config| config.name == link.name);
        if let Some(LinkConfig {
            rate,
            delay,
            framing,
            ..
        }) = config
        {
            map.insert("rate_bps".to_owned(), json!(rate.0));
            map.insert("delay_s".to_owned(), json!(delay.as_secs_f64()));
            map.insert("framing_bytes".to_owned(), json!(framing));
        }
        distribution(map, "backlog_packets", &link.backlog_packets);
        distribution(map, "backlog_bytes", &link.backlog_bytes);
        distribution(map, "queueing_delay_s", &link.queueing_delay_s);
    }
    keys
}

fn flow_json(flow: &FlowOutcome) -> Value {
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
    });
    if let Value::Object(map) = &mut keys {
        distribution(map, "rtt_s", &flow.rtt_s);
    }
    keys
}

/// `mean_<name>`, `p50_<name>`, `p99_<name>`, `max_<name>`.
fn distribution(map: &mut Map<String, Value>, name: &str, values: &Distribution) {
    let figures = [
        ("mean", values.mean),
        ("p50", values.p50),
        ("p99", values.p99),
        ("max", values.max),
    ];
    for (statistic, value) in figures {
        map.insert(format!("{statistic}_{name}"), json!(value));
    }
}
