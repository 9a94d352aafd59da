//! Deficit round robin (Shreedhar and Varghese, SIGCOMM 1995).

use crate::config::refuse_small_limit;
use crate::fair::flows::{FlowHash, Flows, Round, refuse_flows, refuse_quantum, scale};
use crate::keys::{HEADDROP, LIMIT, QUANTUM, QUEUES};
use crate::{Backlog, BuiltIn, Configuration, Context, Limit, Qdisc, QueueDiscipline, Refusal};
use goodqueue_types::parameters::{Kind, one_of};
use goodqueue_types::{DropReason, Packet, RandomStream, parameters};

parameters! {
    /// Parameters of deficit round robin. (In Linux, `drr` leaves limits to the queues of its
    /// classes.)
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DrrConfig("drr") {
        limit: Limit = Limit::Unlimited => LIMIT.required();
        /// If it is less than the largest frame, a flow may have to wait for several rounds.
        quantum: u32 = 1514 => QUANTUM;
        /// Number of queues into which flows are hashed; `each` gives every flow its own queue.
        ///
        /// Without a number each flow has a queue of its own in each direction, which its
        /// connections share.
        flows: Option<u32> = None => one_of(&[QUEUES, Kind::Choice(&["each"])]).example("1024");
        headdrop: bool = false => HEADDROP;
    }
}

impl BuiltIn for DrrConfig {
    const QDISC: Qdisc = Qdisc::None(
        "drr of Linux has classes with filters, not flows",
        "write kind = \"sfq\" or \"fq_codel\"",
    );
}

impl DrrConfig {
    /// Returns the defaults with this limit.
    pub fn new(limit: Limit) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }
}

impl Configuration for DrrConfig {
    type Queue = Drr;

    fn build(&self, random: &mut RandomStream) -> Drr {
        Drr {
            config: *self,
            hash: FlowHash::new(random),
            flows: Flows::new(self.flows.unwrap_or(0)),
        }
    }

    fn table_bytes(&self) -> usize {
        self.flows.unwrap_or(0) as usize * Flows::QUEUE_BYTES
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        refuse_small_limit(self.limit, frame_bytes)?;
        refuse_quantum(self.quantum)?;
        self.flows.map_or(Ok(()), refuse_flows)
    }
}

/// State of deficit round robin: one queue for each flow, served in turn. The longest loses packets
/// when the limit is exceeded.
#[derive(Clone, Debug)]
pub struct Drr {
    config: DrrConfig,
    hash: FlowHash,
    flows: Flows,
}

impl Drr {
    fn queue_of(&mut self, packet: &Packet) -> u32 {
        if let Some(count) = self.config.flows {
            return scale(self.hash.flow(packet), count);
        }
        let queue = 2 * packet.flow.0 + packet.direction as u32;
        self.flows.grow_to(queue + 1);
        queue
    }

    /// Drops a packet of the longest queue, as the paper recommends (section 3, "buffer stealing").
    fn drop_from_longest(&mut self, context: &mut Context<'_>) {
        let Some(longest) = self.flows.fattest() else {
            return;
        };
        let dropped = if self.config.headdrop {
            self.flows.pop(context, longest)
        } else {
            self.flows.pop_back(context, longest)
        };
        if let Some(packet) = dropped {
            context.drop(packet, DropReason::Overlimit);
        }
        if self.flows.head(longest).is_none() {
            self.flows.leave(longest);
        }
    }
}

impl QueueDiscipline for Drr {
    fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet) {
        let queue = self.queue_of(&packet);
        if let Err(packet) = self.flows.push(context, queue, packet) {
            return context.drop(packet, DropReason::Overlimit);
        }
        let quantum = i64::from(self.config.quantum);
        self.flows.activate(queue, Round::Old, quantum);
        while self.config.limit.is_exceeded_by(self.flows.backlog()) {
            self.drop_from_longest(context);
        }
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        loop {
            let queue = self.flows.first(Round::Old)?;
            let bytes = context.frame_bytes(self.flows.head(queue)?);
            // The paper never lets a flow overdraw its deficit. The later disciplines do.
            if bytes as i64 <= self.flows.deficit(queue) {
                self.flows.charge(queue, bytes);
                let packet = self.flows.pop(context, queue);
                if self.flows.head(queue).is_none() {
                    self.flows.leave(queue);
                }
                return packet;
            }
            self.flows.replenish(queue, i64::from(self.config.quantum));
        }
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::flows::rig::packet;
    use crate::rig::Rig;
    use goodqueue_types::Direction;

    /// The paper's figures 2 and 3: with a quantum of 500, queue 1 sends its packet of 200 bytes
    /// and keeps 300, because the next has 750. Queue 2 is next, with packets of 500.
    #[test]
    fn a_flow_keeps_unused_credit_for_the_next_round() {
        let config = DrrConfig {
            quantum: 500,
            ..DrrConfig::new(Limit::Packets(100))
        };
        let mut rig = Rig::new(&config);
        for (flow, sizes) in [(0, [200, 750, 20].as_slice()), (1, &[500, 500])] {
            for (number, size) in sizes.iter().enumerate() {
                rig.offer(packet(flow, number as u64, *size));
            }
        }
        assert_eq!(rig.next(), Some((0, 0)));
        assert_eq!(rig.queue.flows.deficit(0), 300);
        // 750 do not fit into 300, so queue 2 sends 500. Then 800 suffice for 750, and 50 for 20.
        assert_eq!(rig.rest(), [(1, 0), (0, 1), (0, 2), (1, 1)]);
    }

    /// Lemma 2: an always backlogged flow has sent K·Q − deficit bytes after K rounds, 0 ≤ deficit
    /// < Max. Hence two of them differ by at most Q + Max from the start, and by Q + 2·Max in any
    /// interval (theorem 1, with equal quanta).
    #[test]
    fn backlogged_flows_differ_by_at_most_a_quantum_and_a_packet() {
        let (quantum, largest, flows) = (700_u32, 1500_u32, 5_u32);
        let config = DrrConfig {
            quantum,
            ..DrrConfig::new(Limit::Unlimited)
        };
        let mut rig = Rig::new(&config);
        let mut random = RandomStream::new(3, "sizes", 0);
        for flow in 0..flows {
            let mut offered = 0;
            while offered < 200_000 {
                // Flow 0 sends only small packets and flow 1 only large ones.
                let size = match flow {
                    0 => 40,
                    1 => largest,
                    _ => 40 + (random.bits() % u64::from(largest - 39)) as u32,
                };
                offered += size;
                rig.offer(packet(flow, 0, size));
            }
        }
        let mut sent = [0_i64; 5];
        // The extremes of sent(i) − sent(j) over time bound its growth over any interval.
        let mut extremes = [[(0_i64, 0_i64); 5]; 5];
        for _ in 0..3000 {
            let packet = rig.dequeue().expect("backlogged");
            sent[packet.flow.0 as usize] += i64::from(packet.size);
            for (i, row) in extremes.iter_mut().enumerate() {
                for (j, (low, high)) in row.iter_mut().enumerate() {
                    let difference = sent[i] - sent[j];
                    *low = difference.min(*low);
                    *high = difference.max(*high);
                }
            }
        }
        let (quantum, largest) = (i64::from(quantum), i64::from(largest));
        for (low, high) in extremes.into_iter().flatten() {
            assert!(high <= quantum + largest && low >= -(quantum + largest));
            assert!(high - low <= quantum + 2 * largest);
        }
        let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
        assert!(*least > 70_000 && most - least <= quantum + largest);
    }

    #[test]
    fn the_longest_queue_pays_for_the_others() {
        for headdrop in [false, true] {
            let config = DrrConfig {
                headdrop,
                ..DrrConfig::new(Limit::Packets(4))
            };
            let mut rig = Rig::new(&config);
            for number in 0..3 {
                rig.offer(packet(0, number, 500));
            }
            rig.offer(packet(1, 0, 1000));
            rig.offer(packet(2, 0, 40));
            let victim = if headdrop { 0 } else { 2 };
            assert_eq!(rig.dropped(DropReason::Overlimit), [(0, victim)]);
            assert_eq!(rig.rest().len(), 4);
            assert_eq!(rig.queue.flows.first(Round::Old), None);
        }
    }

    #[test]
    fn directions_have_their_own_queues_and_buckets_share_one() {
        let waiting = |flows| {
            let mut rig = Rig::new(&DrrConfig {
                flows,
                ..DrrConfig::new(Limit::Unlimited)
            });
            for (flow, direction) in [(0, Direction::Forward), (0, Direction::Reverse)] {
                rig.offer(Packet {
                    direction,
                    ..packet(flow, 0, 100)
                });
            }
            (0..2)
                .map(|queue| rig.queue.flows.backlog_of(queue).packets)
                .max()
        };
        assert_eq!(waiting(None), Some(1));
        let mut rig = Rig::new(&DrrConfig {
            flows: Some(1),
            ..DrrConfig::new(Limit::Unlimited)
        });
        for flow in 0..3 {
            rig.offer(packet(flow, 0, 100));
            rig.offer(packet(flow, 1, 100));
        }
        let order = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)];
        assert_eq!(rig.rest(), order, "a shared queue is a FIFO");
    }

    #[test]
    fn nonsense_is_refused_by_key() {
        let key = |config: DrrConfig| config.check(1514).unwrap_err().key;
        let config = DrrConfig::new(Limit::Packets(10));
        assert_eq!(config.check(1514), Ok(()));
        assert_eq!(
            key(DrrConfig {
                quantum: 0,
                ..config
            }),
            "quantum"
        );
        assert_eq!(
            key(DrrConfig {
                flows: Some(0),
                ..config
            }),
            "flows"
        );
        assert_eq!(
            key(DrrConfig {
                limit: Limit::Bytes(1000),
                ..config
            }),
            "limit"
        );
    }
}
