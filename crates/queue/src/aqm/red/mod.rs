//! Random early detection (Floyd and Jacobson, 1993), as in ns-2 and as in Linux.

mod choke;
mod config;
mod kernel;
mod law;
mod linux;
mod tc;
#[cfg(test)]
mod tests;

pub use choke::{Choke, ChokeConfig};
pub(crate) use config::check_probability;
pub use config::{RedAdaptation, RedConfig, RedLink, RedUnit};
pub use law::{RedDecision, RedLaw};
pub use linux::{LinuxRed, LinuxRedConfig};
pub use tc::red_wlog;

use crate::{Backlog, Context, Fifo, Limit, QueueDiscipline};
use goodqueue_types::{DropReason, Packet};

/// State of RED in floating point, with ns-2's switches.
#[derive(Clone, Debug)]
pub struct Red {
    law: RedLaw,
    waiting: Fifo,
}

impl Red {
    pub(crate) fn new(config: RedConfig) -> Self {
        Self {
            law: RedLaw::new(config),
            waiting: Fifo::default(),
        }
    }

    fn overflow(&mut self, context: &mut Context<'_>, packet: Packet) {
        self.law.restart_count();
        context.drop(packet, DropReason::Overlimit);
    }

    /// Returns the control law in its present state.
    pub fn law(&self) -> &RedLaw {
        &self.law
    }
}

impl QueueDiscipline for Red {
    fn enqueue(&mut self, context: &mut Context<'_>, mut packet: Packet) {
        let RedConfig {
            limit,
            mark_below,
            ecn,
            ..
        } = *self.law.config();
        let (backlog, bytes) = (self.waiting.backlog(), context.frame_bytes(&packet));
        let decision = self.law.arrive(context.now, backlog, bytes, context.random);
        // An arrival that finds the queue full is lost for that reason, whatever the law decided.
        if limit.is_reached_by(backlog) {
            return self.overflow(context, packet);
        }
        match decision {
            RedDecision::Pass => {}
            RedDecision::Early(probability) => {
                let may_mark = mark_below.is_none_or(|bound| probability < bound);
                if !(ecn && may_mark && context.mark(&mut packet, DropReason::Early)) {
                    return context.drop(packet, DropReason::Early);
                }
            }
            RedDecision::Forced => {
                self.law.restart_count();
                return context.drop(packet, DropReason::Forced);
            }
        }
        // The packet may exceed the limit, but a shared buffer may have no room for it.
        if let Err(packet) = self.waiting.push(context, Limit::Unlimited, packet) {
            self.overflow(context, packet);
        }
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        let packet = self.waiting.pop(context);
        if packet.is_none() {
            self.law.idle(context.now);
        }
        packet
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn average(&self) -> Option<f64> {
        Some(self.law.average())
    }
}
