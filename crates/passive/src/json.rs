//! The summary as JSON.

use crate::files::Reading;
use crate::flow::classify::Class;
use crate::link::Link;
use crate::link::parameters::Estimate;
use crate::quantile::quantile;
use crate::report::Report;
use goodqueue_trace::read::{Ns2Event, Ns2Totals};
use serde_json::{Map, Value, json};

/// Returns the result of reading a file.
fn reading_json(reading: &Reading) -> Value {
    let skipped: Map<String, Value> = reading
        .skipped
        .iter()
        .map(|(skip, count)| (skip.name().to_owned(), count.into()))
        .collect();
    json!({
        "path": reading.path.display().to_string(),
        "format": reading.format,
        "compression": reading.compression,
        "frames": reading.frames,
        "packets": reading.packets,
        "bytes_read": reading.bytes_read,
        "interfaces": reading.interfaces,
        "skipped": skipped,
        "cut": reading.is_cut,
        "cut_at_byte": reading.is_cut.then_some(reading.bytes_read),
        "first_s": reading.span_s.map(|span| span.0),
        "last_s": reading.span_s.map(|span| span.1),
        "resolution_s": reading.resolution_ns as f64 * 1e-9,
        "links": reading.totals.as_ref().map(totals_json),
    })
}

/// Returns packets and bytes by link and packet type, as ns-2's queue monitor counts them.
fn totals_json(totals: &Ns2Totals) -> Vec<Value> {
    let events = [
        ("enqueued", Ns2Event::Enqueued),
        ("dequeued", Ns2Event::Dequeued),
        ("received", Ns2Event::Received),
        ("dropped", Ns2Event::Dropped),
    ];
    let rows = totals.rows().map(|((from, to), kind, counts)| {
        let mut row = json!({"from": from, "to": to, "kind": kind});
        for (name, event) in events {
            let counts = counts[event as usize];
            row[format!("{name}_packets")] = counts.packets.into();
            row[format!("{name}_bytes")] = counts.bytes.into();
        }
        row
    });
    rows.collect()
}

impl Report {
    /// Returns all results except the tables.
    pub fn summary_json(&self, readings: &[Reading]) -> Value {
        let totals = &self.totals;
        json!({
            "reading": readings.iter().map(reading_json).collect::<Vec<_>>(),
            "duration_s": self.duration as f64 * 1e-9,
            "first_s": self.start as f64 * 1e-9,
            "tapping_points": if self.two_taps { 2 } else { 1 },
            "crossed": self.two_taps.then(|| {
                json!({"forward": self.crossed[0], "backward": self.crossed[1]})
            }),
            "flows": self.flows.len(),
            "connections": totals.connections,
            "packets": {
                "tcp": totals.tcp_packets,
                "udp": totals.udp_packets,
                "other": totals.other_packets,
            },
            "repeated": totals.repeated,
            "outside": totals.outside,
            "resumed": totals.resumed,
            "evicted": totals.evicted,
            "unlisted": totals.unlisted,
            "link": link_json(&self.link),
            "classes": self.classes_json(),
            "parameters": self.parameters_json(),
            "bursts": self.bursts_json(),
            "notes": self.notes,
        })
    }

    fn classes_json(&self) -> Value {
        let mut rows = Map::new();
        for (index, name) in Class::NAMES.into_iter().enumerate() {
            let of_class = || {
                self.flows
                    .iter()
                    .filter(|flow| flow.class as usize == index)
            };
            let bytes: u64 = of_class().map(|flow| flow.counts.bytes).sum();
            rows.insert(
                name.to_owned(),
                json!({"flows": of_class().count(), "bytes": bytes}),
            );
        }
        rows.into()
    }

    fn parameters_json(&self) -> Value {
        let parameters = &self.parameters;
        json!({
            "N_b": estimate_json(parameters.flows),
            "T_e_s": estimate_json(parameters.round_trip_s),
            "C_e_bps": estimate_json(parameters.capacity_bps),
            "L": estimate_json(parameters.burst),
            "alpha": estimate_json(parameters.alpha),
            "M_bytes": estimate_json(parameters.packet_bytes),
        })
    }

    fn bursts_json(&self) -> Value {
        let mut lengths: Vec<u64> = self.bursts.iter().map(|burst| burst.packets).collect();
        lengths.sort_unstable();
        let at = |q: f64| quantile(&lengths, q);
        let mean = |sum: u64| (!lengths.is_empty()).then(|| sum as f64 / lengths.len() as f64);
        let hit: Option<Vec<u64>> = self.bursts.iter().map(|burst| burst.flows_hit).collect();
        let hit = hit.and_then(|hit| mean(hit.iter().sum()));
        let shares = || self.bursts.iter().filter_map(|burst| burst.synchronization);
        let bursts = shares().count();
        json!({
            "count": lengths.len(),
            "mean_packets": mean(lengths.iter().sum()),
            "p50_packets": at(0.5),
            "p99_packets": at(0.99),
            "max_packets": lengths.last(),
            "mean_flows_hit": hit,
            "synchronization": (bursts > 0).then(|| shares().sum::<f64>() / bursts as f64),
            "start_up": self.bursts.iter().filter(|burst| burst.start_up).count(),
        })
    }
}

fn estimate_json(estimate: Option<Estimate>) -> Value {
    estimate.map_or(
        Value::Null,
        |estimate| json!({"value": estimate.value, "low": estimate.low, "high": estimate.high}),
    )
}

fn link_json(link: &Link) -> Value {
    let rate_is = if link.rate_given {
        "given"
    } else {
        "estimated"
    };
    json!({
        "rate_bps": link.rate_bps,
        "rate_is": link.rate_bps.map(|_| rate_is),
        "throughput_bps": link.throughput_bps,
        "utilization": link.utilization,
        "goodput_bps": link.goodput_bps,
        "packets": link.packets,
        "lost_packets": link.lost_packets,
        "loss_rate": link.loss_rate,
        "queueing_delay_s": link.queueing_delay_s.map(|[min, p50, p99, max, mean]| {
            json!({"min": min, "p50": p50, "p99": p99, "max": max, "mean": mean})
        }),
        "buffer": link.buffer.map(|buffer| {
            json!({
                "s": buffer.seconds,
                "interval_s": [buffer.low, buffer.high],
                "bytes": buffer.bytes,
                "packets": buffer.packets,
            })
        }),
        "framing_bytes": link.framing_bytes,
        "queue_kind": link.queue_kind.name(),
    })
}
