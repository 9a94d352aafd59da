//! Losses at the target link gathered into bursts (BSCL, section VI): a burst goes on while the next
//! loss comes less than an effective round trip after the last. Losses happen at a full queue, so the
//! round trip is the harmonic mean without queues plus what the queue held then.

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
    let mut last = None;
    for loss in losses {
        let gap = round_trip + loss.wait.unwrap_or(full);
        let goes_on = last.is_some_and(|last| loss.time - last < gap);
        if !goes_on {
            hit.clear();
            bursts.push(Burst {
                time: loss.time,
                duration: 0,
                packets: 0,
                flows_hit: None,
            });
        }
        last = Some(loss.time);
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

    #[test]
    fn a_pause_ends_a_burst() {
        let loss = |time, flow, packets| Loss {
            time,
            flow,
            packets,
            place: Place::Target,
            wait: None,
        };
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
