//! The buffer and the queue discipline of a bottleneck.

use super::level::Levels;
use super::{Estimate, Load, Throughput, quantile};
use crate::TINY;
use serde::Serialize;

/// Kind of queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Discipline {
    /// A first-in first-out queue that drops arrivals when it is full.
    Fifo,
    /// `CoDel`.
    Codel,
    /// `FQ-CoDel`: a queue for each flow, with `CoDel`.
    FqCodel,
    /// PIE.
    Pie,
    /// A rate limit that drops without a queue.
    Policer,
    /// The observations fit none of these, or several.
    CannotTell,
}

/// Unit in which a buffer is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitUnit {
    /// Packets of any size.
    Packets,
    /// Bytes.
    Bytes,
}

/// Size of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Buffer {
    /// Longest queueing delay of a large packet, in seconds.
    pub seconds: Estimate,
    /// IP bytes that wait when it is full of large packets.
    pub bytes: Estimate,
    /// Large packets that wait when it is full.
    pub packets: Estimate,
    /// Unit of the limit, if small packets showed it.
    pub unit: Option<LimitUnit>,
}

/// Figures from which the discipline is concluded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Features {
    /// Rate at which a train's first packets arrived over the sustained rate.
    pub burst_ratio: Option<f64>,
    /// Median queueing delay while packets are lost, in packet times.
    pub plateau_packets: f64,
    /// Largest queueing delay of the ramp, in seconds.
    pub longest_wait_s: f64,
    /// The same in packet times.
    pub longest_packets: f64,
    /// Queueing delay of sparse packets over that of the loading flow.
    pub sparse_share: Option<f64>,
    /// Lower decile of the queue's level before losses of the ramp, over its highest level.
    pub ramp_loss_depth: f64,
    /// Highest level of the ramp, in packets of any size.
    pub highest_level: f64,
    /// Level at which the queue is full, in packets of any size: the highest one, or beside other traffic,
    /// whose number of packets is uncertain, the median at losses of the ramp.
    pub full_level: f64,
    /// Size of the packets of other traffic at which losses happen at the same level, in bytes.
    pub other_bytes: f64,
    /// Room that a full queue may seem to have, in packets.
    pub slack: f64,
    /// Losses of the ramp.
    pub ramp_losses: u32,
    /// True if the link paused during the ramp or the hold.
    pub has_pauses: bool,
    /// Queueing delay that the hold reached, in seconds: its upper decile.
    pub held_wait_s: f64,
    /// Loss events of the hold well below the largest delay.
    pub early_losses: u32,
    /// Loss events of the hold.
    pub hold_losses: u32,
    /// Mean distance of the early losses from the times at which `CoDel` drops, as a share of the time
    /// between two of its drops: about 0.25 at random.
    pub codel_misfit: Option<f64>,
    /// Losses of which that is the mean.
    pub compared_losses: u32,
    /// Losses that `CoDel` with its usual interval makes in the same time.
    pub codel_losses: f64,
}

/// Loads of one direction, with what they are compared to.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// A ramp of large packets.
    pub ramp: &'a Load,
    /// A constant window, if there was one.
    pub hold: Option<&'a Load>,
    /// A ramp of small packets, if there was one.
    pub small: Option<&'a Load>,
    /// Sustained rate.
    pub throughput: &'a Throughput,
    /// Rate at which the first packets of trains arrived.
    pub burst_bps: Option<f64>,
    /// True if other traffic was seen.
    pub has_others: bool,
}

/// Share of the highest level of a hold's queue below which a loss may be early. An early loss also
/// satisfies the next three conditions.
const EARLY: f64 = 0.85;
/// Packets for which an early loss leaves room at least.
const FULL: f64 = 2.5;
/// An early loss also leaves room for this number times the root of the number of other packets that
/// wait. Their sizes are unknown, so the level has an error in proportion to that root.
const SPREAD: f64 = 1.6;
/// Shortest wait in seconds of packets at an early loss: just below the target of `CoDel`.
const MIN_TARGET: f64 = 0.0045;
/// Share of early losses in a hold above which the queue is an active one. FIFOs had shares up to 0.09
/// on the seeds of development, and active queues 0.69 and more.
const MIN_EARLY_OF_AQM: f64 = 0.25;
/// Target of PIE in seconds, as in Linux. Below it the drop probability falls to zero, so lasting drops are
/// those of another queue.
const MIN_PIE: f64 = 0.015;
/// Number of `CoDel`'s drops up to which losses are compared: those of 63 s.
const MAX_DROPS: usize = 100_000;
/// Usual interval of `CoDel` in seconds.
const INTERVAL: f64 = 0.1;

impl Evidence<'_> {
    /// Returns the figures from which the discipline is concluded.
    pub fn features(&self) -> Features {
        let bps = self.throughput.bps;
        let packet = self.ramp.packet_s(bps);
        let longest = quantile(self.ramp.wait.iter().copied(), 0.995).unwrap_or(0.0);
        let losses: Vec<_> = self.ramp.gaps.iter().map(|gap| gap.before).collect();
        let capacity = self.throughput.capacity_bps();
        let levels = Levels::new(self.ramp, capacity);
        let (other_bytes, depth) = levels.size(&losses, self.has_others);
        let mut features = Features {
            burst_ratio: self.burst_bps.map(|burst| burst / bps),
            plateau_packets: self.plateau_s().unwrap_or(longest) / packet,
            longest_wait_s: longest,
            longest_packets: longest / packet,
            sparse_share: self.ramp.sparse_share(bps),
            ramp_loss_depth: depth,
            highest_level: levels.highest(other_bytes),
            full_level: if self.has_others {
                levels.median(&losses, other_bytes)
            } else {
                levels.highest(other_bytes)
            },
            other_bytes,
            slack: FULL + SPREAD * levels.others(&losses, other_bytes).sqrt(),
            ramp_losses: self.ramp.gaps.iter().map(|gap| gap.lost).sum(),
            has_pauses: [Some(self.ramp), self.hold]
                .into_iter()
                .flatten()
                .any(|load| load.pauses.count() > 0),
            ..Features::default()
        };
        if let Some(hold) = self.hold {
            let doubt = if self.has_others { features.slack } else { 0.0 };
            features.add_hold(hold, packet, &Levels::new(hold, capacity), doubt);
        }
        features
    }

    /// Returns the median queueing delay from the first loss of the ramp on.
    fn plateau_s(&self) -> Option<f64> {
        let first = self.ramp.gaps.first()?.before;
        quantile(self.ramp.wait[first..].iter().copied(), 0.5)
    }

    /// Returns the size of a full buffer, or none if no loss showed it.
    pub fn buffer(&self) -> Option<Buffer> {
        let first = self.ramp.gaps.first()?;
        let rate = self.throughput.capacity_bps();
        let packet = self.ramp.packet_s(rate);
        let tail = self.full_waits(first.before);
        let middle = quantile(tail.iter().copied(), 0.5)?;
        let bytes = middle / packet + residual(self.ramp);
        let unit = self.unit(bytes);
        let packets = match unit {
            Some(LimitUnit::Packets) => bytes + sparse_packets(middle, self.ramp),
            _ => bytes,
        };
        let spread = |p| quantile(tail.iter().copied(), p).unwrap_or(middle);
        let half = ((spread(0.9) - spread(0.1)) / packet / 2.0).max(1.0);
        let packets = Estimate::around(packets, half);
        Some(Buffer {
            seconds: packets.times(packet),
            bytes: packets.times(f64::from(self.ramp.bytes)),
            packets,
            unit,
        })
    }

    /// Returns the queueing delays of a full queue: those after the ramp's first loss, which was of packet
    /// `first`. After a pause the ramp is slow, and the queue empties for a while. Only the delays at
    /// losses count then.
    fn full_waits(&self, first: usize) -> Vec<f64> {
        if self.ramp.pauses.count() == 0 {
            return self.ramp.wait[first..].to_vec();
        }
        let gaps = self.ramp.gaps.iter();
        gaps.map(|gap| self.ramp.wait[gap.before]).collect()
    }

    /// Returns the unit of the limit: that in which large and small packets agree.
    fn unit(&self, large: f64) -> Option<LimitUnit> {
        let small = self.small?;
        let first = small.gaps.first()?.before;
        let packet = small.packet_s(self.throughput.capacity_bps());
        let middle = quantile(small.wait[first..].iter().copied(), 0.5)?;
        let count = middle / packet + residual(small);
        let sparse = |load, wait_s| sparse_packets(wait_s, load);
        let large_wait = large * self.ramp.packet_s(self.throughput.capacity_bps());
        let together = (count + sparse(small, middle)) / (large + sparse(self.ramp, large_wait));
        let ratio = f64::from(self.ramp.bytes) / f64::from(small.bytes);
        let in_packets = together.ln().abs();
        let in_bytes = (count / large / ratio).ln().abs();
        let clear = 0.25 * ratio.ln();
        if in_packets < clear {
            Some(LimitUnit::Packets)
        } else if in_bytes < clear {
            Some(LimitUnit::Bytes)
        } else {
            None
        }
    }
}

/// Returns the packets of the sparse stream in a queue of this delay, without their share in the bytes.
///
/// A small packet counts as one packet less its size in packets of the load.
fn sparse_packets(wait_s: f64, load: &Load) -> f64 {
    let smaller = 1.0 - f64::from(TINY) / f64::from(load.bytes);
    wait_s / load.sparse_interval_s() * smaller
}

/// Returns the packets that a full queue holds beyond those that an accepted packet waits for.
///
/// A full queue accepts a packet after another one has left. Arrivals at an overload f are 1/f packet
/// times apart, so half of this time has passed since, on average.
fn residual(load: &Load) -> f64 {
    let overload = load.overload();
    overload.map_or(0.0, |(sent, received)| (received / sent).min(1.0) / 2.0)
}

/// Returns the mean distance of losses from the times at which `CoDel` drops, as a share of the time
/// between its drops, or none if there are fewer than six.
///
/// In the dropping state, drop n + 1 is due 100 ms / sqrt(n) after drop n (RFC 8289 section 5.5), also
/// if some of the drops hit packets of others. The first n is unknown. Drops that follow one another
/// within three packets are left out.
fn codel_misfit(times: &[f64], packet_s: f64) -> Option<(f64, u32)> {
    let linux = newton_steps();
    let exact = |count: usize| 1.0 / (count as f64).sqrt();
    let of_linux = |count: usize| linux.get(count).copied().unwrap_or(exact(count));
    let misfits = (1..=24).flat_map(|first| {
        [
            misfit(times, packet_s, first, exact),
            misfit(times, packet_s, first, of_linux),
        ]
    });
    misfits.flatten().min_by(|(a, _), (b, _)| a.total_cmp(b))
}

/// Returns the most losses in a row between which no packet waited for less than the target of `CoDel`.
///
/// `CoDel` leaves its dropping state at such a packet (RFC 8289 section 5.5), and its law begins anew. A
/// sender that a busy machine held up lets the queue run empty.
fn longest_run<'a>(hold: &Load, losses: &'a [usize]) -> &'a [usize] {
    let stays = |a: &usize, b: &usize| hold.wait[a + 1..=*b].iter().all(|wait| *wait > MIN_TARGET);
    let runs = losses.chunk_by(stays);
    runs.max_by_key(|run| run.len()).unwrap_or(losses)
}

/// Returns Linux's values of 1/sqrt(n) by n: one Newton step from one to the next, which begins at 1.
fn newton_steps() -> [f64; 24] {
    let mut steps = [1.0; 24];
    for count in 2..steps.len() {
        let last: f64 = steps[count - 1];
        steps[count] = last * (3.0 - count as f64 * last * last) / 2.0;
    }
    steps
}

/// Returns the mean distance if the first loss was drop number `first`.
fn misfit(
    times: &[f64],
    packet_s: f64,
    first: usize,
    law: impl Fn(usize) -> f64,
) -> Option<(f64, u32)> {
    let (mut due, mut count) = (*times.first()?, first);
    let mut late = Vec::new();
    for time in times.iter().skip(1).take(40) {
        let mut step = INTERVAL * law(count);
        while due + step / 2.0 < *time && count < MAX_DROPS {
            due += step;
            count += 1;
            step = INTERVAL * law(count);
        }
        if step < 3.0 * packet_s {
            break;
        }
        late.push((time - due, step));
    }
    // A drop is late by the rest of a transmission, the first one also.
    let usual = quantile(late.iter().map(|(late, _)| *late), 0.5)?;
    let sum: f64 = late
        .iter()
        .map(|(late, step)| ((late - usual).abs() / step).min(0.5))
        .sum();
    (late.len() >= 5).then(|| (sum / late.len() as f64, late.len() as u32))
}

impl Features {
    /// Adds what a hold shows. The highest level is known up to `doubt`.
    fn add_hold(&mut self, hold: &Load, packet_s: f64, levels: &Levels, doubt: f64) {
        let losses = hold.losses();
        self.hold_losses = losses.len() as u32;
        self.held_wait_s = quantile(hold.wait.iter().copied(), 0.9).unwrap_or(0.0);
        let full = self
            .full_level
            .max(levels.highest(self.other_bytes) - doubt);
        let room = (EARLY * full).min(full - self.slack);
        let early = |limit: f64| -> Vec<usize> {
            let early = losses.iter().filter(|before| {
                let level = levels.at(**before, self.other_bytes);
                hold.wait[**before] > MIN_TARGET && level < limit
            });
            early.copied().collect()
        };
        let limited = early(room);
        let all = if self.is_active() || self.has_flow_queues() {
            early(f64::INFINITY)
        } else {
            limited.clone()
        };
        self.early_losses = all.len() as u32;
        if let (Some(first), Some(last)) = (all.first(), hold.main.last()) {
            let span = (last.received - hold.main[first + 1].received) as f64 * 1e-9;
            self.codel_losses = (span / (2.0 * INTERVAL)).powi(2) + 1.0;
        }
        // A small buffer of `CoDel` also overflows, and such losses follow no law.
        let fits = [&all, &limited].into_iter().filter_map(|losses| {
            let times = longest_run(hold, losses).iter();
            let times = times.map(|before| hold.main[before + 1].received as f64 * 1e-9);
            codel_misfit(&times.collect::<Vec<_>>(), packet_s)
        });
        if let Some((misfit, losses)) = fits.min_by(|a, b| a.0.total_cmp(&b.0)) {
            self.codel_misfit = Some(misfit);
            self.compared_losses = losses;
        }
    }

    /// Returns the discipline that the figures show.
    pub fn discipline(&self) -> Discipline {
        let is_burst = self.burst_ratio.is_some_and(|ratio| ratio > 1.5);
        if self.ramp_losses > 0 && is_burst && self.plateau_packets < 1.0 {
            return self.unless_paused(Discipline::Policer);
        }
        if self.ramp_losses == 0 {
            return Discipline::CannotTell;
        }
        let few = f64::from(self.early_losses) < 2.0 * self.codel_losses + 5.0;
        let (most, least) = if self.compared_losses < 12 {
            (0.08, 0.11)
        } else {
            (0.13, 0.17)
        };
        let fits = self.codel_misfit.is_some_and(|misfit| misfit < most);
        let differs = self.codel_misfit.is_some_and(|misfit| misfit > least);
        let codel = fits && few;
        if self.has_flow_queues() {
            return if codel {
                Discipline::FqCodel
            } else {
                Discipline::CannotTell
            };
        }
        if self.hardly_any_is_early() && self.ramp_ends_full() {
            Discipline::Fifo
        } else if codel {
            Discipline::Codel
        } else if self.early_losses >= 8 && self.held_wait_s > MIN_PIE && (!few || differs) {
            self.unless_paused(Discipline::Pie)
        } else {
            Discipline::CannotTell
        }
    }

    /// Returns a discipline that also a FIFO seems to have behind a link that pauses, if this one did not.
    fn unless_paused(&self, found: Discipline) -> Discipline {
        if self.has_pauses {
            Discipline::CannotTell
        } else {
            found
        }
    }

    /// Returns true if the hold lost packets only while the queue was full. The level is uncertain beside
    /// other traffic, so a few losses of a full queue look early.
    fn hardly_any_is_early(&self) -> bool {
        let few = MIN_EARLY_OF_AQM * f64::from(self.hold_losses);
        f64::from(self.early_losses) <= few.max(2.0)
    }

    /// Returns true if sparse packets hardly waited beside the load.
    fn has_flow_queues(&self) -> bool {
        self.sparse_share.is_some_and(|share| share < 0.35)
    }

    /// Returns true if the ramp lost packets at half its longest queueing delay, as active queues do.
    fn is_active(&self) -> bool {
        self.ramp_loss_depth < 0.5 && self.longest_packets > 4.0
    }

    /// Returns true if the ramp lost packets only while the queue was full.
    fn ramp_ends_full(&self) -> bool {
        let missing = (1.0 - self.ramp_loss_depth) * self.highest_level;
        self.ramp_loss_depth > 0.8 || missing < self.slack
    }
}
