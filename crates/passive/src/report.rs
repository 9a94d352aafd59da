//! Results of the analysis of a capture.

use crate::Nanos;
use crate::flow::Flow;
use crate::flow::classify::{Bottleneck, Class};
use crate::link::bursts::{Burst, bursts};
use crate::link::parameters::{Parameters, effective_round_trip, parameters};
use crate::link::rate::{Position, Rated, frame_ratio};
use crate::link::target::{Passages, Series};
use crate::link::{Carried, Link, QueueKind, Stretch, Waits, link};
use crate::loss::{Loss, Place};
use crate::sound::{bits_per_second, share};
use crate::thresholds::Thresholds;

/// Data that the analyzer gathered.
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
    pub resolution: Nanos,
}

/// Facts that the user gave in addition to the captures.
pub(crate) struct Known {
    pub link_rate_bps: Option<u64>,
    /// Times of drops at the target link since the start of the capture.
    pub drops: Option<Vec<Nanos>>,
    pub seed: u64,
}

/// Counts besides those of flows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// TCP packets at the first tapping point.
    pub tcp_packets: u64,
    /// UDP packets at the first tapping point.
    pub udp_packets: u64,
    /// Packets of other IP protocols at the first tapping point.
    pub other_packets: u64,
    /// Connections, and pairs of hosts that exchanged other packets.
    pub connections: u64,
    /// Connections that were assumed to be over because the table was full.
    pub evicted: u64,
    /// Packets that were seen before at the same tapping point, and do not count again.
    pub repeated: u64,
    /// TCP packets left out because their numbers are outside any possible window, or far from those
    /// of all packets around them.
    pub outside: u64,
    /// Connections between ports that another connection had used, without a SYN.
    pub resumed: u64,
    /// Number of data directions left out because the list of flows was full.
    pub unlisted: u64,
}

/// Results of the analysis of a capture.
#[derive(Debug)]
pub struct Report {
    /// Directions of connections with data, numbered from 0.
    pub flows: Vec<Flow>,
    /// Losses, in order of time.
    pub losses: Vec<Loss>,
    /// Loss bursts at the target link.
    pub bursts: Vec<Burst>,
    /// Time series of the link.
    pub series: Vec<Stretch>,
    /// The target link.
    pub link: Link,
    /// Parameters of sizing rules.
    pub parameters: Parameters,
    /// Counts besides those of flows.
    pub totals: Totals,
    /// Number of data segments seen at the first tapping point before the second, and in the
    /// opposite order.
    pub crossed: [u64; 2],
    /// Time from the first packet to the last.
    pub duration: Nanos,
    /// Time of the first packet, on the capture's clock.
    pub start: Nanos,
    /// Resolution of the capture's times.
    pub resolution: Nanos,
    /// True if there were two tapping points.
    pub two_taps: bool,
    /// True if the losses at the link are those of a log, which names no flows.
    pub by_log: bool,
    /// Results that the capture does not show, with reasons, and assumptions.
    pub notes: Vec<String>,
}

impl Report {
    pub(crate) fn from_seen(mut seen: Seen, known: &Known, thresholds: &Thresholds) -> Self {
        let mut notes = Vec::new();
        let mut flows = std::mem::take(&mut seen.flows);
        let mut losses = std::mem::take(&mut seen.losses);
        let local = if seen.two_taps {
            Place::Target
        } else {
            side(&flows)
        };
        notes.extend(total_notes(&seen.totals));
        if !seen.two_taps {
            notes.push(one_tap_note(local, &flows));
        }
        for flow in &mut flows {
            flow.within(seen.duration);
        }
        settle(&mut flows, &mut losses, local);
        losses.retain(|loss| loss.packets > 0);
        losses.sort_by_key(|loss| (loss.time, loss.flow));
        // The wait is the time taken less that of the fastest packet.
        let least = seen.passages.least.unwrap_or(0);
        for loss in &mut losses {
            loss.wait = loss.wait.map(|took| (took - least).max(0));
        }
        let waits = Waits::measure(&seen.passages, &losses, &seen.delays_at_loss, thresholds);
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
                "no flow has its bottleneck at the target link, so there is no effective round-trip time".into(),
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
                "losses occurred only during the start-up of flows, so the length of later bursts is \
                 unknown"
                    .into(),
            );
        }
        let tap = Position {
            place: local,
            frame_ratio: frame_ratio(&flows),
        };
        let bytes = seen.series.bins.iter().map(|bin| bin.bytes[seen.heading]);
        let carried = Carried::from_flows(&flows, bytes.sum(), local == Place::Downstream);
        let rated = Rated::measure(
            &seen.series,
            &seen.passages,
            seen.heading,
            &tap,
            bits_per_second(carried.bytes, seen.duration),
            known.link_rate_bps,
            &mut notes,
        );
        let mut link = link(&flows, &at_target, &rated, &waits, &carried, seen.duration);
        if !seen.two_taps && local == Place::Upstream {
            // A tapping point behind the queue does not show the backlog.
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
            resolution: seen.resolution,
            two_taps: seen.two_taps,
            by_log,
            notes,
        }
    }
}

/// Returns the side of a single tapping point on which more packets were lost. The target link is
/// assumed at this tapping point.
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

/// Returns notes on packets that do not count, or that count as other connections.
fn total_notes(totals: &Totals) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |count: u64, words: &str| {
        if count > 0 {
            notes.push(format!("{words}: {count}"));
        }
    };
    note(
        totals.repeated,
        "packets that the capture has several times, as at several interfaces of one host, count once; \
         repeated packets left out",
    );
    note(
        totals.outside,
        "packets whose TCP numbers are far from those of the packets around them are left out",
    );
    note(
        totals.resumed,
        "connections whose numbers jumped for good count as two, because the ports were used again or \
         the capture lacks much; such connections",
    );
    notes
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
        "with one tapping point, the target link is assumed to be {side} it (packets lost before it: \
         {up}, after it: {down})"
    )
}

/// Moves losses, marks and bottlenecks at the place `local` to the target link, which it
/// represents.
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
        // Packets seen behind the link do not include those that it lost.
        let passed = if local == Place::Upstream {
            1.0
        } else {
            (1.0 - lost / packets).max(0.0)
        };
        // At least one copy of each byte that was seen passed, so the payload is a lower bound.
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

/// Returns the losses of a log within the time of the capture. None if all losses are outside.
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
            "the log of drops is left out, because no entry ({out} in all) lies within the time of \
             the capture; its clock may differ"
        ));
        return None;
    }
    if out > 0 {
        notes.push(format!(
            "entries of the log of drops outside the time of the capture are left out: {out} of {}",
            drops.len()
        ));
    }
    Some(losses)
}

/// Returns the packets lost at the target link in each bin. Extends the series up to the last loss.
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
    let wait = |took: f64| (took - least).max(0.0) * 1e-9;
    let active = active_flows(series, flows);
    let rows = series.bins.iter().zip(active).enumerate();
    rows.map(|(index, (bin, active_flows))| {
        let throughput_bps = bin.bytes[rated.heading] as f64 * 8e9 / series.width as f64;
        let waited = bin.delay_count > 0;
        Stretch {
            time: index as Nanos * series.width,
            width: series.width,
            throughput_bps,
            utilization: rated.rate_bps.and_then(|rate| share(throughput_bps, rate)),
            active_flows,
            losses: lost[index],
            delay_mean_s: waited.then(|| wait(bin.delay_sum / bin.delay_count as f64)),
            delay_max_s: waited.then(|| wait(bin.delay_max as f64)),
        }
    })
    .collect()
}

/// Returns, for each bin, the number of flows between their first and last packet.
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
