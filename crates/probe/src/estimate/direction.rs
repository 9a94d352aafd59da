//! The report on one direction of a path.

use super::queue::{Buffer, Discipline, Evidence, Features};
use super::{Drift, Estimate, Load, Throughput, cross_share};
use crate::{Path, Recording, Stream};
use serde::Serialize;

/// Smallest share of pings that must wait behind other packets before these count as other traffic.
const MIN_SHARE: f64 = 0.03;

/// Recordings of one direction.
#[derive(Clone, Debug, Default)]
pub struct Recordings {
    /// Delays of pings in this direction, plus a constant.
    pub pings: Vec<i64>,
    /// Short trains.
    pub trains: Option<Recording>,
    /// A ramp of large packets.
    pub ramp: Option<Recording>,
    /// A constant window.
    pub hold: Option<Recording>,
    /// A ramp of small packets.
    pub small: Option<Recording>,
    /// Constant windows with ECT(0) and ECT(1).
    pub ecn: [Option<Recording>; 2],
}

/// Treatment of one ECN codepoint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ecn {
    /// Share of packets that arrived with the codepoint that they were sent with, or marked.
    pub kept: f64,
    /// Share of packets that arrived marked (CE).
    pub marked: f64,
    /// Share of packets that were lost.
    pub lost: f64,
}

/// Report on one direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Direction {
    /// Rate of the bottleneck in bits of IP per second.
    pub rate_bps: Estimate,
    /// True if the bottleneck limited the rate. Otherwise the rate is a lower bound.
    pub is_saturated: bool,
    /// Rate of short bursts in bits of IP per second, if trains arrived.
    pub burst_bps: Option<f64>,
    /// Size of the buffer of a FIFO that overflowed. An active queue does not show its size.
    pub buffer: Option<Buffer>,
    /// Longest queueing delay that the ramp caused, in seconds.
    pub longest_wait_s: f64,
    /// Kind of queue.
    pub discipline: Discipline,
    /// Share of the bottleneck's rate that other packets took.
    pub cross_share: f64,
    /// Pauses of the link during the ramp. They are in no queueing delay.
    pub pauses: u32,
    /// Time of these pauses in seconds.
    pub paused_s: f64,
    /// Longest of them in seconds.
    pub longest_pause_s: f64,
    /// Packets of the ramp that waited in one.
    pub paused_packets: u32,
    /// Treatment of ECT(0) and ECT(1), if it was tried.
    pub ecn: [Option<Ecn>; 2],
    /// Figures from which the discipline was concluded.
    pub features: Features,
}

impl Direction {
    /// Returns the report without what was concluded from losses.
    #[must_use]
    pub fn without_losses(self) -> Self {
        Self {
            discipline: Discipline::CannotTell,
            buffer: None,
            ..self
        }
    }
}

impl Throughput {
    /// Returns the rate of the bottleneck, of which other packets may take a part.
    pub fn capacity_bps(&self) -> f64 {
        let spacing = self.spacing_bps.filter(|_| self.is_saturated);
        spacing.map_or(self.bps, |spacing| {
            if spacing > self.bps * 1.01 {
                spacing
            } else {
                self.bps
            }
        })
    }
}

impl Recordings {
    /// Returns the recordings as if the clocks of both ends did not drift apart.
    #[must_use]
    pub fn without(&self, drift: &Drift, path: Path) -> Self {
        let steady = |one: &Option<Recording>| one.as_ref().map(|one| drift.remove(one, path));
        Self {
            pings: self.pings.clone(),
            trains: steady(&self.trains),
            ramp: steady(&self.ramp),
            hold: steady(&self.hold),
            small: steady(&self.small),
            ecn: [steady(&self.ecn[0]), steady(&self.ecn[1])],
        }
    }

    /// Returns the rate at which the first packets of trains arrived, in bits per second.
    pub fn burst_bps(&self, length: u32) -> Option<f64> {
        let records = &self.trains.as_ref()?.records;
        let pairs = records.windows(2).filter(|pair| {
            pair[1].sequence == pair[0].sequence + 1
                && pair[0].sequence % length < 4
                && pair[1].sequence % length > 0
        });
        let gaps = pairs.map(|pair| (pair[1].received - pair[0].received).max(1) as f64);
        let gap = super::quantile(gaps, 0.5)?;
        Some(f64::from(records[0].bytes) * 8e9 / gap)
    }

    /// Returns the smallest delay of a large packet in the trains.
    fn train_base(&self) -> Option<i64> {
        let records = &self.trains.as_ref()?.records;
        records.iter().map(crate::Record::delay).min()
    }

    /// Returns a phase as a load.
    pub fn load(&self, recording: Option<&Recording>, large: bool) -> Option<Load> {
        let tiny = self.pings.iter().copied().min();
        Load::new(recording?, self.train_base().filter(|_| large), tiny)
    }

    /// Returns the share of the rate that other packets took before the ramp.
    fn idle_share(&self, ramp: &Load, bps: f64) -> f64 {
        let packet = ramp.packet_s(bps);
        cross_share(&self.pings, (packet / 10.0).max(2e-4)).unwrap_or(0.0)
    }

    /// Returns true if other packets were seen before or during the ramp.
    fn has_others(&self, ramp: &Load, throughput: &Throughput) -> bool {
        let rate = throughput.capacity_bps();
        self.idle_share(ramp, rate) > MIN_SHARE || throughput.bps < rate * (1.0 - MIN_SHARE / 3.0)
    }

    /// Returns the report, or none before the ramp.
    pub fn report(&self, train_length: u32) -> Option<Direction> {
        let ramp = self.load(self.ramp.as_ref(), true)?;
        let hold = self.load(self.hold.as_ref(), true);
        let small = self.load(self.small.as_ref(), false);
        let throughput = ramp.throughput;
        let burst_bps = self.burst_bps(train_length);
        let evidence = Evidence {
            ramp: &ramp,
            hold: hold.as_ref(),
            small: small.as_ref(),
            throughput: &throughput,
            burst_bps,
            has_others: self.has_others(&ramp, &throughput),
        };
        let features = evidence.features();
        let discipline = features.discipline();
        let is_policer = discipline == Discipline::Policer;
        let rate = if is_policer {
            throughput.bps
        } else {
            throughput.capacity_bps()
        };
        let beside = if is_policer {
            0.0
        } else {
            1.0 - throughput.bps / rate
        };
        let idle = self.idle_share(&ramp, rate);
        Some(Direction {
            rate_bps: Estimate::around(rate, 2.0 * throughput.error),
            is_saturated: throughput.is_saturated,
            burst_bps,
            buffer: evidence.buffer().filter(|_| discipline == Discipline::Fifo),
            longest_wait_s: features.longest_wait_s,
            discipline,
            cross_share: beside.max(if idle > MIN_SHARE { idle } else { 0.0 }),
            pauses: ramp.pauses.count(),
            paused_s: ramp.pauses.total_s(),
            longest_pause_s: ramp.pauses.longest_s(),
            paused_packets: ramp.pauses.packets(),
            ecn: [0, 1].map(|index| ecn(self.ecn[index].as_ref(), [2, 1][index])),
            features,
        })
    }
}

fn ecn(recording: Option<&Recording>, sent_as: u8) -> Option<Ecn> {
    let recording = recording?;
    let main = recording
        .records
        .iter()
        .filter(|one| one.stream == Stream::Main);
    let (mut kept, mut marked, mut count) = (0, 0, 0);
    for record in main {
        count += 1;
        kept += u32::from(record.ecn == sent_as || record.ecn == 3);
        marked += u32::from(record.ecn == 3);
    }
    let share = |part: u32| f64::from(part) / f64::from(count.max(1));
    Some(Ecn {
        kept: share(kept),
        marked: share(marked),
        lost: 1.0 - f64::from(count) / f64::from(recording.sent[0].max(1)),
    })
}
