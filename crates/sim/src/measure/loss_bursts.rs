//! Bursts of losses at one link: their lengths in packets, and the number of flows that each hits.

use crate::measure::link_meter::LinkMeter;
use crate::measure::outcome::{Distribution, LossBurstOutcome};
use crate::{LinkConfig, Network, Window, WorkloadConfig};
use goodqueue_types::{Bytes, Direction, Histogram, LinkId, Packet, Rate, Span, Time};
use std::sync::Arc;

/// Losses grouped into bursts. A burst continues while the time from one loss to the next is less
/// than the present round-trip time of the senders: the base RTT of the flows plus the time to send
/// the backlog. Within this time no sender can have learned of the first loss (Dhamdhere, Jiang,
/// Dovrolis, INFOCOM 2005, section VI).
#[derive(Clone, Debug)]
pub struct LossBursts {
    base_rtt: Span,
    rate: Rate,
    /// Flows that cross the link, in order of their numbers.
    flows: Vec<Crossing>,
    /// Start times of the flows whose TCP data cross the link, in order.
    starts: Vec<Time>,
    last: Time,
    /// Number of the present burst, counted from 1. The next three fields count its packets, the
    /// flows that it hit, and the flows whose TCP data it hit.
    burst: u32,
    packets: u64,
    hit: u64,
    tcp_hit: u64,
    lengths: Histogram,
    hit_sum: u64,
    synchronized_sum: f64,
    /// Number of bursts during which TCP flows had started.
    with_tcp: u64,
}

/// A flow that crosses a link.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    flow: u32,
    /// True if its TCP data cross the link in the forward direction, and in reverse.
    tcp_data: [bool; 2],
    /// Number of the last burst that hit the flow. `tcp_hit_in` is the last that hit its TCP data.
    hit_in: u32,
    tcp_hit_in: u32,
}

impl LossBursts {
    /// Bytes of memory for each flow that crosses the link.
    pub(crate) const FLOW_BYTES: usize = size_of::<Crossing>() + size_of::<Time>();

    fn new(config: &LinkConfig) -> Option<Self> {
        let mut lengths = Histogram::default();
        // A longer burst makes the histogram grow once.
        lengths.reserve(1 << 16);
        Some(Self {
            base_rtt: config.burst_gap?,
            rate: config.rate,
            flows: Vec::new(),
            starts: Vec::new(),
            last: Time::ZERO,
            burst: 0,
            packets: 0,
            hit: 0,
            tcp_hit: 0,
            lengths,
            hit_sum: 0,
            synchronized_sum: 0.0,
            with_tcp: 0,
        })
    }

    fn crossed_by(&mut self, flow: u32, direction: Direction, start: Time, tcp_data: bool) {
        if self.flows.last().is_none_or(|last| last.flow != flow) {
            self.flows.push(Crossing {
                flow,
                tcp_data: [false; 2],
                hit_in: 0,
                tcp_hit_in: 0,
            });
        }
        let crossing = self.flows.last_mut().expect("pushed if it was not there");
        if tcp_data && crossing.tcp_data == [false; 2] {
            self.starts.push(start);
        }
        crossing.tcp_data[direction as usize] |= tcp_data;
    }

    /// Records a packet lost at `now`, while `backlog_bytes` frame bytes wait.
    pub fn loss(&mut self, now: Time, packet: &Packet, backlog_bytes: u64) {
        let waiting = self.rate.transmission_time(Bytes(backlog_bytes));
        if self.packets == 0 || now - self.last >= self.base_rtt + waiting {
            self.close();
            self.burst += 1;
        }
        self.last = now;
        self.packets += 1;
        let known = self.flows.binary_search_by_key(&packet.flow.0, |c| c.flow);
        let Ok(index) = known else { return };
        let crossing = &mut self.flows[index];
        if std::mem::replace(&mut crossing.hit_in, self.burst) != self.burst {
            self.hit += 1;
        }
        let is_data = crossing.tcp_data[packet.direction as usize];
        if is_data && std::mem::replace(&mut crossing.tcp_hit_in, self.burst) != self.burst {
            self.tcp_hit += 1;
        }
    }

    /// Ends the present burst.
    fn close(&mut self) {
        if self.packets == 0 {
            return;
        }
        self.lengths.record(self.packets, 1);
        self.hit_sum += self.hit;
        let started = self.starts.partition_point(|start| *start <= self.last);
        if started > 0 {
            self.synchronized_sum += self.tcp_hit as f64 / started as f64;
            self.with_tcp += 1;
        }
        (self.packets, self.hit, self.tcp_hit) = (0, 0, 0);
    }

    /// Returns the results at the end of the run.
    pub fn finish(mut self) -> LossBurstOutcome {
        self.close();
        let count = self.lengths.total();
        LossBurstOutcome {
            count,
            packets: Distribution::from_histogram(&self.lengths, 1.0),
            mean_flows_hit: (count > 0).then(|| self.hit_sum as f64 / count as f64),
            synchronization: (self.with_tcp > 0)
                .then(|| self.synchronized_sum / self.with_tcp as f64),
        }
    }
}

/// Returns the meters of all links, none for a link that is not observed.
pub fn meters(network: &Network, window: Window) -> Vec<Option<Box<LinkMeter>>> {
    let groups = network.flows.iter().zip(0_u32..);
    let mut groups: Vec<(u32, u32)> = groups.map(|(flow, id)| (id, flow.group)).collect();
    groups.dedup_by_key(|(_, group)| *group);
    let groups: Arc<[(u32, u32)]> = groups.into();
    let links = network.links.iter();
    let mut meters: Vec<_> = links
        .map(|link| {
            let meter = || {
                let bursts = LossBursts::new(link);
                Box::new(LinkMeter::new(window, bursts, groups.clone()))
            };
            link.observed.then(meter)
        })
        .collect();
    for (id, flow) in network.flows.iter().enumerate() {
        let data = match &flow.workload {
            WorkloadConfig::Foreign(_) => [true, false],
            workload if workload.is_bulk() => [true, false],
            WorkloadConfig::Session { .. } => [true, true],
            _ => [false, false],
        };
        let ways = [
            (Direction::Forward, &flow.forward),
            (Direction::Reverse, &flow.reverse),
        ];
        for ((direction, route), data) in ways.into_iter().zip(data) {
            for LinkId(link) in route {
                let Some(meter) = &mut meters[*link as usize] else {
                    continue;
                };
                meter.crossed_by(flow.group);
                if let Some(bursts) = &mut meter.bursts {
                    bursts.crossed_by(id as u32, direction, flow.start, data);
                }
            }
        }
    }
    for meter in meters.iter_mut().flatten() {
        if let Some(bursts) = &mut meter.bursts {
            bursts.starts.sort_unstable();
        }
    }
    meters
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_queue::Limit;
    use goodqueue_types::FlowId;

    fn millis(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Returns bursts at a link of 1 Mb/s with round trips of 10 ms. TCP flows 3, 5 and 8, which
    /// start at 0, 0 and 1 s, cross it, and another flow, 9.
    fn bursts() -> LossBursts {
        let config = LinkConfig {
            burst_gap: Some(Span::from_millis(10)),
            ..LinkConfig::drop_tail(Rate(1_000_000), Span::ZERO, Limit::Unlimited)
        };
        let mut bursts = LossBursts::new(&config).expect("there is a gap");
        for (flow, start, tcp) in [(3, 0, true), (5, 0, true), (8, 1000, true), (9, 0, false)] {
            bursts.crossed_by(flow, Direction::Forward, millis(start), tcp);
            bursts.crossed_by(flow, Direction::Reverse, millis(start), false);
        }
        bursts
    }

    fn lose(bursts: &mut LossBursts, ms: u64, flow: u32, direction: Direction, backlog: u64) {
        let packet = Packet {
            flow: FlowId(flow),
            direction,
            ..Packet::default()
        };
        bursts.loss(millis(ms), &packet, backlog);
    }

    #[test]
    fn a_burst_lasts_while_losses_are_closer_than_a_round_trip() {
        let mut bursts = bursts();
        let forward = Direction::Forward;
        // Three losses are within 9 ms of each other, two of them of flow 3. The fourth, 10 ms
        // later, begins another burst.
        for (ms, flow) in [(100, 3), (109, 5), (118, 3), (128, 9)] {
            lose(&mut bursts, ms, flow, forward, 0);
        }
        // 1250 bytes wait, which add 10 ms to the round trip.
        lose(&mut bursts, 147, 5, forward, 1250);
        // An ACK of flow 3 is lost, and data of flow 8. These are data of one of three flows.
        lose(&mut bursts, 2000, 3, Direction::Reverse, 0);
        lose(&mut bursts, 2009, 8, forward, 0);
        let outcome = bursts.finish();
        assert_eq!(outcome.count, 3);
        assert_eq!(outcome.packets.max, Some(3.0));
        assert_eq!(outcome.packets.p50, Some(2.0));
        assert_eq!(outcome.packets.mean, Some(7.0 / 3.0));
        assert_eq!(outcome.mean_flows_hit, Some(6.0 / 3.0));
        // The bursts hit 2 of 2, 1 of 2 and 1 of 3 flows.
        let expected = (1.0 + 0.5 + 1.0 / 3.0) / 3.0;
        assert!((outcome.synchronization.expect("losses") - expected).abs() < 1e-15);
    }

    #[test]
    fn a_run_without_losses_has_no_bursts() {
        let outcome = bursts().finish();
        assert_eq!((outcome.count, outcome.packets.max), (0, None));
        assert_eq!(
            (outcome.mean_flows_hit, outcome.synchronization),
            (None, None)
        );
    }
}
