//! Queue disciplines: pure data structures in (now, packet) → (packet, drops, marks).
//!
//! A discipline knows neither links nor TCP; the simulator, and later a live emulator, gives it
//! a [`Context`] with the time, a random stream, the account its bytes are booked on, and a place
//! to put what it dropped or marked.

mod account;
mod blue;
mod bucket;
mod cake;
mod codel;
mod config;
pub mod conformance;
mod discipline;
mod drop_tail;
mod drr;
mod dualpi2;
mod examples;
mod fifo;
mod flows;
mod fpq;
mod fq_codel;
mod fq_pie;
mod head_drop;
mod limit;
mod pi2;
mod pie;
mod pool;
mod prio;
mod red;
#[cfg(test)]
mod rig;
mod sfq;
mod step;
mod tbf;

pub use account::{BufferAccount, BufferPool, Sharing};
pub use blue::{Blue, BlueConfig};
pub use cake::{Cake, CakeConfig, CakeDiffserv, CakeFirstInterval, CakeIsolation, CakeWays};
pub use codel::{
    Codel, CodelArithmetic, CodelConfig, CodelParams, CodelQueue, CodelVars, CountReuse, NextMark,
    newton_step, newton_step_16, scaled_interval,
};
pub use config::{Configuration, CustomQueue, Refusal};
pub use discipline::{Discipline, QueueConfig};
pub use drop_tail::{DropTail, DropTailConfig};
pub use drr::{Drr, DrrConfig};
pub use dualpi2::{DualPi2, DualPi2Config, DualScheduler, StepThreshold};
pub use examples::examples;
pub use fifo::Fifo;
pub use flows::truesize;
pub use fpq::{FlowCount, Fpq, FpqConfig, FpqControl, target_loss};
pub use fq_codel::{ComparedBacklog, FqCodel, FqCodelConfig};
pub use fq_pie::{FqPie, FqPieConfig};
pub use head_drop::{HeadDrop, HeadDropConfig};
pub use limit::{Backlog, Limit};
pub use pi2::{Pi2, Pi2Config, Pi2Params, Pi2Vars};
pub use pie::{Pie, PieConfig, PieFlavour, PieParams, PieVars, Updates};
pub use pool::{Chain, PacketPool};
pub use prio::{Prio, PrioConfig, PrioMap};
pub use red::{
    LinuxRed, LinuxRedConfig, Red, RedAdaptation, RedConfig, RedDecision, RedLaw, RedLink, RedUnit,
    red_plog, red_wlog,
};
pub use sfq::{Sfq, SfqConfig};
pub use step::{Step, StepConfig};
pub use tbf::{Tbf, TbfConfig, TbfPeak};

use goodqueue_types::{DropReason, Ecn, Framing, Packet, RandomStream, Time};
use std::fmt::Debug;

/// What a discipline did to a packet besides queueing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet is gone, for this reason.
    Dropped(Packet, DropReason),
    /// The packet stays and now carries a congestion mark, for this reason.
    Marked(Packet, DropReason),
}

/// What a discipline is given at each call.
#[derive(Debug)]
pub struct Context<'a> {
    /// The time of the call; never earlier than at the call before.
    pub now: Time,
    /// What the link layer adds to each packet; it counts in byte limits and on the wire.
    pub framing: Framing,
    /// The link's own random stream.
    pub random: &'a mut RandomStream,
    /// The buffer that the queue draws on, its own or one shared by several ports.
    pub account: BufferAccount<'a>,
    /// Drops and marks, in the order in which they happen; the caller empties it.
    pub verdicts: &'a mut Vec<Verdict>,
}

impl Context<'_> {
    /// The bytes this packet takes in the queue and on the wire.
    #[inline]
    pub fn frame_bytes(&self, packet: &Packet) -> u64 {
        self.framing.frame_bytes(packet.size)
    }

    /// Reports a drop.
    pub fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.verdicts.push(Verdict::Dropped(packet, reason));
    }

    /// Marks a packet and reports it, if its sender understands marks (RFC 3168 section 5); false
    /// and nothing else if it does not. A packet that is marked already counts again: this queue,
    /// too, would have it slow down.
    #[must_use]
    pub fn mark(&mut self, packet: &mut Packet, reason: DropReason) -> bool {
        let capable = packet.ecn.is_capable();
        if capable {
            packet.ecn = Ecn::Experienced;
            self.verdicts.push(Verdict::Marked(*packet, reason));
        }
        capable
    }
}

/// A queue of packets waiting for a link. The packet in transmission has left it.
///
/// Each packet says when it [arrived](Packet::arrived) at the queue. What a discipline does with
/// timers (periodic updates) it catches up on at the next call: between two calls nothing changes
/// that an update could see.
pub trait QueueDiscipline: Debug + Send {
    /// Takes a packet, or drops it or others and says so in the context.
    fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet);

    /// Gives the next packet to transmit, if one may go now. It is also called, and gives none,
    /// when the link becomes idle.
    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet>;

    /// When [`dequeue`](Self::dequeue) may next give a packet: `None` when empty, `now` when one
    /// is ready, later when a shaper holds it back. Any call to enqueue or dequeue may change it.
    fn next_ready(&self, now: Time) -> Option<Time> {
        (self.backlog().packets > 0).then_some(now)
    }

    /// Packets and frame bytes waiting.
    fn backlog(&self) -> Backlog;

    /// Whether an idle link sends an arrival at once, without asking the queue, when nothing
    /// waits. Then even a queue that may hold nothing lets packets through.
    fn is_bypassed_when_idle(&self) -> bool {
        false
    }

    /// The average backlog that the discipline goes by, in its own unit (packets or bytes), if it
    /// keeps one.
    fn average(&self) -> Option<f64> {
        None
    }

    /// The same queue in the same state.
    fn boxed_clone(&self) -> Box<dyn QueueDiscipline>;
}

impl Clone for Box<dyn QueueDiscipline> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}
