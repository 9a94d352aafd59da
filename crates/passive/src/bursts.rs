//! Losses at the target link gathered into bursts (BSCL, section III-C): a burst goes on while the
//! next loss comes less than an effective round trip after the last, the harmonic mean over the flows
//! that the link holds back and what the queue takes.
//!
//! Losses are dated by arrival, as nothing shows when a queue dropped what it had taken. Those behind a
//! lost packet leave after what the queue took when it came, dropped at either end, and a round trip
//! later what a sender does about it arrives: the wait is the last loss's, not the next one's.

use crate::Nanos;
use crate::loss::Loss;
use std::collections::HashSet;

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
}

/// Gathers losses, which are in order of time. `full` stands for the wait where it is not known.
pub fn bursts(losses: &[Loss], round_trip: Nanos, full: Nanos) -> Vec<Burst> {
    let mut bursts: Vec<Burst> = Vec::new();
    let mut hit = HashSet::new();
    let mut last: Option<&Loss> = None;
    for loss in losses {
        let goes_on =
            last.is_some_and(|last| loss.time - last.time < round_trip + last.wait.unwrap_or(full));
        if !goes_on {
            hit.clear();
            bursts.push(Burst {
                time: loss.time,
                duration: 0,
                packets: 0,
                flows_hit: None,
            });
        }
        last = Some(loss);
        hit.extend(loss.flow);
        if let Some(burst) = bursts.last_mut() {
            burst.duration = loss.time - burst.time;
            burst.packets += u64::from(loss.packets);
            burst.flows_hit = (!hit.is_empty()).then_some(hit.len() as u64);
        }
    }
    bursts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::Place;

    fn loss(time: Nanos, flow: Option<u32>, packets: u32) -> Loss {
        Loss {
            time,
            flow,
            packets,
            place: Place::Target,
            wait: None,
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
        let lengths: Vec<_> = bursts(&losses, 8, 2)
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
        let found = bursts(&losses, 8, 2);
        let told: Vec<_> = found
            .iter()
            .map(|burst| (burst.time, burst.packets, burst.flows_hit))
            .collect();
        assert_eq!(told, [(0, 3, Some(2)), (30, 2, Some(1))]);
    }
}
