//! PI2 on a single queue, and the controller that `DualPI2` shares.

mod control;

pub(crate) use control::refuse_coupling;
pub use control::{Pi2Params, Pi2Vars};

use crate::config::refuse_small_limit;
use crate::{Backlog, Configuration, Context, Fifo, Limit, QueueDiscipline, Refusal};
use goodqueue_types::{DropReason, Ecn, Packet, RandomStream};

/// What PI2 can be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pi2Config {
    /// The most that may wait.
    pub limit: Limit,
    /// The controller's parameters.
    pub pi2: Pi2Params,
    /// Whether ECN-capable packets are marked instead of dropped (`ecn`). Default no.
    pub ecn: bool,
    /// k: packets with ECT(1) are scalable traffic and marked with k times the probability whose
    /// square the others see (`coupling`). Default 2.
    pub coupling: f64,
}

impl Pi2Config {
    /// The controller as Linux `dualpi2` has it, on one queue.
    pub const fn new(limit: Limit) -> Self {
        Self {
            limit,
            pi2: Pi2Params::linux(),
            ecn: false,
            coupling: 2.0,
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

    fn limit(&self) -> Limit {
        self.limit
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        refuse_small_limit(self.limit, frame_bytes)?;
        refuse_coupling(self.coupling)?;
        self.pi2.check()
    }
}

/// A FIFO under PI2: drops and marks on arrival.
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

    /// Whether the arrival is lost; it may have been marked instead.
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

    fn boxed_clone(&self) -> Box<dyn QueueDiscipline> {
        Box::new(self.clone())
    }
}
