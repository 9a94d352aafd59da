//! Queue disciplines: pure data structures in (now, packet) → (packet, drops, marks).
//!
//! A discipline knows neither links nor TCP; the simulator, and later a live emulator, gives it
//! a [`Context`] with the time, a random stream, the account its bytes are booked on, and a place
//! to put what it dropped or marked.

mod account;
mod drop_tail;
mod limit;

pub use account::BufferAccount;
pub use drop_tail::DropTail;
pub use limit::{Backlog, Limit};

use goodqueue_types::{DropReason, Packet, RandomStream, Time};

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
    /// Link-layer bytes added to each packet; they count in byte limits and on the wire.
    pub framing: u32,
    /// The link's own random stream.
    pub random: &'a mut RandomStream,
    /// The buffer that the queue draws on, its own or one shared by several ports.
    pub account: &'a mut BufferAccount,
    /// Drops and marks, in the order in which they happen; the caller empties it.
    pub verdicts: &'a mut Vec<Verdict>,
}

impl Context<'_> {
    /// The bytes this packet takes in the queue and on the wire.
    pub fn frame_bytes(&self, packet: &Packet) -> u64 {
        u64::from(packet.size) + u64::from(self.framing)
    }

    /// Reports a drop.
    pub fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.verdicts.push(Verdict::Dropped(packet, reason));
    }

    /// Reports a mark.
    pub fn mark(&mut self, packet: Packet, reason: DropReason) {
        self.verdicts.push(Verdict::Marked(packet, reason));
    }
}

/// A queue of packets waiting for a link. The packet in transmission has left it.
pub trait QueueDiscipline {
    /// Takes a packet, or drops it or others and says so in the context.
    fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet);

    /// Gives the next packet to transmit, if one may go now.
    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet>;

    /// When [`dequeue`](Self::dequeue) may next give a packet: `None` when empty, `now` when one
    /// is ready, later when a shaper holds it back. Any call to enqueue or dequeue may change it.
    fn next_ready(&self, now: Time) -> Option<Time>;

    /// Packets and frame bytes waiting.
    fn backlog(&self) -> Backlog;
}

/// The built-in disciplines, and any other behind [`Discipline::Custom`].
pub enum Discipline {
    /// First in, first out, tail drop.
    DropTail(DropTail),
    /// A discipline from outside this crate.
    Custom(Box<dyn QueueDiscipline + Send>),
}

impl QueueDiscipline for Discipline {
    fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet) {
        match self {
            Self::DropTail(queue) => queue.enqueue(context, packet),
            Self::Custom(queue) => queue.enqueue(context, packet),
        }
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        match self {
            Self::DropTail(queue) => queue.dequeue(context),
            Self::Custom(queue) => queue.dequeue(context),
        }
    }

    fn next_ready(&self, now: Time) -> Option<Time> {
        match self {
            Self::DropTail(queue) => queue.next_ready(now),
            Self::Custom(queue) => queue.next_ready(now),
        }
    }

    fn backlog(&self) -> Backlog {
        match self {
            Self::DropTail(queue) => queue.backlog(),
            Self::Custom(queue) => queue.backlog(),
        }
    }
}
