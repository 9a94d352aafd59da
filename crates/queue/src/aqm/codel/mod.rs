//! `CoDel`, which drops at the head once the sojourn time has exceeded its target for an interval
//! (RFC 8289).

mod control_law;
mod params;

pub use control_law::{CodelQueue, CodelVars, newton_step, newton_step_16, scaled_interval};
pub use params::{CodelArithmetic, CodelParams, CountReuse, NextMark};

use crate::config::refuse_small_limit;
use crate::keys::LIMIT;
use crate::{
    Backlog, BuiltIn, Configuration, Context, Fifo, Limit, Qdisc, QueueDiscipline, Refusal,
};
use goodqueue_types::{DropReason, Packet, RandomStream, parameters};

parameters! {
    /// Parameters of `CoDel`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CodelConfig("codel") {
        limit: Limit = Limit::Packets(1_000) => LIMIT;
        codel: CodelParams = CodelParams::default();
    }
}

impl BuiltIn for CodelConfig {
    const QDISC: Qdisc = Qdisc::Named("codel");
}

impl CodelConfig {
    /// Returns the parameters of `tc qdisc add ... codel limit`.
    pub fn linux(limit: Limit) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Returns the parameters of RFC 8289 with exact arithmetic.
    pub fn rfc8289(limit: Limit) -> Self {
        Self {
            limit,
            codel: CodelParams::rfc8289(),
        }
    }

    /// Returns the parameters of ns-3's `CoDelQueueDisc`.
    pub fn ns3(limit: Limit) -> Self {
        Self {
            limit,
            codel: CodelParams::ns3(),
        }
    }
}

impl Configuration for CodelConfig {
    type Queue = Codel;

    fn build(&self, _random: &mut RandomStream) -> Codel {
        Codel {
            config: *self,
            vars: CodelVars::default(),
            waiting: Fifo::default(),
        }
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        refuse_small_limit(self.limit, frame_bytes)?;
        self.codel.check()
    }
}

/// State of a FIFO under `CoDel` (Linux `codel`, ns-3 `CoDelQueueDisc`).
#[derive(Clone, Debug)]
pub struct Codel {
    config: CodelConfig,
    vars: CodelVars,
    waiting: Fifo,
}

impl CodelQueue for Fifo {
    #[inline]
    fn pop(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        self.pop(context)
    }

    #[inline]
    fn backlog_bytes(&self) -> u64 {
        self.backlog().bytes
    }
}

impl QueueDiscipline for Codel {
    #[inline]
    fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet) {
        if let Err(packet) = self.waiting.push(context, self.config.limit, packet) {
            context.drop(packet, DropReason::Overlimit);
        }
    }

    #[inline]
    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        self.vars
            .dequeue(&self.config.codel, context, &mut self.waiting)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }
}

#[cfg(test)]
mod tests;
