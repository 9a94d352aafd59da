//! What a capture shows, all together.

use crate::Nanos;
use crate::analyzer::Totals;
use crate::bursts::{Burst, bursts};
use crate::classify::{Bottleneck, Class};
use crate::flow::Flow;
use crate::loss::{Loss, Place};
use crate::parameters::{Parameters, effective_round_trip, parameters};
use crate::target::{Bin, Passages, Series};
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

/// How a queue drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueKind {
    /// When it is full.
    Fifo,
    /// Before.
    Aqm,
    /// There is too little to tell.
    Unknown,
}

impl QueueKind {
    /// Name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Aqm => "aqm",
            Self::Unknown => "unknown",
        }
    }
}

/// The buffer that the link seems to have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buffer {
    /// How long it takes to drain, in seconds: the median of what packets waited at drops; from one
    /// tapping point nine tenths of what round trips grew to.
    pub seconds: f64,
    /// A tenth of drops came at a shorter queue; from one tapping point, half.
    pub low: f64,
    /// A tenth of drops came at a longer queue; from one tapping point, none.
    pub high: f64,
    /// The same in bytes and packets, if the rate is known.
    pub bytes: Option<f64>,
    /// The same in packets.
    pub packets: Option<f64>,
}

/// The target link.
#[derive(Clone, Debug)]
pub struct Link {
    /// Its rate in bits per second, frames counted as the capture has them.
    pub rate_bps: Option<f64>,
    /// Whether that was given.
    pub rate_given: bool,
    /// Bits per second that passed.
    pub throughput_bps: f64,
    /// Throughput over rate.
    pub utilization: Option<f64>,
    /// Payload bits per second of TCP, each byte once.
    pub goodput_bps: f64,
    /// Packets of TCP that came in the measured direction.
    pub packets: u64,
    /// Packets of the measured direction lost here.
    pub lost_packets: u64,
    /// Lost packets over packets that came.
    pub loss_rate: f64,
    /// Least, median, 99th percentile, largest, mean; seconds.
    pub queueing_delay_s: Option<[f64; 5]>,
    /// The buffer.
    pub buffer: Option<Buffer>,
    /// Bytes of a frame beyond its IP packet, as the capture has them: 14 of Ethernet.
    pub framing_bytes: Option<f64>,
    /// How the queue drops.
    pub queue_kind: QueueKind,
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
    /// Packets lost.
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
    /// What could not be told and why.
    pub notes: Vec<String>,
}

impl Report {
    pub(crate) fn of(seen: Seen, known: &Known, thresholds: &Thresholds) -> Self {
        let mut notes = Vec::new();
        let Seen {
            mut flows,
            mut losses,
            ..
        } = seen;
        let local = if seen.two_taps {
            Place::Target
        } else {
            side(&flows)
        };
        if !seen.two_taps {
            notes.push(one_tap_note(local, &flows));
        }
        settle(&mut flows, &mut losses, local);
        losses.sort_by_key(|loss| loss.time);
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
        if let Some(drops) = &known.drops {
            at_target = logged(drops);
            losses.retain(|loss| loss.place != Place::Target);
            losses.extend(&at_target);
            losses.sort_by_key(|loss| loss.time);
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
        let series = stretches(&seen.series, &flows, &seen.passages, &rated);
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
        flow.passed_bytes = flow.counts.frame_bytes as f64 * passed;
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

fn logged(drops: &[Nanos]) -> Vec<Loss> {
    let mut losses: Vec<Loss> = drops
        .iter()
        .map(|time| Loss {
            time: *time,
            flow: None,
            packets: 1,
            place: Place::Target,
            wait: None,
        })
        .collect();
    losses.sort_by_key(|loss| loss.time);
    losses
}

/// How long packets waited, and how long at drops; nanoseconds.
struct Waits {
    spread: Option<[f64; 5]>,
    /// The queue when it dropped: the lower limit, the estimate, the upper limit.
    at_drops: Option<[f64; 3]>,
    kind: QueueKind,
}

impl Waits {
    /// From what drops and packets waited between two tapping points; from one, by how much round
    /// trips were above their least when something was lost.
    fn of(passages: &Passages, losses: &[Loss], delays: &[Nanos], thresholds: &Thresholds) -> Self {
        let two_taps = passages.least.is_some();
        let mut drops: Vec<f64> = if two_taps {
            losses
                .iter()
                .filter_map(|loss| Some(loss.wait? as f64))
                .collect()
        } else {
            delays.iter().map(|delay| *delay as f64).collect()
        };
        drops.sort_unstable_by(f64::total_cmp);
        let at = |q: f64| drops[((drops.len() - 1) as f64 * q).round() as usize];
        let known = !drops.is_empty();
        // A flow's least round trip may have waited itself: from one tapping point the larger excesses
        // are the better ones, and small ones tell nothing of how the queue drops.
        let shares = if two_taps {
            [0.1, 0.5, 0.9]
        } else {
            [0.5, 0.9, 1.0]
        };
        let at_drops = known.then(|| shares.map(at));
        let longest = if two_taps {
            passages.wait_quantile(0.999)
        } else {
            known.then(|| at(0.98))
        };
        let quarter = known.then(|| at(0.25));
        let kind = match (quarter, longest) {
            (Some(quarter), Some(longest)) if drops.len() >= 5 && longest > 0.0 => {
                if quarter >= thresholds.fifo_share * longest {
                    QueueKind::Fifo
                } else if two_taps && quarter < thresholds.aqm_share * longest {
                    QueueKind::Aqm
                } else {
                    QueueKind::Unknown
                }
            }
            _ => QueueKind::Unknown,
        };
        let spread = |quantile: f64| passages.wait_quantile(quantile);
        Self {
            spread: spread(0.5).map(|median| {
                let largest = passages.longest_wait().unwrap_or(median);
                let mean = passages.mean_wait().unwrap_or(median);
                [0.0, median, spread(0.99).unwrap_or(median), largest, mean]
            }),
            at_drops,
            kind,
        }
    }
}

/// The rate of the link, and which of the series' bytes are the measured direction's.
struct Rated {
    rate_bps: Option<f64>,
    given: bool,
    heading: usize,
    bytes: u64,
    /// The bytes are those before the link.
    seen_before: bool,
}

impl Rated {
    fn of(
        series: &Series,
        passages: &Passages,
        heading: usize,
        tap: &Position,
        known: &Known,
        notes: &mut Vec<String>,
    ) -> Self {
        let bytes = series.bins.iter().map(|bin| bin.bytes[heading]).sum();
        let given = known.link_rate_bps.map(|rate| rate as f64);
        let rate_bps = given.or_else(|| passages.busy_rate()).or_else(|| {
            let (words, rate) = match tap.place {
                Place::Downstream => acknowledged(series, heading, tap.frame_ratio),
                _ => (
                    "the most that passed in 0.1 s",
                    most_in_a_tenth(series, heading),
                ),
            };
            notes.push(format!(
                "the link's rate is taken to be {words}; it was not given, and no queue was seen \
                 from two tapping points"
            ));
            rate
        });
        Self {
            rate_bps,
            given: given.is_some(),
            heading,
            bytes,
            seen_before: tap.place == Place::Downstream,
        }
    }
}

/// Bits per second in all stretches of so many nanoseconds, or of one bin if that is longer.
fn rates(series: &Series, stretch: Nanos, bytes: impl Fn(&Bin) -> u64) -> Vec<f64> {
    let bins = bins_of(series, stretch);
    let time = bins as f64 * series.width as f64;
    let sums = series
        .bins
        .windows(bins)
        .map(|bins| bins.iter().map(&bytes).sum::<u64>());
    sums.map(|sum| sum as f64 * 8e9 / time).collect()
}

fn bins_of(series: &Series, stretch: Nanos) -> usize {
    usize::try_from((stretch / series.width).max(1)).unwrap_or(1)
}

fn most_in_a_tenth(series: &Series, heading: usize) -> Option<f64> {
    let rates = rates(series, 100_000_000, |bin| bin.bytes[heading]);
    rates
        .into_iter()
        .max_by(f64::total_cmp)
        .filter(|most| *most > 0.0)
}

/// The rate of acknowledgements, and in words what it is of.
fn acknowledged(series: &Series, heading: usize, ratio: f64) -> (&'static str, Option<f64>) {
    let (words, payload) = match busy_rate(series, heading) {
        Some(rate) => (
            "what was acknowledged of the time in which data waited",
            Some(rate),
        ),
        None => (
            "what was acknowledged in the busiest tenth of stretches of 0.2 s",
            ninetieth_acknowledged(series, heading),
        ),
    };
    (words, payload.map(|rate| rate * ratio))
}

/// What passed while data waited, by stretches of that time put together: the upper quartile, as a queue
/// elsewhere looks the same from here and lets less pass. None without a fifth of a second.
fn busy_rate(series: &Series, heading: usize) -> Option<f64> {
    let busy = series.bins.iter().filter(|bin| bin.busy[heading]);
    let delivered: Vec<u64> = busy.map(|bin| bin.delivered[heading]).collect();
    let bins = bins_of(series, 200_000_000);
    let time = bins as f64 * series.width as f64;
    let sums = delivered
        .chunks_exact(bins)
        .map(|bins| bins.iter().sum::<u64>());
    let mut rates: Vec<f64> = sums.map(|sum| sum as f64 * 8e9 / time).collect();
    rates.sort_unstable_by(f64::total_cmp);
    let rate = *rates.get(rates.len() * 3 / 4)?;
    (rate > 0.0).then_some(rate)
}

/// Where data never waited so long: the busiest tenth of all time, and the least of it, as bursts of
/// acknowledgements are compressed on their way.
fn ninetieth_acknowledged(series: &Series, heading: usize) -> Option<f64> {
    let mut rates = rates(series, 200_000_000, |bin| bin.delivered[heading]);
    rates.sort_unstable_by(f64::total_cmp);
    let rate = *rates.get(rates.len() * 9 / 10)?;
    (rate > 0.0).then_some(rate)
}

/// What one tapping point, or two, are to the target link.
struct Position {
    place: Place,
    /// Bytes of frames for a byte of payload.
    frame_ratio: f64,
}

fn frame_ratio(flows: &[Flow]) -> f64 {
    let (mut payload, mut frames) = (0.0, 0.0);
    for flow in flows.iter().filter(|flow| flow.forward) {
        let packets = flow.counts.packets as f64;
        payload += packets * f64::from(flow.mss);
        frames += packets * (flow.packet_bytes() + flow.framing_bytes());
    }
    if payload > 0.0 { frames / payload } else { 1.0 }
}

fn link(flows: &[Flow], drops: &[Loss], rated: &Rated, waits: &Waits, duration: Nanos) -> Link {
    let seconds = (duration as f64 * 1e-9).max(1e-9);
    let forward = || flows.iter().filter(|flow| flow.forward);
    let packets: u64 = forward().map(|flow| flow.counts.packets).sum();
    let lost: u64 = drops.iter().map(|loss| u64::from(loss.packets)).sum();
    // From one tapping point before the link, what it lost was seen, too.
    let lost_bytes: f64 = if rated.seen_before {
        forward()
            .map(|flow| flow.counts.frame_bytes as f64 - flow.passed_bytes)
            .sum()
    } else {
        0.0
    };
    let throughput_bps = (rated.bytes as f64 - lost_bytes) * 8.0 / seconds;
    let packet = forward().map(Flow::packet_bytes).max_by(f64::total_cmp);
    Link {
        rate_bps: rated.rate_bps,
        rate_given: rated.given,
        throughput_bps,
        utilization: rated.rate_bps.map(|rate| throughput_bps / rate),
        goodput_bps: forward().map(|flow| flow.counts.bytes).sum::<u64>() as f64 * 8.0 / seconds,
        packets,
        lost_packets: lost,
        loss_rate: if packets > 0 {
            lost as f64 / packets as f64
        } else {
            0.0
        },
        queueing_delay_s: waits.spread.map(|spread| spread.map(|wait| wait * 1e-9)),
        buffer: waits.at_drops.map(|[low, full, high]| {
            let bytes = rated.rate_bps.map(|rate| rate * full * 1e-9 / 8.0);
            Buffer {
                seconds: full * 1e-9,
                low: low * 1e-9,
                high: high * 1e-9,
                bytes,
                packets: bytes.zip(packet).map(|(bytes, packet)| bytes / packet),
            }
        }),
        framing_bytes: forward().map(Flow::framing_bytes).max_by(f64::total_cmp),
        queue_kind: waits.kind,
    }
}

fn stretches(series: &Series, flows: &[Flow], passages: &Passages, rated: &Rated) -> Vec<Stretch> {
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
            losses: bin.losses,
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
