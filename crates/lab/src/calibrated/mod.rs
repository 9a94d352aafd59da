//! The instant answer: the smallest buffer by calibrated theory, and published rules.
//!
//! `goodqueue.sizing.calibrated` explains the theory and gives the same answer.

mod link;
mod rules;
mod surface;
mod table;

use crate::calibrated::link::{Link, PACKET_BYTES};
use crate::calibrated::rules::{LEAST_UTILIZATION, bscl, rules};
use crate::calibrated::surface::{Predicted, outside};
use crate::calibrated::table::TABLE;
use crate::refusal::LabError;
use goodqueue_queue::{Limit, QueueConfig};
use goodqueue_tc::qdisc_commands;
use serde_json::{Value, json};

/// Standard errors on both sides that contain 90 % of a normal distribution.
const NINETY: f64 = 1.645;

/// A buffer suffices if all limits up to this factor above it keep the utilisation too.
const KEPT_OVER: f64 = 1.4;

/// Number of points of the expected curve at which limits are left out.
const MOST_POINTS: usize = 120;

/// Bytes of the frame of a full packet, as Linux counts it: with the header of Ethernet.
const FRAME_BYTES: u64 = PACKET_BYTES + 14;

/// Returns the recommended buffer, the expected curve, the commands for Linux, and the rules. The
/// answer and the curve are null for flows to which the fitted surfaces do not apply. `commands`
/// are for a device whose own line is the link, and `shaped` for a device before a slower one.
pub fn instant_answer(rate: &str, rtt: &str, flows: u64, control: &str) -> Result<Value, LabError> {
    let link = Link::read(rate, rtt, flows, control)?;
    let rules = rules(&link);
    if link.decrease().is_none() {
        return Ok(
            json!({"answer": null, "curve": null, "commands": [], "shaped": [], "rules": rules}),
        );
    }
    let curve: Vec<Predicted> = limits(&link)
        .into_iter()
        .map(|packets| Predicted::at(&link, packets as f64))
        .collect();
    let answer = answer(&link, &curve);
    let packets = answer["packets"].as_u64();
    let commands = packets.map_or(Ok(Vec::new()), |packets| {
        let fifo = QueueConfig::drop_tail(Limit::Bytes(packets * PACKET_BYTES));
        qdisc_commands(&fifo, PACKET_BYTES, PACKET_BYTES)
    })?;
    let shown = curve.iter().step_by((curve.len() / MOST_POINTS).max(1));
    let column = |value: &dyn Fn(&Predicted) -> Value| shown.clone().map(value).collect::<Vec<_>>();
    Ok(json!({
        "answer": answer,
        "curve": {
            "packets": column(&|one| (one.packets as u64).into()),
            "utilization": column(&|one| one.utilization(0.0).into()),
            "loss_rate": column(&|one| one.loss_rate(0.0).into()),
            "p99_delay_s": column(&|one| one.p99_delay_s(0.0).into()),
        },
        "commands": commands,
        "shaped": packets.map(|packets| shaped(&link, packets)).into_iter().collect::<Vec<_>>(),
        "rules": rules,
    }))
}

/// Returns the command that gives a device this buffer and the rate of the link. Its bucket holds two
/// frames: a full one, and one that began just before.
fn shaped(link: &Link, packets: u64) -> String {
    let (rate, burst, limit) = (link.rate_bps as u64, 2 * FRAME_BYTES, packets * FRAME_BYTES);
    format!("tc qdisc replace dev DEV root tbf rate {rate}bit burst {burst} limit {limit}")
}

/// Returns the limits of a search, a packet or 5 % apart, up to the largest possible answer.
fn limits(link: &Link) -> Vec<u64> {
    let last = (8.0 * link.bdp_packets())
        .max(2.0 * bscl(link))
        .max(8.0)
        .ceil() as u64;
    let mut limits = vec![1];
    let mut highest = 1;
    while highest < last || limits.len() % 8 != 1 {
        highest = (highest + 1).max((highest as f64 * 1.05).round_ties_even() as u64);
        limits.push(highest);
    }
    limits
}

/// Returns the place of the smallest sufficient limit with errors shifted by standard errors.
fn least(curve: &[Predicted], shift: f64) -> Option<usize> {
    let keeps: Vec<bool> = curve
        .iter()
        .map(|one| one.utilization(shift) >= LEAST_UTILIZATION)
        .collect();
    (0..curve.len()).find(|place| {
        let broken = (*place..curve.len()).find(|later| !keeps[*later]);
        let end = broken.map_or(f64::INFINITY, |later| curve[later].packets);
        keeps[*place] && end > KEPT_OVER * curve[*place].packets
    })
}

/// Returns the probability that some buffer suffices, over the surfaces' error.
fn chance(curve: &[Predicted]) -> f64 {
    let shifts = (0..21).map(|step| -2.5 + 0.25 * f64::from(step));
    let weight = |shift: f64| libm::exp(-0.5 * shift * shift);
    let kept = shifts
        .clone()
        .filter(|shift| least(curve, *shift).is_some());
    kept.map(weight).sum::<f64>() / shifts.map(weight).sum::<f64>()
}

fn answer(link: &Link, curve: &[Predicted]) -> Value {
    let tails = &TABLE.tails;
    let expected = least(curve, 0.0);
    let (low, high) = (least(curve, -tails[0]), least(curve, tails[1]));
    let chance = chance(curve);
    let at = expected.unwrap_or(curve.len() - 1);
    let whole = |place: usize| curve[place].packets as u64;
    let packets = expected.filter(|_| chance >= 0.5).map(whole);
    let one = &curve[at];
    let figure = |value: &dyn Fn(f64) -> f64| {
        let ends = (value(-NINETY), value(NINETY));
        json!({"mean": value(0.0), "low": ends.0.min(ends.1), "high": ends.0.max(ends.1)})
    };
    json!({
        "packets": packets,
        "bytes": packets.map(|packets| packets * PACKET_BYTES),
        "seconds": packets.map(|packets| packets as f64 * link.packet_time_s()),
        "bdp": packets.map(|packets| packets as f64 / link.bdp_packets()),
        "at_least_packets": whole(low.unwrap_or(curve.len() - 1)),
        "at_most_packets": high.map(whole),
        "interval": 0.9,
        "chance_feasible": chance,
        "expected": {
            "utilization": figure(&|shift| one.utilization(shift)),
            "loss_rate": figure(&|shift| one.loss_rate(shift)),
            "p99_delay_s": figure(&|shift| one.p99_delay_s(shift)),
        },
        "outside_fitted_range": outside(link, one.packets),
    })
}
