//! FQ-CoDel: flow queues that are served in turn, each under `CoDel` (RFC 8290).

use crate::aqm::codel::{CodelParams, CodelQueue, CodelVars};
use crate::config::refuse_small_limit;
use crate::fair::flows::{
    FlowHash, Flows, Round, SetAssociative, refuse_flows, refuse_memory, refuse_quantum, scale,
};
use crate::keys::{ANY_SIZE, FLOWS, LIMIT, QUANTUM, QUEUES};
use crate::{Backlog, BuiltIn, Configuration, Context, Limit, Qdisc, QueueDiscipline, Refusal};
use goodqueue_types::parameters::{Key, Kind, Tc, integer, one_of, words};
use goodqueue_types::{DropReason, Ecn, Packet, RandomStream, parameters, words};

words! {
    /// Backlog that `CoDel` compares with its `mtu` to decide if there is a standing queue.
    pub enum ComparedBacklog {
        /// Backlog of all queues (Linux).
        Whole = "whole",
        /// Backlog of the flow's own queue (ns-3, text of RFC 8290).
        Own = "own",
    }
}

words! {
    /// Packets that `ce_threshold` marks.
    pub enum ThresholdSelector {
        /// All that are ECN-capable.
        Any = "any",
        /// Those with ECT(1), `0x1/0x3` of `tc`.
        Ect1 = "ect1",
    }
}

parameters! {
    /// Parameters of FQ-CoDel. Classifiers are not implemented.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FqCodelConfig("fq_codel") {
        limit: Limit = Limit::Packets(10_240) => LIMIT;
        flows: u32 = 1024 => FLOWS;
        quantum: u32 = 1514 => QUANTUM;
        /// Most packets dropped at once when the limit is exceeded.
        drop_batch: u32 = 64 => integer(1, 65_536).tc("drop_batch").example("1");
        /// Kernel memory that waiting packets may take, which is more than their bytes.
        ///
        /// See [`truesize`](crate::truesize).
        memory_limit: Option<u64> = Some(32 << 20)
            => one_of(&[ANY_SIZE, Kind::Choice(&["unlimited"])])
                .tc("memory_limit").default("\"32MiB\"").example("unlimited");
        codel: CodelParams = CodelParams { ecn: true, ..CodelParams::default() };
        /// Packets that `ce_threshold` marks: all that are ECN-capable, or only those with ECT(1)
        /// (`ce_threshold_selector 0x1/0x3` of `tc`), so that classic senders behind the same queue are
        /// not held to an L4S threshold.
        selector: ThresholdSelector = ThresholdSelector::Any
            => words::<ThresholdSelector>()
                .named("ce_threshold_selector").in_tc(Tc::Hook).example("ect1");
        /// Backlog with which `mtu` is compared: that of all queues (Linux) or the queue's own
        /// (ns-3).
        compared_backlog: ComparedBacklog = ComparedBacklog::Whole
            => words::<ComparedBacklog>().example("own").in_tc(Tc::Fixed("it is that of all queues"));
        /// Number of queues among which a flow chooses, so that fewer flows share a queue; it must
        /// divide `flows`.
        ///
        /// Flows that collide share a queue with 1, as in Linux. With more, as in CAKE, a flow that
        /// loses its queue to another one in a full set continues in a different queue, so its
        /// packets may overtake one another. ns-3's `SetWays` differs: a flow searches from the
        /// start of its set and may leave its own queue for a free one before it.
        set_ways: u32 = 1
            => Key::new(QUEUES).example("8").in_tc(Tc::Fixed("flows that collide share a queue"));
    }
}

impl BuiltIn for FqCodelConfig {
    const QDISC: Qdisc = Qdisc::Named("fq_codel");
}

impl FqCodelConfig {
    /// Returns the parameters of `tc qdisc add ... fq_codel limit`.
    pub fn linux(limit: Limit) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Returns the parameters of ns-3's `FqCoDelQueueDisc` on a device with an MTU of 1500 bytes.
    /// It has no memory limit, and `CoDel` compares the flow's own backlog.
    pub fn ns3(limit: Limit) -> Self {
        Self {
            quantum: 1500,
            memory_limit: None,
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

    fn table_bytes(&self) -> usize {
        let sets = usize::from(self.set_ways > 1) * SetAssociative::QUEUE_BYTES;
        self.flows as usize * (Flows::QUEUE_BYTES + size_of::<CodelVars>() + sets)
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        refuse_small_limit(self.limit, frame_bytes)?;
        refuse_quantum(self.quantum)?;
        refuse_flows(self.flows)?;
        if let Some(memory_limit) = self.memory_limit {
            refuse_memory(memory_limit, frame_bytes)?;
        }
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
    selector: ThresholdSelector,
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

    #[inline]
    fn has_threshold(&self, packet: &Packet) -> bool {
        self.selector == ThresholdSelector::Any || packet.ecn == Ecn::Capable1
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
        exceeded
            || self
                .config
                .memory_limit
                .is_some_and(|limit| self.flows.memory() > limit)
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
                selector: self.config.selector,
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
}

#[cfg(test)]
mod tests;
