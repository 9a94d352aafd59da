//! Loss bursts at the target link (BSCL, section III-C). A burst continues while the next loss
//! comes within an effective round trip of the last. This is the harmonic mean of round-trip times
//! over the flows that the link limits, plus the wait in the queue.
//!
//! Losses are dated by arrival, because a capture does not show when a queue dropped a packet that
//! it had accepted. The packets behind a lost packet leave the queue after the wait at the time of
//! its arrival, whichever end of the queue drops. One round trip later the sender's reaction
//! arrives. The end of a burst is therefore computed from the wait at its last loss, not from the
//! wait at the next loss.
//!
//! BSCL describes flows in congestion avoidance, and its authors exclude the time in which flows
//! start: the losses of a window that doubles each round trip do not predict later bursts. A burst
//! belongs to the start-up in two cases. In the first, it contains the first loss of a flow that
//! the link limits, and this flow can still be in slow start (RFC 5681, section 3.1). In the
//! second, such a flow has not yet recovered from its first loss.

use crate::Nanos;
use crate::flow::Flow;
use crate::loss::Loss;
use crate::sound::share;
use crate::thresholds::Thresholds;
use std::collections::{HashMap, HashSet};

/// Loss burst.
#[derive(Clone, Debug, PartialEq)]
pub struct Burst {
    /// Time of the first loss.
    pub time: Nanos,
    /// Time from the first loss to the last.
    pub duration: Nanos,
    /// Number of packets lost.
    pub packets: u64,
    /// Number of flows with a loss. None if losses are known only from a log of drops.
    pub flows_hit: Option<u64>,
    /// Number of flows with a loss over the number of flows that are present and limited by the
    /// link.
    pub synchronization: Option<f64>,
    /// True if a flow that the link limits overshot in this burst during its start-up.
    pub start_up: bool,
}

/// Smallest factor by which a window in slow start grows per round trip, with delayed ACKs.
const GROWTH: f64 = 1.5;

/// Groups losses, sorted by time, into bursts. `full` is the wait that is assumed for losses whose
/// wait is not known.
pub fn bursts(
    losses: &[Loss],
    flows: &[Flow],
    thresholds: &Thresholds,
    round_trip: Nanos,
    full: Nanos,
) -> Vec<Burst> {
    let mut held_back = HeldBack::from_flows(flows, thresholds);
    let goes_on =
        |last: &Loss, next: &Loss| next.time - last.time < round_trip + last.wait.unwrap_or(full);
    losses
        .chunk_by(goes_on)
        .map(|losses| held_back.burst(losses))
        .collect()
}

/// Flows that the link limits.
#[derive(Default)]
struct HeldBack {
    beginnings: HashMap<u32, Beginning>,
    /// Start and end times of the flows, each sorted.
    starts: Vec<Nanos>,
    ends: Vec<Nanos>,
}

/// Start-up phase of a flow.
struct Beginning {
    /// Time at which slow start is over, or the recovery from a loss in slow start.
    until: Nanos,
    recovery: Nanos,
    has_lost: bool,
}

impl Beginning {
    fn from_flow(flow: &Flow, thresholds: &Thresholds) -> Self {
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

    /// Records that the flow lost data in this time. Returns true if the flow was in its start-up.
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
    fn from_flows(flows: &[Flow], thresholds: &Thresholds) -> Self {
        let mut found = Self::default();
        let counted = flows.iter().enumerate();
        for (number, flow) in counted.filter(|(_, flow)| flow.is_held_back()) {
            let beginning = Beginning::from_flow(flow, thresholds);
            found.beginnings.insert(number as u32, beginning);
            found.starts.push(flow.start);
            found.ends.push(flow.start + flow.duration);
        }
        found.starts.sort_unstable();
        found.ends.sort_unstable();
        found
    }

    /// Returns the number of flows present at some time between `from` and `to`.
    fn present(&self, from: Nanos, to: Nanos) -> usize {
        let begun = self.starts.partition_point(|start| *start <= to);
        begun.saturating_sub(self.ends.partition_point(|end| *end < from))
    }

    /// Returns the burst that consists of these losses; at least one is required.
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
        let is_known = !hit.is_empty();
        Burst {
            time: first,
            duration: last - first,
            packets: losses.iter().map(|loss| u64::from(loss.packets)).sum(),
            flows_hit: (!hit.is_empty()).then_some(hit.len() as u64),
            synchronization: share(f64::from(hit_ours), present as f64).filter(|_| is_known),
            start_up,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::half::Half;
    use crate::flow::classify::Bottleneck;
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

    /// Returns a flow that the link limits, present in this time.
    fn held_back(start: Nanos, end: Nanos) -> Flow {
        let ends = ["10.0.0.1:1", "10.0.0.2:2"].map(|end| end.parse().unwrap());
        Flow {
            start,
            duration: end - start,
            persistent: true,
            bottleneck: Some(Bottleneck::Local),
            ..Flow::from_half(Half::default(), ends, true, &Thresholds::default())
        }
    }

    #[test]
    fn losses_before_the_sender_can_react_belong_to_the_burst() {
        let waited = |time, wait| Loss {
            wait: Some(wait),
            ..loss(time, Some(1), 1)
        };
        // Round trips take 8. The sender's reaction to the first loss arrives at 58, that to the
        // second at 40 + 8.
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
        let summaries: Vec<_> = found
            .iter()
            .map(|burst| (burst.time, burst.packets, burst.flows_hit))
            .collect();
        assert_eq!(summaries, [(0, 3, Some(2)), (30, 2, Some(1))]);
    }

    #[test]
    fn synchronization_is_the_share_of_the_flows_present() {
        // The first two flows overlap only in the middle. The link does not limit the third.
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
    fn bursts_of_flows_in_slow_start_belong_to_the_start_up() {
        // Round trips take 100 ms. A window of 100 segments is reached within 12 of them, 1.2 s. A
        // recovery may take three of them and 50 ms.
        let mut flows = [held_back(0, 90_000 * MS), held_back(0, 90_000 * MS)];
        for flow in &mut flows {
            flow.rtt.mean_s = Some(0.1);
            flow.max_flight = 100 * u64::from(flow.mss);
        }
        flows[1].start = 10_000 * MS;
        let losses = [
            (1000, Some(0), 30), // the first flow overshoots
            (1300, Some(0), 10), // its retransmissions are lost, too
            (2000, Some(0), 1),
            (3000, Some(7), 2), // a short flow is always in slow start, and part of the traffic
            (11_000, Some(0), 9), // the second flow overshoots, and the first loses most
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
        // A flow whose first loss comes when it cannot be in slow start any more did not overshoot.
        assert_eq!(found(&losses[2..4], &flows), [(1, false), (2, false)]);
    }
}
