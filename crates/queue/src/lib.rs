//! Queue disciplines as pure data structures: (now, packet) → (packet, drops, marks).
//!
//! A discipline depends neither on links nor on TCP. Its caller, the simulator, gives it a
//! [`Context`] with the time, a random stream, the account on which its bytes are booked, and a
//! list for the packets that it drops or marks.

mod account;
mod aqm;
mod config;
pub mod conformance;
mod discipline;
mod examples;
mod fair;
mod fifo;
mod keys;
mod limit;
mod python;
#[cfg(test)]
mod rig;
mod shaper;

pub use account::{BufferAccount, BufferPool, Sharing};
pub use aqm::blue::{Blue, BlueConfig};
pub use aqm::codel::{
    Codel, CodelArithmetic, CodelConfig, CodelParams, CodelQueue, CodelVars, CountReuse, NextMark,
    newton_step, newton_step_16, scaled_interval,
};
pub use aqm::dualpi2::{DualPi2, DualPi2Config, DualScheduler, StepThreshold};
pub use aqm::pi2::{Pi2, Pi2Config, Pi2Params, Pi2Vars};
pub use aqm::pie::{Pie, PieConfig, PieFlavour, PieParams, PieVars, Updates};
pub use aqm::red::{
    Choke, ChokeConfig, LinuxRed, LinuxRedConfig, Red, RedAdaptation, RedConfig, RedDecision,
    RedLaw, RedLink, RedUnit, red_wlog,
};
pub use config::{BuiltIn, Configuration, CustomQueue, Exclusive, Ignored, Place, Qdisc};
pub use discipline::{Discipline, QueueConfig};
pub use examples::examples;
pub use fair::cake::{
    Cake, CakeCells, CakeConfig, CakeDiffserv, CakeFirstInterval, CakeFraming, CakeIsolation,
    CakeWays,
};
pub use fair::drr::{Drr, DrrConfig};
pub use fair::flows::truesize;
pub use fair::fpq::{FlowCount, Fpq, FpqConfig, FpqControl, target_loss};
pub use fair::fq_codel::{ComparedBacklog, FqCodel, FqCodelConfig, ThresholdSelector};
pub use fair::fq_pie::{FqPie, FqPieConfig};
pub use fair::pool::{Chain, PacketPool};
pub use fair::prio::{Prio, PrioConfig, PrioMap};
pub use fair::sfq::{Sfq, SfqConfig};
pub use fifo::Fifo;
pub use fifo::drop_tail::{DropTail, DropTailConfig};
pub use fifo::head_drop::{HeadDrop, HeadDropConfig};
pub use fifo::step::{Step, StepConfig};
pub use goodqueue_types::parameters::Refusal;
pub use limit::{Backlog, Limit};
pub use python::PythonQueueConfig;
pub use shaper::htb::{Htb, HtbClass, HtbConfig};
pub use shaper::policer::{Policer, PolicerConfig};
pub use shaper::tbf::{Inner, Tbf, TbfConfig, TbfPeak};

use goodqueue_types::{DropReason, Ecn, Framing, Packet, RandomStream, Rate, Time};
use std::fmt;

/// Action of a discipline on a packet other than queueing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet was dropped, for this reason.
    Dropped(Packet, DropReason),
    /// The packet stays in the queue and now carries a congestion mark, for this reason.
    Marked(Packet, DropReason),
}

/// Environment that a discipline gets at each call.
#[derive(Debug)]
pub struct Context<'a> {
    /// Time of the call, never earlier than at the call before.
    pub now: Time,
    /// Framing that the link layer adds to each packet. The framing counts in byte limits and in
    /// transmission times.
    pub framing: Framing,
    /// Random stream of the link.
    pub random: &'a mut RandomStream,
    /// Account in the buffer that the queue uses, its own or one shared by several ports.
    pub account: BufferAccount<'a>,
    /// Drops and marks, in the order in which they happen. The caller empties the list.
    pub verdicts: &'a mut Vec<Verdict>,
    /// Count of the packets that the queue made of super-segments, beyond those that arrived.
    pub split: &'a mut u64,
}

impl Context<'_> {
    /// Returns the bytes that a packet takes in the queue and on the wire.
    #[inline]
    pub fn frame_bytes(&self, packet: &Packet) -> u64 {
        packet.frame_bytes(self.framing)
    }

    /// Returns the packets on the wire of a super-segment that the queue splits, and counts them.
    pub fn split(&mut self, packet: &Packet) -> impl Iterator<Item = Packet> + use<> {
        *self.split += u64::from(packet.segments() - 1);
        packet.pieces()
    }

    /// Reports a drop.
    pub fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.verdicts.push(Verdict::Dropped(packet, reason));
    }

    /// Marks and reports a packet and returns true if its sender is ECN-capable (RFC 3168 section
    /// 5). Otherwise returns false and does nothing. A packet that is already marked is reported
    /// again, because this queue also wants its sender to slow down.
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

/// Prints no state: code that prints the state of each discipline would be a part of every program.
impl fmt::Debug for dyn QueueDiscipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a queue discipline")
    }
}

/// Queue of packets that wait for a link. The packet in transmission has left it.
///
/// Each packet carries the time of its [arrival](Packet::arrived) at the queue. A discipline with
/// timers makes its periodic updates at the next call: between two calls nothing changes that an
/// update could see.
pub trait QueueDiscipline: BoxedClone + Send {
    /// Queues a packet, or drops it or other packets and reports the drops in the context.
    fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet);

    /// Returns the next packet to transmit, or none if the queue is empty or holds its packets
    /// back. The link also calls it when it becomes idle, and then gets none.
    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet>;

    /// Returns the time at which [`dequeue`](Self::dequeue) may next give a packet: `None` if the
    /// queue is empty, `now` if a packet is ready, later if a shaper holds it back. Any call to
    /// enqueue or dequeue may change it.
    fn next_ready(&self, now: Time) -> Option<Time> {
        (self.backlog().packets > 0).then_some(now)
    }

    /// Returns the packets and frame bytes that wait.
    fn backlog(&self) -> Backlog;

    /// Returns true if an idle link sends an arrival at once, without the queue, when no packet
    /// waits. With this rule packets pass even if the limit is zero.
    fn is_bypassed_when_idle(&self) -> bool {
        false
    }

    /// Returns the average backlog that the discipline uses, in its own unit (packets or bytes), or
    /// none if it keeps no average.
    fn average(&self) -> Option<f64> {
        None
    }

    /// Gives a shaper another rate, as `tc qdisc change` does. Only [`Cake`] has such a rate; the time
    /// at which it may send its next packet stays.
    fn set_rate(&mut self, _rate: Rate) {}
}

/// Copy of a queue in the same state, behind a pointer. Every discipline that is `Clone` has it.
pub trait BoxedClone {
    /// Returns the copy.
    fn boxed_clone(&self) -> Box<dyn QueueDiscipline>;
}

impl<T: QueueDiscipline + Clone + 'static> BoxedClone for T {
    fn boxed_clone(&self) -> Box<dyn QueueDiscipline> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn QueueDiscipline> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}
