//! PI2 on a single queue, and the controller that it shares with `DualPI2`.

mod control;

pub(crate) use control::refuse_coupling;
pub use control::{Pi2Params, Pi2Vars};

use crate::config::refuse_small_limit;
use crate::keys::{COUPLING, ECN, LIMIT};
use crate::{
    Backlog, BuiltIn, Configuration, Context, Fifo, Limit, Qdisc, QueueDiscipline, Refusal,
};
use goodqueue_types::{DropReason, Ecn, Packet, RandomStream, parameters};

parameters! {
    /// Parameters of PI2. The defaults are those of the controller of Linux `dualpi2`.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Pi2Config("pi2") {
        limit: Limit = Limit::Unlimited => LIMIT.required();
        pi2: Pi2Params = Pi2Params::default();
        ecn: bool = false => ECN;
        /// k: factor on the base probability for scalable traffic, which is marked ECT(1). Other
        /// packets are hit with the square of the base probability.
        coupling: f64 = 2.0 => COUPLING;
    }
}

impl BuiltIn for Pi2Config {
    const QDISC: Qdisc = Qdisc::None(
        "PI2 on one queue has no equivalent: Linux has it only with two, as dualpi2",
        "write kind = \"dualpi2\"",
    );
}

impl Pi2Config {
    /// Returns the controller of Linux `dualpi2` for one queue.
    pub fn new(limit: Limit) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }
}

impl Configuration for Pi2Config {
    type Queue = Pi2;

    fn build(&self, _random: &mut RandomStream) -> Pi2 {
        Pi2 {
            config: *self,
            vars: Pi2Vars::new(&self.pi2),
            waiting: Fifo::default(),
        }
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        refuse_small_limit(self.limit, frame_bytes)?;
        refuse_coupling(self.coupling)?;
        self.pi2.check()
    }
}

/// State of a FIFO under PI2, which drops and marks on arrival.
#[derive(Clone, Debug)]
pub struct Pi2 {
    config: Pi2Config,
    vars: Pi2Vars,
    waiting: Fifo,
}

impl Pi2 {
    #[inline]
    fn catch_up(&mut self, context: &Context<'_>) {
        let oldest = self.waiting.head().map(|packet| packet.arrived);
        self.vars
            .catch_up(&self.config.pi2, context.now, oldest, 1.0);
    }

    /// Returns true if the arrival is dropped. A packet that is hit may be marked instead.
    fn drops(&self, context: &mut Context<'_>, packet: &mut Packet) -> bool {
        let Pi2Config {
            ecn, coupling, pi2, ..
        } = self.config;
        if self.waiting.backlog().bytes < 2 * pi2.mtu {
            return false;
        }
        let scalable = ecn && packet.ecn == Ecn::Capable1;
        let hit = if scalable {
            self.vars.hits_scalable(context.random, coupling)
        } else {
            self.vars.hits_classic(context.random)
        };
        hit && !(ecn && context.mark(packet, DropReason::Early))
    }
}

impl QueueDiscipline for Pi2 {
    fn enqueue(&mut self, context: &mut Context<'_>, mut packet: Packet) {
        self.catch_up(context);
        let bytes = context.frame_bytes(&packet);
        if self.config.limit.admits(self.waiting.backlog(), bytes)
            && self.drops(context, &mut packet)
        {
            context.drop(packet, DropReason::Early);
        } else if let Err(packet) = self.waiting.push(context, self.config.limit, packet) {
            context.drop(packet, DropReason::Overlimit);
        }
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        self.catch_up(context);
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
    use goodqueue_types::Ecn::{Capable0, Capable1, NotCapable};
    use goodqueue_types::Span;

    /// Sends 400 packets of one kind, one every millisecond, to a link that sends one every 1.25
    /// ms. Returns the numbers of drops and marks.
    fn hits(ecn: Ecn, config: Pi2Config) -> (usize, usize) {
        let mut rig = Rig::new(&config);
        for quarter in 0..1600 {
            rig.at(Span::from_micros(250) * quarter);
            if quarter % 4 == 0 {
                rig.enqueue(1, 1500, ecn);
            }
            if quarter % 5 == 0 {
                rig.dequeue();
            }
        }
        (rig.drops(DropReason::Early), rig.marks(DropReason::Early))
    }

    #[test]
    fn packets_that_cannot_be_marked_are_dropped() {
        let limit = Limit::Packets(1000);
        let off = Pi2Config::new(limit);
        let on = Pi2Config { ecn: true, ..off };
        for (ecn, config, marks) in [
            (Capable0, off, false),
            (Capable1, off, false),
            (NotCapable, on, false),
            (Capable0, on, true),
            (Capable1, on, true),
        ] {
            let (drops, marked) = hits(ecn, config);
            assert!(drops + marked > 0);
            assert_eq!((drops > 0, marked > 0), (!marks, marks), "{ecn:?}");
        }
        // The same base probability hits scalable packets far more often.
        assert!(hits(Capable1, on).1 > 2 * hits(Capable0, on).1);
    }

    #[test]
    fn the_limit_holds() {
        let mut rig = Rig::new(&Pi2Config::new(Limit::Packets(10)));
        rig.enqueue(12, 1500, NotCapable);
        assert_eq!((rig.waiting(), rig.drops(DropReason::Overlimit)), (10, 2));
    }
}
