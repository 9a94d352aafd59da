//! PIE: random early drops with a probability that holds the queueing delay (RFC 8033).

mod control;
mod params;

pub use control::PieVars;
pub(crate) use params::refuse_gains;
pub use params::{PieFlavour, PieParams};

use crate::config::refuse_small_limit;
use crate::keys::LIMIT;
use crate::{
    Backlog, BuiltIn, Configuration, Context, Fifo, Limit, Place, Qdisc, QueueDiscipline, Refusal,
};
use goodqueue_types::parameters::{Given, Parameters};
use goodqueue_types::{DropReason, Packet, RandomStream, Span, Time, parameters};

parameters! {
    /// Parameters of PIE.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PieConfig("pie") {
        limit: Limit = Limit::Packets(1_000) => LIMIT;
        pie: PieParams = PieParams::default();
    }
}

impl BuiltIn for PieConfig {
    const QDISC: Qdisc = Qdisc::Named("pie");

    fn read(given: &Given, _place: &Place) -> Result<Self, Refusal> {
        let mut config = Self {
            pie: PieParams::of_flavour(given),
            ..Self::default()
        };
        config.apply(given);
        Ok(config)
    }
}

impl PieConfig {
    /// Returns the parameters of `tc qdisc add ... pie limit`.
    pub fn linux(limit: Limit) -> Self {
        let pie = PieParams::linux();
        Self { limit, pie }
    }

    /// Returns the parameters of RFC 8033.
    pub fn rfc8033(limit: Limit) -> Self {
        let pie = PieParams::rfc8033();
        Self { limit, pie }
    }

    /// Returns the parameters of ns-3's `PieQueueDisc`.
    pub fn ns3(limit: Limit) -> Self {
        let pie = PieParams::ns3();
        Self { limit, pie }
    }
}

impl Configuration for PieConfig {
    type Queue = Pie;

    fn build(&self, _random: &mut RandomStream) -> Pie {
        Pie {
            config: *self,
            vars: PieVars::new(&self.pie),
            updates: Updates::new(self.pie.first_update(), self.pie.period()),
            waiting: Fifo::default(),
        }
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        refuse_small_limit(self.limit, frame_bytes)?;
        self.pie.check()
    }
}

/// Periodic timer whose updates are made at the next call.
#[derive(Clone, Copy, Debug)]
pub struct Updates {
    next: Time,
    period: Span,
}

impl Updates {
    /// Creates a timer with the time of its first update and its period.
    pub fn new(first: Time, period: Span) -> Self {
        Self {
            next: first,
            period,
        }
    }

    /// Calls `update` with the time of each update that is due. If `update` returns false, it has
    /// reached a fixed point, so later updates are skipped.
    #[inline]
    pub fn catch_up(&mut self, now: Time, mut update: impl FnMut(Time) -> bool) {
        while self.next <= now {
            let changed = update(self.next);
            self.next += self.period;
            if !changed && self.next <= now {
                let missed = (now - self.next).0 / self.period.0 + 1;
                self.next += self.period * missed;
            }
        }
    }
}

/// State of a FIFO under PIE (Linux `pie`, ns-3 `PieQueueDisc`).
#[derive(Clone, Debug)]
pub struct Pie {
    config: PieConfig,
    vars: PieVars,
    updates: Updates,
    waiting: Fifo,
}

impl Pie {
    #[inline]
    fn catch_up(&mut self, now: Time) {
        let (params, backlog) = (&self.config.pie, self.waiting.backlog().bytes);
        let vars = &mut self.vars;
        self.updates.catch_up(now, |_| vars.update(params, backlog));
    }
}

impl QueueDiscipline for Pie {
    fn enqueue(&mut self, context: &mut Context<'_>, mut packet: Packet) {
        self.catch_up(context.now);
        let params = &self.config.pie;
        let (backlog, bytes) = (self.waiting.backlog(), context.frame_bytes(&packet));
        let reason = if !self.config.limit.admits(backlog, bytes) {
            DropReason::Overlimit
        } else if self.vars.drop_early(params, context.random, backlog, bytes)
            && !(self.vars.may_mark(params) && context.mark(&mut packet, DropReason::Early))
        {
            DropReason::Early
        } else {
            match self.waiting.push(context, self.config.limit, packet) {
                Ok(()) => return,
                Err(_) => DropReason::Overlimit,
            }
        };
        self.vars.dropped();
        context.drop(packet, reason);
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        self.catch_up(context.now);
        let packet = self.waiting.pop(context)?;
        self.vars.departed(
            &self.config.pie,
            context.now,
            context.now - packet.arrived,
            context.frame_bytes(&packet),
            self.waiting.backlog().bytes,
        );
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }
}

#[cfg(test)]
mod tests;
