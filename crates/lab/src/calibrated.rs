//! The instant answer: the smallest buffer by calibrated theory, and published rules.
//!
//! `goodqueue-theory` has the theory. The page asks about hosts of Linux, packets of 1,500 bytes, a
//! utilisation of 98 %, and no other traffic.

use crate::refusal::LabError;
use goodqueue_queue::{Limit, QueueConfig};
use goodqueue_scenario::{StatedSpans, UnitError, parse_rate, parse_spans};
use goodqueue_tc::qdisc_commands;
use goodqueue_theory::calibrated::{Calibrated, FIGURES, Predicted, Table, calibrated, limits};
use goodqueue_theory::rules::loss::bscl;
use goodqueue_theory::rules::smooth::tiny;
use goodqueue_theory::rules::window::{bdp, sqrt_n, window_decrease};
use goodqueue_theory::{Control, Link, RTT_STEPS, Rule, rtt_range};
use serde_json::{Map, Value, json};

/// Rules that the page marks on its curves. The other rules are then no part of the engine in
/// WebAssembly.
const MARKED: [&Rule; 5] = [
    &bdp::RULE,
    &sqrt_n::RULE,
    &window_decrease::RULE,
    &bscl::RULE,
    &tiny::RULE,
];

/// Name of the rule among these whose buffer depends on the congestion control.
const OF_CONTROL: &str = window_decrease::RULE.name;

/// Number of points of the expected curve at which limits are left out.
const MAX_POINTS: usize = 120;

/// Bytes of the header of Ethernet, which Linux counts in a frame.
const ETHERNET_BYTES: u64 = 14;

/// Returns the recommended buffer, the expected curve, the commands for Linux, and the rules. The
/// answer and the curve are null for flows to which calibrated theory does not apply. `commands` are
/// for a device whose own line is the link, and `shaped` for a device before a slower one.
pub fn instant_answer(rate: &str, rtt: &str, flows: u64, control: &str) -> Result<Value, LabError> {
    let known = Control::named(control);
    let link = Link {
        congestion_control: known.unwrap_or(Control::Reno),
        ..read(rate, rtt, flows)?
    };
    let rules = rules(&link, known.is_some());
    let table = Table::of_package();
    let Some(found) = known.and_then(|_| calibrated(&link, table)) else {
        return Ok(
            json!({"answer": null, "curve": null, "commands": [], "shaped": [], "rules": rules}),
        );
    };
    let commands = found.packets.map_or(Ok(Vec::new()), |packets| {
        let fifo = QueueConfig::drop_tail(Limit::Bytes(packets * link.packet_bytes));
        qdisc_commands(&fifo, link.packet_bytes, link.packet_bytes)
    })?;
    let shaped = found.packets.map(|packets| shaped(&link, packets));
    Ok(json!({
        "answer": answer(&link, &found),
        "curve": curve(&link, table),
        "commands": commands,
        "shaped": shaped.into_iter().collect::<Vec<_>>(),
        "rules": rules,
    }))
}

/// Reads a link from texts with units, such as `10Mbps` and `20ms..80ms`.
fn read(rate: &str, rtt: &str, flows: u64) -> Result<Link, LabError> {
    let rtts_s = match parse_spans(rtt)? {
        StatedSpans::Listed(spans) => spans.iter().map(|span| span.as_secs_f64()).collect(),
        StatedSpans::Range(first, last) => {
            rtt_range(first.as_secs_f64(), last.as_secs_f64(), RTT_STEPS)
        }
    };
    let link = Link::new(parse_rate(rate)?.0 as f64, rtts_s, flows);
    let possible = link.rtts_s.iter().all(|rtt| *rtt > 0.0 && *rtt <= 1_000.0);
    // Below a packet in a hundred seconds timeouts determine the rate of a flow.
    let share = link.rate_bps / flows as f64 * (link.mean_rtt_s() + 1.0);
    if flows == 0 || !possible || share < 0.01 * 8.0 * link.packet_bytes as f64 {
        let error = UnitError::new(
            "no rule for buffers covers this link",
            "choose round-trip times of up to 1000s, and at least one flow with a packet in a \
             hundred seconds",
        );
        return Err(error.into());
    }
    Ok(link)
}

/// Returns each marked rule with its name, title and buffer in whole packets. The rule that depends on
/// the congestion control is left out if the theory does not know it.
fn rules(link: &Link, knows_control: bool) -> Value {
    let marked = MARKED
        .into_iter()
        .filter(|rule| knows_control || rule.name != OF_CONTROL);
    let marks = marked.map(|rule| {
        let packets = (rule.advise)(link).whole_packets();
        json!({"rule": rule.name, "title": rule.title, "packets": packets})
    });
    marks.collect()
}

/// Returns the command that gives a device this buffer and the rate of the link. Its bucket holds two
/// frames: a full one, and one that began just before.
fn shaped(link: &Link, packets: u64) -> String {
    let frame = link.packet_bytes + ETHERNET_BYTES;
    let (rate, burst, limit) = (link.rate_bps as u64, 2 * frame, packets * frame);
    format!(
        "tc qdisc replace dev DEV root handle 1: tbf rate {rate}bit burst {burst} limit {limit}"
    )
}

/// Returns the expected figures by rising buffer, in columns.
fn curve(link: &Link, table: &Table) -> Value {
    let limits = limits(link);
    let stride = (limits.len() / MAX_POINTS).max(1);
    let packets: Vec<u64> = limits.into_iter().step_by(stride).collect();
    let buffers: Vec<f64> = packets.iter().map(|packets| *packets as f64).collect();
    let found = Predicted::at(link, &buffers, table);
    let mut columns = Map::new();
    columns.insert("packets".to_owned(), packets.into());
    for (figure, name) in FIGURES.into_iter().enumerate() {
        columns.insert(name.to_owned(), found.figure(figure, 0.0).into());
    }
    columns.into()
}

fn answer(link: &Link, found: &Calibrated) -> Value {
    let packets = found.packets;
    let expected: Map<String, Value> = FIGURES
        .into_iter()
        .zip(&found.figures)
        .map(|(name, one)| {
            (
                name.to_owned(),
                json!({"mean": one.mean, "low": one.low, "high": one.high}),
            )
        })
        .collect();
    json!({
        "packets": packets,
        "bytes": packets.map(|packets| packets * link.packet_bytes),
        "seconds": packets.map(|packets| link.seconds(packets as f64)),
        "bdp": packets.map(|packets| packets as f64 / link.bdp_packets()),
        "at_least_packets": found.low,
        "at_most_packets": found.high,
        "interval": 0.9,
        "chance_feasible": found.chance,
        "expected": expected,
        "outside_fitted_range": found.outside,
    })
}
