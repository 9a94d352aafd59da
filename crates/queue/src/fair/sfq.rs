//! Stochastic fairness queueing ("Stochastic fairness queuing", INFOCOM 1990) as in Linux.

use crate::config::refuse_small_limit;
use crate::fair::flows::{FlowHash, Flows, Round, refuse_flows, refuse_quantum};
use crate::keys::{HEADDROP, LIMIT, QUANTUM, QUEUES};
use crate::{Backlog, BuiltIn, Configuration, Context, Limit, Qdisc, QueueDiscipline, Refusal};
use goodqueue_types::parameters::{Key, Kind, TIMER, Tc, one_of};
use goodqueue_types::{DropReason, Packet, RandomStream, Span, Time, parameters};

const NONE: u32 = u32::MAX;

parameters! {
    /// Parameters of SFQ. Linux's RED inside each queue (`redflowlimit`) is not implemented.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SfqConfig("sfq") {
        limit: Limit = Limit::Packets(127) => LIMIT;
        quantum: u32 = 1514 => QUANTUM;
        /// Buckets of the hash table, a power of two.
        divisor: u32 = 1024 => Key::new(QUEUES).tc("divisor").example("1024");
        /// Most queues in use at once; packets of further flows are dropped.
        flows: u32 = 128 => Key::new(QUEUES).tc("flows").example("128");
        /// Most packets in one queue.
        depth: u32 = 127 => Key::new(QUEUES).tc("depth").example("127");
        headdrop: bool = false => HEADDROP;
        /// Time after which the hash function changes.
        perturb: Option<Span> = None
            => one_of(&[TIMER, Kind::Choice(&["never"])]).in_tc(Tc::Seconds("perturb")).example("10s");
    }
}

impl BuiltIn for SfqConfig {
    const QDISC: Qdisc = Qdisc::Named("sfq");
}

impl SfqConfig {
    /// Returns the parameters of `tc qdisc add ... sfq limit`.
    pub fn linux(limit: Limit) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }
}

impl Configuration for SfqConfig {
    type Queue = Sfq;

    fn build(&self, random: &mut RandomStream) -> Sfq {
        Sfq {
            config: *self,
            hash: FlowHash::new(random),
            next_perturb: self.perturb.map(|period| Time::ZERO + period),
            queues: vec![NONE; self.divisor as usize],
            flows: Flows::new(self.flows),
            slots: vec![Slot::default(); self.flows as usize],
            free: (0..self.flows).collect(),
            changes: 0,
            moving: Vec::new(),
        }
    }

    fn table_bytes(&self) -> usize {
        let index = size_of::<u32>();
        let flow = Flows::QUEUE_BYTES + size_of::<Slot>() + index;
        self.flows as usize * flow + self.divisor as usize * index
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        refuse_small_limit(self.limit, frame_bytes)?;
        refuse_quantum(self.quantum)?;
        refuse_flows(self.flows)?;
        if self.depth == 0 {
            return Err(Refusal::new(
                "depth",
                "queues that hold no packet",
                "write the most packets of one queue, as in depth = 127",
            ));
        }
        if !self.divisor.is_power_of_two() || self.divisor > 65_536 {
            return Err(Refusal::new(
                "divisor",
                format!("a hash table of {} buckets", self.divisor),
                "write a power of two up to 65536, as in divisor = 1024",
            ));
        }
        if self.perturb == Some(Span::ZERO) {
            return Err(Refusal::new(
                "perturb",
                "a hash function that changes without end",
                "leave it out, or write perturb = \"10s\"",
            ));
        }
        Ok(())
    }
}

/// State of SFQ: hashed queues that are served in turn. The longest loses packets when the limit is
/// exceeded.
#[derive(Clone, Debug)]
pub struct Sfq {
    config: SfqConfig,
    hash: FlowHash,
    next_perturb: Option<Time>,
    /// Queue of each bucket.
    queues: Vec<u32>,
    flows: Flows,
    slots: Vec<Slot>,
    /// Queues that are not in use. The one that was used last is used first.
    free: Vec<u32>,
    /// Number of changes of any queue's length so far.
    changes: u64,
    /// Packets on their move from old queues to new ones.
    moving: Vec<Packet>,
}

/// State of a queue, apart from its packets.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    bucket: u32,
    /// Value of `changes` when the queue's length last changed.
    changed: u64,
}

impl Sfq {
    fn bucket(&self, packet: &Packet) -> usize {
        (self.hash.flow(packet) & (self.config.divisor - 1)) as usize
    }

    /// Returns the queue of a bucket. A bucket without a queue takes a free one. Returns none if
    /// none is free.
    fn queue_of(&mut self, bucket: usize) -> Option<u32> {
        if self.queues[bucket] == NONE {
            let queue = self.free.pop()?;
            self.slots[queue as usize].bucket = bucket as u32;
            self.queues[bucket] = queue;
        }
        Some(self.queues[bucket])
    }

    /// Appends a packet, or returns it if the buffer has no room.
    fn append(&mut self, context: &mut Context<'_>, packet: Packet) -> Result<(), Packet> {
        let bucket = self.bucket(&packet);
        let Some(queue) = self.queue_of(bucket) else {
            return Err(packet);
        };
        if let Err(packet) = self.flows.push(context, queue, packet) {
            self.release_if_empty(queue);
            return Err(packet);
        }
        self.changed(queue);
        let quantum = i64::from(self.config.quantum);
        self.flows.activate(queue, Round::Old, quantum);
        Ok(())
    }

    fn is_full(&self, packet: &Packet) -> bool {
        let queue = self.queues[self.bucket(packet)];
        queue != NONE && self.flows.backlog_of(queue).packets >= u64::from(self.config.depth)
    }

    fn changed(&mut self, queue: u32) {
        self.changes += 1;
        self.slots[queue as usize].changed = self.changes;
    }

    fn release_if_empty(&mut self, queue: u32) {
        if self.flows.head(queue).is_none() {
            self.flows.leave(queue);
            self.queues[self.slots[queue as usize].bucket as usize] = NONE;
            self.free.push(queue);
        }
    }

    /// Returns the queue with the most packets. Among queues of equal length it is the one whose
    /// length changed last. If no queue has two packets, it is the next queue in the round.
    fn longest(&self) -> Option<u32> {
        let length = |queue: &u32| {
            let packets = self.flows.backlog_of(*queue).packets;
            (packets, self.slots[*queue as usize].changed)
        };
        let longest = self.flows.active().max_by_key(length)?;
        if length(&longest).0 > 1 {
            return Some(longest);
        }
        self.flows.first(Round::Old)
    }

    fn drop_from(&mut self, context: &mut Context<'_>, queue: u32) {
        let packet = if self.config.headdrop {
            self.flows.pop(context, queue)
        } else {
            self.flows.pop_back(context, queue)
        };
        if let Some(packet) = packet {
            context.drop(packet, DropReason::Overlimit);
        }
        self.changed(queue);
        self.release_if_empty(queue);
    }

    /// Changes the hash function if that is due, and moves every packet into its new queue, so that
    /// no packet overtakes another one of its flow.
    fn perturb(&mut self, context: &mut Context<'_>) {
        let (Some(due), Some(period)) = (self.next_perturb, self.config.perturb) else {
            return;
        };
        if context.now < due {
            return;
        }
        let missed = (context.now - due).0 / period.0;
        self.next_perturb = Some(due + period.saturating_mul(missed + 1));
        self.hash = FlowHash::new(context.random);
        let mut moving = std::mem::take(&mut self.moving);
        for queue in self.flows.indices() {
            while let Some(packet) = self.flows.pop(context, queue) {
                moving.push(packet);
                self.release_if_empty(queue);
            }
        }
        for packet in moving.drain(..) {
            let refused = if self.is_full(&packet) {
                Err(packet)
            } else {
                self.append(context, packet)
            };
            if let Err(packet) = refused {
                context.drop(packet, DropReason::Overlimit);
            }
        }
        self.moving = moving;
    }
}

impl QueueDiscipline for Sfq {
    fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet) {
        self.perturb(context);
        if self.is_full(&packet) {
            if !self.config.headdrop {
                return context.drop(packet, DropReason::Overlimit);
            }
            // The newest packet replaces the oldest, so the queue's length does not change.
            let queue = self.queues[self.bucket(&packet)];
            if let Some(oldest) = self.flows.pop(context, queue) {
                context.drop(oldest, DropReason::Overlimit);
            }
            if let Err(packet) = self.flows.push(context, queue, packet) {
                context.drop(packet, DropReason::Overlimit);
                self.release_if_empty(queue);
            }
        } else if let Err(packet) = self.append(context, packet) {
            return context.drop(packet, DropReason::Overlimit);
        }
        while self.config.limit.is_exceeded_by(self.flows.backlog()) {
            let Some(longest) = self.longest() else { break };
            self.drop_from(context, longest);
        }
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        self.perturb(context);
        let queue = self.flows.turn(i64::from(self.config.quantum))?;
        let packet = self.flows.pop(context, queue)?;
        self.flows.charge(queue, context.frame_bytes(&packet));
        self.changed(queue);
        self.release_if_empty(queue);
        Some(packet)
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

    fn sfq(limit: u64) -> SfqConfig {
        SfqConfig::linux(Limit::Packets(limit))
    }

    #[test]
    fn a_turn_may_overdraw_and_the_debt_is_paid_in_the_next() {
        let mut rig = Rig::new(&SfqConfig {
            quantum: 1000,
            ..sfq(127)
        });
        for (flow, size) in [(0, 900), (1, 400)] {
            for number in 0..6 {
                rig.offer(packet(flow, number, size));
            }
        }
        // Deficits of flow 0: 1000 → 100 → −800, then it misses a round at 200 …; of flow 1: 600,
        // 200, −200.
        let order: Vec<u32> = (0..9).map(|_| rig.next().expect("backlogged").0).collect();
        assert_eq!(order, [0, 0, 1, 1, 1, 0, 1, 1, 0]);
    }

    #[test]
    fn the_longest_queue_loses_its_last_packet_or_its_first() {
        for (headdrop, victim) in [(false, 2), (true, 0)] {
            let mut rig = Rig::new(&SfqConfig { headdrop, ..sfq(4) });
            for number in 0..3 {
                rig.offer(packet(0, number, 40));
            }
            rig.offer(packet(1, 0, 1500));
            rig.offer(packet(2, 0, 1500));
            // Length is counted in packets, not bytes.
            assert_eq!(rig.dropped(DropReason::Overlimit), [(0, victim)]);
        }
    }

    #[test]
    fn the_longest_queue_that_changed_last_loses() {
        let mut rig = Rig::new(&sfq(4));
        for (flow, number) in [(0, 0), (1, 0), (1, 1), (0, 1), (2, 0)] {
            rig.offer(packet(flow, number, 100));
        }
        assert_eq!(rig.dropped(DropReason::Overlimit), [(0, 1)]);
        let mut rig = Rig::new(&sfq(2));
        for flow in 0..3 {
            rig.offer(packet(flow, 0, 100));
        }
        // No queue has two packets, so the next one in the round loses its only packet.
        assert_eq!(rig.dropped(DropReason::Overlimit), [(0, 0)]);
        assert_eq!(rig.rest(), [(1, 0), (2, 0)]);
    }

    #[test]
    fn nested_queues_have_a_largest_depth_and_number() {
        let mut rig = Rig::new(&SfqConfig {
            depth: 2,
            flows: 2,
            ..sfq(100)
        });
        for number in 0..3 {
            rig.offer(packet(0, number, 100));
        }
        rig.offer(packet(1, 0, 100));
        rig.offer(packet(2, 0, 100));
        assert_eq!(rig.dropped(DropReason::Overlimit), [(0, 2), (2, 0)]);
        assert_eq!(rig.rest().len(), 3);
        rig.offer(packet(2, 1, 100));
        assert_eq!(rig.next(), Some((2, 1)), "queues are free again");
        let mut rig = Rig::new(&SfqConfig {
            depth: 2,
            headdrop: true,
            ..sfq(100)
        });
        for number in 0..3 {
            rig.offer(packet(0, number, 100));
        }
        assert_eq!(rig.dropped(DropReason::Overlimit), [(0, 0)]);
        assert_eq!(rig.rest(), [(0, 1), (0, 2)]);
    }

    #[test]
    fn flows_that_collide_share_a_queue_until_the_hash_changes() {
        let period = Span::from_secs(10);
        let config = SfqConfig {
            divisor: 2,
            perturb: Some(period),
            ..sfq(127)
        };
        let mut rig = Rig::new(&config);
        let queues = |rig: &Rig<Sfq>| rig.queue.flows.indices().len() - rig.queue.free.len();
        for number in 0..2 {
            for flow in 0..8 {
                rig.offer(packet(flow, number, 100));
            }
        }
        assert_eq!(queues(&rig), 2, "eight flows in two buckets");
        let before = rig.queue.hash;
        rig.at(period);
        let order = rig.rest();
        assert_ne!(rig.queue.hash, before);
        assert_eq!(order.len(), 16, "nobody is lost");
        for flow in 0..8 {
            let first = order.iter().position(|name| *name == (flow, 0));
            assert!(first < order.iter().position(|name| *name == (flow, 1)));
        }
    }

    #[test]
    fn nonsense_is_refused_by_key() {
        let key = |config: SfqConfig| config.check(1514).unwrap_err().key;
        let config = sfq(127);
        assert_eq!(config.check(1514), Ok(()));
        let cases = [
            (
                SfqConfig {
                    quantum: 0,
                    ..config
                },
                "quantum",
            ),
            (SfqConfig { flows: 0, ..config }, "flows"),
            (SfqConfig { depth: 0, ..config }, "depth"),
            (
                SfqConfig {
                    divisor: 1000,
                    ..config
                },
                "divisor",
            ),
            (
                SfqConfig {
                    perturb: Some(Span::ZERO),
                    ..config
                },
                "perturb",
            ),
            (sfq(0), "limit"),
        ];
        for (config, expected) in cases {
            assert_eq!(key(config), expected);
        }
    }
}
