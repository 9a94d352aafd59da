//! FQ-PIE: flow queues that are served in turn, each under PIE (Linux `fq_pie`).

use crate::aqm::pie::{PieParams, PieVars, Updates};
use crate::config::refuse_small_limit;
use crate::fair::flows::{FlowHash, Flows, Round, refuse_flows, refuse_quantum, scale};
use crate::keys::{FLOWS, LIMIT, QUANTUM};
use crate::{
    Backlog, BuiltIn, Configuration, Context, Ignored, Limit, Place, Qdisc, QueueDiscipline,
    Refusal,
};
use goodqueue_types::parameters::{Given, Key, Parameters, Tc};
use goodqueue_types::{DropReason, Packet, RandomStream, Time, parameters};

parameters! {
    /// Parameters of FQ-PIE. Not implemented are classifiers and Linux's `memory_limit`, which only
    /// counts and never drops. `ecn_prob` is the controller's `ecn_threshold`.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct FqPieConfig("fq_pie") {
        limit: Limit = Limit::Packets(10_240) => LIMIT;
        flows: u32 = 1024 => FLOWS;
        quantum: u32 = 1514 => QUANTUM;
        pie: PieParams = PieParams::default();
    }
}

impl BuiltIn for FqPieConfig {
    const QDISC: Qdisc = Qdisc::Named("fq_pie");
    const IGNORED: &'static [Ignored] = &[Ignored {
        words: &["memory_limit"],
        values: 1,
        note: "memory_limit is left out: only the limit in packets holds",
    }];

    fn tc(key: &Key) -> Tc {
        match key.name {
            "ecn_threshold" => Tc::Parts("ecn_prob", 100.0),
            _ => key.tc,
        }
    }

    fn read(given: &Given, _place: &Place) -> Result<Self, Refusal> {
        let mut config = Self {
            pie: PieParams::of_flavour(given),
            ..Self::default()
        };
        config.apply(given);
        Ok(config)
    }
}

impl FqPieConfig {
    /// Returns the parameters of `tc qdisc add ... fq_pie limit`.
    pub fn linux(limit: Limit) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }
}

impl Configuration for FqPieConfig {
    type Queue = FqPie;

    fn build(&self, random: &mut RandomStream) -> FqPie {
        FqPie {
            config: *self,
            hash: FlowHash::new(random),
            flows: Flows::new(self.flows),
            vars: vec![PieVars::new(&self.pie); self.flows as usize],
            updates: Updates::new(self.pie.first_update(), self.pie.period()),
            awake: Vec::with_capacity(self.flows as usize),
            is_awake: vec![false; self.flows as usize],
        }
    }

    fn table_bytes(&self) -> usize {
        let awake = size_of::<u32>() + size_of::<bool>();
        self.flows as usize * (Flows::QUEUE_BYTES + size_of::<PieVars>() + awake)
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        refuse_small_limit(self.limit, frame_bytes)?;
        refuse_quantum(self.quantum)?;
        refuse_flows(self.flows)?;
        self.pie.check()
    }
}

/// State of FQ-PIE: hashed queues under PIE, served by deficit round robin, new flows first.
#[derive(Clone, Debug)]
pub struct FqPie {
    config: FqPieConfig,
    hash: FlowHash,
    flows: Flows,
    vars: Vec<PieVars>,
    updates: Updates,
    /// Queues whose next update may change their state.
    awake: Vec<u32>,
    is_awake: Vec<bool>,
}

impl FqPie {
    /// Makes the updates that are due. All queues are updated at the same time. (Linux updates 2048
    /// at a time, a tick apart.)
    #[inline]
    fn catch_up(&mut self, now: Time) {
        let (params, flows, all) = (&self.config.pie, &self.flows, &mut self.vars);
        let (awake, is_awake) = (&mut self.awake, &mut self.is_awake);
        self.updates.catch_up(now, |_| {
            awake.retain(|flow| {
                let vars = &mut all[*flow as usize];
                let changed = vars.update(params, flows.backlog_of(*flow).bytes);
                is_awake[*flow as usize] = changed;
                changed
            });
            !awake.is_empty()
        });
    }

    /// Resumes the updates of a queue, because a packet enters or leaves it.
    fn wake(&mut self, flow: u32) {
        if !std::mem::replace(&mut self.is_awake[flow as usize], true) {
            self.awake.push(flow);
        }
    }
}

impl QueueDiscipline for FqPie {
    fn enqueue(&mut self, context: &mut Context<'_>, mut packet: Packet) {
        self.catch_up(context.now);
        let flow = scale(self.hash.flow(&packet), self.config.flows);
        self.wake(flow);
        let (params, vars) = (&self.config.pie, &mut self.vars[flow as usize]);
        let bytes = context.frame_bytes(&packet);
        let own = self.flows.backlog_of(flow);
        let reason = if !self.config.limit.admits(self.flows.backlog(), bytes) {
            DropReason::Overlimit
        } else if vars.drop_early(params, context.random, own, bytes)
            && !(vars.may_mark(params) && context.mark(&mut packet, DropReason::Early))
        {
            DropReason::Early
        } else {
            match self.flows.push_frame(context, flow, packet, bytes) {
                Ok(()) => {
                    let quantum = i64::from(self.config.quantum);
                    return self.flows.activate(flow, Round::New, quantum);
                }
                Err(_) => DropReason::Overlimit,
            }
        };
        vars.dropped();
        context.drop(packet, reason);
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        self.catch_up(context.now);
        loop {
            let flow = self.flows.turn(i64::from(self.config.quantum))?;
            let Some((packet, bytes)) = self.flows.pop_frame(context, flow) else {
                self.flows.rest(flow);
                continue;
            };
            self.flows.charge(flow, bytes);
            self.wake(flow);
            self.vars[flow as usize].departed(
                &self.config.pie,
                context.now,
                context.now - packet.arrived,
                bytes,
                self.flows.backlog_of(flow).bytes,
            );
            return Some(packet);
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
    use goodqueue_types::Span;

    #[test]
    fn only_the_flow_with_the_standing_queue_is_dropped_from() {
        let mut rig = Rig::new(&FqPieConfig::linux(Limit::Packets(10_240)));
        // In each millisecond one full frame leaves. Flow 0 sends 1.2 full frames in that time.
        // Flow 1 sends a small packet in every fourth.
        let mut sent = 0;
        for step in 0..20_000_u64 {
            rig.at(Span::from_millis(1) * step);
            while sent * 10 < step * 12 {
                rig.offer(packet(0, sent, 1514));
                sent += 1;
            }
            if step % 4 == 0 {
                rig.offer(packet(1, step, 200));
            }
            rig.dequeue();
        }
        let dropped = rig.dropped(DropReason::Early);
        assert!(dropped.iter().all(|(flow, _)| *flow == 0));
        assert!(rig.dropped(DropReason::Overlimit).is_empty());
        // The offered load is (1.2 + 1/4) frames in a slot. Every fourth slot is the small
        // packet's, so 0.75 of 1.2 pass. The controller reaches its steady state within the first
        // seconds.
        let share = dropped.len() as f64 / sent as f64;
        assert!((share - 0.375).abs() < 0.05, "{share}");
    }

    /// Returns the queue of a flow.
    fn queue_of(rig: &Rig<FqPie>, flow: u32) -> usize {
        let hash = rig.queue.hash.flow(&packet(flow, 0, 100));
        scale(hash, rig.queue.config.flows) as usize
    }

    #[test]
    fn a_queue_that_only_drains_has_its_updates() {
        let mut rig = Rig::new(&FqPieConfig::linux(Limit::Packets(100)));
        rig.at(Span::from_millis(600));
        for number in 0..20 {
            rig.offer(packet(0, number, 1514));
        }
        let queue = queue_of(&rig, 0);
        for step in 0..10 {
            // No delay is known until the first packet leaves.
            let before = rig.queue.vars[queue].probability();
            rig.at(Span::from_millis(1000 + 20 * step)).dequeue();
            let after = rig.queue.vars[queue].probability();
            assert_eq!(after > before, step > 0, "step {step}");
        }
    }

    #[test]
    fn a_flow_without_a_backlog_pays_nothing_for_that_of_others() {
        let mut rig = Rig::new(&FqPieConfig::linux(Limit::Packets(10_000)));
        rig.at(Span::from_secs(1));
        for number in 0..100 {
            rig.offer(packet(0, number, 1514));
        }
        for number in 0..500 {
            rig.offer(packet(1, number, 1514));
        }
        let queue = queue_of(&rig, 0);
        let mut now = Span::from_secs(1);
        while rig.queue.flows.backlog_of(queue as u32).packets > 0 {
            now += Span::from_millis(50);
            rig.at(now).dequeue();
        }
        assert!(rig.queue.vars[queue].probability() > 0.5);
        for number in 0..20 {
            rig.offer(packet(0, number, 40));
        }
        assert!(rig.verdicts.is_empty());
    }

    #[test]
    fn flows_take_turns_as_in_fq_codel() {
        let mut rig = Rig::new(&FqPieConfig {
            quantum: 90,
            ..FqPieConfig::linux(Limit::Packets(10))
        });
        rig.offer(packet(1, 0, 120));
        assert_eq!(rig.next(), Some((1, 0)));
        for (flow, number) in [(1, 1), (1, 2), (2, 0), (2, 1)] {
            rig.offer(packet(flow, number, 120));
        }
        assert_eq!(rig.rest(), [(2, 0), (1, 1), (2, 1), (1, 2)]);
    }

    #[test]
    fn the_limit_is_that_of_all_queues_and_the_arrival_is_lost() {
        let mut rig = Rig::new(&FqPieConfig::linux(Limit::Packets(2)));
        for flow in 0..3 {
            rig.offer(packet(flow, 0, 100));
        }
        assert_eq!(rig.dropped(DropReason::Overlimit), [(2, 0)]);
    }

    #[test]
    fn nonsense_is_refused_by_key() {
        let config = FqPieConfig::linux(Limit::Packets(10));
        assert_eq!(config.check(1514), Ok(()));
        let mut pie = config.pie;
        pie.tupdate = Span::ZERO;
        let cases = [
            (
                FqPieConfig {
                    quantum: 0,
                    ..config
                },
                "quantum",
            ),
            (FqPieConfig { flows: 0, ..config }, "flows"),
            (FqPieConfig { pie, ..config }, "tupdate"),
        ];
        for (config, key) in cases {
            assert_eq!(config.check(1514).unwrap_err().key, key);
        }
    }
}
