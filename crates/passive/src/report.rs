//! What a capture shows, all together.

use crate::Nanos;
use crate::analyzer::Totals;
use crate::bursts::{Burst, bursts};
use crate::classify::{Bottleneck, Class};
use crate::flow::Flow;
use crate::link::{Link, QueueKind, Waits, link};
use crate::loss::{Loss, Place};
use crate::parameters::{Parameters, effective_round_trip, parameters};
use crate::rate::{Position, Rated, frame_ratio};
use crate::target::{Passages, Series};
use crate::thresholds::Thresholds;

/// What the analyzer gathered.
pub(crate) struct Seen {
    pub flows: Vec<Flow>,
    pub losses: Vec<Loss>,
    pub delays_at_loss: Vec<Nanos>,
    pub passages: Passages,
    pub series: Series,
    pub totals: Totals,
    pub heading: usize,
    pub two_taps: bool,
    pub duration: Nanos,
    pub start: Nanos,
}

/// What was told beside the captures.
pub(crate) struct Known {
    pub link_rate_bps: Option<u64>,
    /// Times of drops at the target link since the start.
    pub drops: Option<Vec<Nanos>>,
    pub seed: u64,
}

/// A bin of the series.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// Its start.
    pub time: Nanos,
    /// How long it is.
    pub width: Nanos,
    /// Bits per second that passed.
    pub throughput_bps: f64,
    /// Throughput over rate.
    pub utilization: Option<f64>,
    /// Flows between their first and last packet.
    pub active_flows: u32,
    /// Packets lost at the link.
    pub losses: u64,
    /// Mean time waited, in seconds.
    pub delay_mean_s: Option<f64>,
    /// Longest time waited, in seconds.
    pub delay_max_s: Option<f64>,
}

/// What a capture shows.
#[derive(Debug)]
pub struct Report {
    /// Directions of connections with data, numbered from 0.
    pub flows: Vec<Flow>,
    /// Losses, in order of time.
    pub losses: Vec<Loss>,
    /// Losses at the target link in bursts.
    pub bursts: Vec<Burst>,
    /// The link over time.
    pub series: Vec<Stretch>,
    /// The link.
    pub link: Link,
    /// What sizing rules want to know.
    pub parameters: Parameters,
    /// What was counted besides.
    pub totals: Totals,
    /// Segments of data seen at the first tapping point before the second, and the other way round.
    pub crossed: [u64; 2],
    /// From the first packet to the last.
    pub duration: Nanos,
    /// The first packet, on the capture's clock.
    pub start: Nanos,
    /// Whether there were two tapping points.
    pub two_taps: bool,
    /// Losses at the link are those of a log, which names no flows.
    pub by_log: bool,
    /// What could not be told and why.
    pub notes: Vec<String>,
}

impl Report {
    pub(crate) fn of(mut seen: Seen, known: &Known, thresholds: &Thresholds) -> Self {
        let mut notes = Vec::new();
        let mut flows = std::mem::take(&mut seen.flows);
        let mut losses = std::mem::take(&mut seen.losses);
        let local = if seen.two_taps {
            Place::Target
        } else {
            side(&flows)
        };
        if !seen.two_taps {
            notes.push(one_tap_note(local, &flows));
        }
        settle(&mut flows, &mut losses, local);
        losses.sort_by_key(|loss| (loss.time, loss.flow));
        // From times taken to times waited: what the fastest packet took is no queue.
        let least = seen.passages.least.unwrap_or(0);
        for loss in &mut losses {
            loss.wait = loss.wait.map(|took| (took - least).max(0));
        }
        let waits = Waits::of(&seen.passages, &losses, &seen.delays_at_loss, thresholds);
        let mut at_target: Vec<Loss> = losses
            .iter()
            .filter(|loss| is_at_target(loss, &flows))
            .copied()
            .collect();
        let log = known.drops.as_deref();
        let log = log.and_then(|drops| logged(drops, seen.duration, &mut notes));
        let by_log = log.is_some();
        if let Some(drops) = log {
            at_target = drops;
            losses.retain(|loss| loss.place != Place::Target);
            losses.extend(&at_target);
            losses.sort_by_key(|loss| (loss.time, loss.flow));
        }
        let round_trip = effective_round_trip(&flows, seen.duration);
        if round_trip.is_none() {
            notes.push(
                "no flow is bottlenecked here, so there is no effective round-trip time".into(),
            );
        }
        let full = waits.at_drops.map_or(0.0, |drops| drops[1]);
        let bursts = bursts(
            &at_target,
            &flows,
            thresholds,
            round_trip.unwrap_or(1e8) as Nanos,
            full as Nanos,
        );
        if !bursts.is_empty() && bursts.iter().all(|burst| burst.start_up) {
            notes.push(
                "losses came only when flows started, so there is no length of the bursts that \
                 follow"
                    .into(),
            );
        }
        let tap = Position {
            place: local,
            frame_ratio: frame_ratio(&flows),
        };
        let rated = Rated::of(
            &seen.series,
            &seen.passages,
            seen.heading,
            &tap,
            known,
            &mut notes,
        );
        let mut link = link(&flows, &at_target, &rated, &waits, seen.duration);
        if !seen.two_taps && local == Place::Upstream {
            // Behind the queue nothing shows how full it was.
            (link.buffer, link.queue_kind) = (None, QueueKind::Unknown);
        }
        let lost = lost_by_bin(&mut seen.series, &at_target);
        let series = stretches(&seen.series, &lost, &flows, &seen.passages, &rated);
        let parameters = parameters(&flows, &bursts, &series, seen.duration, known.seed);
        Self {
            flows,
            losses,
            bursts,
            series,
            link,
            parameters,
            totals: seen.totals,
            crossed: [seen.passages.forward, seen.passages.backward],
            duration: seen.duration,
            start: seen.start,
            two_taps: seen.two_taps,
            by_log,
            notes,
        }
    }
}

/// From one tapping point: the side where most was lost is taken for the target link's.
fn side(flows: &[Flow]) -> Place {
    let lost = |place: Place| -> u64 {
        let forward = flows.iter().filter(|flow| flow.forward);
        forward
            .map(|flow| flow.counts.lost[place as usize] + flow.counts.marked[place as usize])
            .sum()
    };
    if lost(Place::Upstream) > lost(Place::Downstream) {
        Place::Upstream
    } else {
        Place::Downstream
    }
}

fn one_tap_note(local: Place, flows: &[Flow]) -> String {
    let lost = |place: Place| -> u64 {
        flows
            .iter()
            .map(|flow| flow.counts.lost[place as usize])
            .sum()
    };
    let (up, down) = (lost(Place::Upstream), lost(Place::Downstream));
    let side = if local == Place::Upstream {
        "before"
    } else {
        "after"
    };
    format!(
        "one tapping point: the target link is taken to be {side} it, as {up} packets were lost before \
         it and {down} after it"
    )
}

/// Puts what the target link stands for in its place.
fn settle(flows: &mut [Flow], losses: &mut [Loss], local: Place) {
    for flow in flows.iter_mut() {
        flow.counts
            .lost
            .swap(Place::Target as usize, local as usize);
        flow.counts
            .marked
            .swap(Place::Target as usize, local as usize);
        flow.explained.swap(Place::Target as usize, local as usize);
        let judged = flow.class == Class::Congestion;
        let packets = flow.counts.packets.max(1) as f64;
        let lost = flow.counts.lost[Place::Target as usize] as f64;
        // Seen behind the link, what it lost is not among what was seen.
        let passed = if local == Place::Upstream {
            1.0
        } else {
            (1.0 - lost / packets).max(0.0)
        };
        // What was seen for the first time was not all lost.
        let first = flow.counts.bytes;
        flow.passed_bytes = (flow.counts.frame_bytes as f64 * passed).max(first as f64);
        flow.delivered_bytes = match local {
            Place::Target => first.min(flow.delivered_bytes),
            _ => first,
        };
        flow.bottleneck = judged.then_some(match flow.bottlenecks[local as usize] {
            Bottleneck::Local if !flow.forward => Bottleneck::Remote,
            bottleneck => bottleneck,
        });
    }
    for loss in losses.iter_mut().filter(|loss| loss.place == local) {
        loss.place = Place::Target;
    }
}

fn is_at_target(loss: &Loss, flows: &[Flow]) -> bool {
    let forward = loss
        .flow
        .and_then(|flow| flows.get(flow as usize))
        .is_some_and(|flow| flow.forward);
    loss.place == Place::Target && forward
}

/// What a log tells of the time of the capture; none if all that it tells is of another time.
fn logged(drops: &[Nanos], duration: Nanos, notes: &mut Vec<String>) -> Option<Vec<Loss>> {
    let within = drops.iter().filter(|time| (0..=duration).contains(*time));
    let mut losses: Vec<Loss> = within
        .map(|time| Loss {
            time: *time,
            flow: None,
            packets: 1,
            place: Place::Target,
            wait: None,
        })
        .collect();
    losses.sort_by_key(|loss| loss.time);
    let out = drops.len() - losses.len();
    if out > 0 && losses.is_empty() {
        notes.push(format!(
            "none of the {out} drops of the log is of the time of the capture: it is left out, or is it on \
             another clock?"
        ));
        return None;
    }
    if out > 0 {
        notes.push(format!(
            "{out} of the {} drops of the log are not of the time of the capture, and left out",
            drops.len()
        ));
    }
    Some(losses)
}

/// Packets lost at the target link in each bin; the series goes on until the last of them.
fn lost_by_bin(series: &mut Series, at_target: &[Loss]) -> Vec<u64> {
    if let Some(last) = at_target.last() {
        series.at(last.time);
    }
    let mut lost = vec![0; series.bins.len()];
    for loss in at_target {
        lost[(loss.time.max(0) / series.width) as usize] += u64::from(loss.packets);
    }
    lost
}

fn stretches(
    series: &Series,
    lost: &[u64],
    flows: &[Flow],
    passages: &Passages,
    rated: &Rated,
) -> Vec<Stretch> {
    let least = passages.least.unwrap_or(0) as f64;
    let active = active_flows(series, flows);
    let rows = series.bins.iter().zip(active).enumerate();
    rows.map(|(index, (bin, active_flows))| {
        let throughput_bps = bin.bytes[rated.heading] as f64 * 8e9 / series.width as f64;
        let waited = bin.delay_count > 0;
        Stretch {
            time: index as Nanos * series.width,
            width: series.width,
            throughput_bps,
            utilization: rated.rate_bps.map(|rate| throughput_bps / rate),
            active_flows,
            losses: lost[index],
            delay_mean_s: waited.then(|| (bin.delay_sum / bin.delay_count as f64 - least) * 1e-9),
            delay_max_s: waited.then_some((bin.delay_max as f64 - least) * 1e-9),
        }
    })
    .collect()
}

/// Flows between their first and last packet, by bin.
fn active_flows(series: &Series, flows: &[Flow]) -> Vec<u32> {
    let mut changes = vec![0_i64; series.bins.len() + 1];
    for flow in flows.iter().filter(|flow| flow.forward) {
        let place = |time: Nanos| ((time.max(0) / series.width) as usize).min(series.bins.len());
        changes[place(flow.start)] += 1;
        let after = (place(flow.start + flow.duration) + 1).min(series.bins.len());
        changes[after] -= 1;
    }
    let mut active = 0;
    let counts = changes.into_iter().map(|change| {
        active += change;
        u32::try_from(active).unwrap_or(0)
    });
    counts.take(series.bins.len()).collect()
}
