//! FQ-CoDel: flow queues that are served in turn, each under `CoDel` (RFC 8290).

use crate::codel::{CodelParams, CodelQueue, CodelVars};
use crate::config::refuse_small_limit;
use crate::flows::{
    FlowHash, Flows, Round, SetAssociative, refuse_flows, refuse_memory, refuse_quantum, scale,
};
use crate::{Backlog, Configuration, Context, Limit, QueueDiscipline, Refusal};
use goodqueue_types::{DropReason, Packet, RandomStream};

/// Backlog that `CoDel` compares with its `mtu` to decide if there is a standing queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedBacklog {
    /// Backlog of all queues (Linux).
    Whole,
    /// Backlog of the flow's own queue (ns-3, text of RFC 8290).
    Own,
}

/// Parameters of FQ-CoDel. Classifiers and Linux's `ce_threshold_selector` are not implemented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodelConfig {
    /// Largest backlog of all queues together (`limit`, packets). Default 10240 packets.
    pub limit: Limit,
    /// Number of queues into which flows are hashed (`flows`). Default 1024.
    pub flows: u32,
    /// Frame bytes that each flow may send in a round (`quantum`). Default 1514. Linux raises a
    /// value below 256 to 256, and this implementation does not.
    pub quantum: u32,
    /// Largest number of packets dropped at once when the limit is exceeded (`drop_batch`). Default
    /// 64.
    pub drop_batch: u32,
    /// Largest kernel memory that waiting packets may take, in bytes (`memory_limit`); see
    /// `truesize`. Default 32 MiB.
    pub memory_limit: u64,
    /// Parameters of the control law (`target`, `interval`, `ecn`, `ce_threshold`). Defaults 5 ms,
    /// 100 ms, yes, never.
    pub codel: CodelParams,
    /// Backlog that the control law compares. Default that of all queues.
    pub compared_backlog: ComparedBacklog,
    /// Number of queues from which a flow may choose, as in CAKE. It must divide `flows`. Default
    /// 1: flows that collide share a queue, as in Linux. With more, a flow that loses its queue to
    /// another one in a full set continues in a different queue, so its packets may overtake one
    /// another. ns-3's `SetWays` differs: a flow searches from the start of its set and may leave
    /// its own queue for a free one before it.
    pub set_ways: u32,
}

impl FqCodelConfig {
    /// Returns the parameters of `tc qdisc add ... fq_codel limit`.
    pub const fn linux(limit: Limit) -> Self {
        Self {
            limit,
            flows: 1024,
            quantum: 1514,
            drop_batch: 64,
            memory_limit: 32 << 20,
            codel: CodelParams {
                ecn: true,
                ..CodelParams::linux()
            },
            compared_backlog: ComparedBacklog::Whole,
            set_ways: 1,
        }
    }

    /// Returns the parameters of ns-3's `FqCoDelQueueDisc` on a device with an MTU of 1500 bytes.
    /// It has no memory limit, and `CoDel` compares the flow's own backlog.
    pub const fn ns3(limit: Limit) -> Self {
        Self {
            quantum: 1500,
            memory_limit: u64::MAX,
            codel: CodelParams {
                ecn: true,
                ..CodelParams::ns3()
            },
            compared_backlog: ComparedBacklog::Own,
            ..Self::linux(limit)
        }
    }
}

impl Configuration for FqCodelConfig {
    type Queue = FqCodel;

    fn build(&self, random: &mut RandomStream) -> FqCodel {
        let sets = || SetAssociative::new(self.flows, self.set_ways);
        FqCodel {
            config: *self,
            hash: FlowHash::new(random),
            sets: (self.set_ways > 1).then(sets),
            flows: Flows::new(self.flows),
            vars: vec![CodelVars::default(); self.flows as usize],
        }
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        refuse_small_limit(self.limit, frame_bytes)?;
        refuse_quantum(self.quantum)?;
        refuse_flows(self.flows)?;
        refuse_memory(self.memory_limit, frame_bytes)?;
        if self.drop_batch == 0 {
            return Err(Refusal::new(
                "drop_batch",
                "a batch of no packet would drop nothing when the limit is exceeded",
                "write the most packets to drop at once, as in drop_batch = 64",
            ));
        }
        if self.set_ways == 0 || !self.flows.is_multiple_of(self.set_ways) {
            return Err(Refusal::new(
                "set_ways",
                format!("sets of {} among {} queues", self.set_ways, self.flows),
                "write a divisor of the number of queues, as in set_ways = 8",
            ));
        }
        self.codel.check()
    }
}

/// State of FQ-CoDel: hashed queues under `CoDel`, served by deficit round robin, new flows first
/// (Linux `fq_codel`, ns-3 `FqCoDelQueueDisc`).
#[derive(Clone, Debug)]
pub struct FqCodel {
    config: FqCodelConfig,
    hash: FlowHash,
    sets: Option<SetAssociative>,
    flows: Flows,
    vars: Vec<CodelVars>,
}

/// Queue of one flow, as the control law sees it.
struct OneFlow<'a> {
    flows: &'a mut Flows,
    flow: u32,
    compared: ComparedBacklog,
}

impl CodelQueue for OneFlow<'_> {
    #[inline]
    fn pop(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        self.flows.pop(context, self.flow)
    }

    #[inline]
    fn backlog_bytes(&self) -> u64 {
        match self.compared {
            ComparedBacklog::Whole => self.flows.backlog().bytes,
            ComparedBacklog::Own => self.flows.backlog_of(self.flow).bytes,
        }
    }
}

impl FqCodel {
    #[inline]
    fn flow_of(&mut self, packet: &Packet) -> u32 {
        let (hash, flows) = (self.hash.flow(packet), &self.flows);
        match &mut self.sets {
            None => scale(hash, self.config.flows),
            Some(sets) => {
                let in_use = |flow| flows.round(flow) != Round::Out;
                sets.queue(hash, in_use).0
            }
        }
    }

    fn is_overloaded(&self) -> bool {
        let exceeded = self.config.limit.is_exceeded_by(self.flows.backlog());
        exceeded || self.flows.memory() > self.config.memory_limit
    }

    /// Drops packets of the fattest flow until half its bytes or a batch of packets is gone.
    #[cold]
    fn drop_from_fattest(&mut self, context: &mut Context<'_>) {
        let Some(flow) = self.flows.fattest() else {
            return;
        };
        let half = self.flows.backlog_of(flow).bytes / 2;
        let (mut packets, mut bytes) = (0, 0);
        while let Some(packet) = self.flows.pop(context, flow) {
            packets += 1;
            bytes += context.frame_bytes(&packet);
            context.drop(packet, DropReason::Overlimit);
            if packets >= self.config.drop_batch || bytes >= half {
                break;
            }
        }
        // In Linux the control law counts these drops, so its own drops follow faster.
        self.vars[flow as usize].count_drops(packets);
    }
}

impl QueueDiscipline for FqCodel {
    #[inline]
    fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet) {
        let flow = self.flow_of(&packet);
        if let Err(packet) = self.flows.push(context, flow, packet) {
            return context.drop(packet, DropReason::Overlimit);
        }
        let quantum = i64::from(self.config.quantum);
        self.flows.activate(flow, Round::New, quantum);
        if self.is_overloaded() {
            self.drop_from_fattest(context);
        }
    }

    #[inline]
    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        loop {
            let flow = self.flows.turn(i64::from(self.config.quantum))?;
            let mut queue = OneFlow {
                flows: &mut self.flows,
                flow,
                compared: self.config.compared_backlog,
            };
            let vars = &mut self.vars[flow as usize];
            if let Some(packet) = vars.dequeue(&self.config.codel, context, &mut queue) {
                self.flows.charge(flow, context.frame_bytes(&packet));
                return Some(packet);
            }
            self.flows.rest(flow);
        }
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn boxed_clone(&self) -> Box<dyn QueueDiscipline> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests;
