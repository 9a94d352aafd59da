//! A FIFO that marks arrivals beyond a threshold, the switch of the DCTCP paper.

use crate::config::refuse_small_limit;
use crate::keys::LIMIT;
use crate::{
    Backlog, BuiltIn, Configuration, Context, Fifo, Limit, Qdisc, QueueDiscipline, Refusal,
};
use goodqueue_types::parameters::limit;
use goodqueue_types::{DropReason, Packet, RandomStream, parameters};

parameters! {
    /// Parameters of a step threshold.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct StepConfig("step") {
        limit: Limit = Limit::Unlimited => LIMIT.required();
        /// Backlog above which an ECN-capable arrival is marked (K of DCTCP).
        ///
        /// "Data Center TCP (DCTCP)", section 3.1.
        threshold: Limit = Limit::Unlimited => limit().required().example("20p");
    }
}

impl BuiltIn for StepConfig {
    const QDISC: Qdisc = Qdisc::None(
        "a threshold on the queue's length has no equivalent: Linux marks by delay",
        "write kind = \"codel\" with ce_threshold",
    );
}

impl Configuration for StepConfig {
    type Queue = Step;

    fn build(&self, _random: &mut RandomStream) -> Step {
        Step {
            config: *self,
            waiting: Fifo::default(),
        }
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        refuse_small_limit(self.limit, frame_bytes)?;
        let beyond = match (self.threshold, self.limit) {
            (Limit::Packets(threshold), Limit::Packets(limit))
            | (Limit::Bytes(threshold), Limit::Bytes(limit)) => threshold >= limit,
            (Limit::Unlimited, _) => true,
            _ => false,
        };
        if beyond {
            return Err(Refusal::new(
                "threshold",
                "the threshold is not below the limit: packets would be lost before any is marked",
                "write a threshold of a seventh of the bandwidth-delay product and a limit well above \
                 it, as in threshold = \"20p\", limit = \"100p\"",
            ));
        }
        Ok(())
    }
}

/// State of a FIFO with a step threshold, as in switches for DCTCP (ns-2 RED with both thresholds
/// at K and a weight of 1).
#[derive(Clone, Debug)]
pub struct Step {
    config: StepConfig,
    waiting: Fifo,
}

impl Step {
    fn is_above_threshold(&self) -> bool {
        let backlog = self.waiting.backlog();
        match self.config.threshold {
            Limit::Packets(threshold) => backlog.packets > threshold,
            Limit::Bytes(threshold) => backlog.bytes > threshold,
            Limit::Unlimited => false,
        }
    }
}

impl QueueDiscipline for Step {
    #[inline]
    fn enqueue(&mut self, context: &mut Context<'_>, mut packet: Packet) {
        let fits = self
            .config
            .limit
            .admits(self.waiting.backlog(), context.frame_bytes(&packet));
        if fits && self.is_above_threshold() {
            let _ = context.mark(&mut packet, DropReason::Forced);
        }
        if let Err(packet) = self.waiting.push(context, self.config.limit, packet) {
            context.drop(packet, DropReason::Overlimit);
        }
    }

    #[inline]
    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        self.waiting.pop(context)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::Rig;
    use goodqueue_types::Ecn::{Capable0, Capable1, Experienced, NotCapable};

    #[test]
    fn arrivals_that_find_more_than_k_are_marked_and_none_is_lost_below_the_limit() {
        for (threshold, limit) in [
            (Limit::Packets(3), Limit::Packets(8)),
            (Limit::Bytes(3000), Limit::Bytes(8000)),
        ] {
            let mut rig = Rig::new(&StepConfig { limit, threshold });
            for ecn in [Capable0, Capable1, Capable0, Capable1, NotCapable] {
                rig.enqueue(1, 1000, ecn);
            }
            // The first arrivals found three packets or fewer. From the fifth on they find more.
            assert!(rig.verdicts.is_empty());
            rig.enqueue(5, 1000, Capable1);
            assert_eq!(rig.marks(DropReason::Forced), 3);
            assert_eq!(rig.drops(DropReason::Overlimit), 2, "dropped, not marked");
            let marked = std::iter::from_fn(|| rig.dequeue())
                .filter(|packet| packet.ecn == Experienced)
                .map(|packet| packet.number);
            assert_eq!(marked.collect::<Vec<_>>(), [5, 6, 7]);
        }
    }

    #[test]
    fn a_threshold_at_the_limit_is_refused() {
        let check = |threshold, limit| StepConfig { limit, threshold }.check(1500).is_ok();
        assert!(check(Limit::Packets(9), Limit::Packets(10)));
        assert!(!check(Limit::Packets(10), Limit::Packets(10)));
        assert!(!check(Limit::Unlimited, Limit::Packets(10)));
        assert!(check(Limit::Bytes(3000), Limit::Packets(10)));
    }
}
