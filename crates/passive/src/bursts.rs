//! Losses at the target link gathered into bursts (BSCL, section III-C): a burst goes on while the
//! next loss comes less than an effective round trip after the last, the harmonic mean over the flows
//! that the link holds back and what the queue takes.
//!
//! Losses are dated by arrival, as nothing shows when a queue dropped what it had taken. Those behind a
//! lost packet leave after what the queue took when it came, dropped at either end, and a round trip
//! later what a sender does about it arrives: the wait is the last loss's, not the next one's.
//!
//! BSCL speaks of flows in congestion avoidance, and its authors leave out the time in which flows start:
//! what a window loses that doubles in a round trip says nothing of what follows. A burst is part of the
//! start-up if a flow that the link holds back loses in it for the first time, while it can be in slow
//! start (RFC 5681, section 3.1), or has not recovered from that.

use crate::Nanos;
use crate::flow::Flow;
use crate::loss::Loss;
use crate::thresholds::Thresholds;
use std::collections::{HashMap, HashSet};

/// A burst.
#[derive(Clone, Debug, PartialEq)]
pub struct Burst {
    /// Its first loss.
    pub time: Nanos,
    /// From its first loss to its last.
    pub duration: Nanos,
    /// Packets lost.
    pub packets: u64,
    /// Flows that lost something; none if losses are known from a log only.
    pub flows_hit: Option<u64>,
    /// Of the flows that the link holds back and that were there, the share that lost something.
    pub synchronization: Option<f64>,
    /// A flow that the link holds back overshot in it as it started.
    pub start_up: bool,
}

/// A window in slow start grows by at least so much in a round trip: acknowledgements may be delayed.
const GROWTH: f64 = 1.5;

/// Gathers losses, which are in order of time. `full` stands for the wait where it is not known.
pub fn bursts(
    losses: &[Loss],
    flows: &[Flow],
    thresholds: &Thresholds,
    round_trip: Nanos,
    full: Nanos,
) -> Vec<Burst> {
    let mut held_back = HeldBack::of(flows, thresholds);
    let goes_on =
        |last: &Loss, next: &Loss| next.time - last.time < round_trip + last.wait.unwrap_or(full);
    losses
        .chunk_by(goes_on)
        .map(|losses| held_back.burst(losses))
        .collect()
}

/// The flows that the link holds back.
#[derive(Default)]
struct HeldBack {
    beginnings: HashMap<u32, Beginning>,
    /// When they begin and end, each in order.
    starts: Vec<Nanos>,
    ends: Vec<Nanos>,
}

/// How long a flow is starting.
struct Beginning {
    /// Slow start is over then; after a loss in it, the recovery.
    until: Nanos,
    recovery: Nanos,
    has_lost: bool,
}

impl Beginning {
    fn of(flow: &Flow, thresholds: &Thresholds) -> Self {
        let base = flow.rtt.base.unwrap_or_default() as f64;
        let round_trip = flow.rtt.mean_s.map_or(base, |mean| mean * 1e9);
        let segments = flow.max_flight as f64 / f64::from(flow.mss.max(1));
        let rounds = segments.max(1.0).ln() / GROWTH.ln();
        let recovery = thresholds.recent_rtts * round_trip + thresholds.recent_s * 1e9;
        Self {
            until: flow.start.saturating_add((rounds * round_trip) as Nanos),
            recovery: recovery as Nanos,
            has_lost: false,
        }
    }

    /// It lost something in this time; whether it was starting.
    fn lost(&mut self, from: Nanos, to: Nanos) -> bool {
        let starting = from <= self.until;
        if !self.has_lost {
            self.has_lost = true;
            self.until = if starting {
                to.saturating_add(self.recovery)
            } else {
                Nanos::MIN
            };
        }
        starting
    }
}

impl HeldBack {
    fn of(flows: &[Flow], thresholds: &Thresholds) -> Self {
        let mut found = Self::default();
        let counted = flows.iter().enumerate();
        for (number, flow) in counted.filter(|(_, flow)| flow.is_held_back()) {
            let beginning = Beginning::of(flow, thresholds);
            found.beginnings.insert(number as u32, beginning);
            found.starts.push(flow.start);
            found.ends.push(flow.start + flow.duration);
        }
        found.starts.sort_unstable();
        found.ends.sort_unstable();
        found
    }

    /// Those that were there at some time between two.
    fn present(&self, from: Nanos, to: Nanos) -> usize {
        let begun = self.starts.partition_point(|start| *start <= to);
        begun - self.ends.partition_point(|end| *end < from)
    }

    /// These losses as a burst; there is at least one.
    fn burst(&mut self, losses: &[Loss]) -> Burst {
        let (first, last) = (losses[0].time, losses[losses.len() - 1].time);
        let hit: HashSet<u32> = losses.iter().filter_map(|loss| loss.flow).collect();
        let (mut hit_ours, mut start_up) = (0, false);
        for flow in &hit {
            if let Some(beginning) = self.beginnings.get_mut(flow) {
                hit_ours += 1;
                start_up |= beginning.lost(first, last);
            }
        }
        let present = self.present(first, last);
        let told = !hit.is_empty() && present > 0;
        Burst {
            time: first,
            duration: last - first,
            packets: losses.iter().map(|loss| u64::from(loss.packets)).sum(),
            flows_hit: (!hit.is_empty()).then_some(hit.len() as u64),
            synchronization: told.then(|| f64::from(hit_ours) / present as f64),
            start_up,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::Bottleneck;
    use crate::half::Half;
    use crate::loss::Place;

    const MS: Nanos = 1_000_000;

    fn loss(time: Nanos, flow: Option<u32>, packets: u32) -> Loss {
        Loss {
            time,
            flow,
            packets,
            place: Place::Target,
            wait: None,
        }
    }

    /// A flow that the link holds back, there in this time.
    fn held_back(start: Nanos, end: Nanos) -> Flow {
        let ends = ["10.0.0.1:1", "10.0.0.2:2"].map(|end| end.parse().unwrap());
        Flow {
            start,
            duration: end - start,
            persistent: true,
            bottleneck: Some(Bottleneck::Local),
            ..Flow::of(Half::default(), ends, true, &Thresholds::default())
        }
    }

    #[test]
    fn what_arrives_before_a_sender_can_have_heard_belongs_to_the_burst() {
        let waited = |time, wait| Loss {
            wait: Some(wait),
            ..loss(time, Some(1), 1)
        };
        // Round trips of 8: news of the first loss is back at 58, of the second at 40 + 8.
        let losses = [waited(0, 50), waited(40, 0), waited(48, 50)];
        let lengths: Vec<_> = bursts(&losses, &[], &Thresholds::default(), 8, 2)
            .iter()
            .map(|burst| burst.packets)
            .collect();
        assert_eq!(lengths, [2, 1]);
    }

    #[test]
    fn a_pause_ends_a_burst() {
        let losses = [
            loss(0, Some(1), 2),
            loss(9, Some(2), 1),
            loss(30, Some(1), 1),
            loss(31, Some(1), 1),
        ];
        let found = bursts(&losses, &[], &Thresholds::default(), 8, 2);
        let told: Vec<_> = found
            .iter()
            .map(|burst| (burst.time, burst.packets, burst.flows_hit))
            .collect();
        assert_eq!(told, [(0, 3, Some(2)), (30, 2, Some(1))]);
    }

    #[test]
    fn synchronization_is_a_share_of_the_flows_that_were_there() {
        // The first two overlap in the middle of the time only; the third is not held back here.
        let mut flows = [held_back(0, 200), held_back(100, 300), held_back(0, 300)];
        flows[2].bottleneck = Some(Bottleneck::Remote);
        let losses = [
            loss(50, Some(0), 1),
            loss(150, Some(1), 1),
            loss(151, Some(2), 1),
            loss(250, Some(2), 1),
            loss(400, Some(2), 1),
        ];
        let shares: Vec<_> = bursts(&losses, &flows, &Thresholds::default(), 8, 2)
            .iter()
            .map(|burst| burst.synchronization)
            .collect();
        assert_eq!(shares, [Some(1.0), Some(0.5), Some(0.0), None]);
    }

    #[test]
    fn flows_that_overshoot_as_they_start_make_the_start_up() {
        // Round trips of 100 ms: 100 segments are reached within 12 of them, 1.2 s; a recovery may take
        // three of them and 50 ms.
        let mut flows = [held_back(0, 90_000 * MS), held_back(0, 90_000 * MS)];
        for flow in &mut flows {
            flow.rtt.mean_s = Some(0.1);
            flow.max_flight = 100 * u64::from(flow.mss);
        }
        flows[1].start = 10_000 * MS;
        let losses = [
            (1000, Some(0), 30), // the first overshoots
            (1300, Some(0), 10), // what it sent again is lost, too
            (2000, Some(0), 1),
            (3000, Some(7), 2), // a short flow is always in slow start, and part of the traffic
            (11_000, Some(0), 9), // the second overshoots, and most of what is lost is the other's
            (11_010, Some(1), 8),
            (20_000, Some(1), 1),
        ]
        .map(|(ms, flow, packets)| loss(ms * MS, flow, packets));
        let found = |losses: &[Loss], flows: &[Flow]| -> Vec<_> {
            let found = bursts(losses, flows, &Thresholds::default(), 100 * MS, 0);
            found
                .iter()
                .map(|burst| (burst.packets, burst.start_up))
                .collect()
        };
        assert_eq!(
            found(&losses, &flows),
            [
                (30, true),
                (10, true),
                (1, false),
                (2, false),
                (17, true),
                (1, false)
            ]
        );
        // Who loses nothing until it cannot be in slow start any more did not overshoot.
        assert_eq!(found(&losses[2..4], &flows), [(1, false), (2, false)]);
    }
}
