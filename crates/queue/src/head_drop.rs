//! Head drop: first in, first out, and what does not fit pushes out what has waited longest.

use crate::{Backlog, Configuration, Context, Fifo, Limit, QueueDiscipline};
use goodqueue_types::{DropReason, Packet, RandomStream};

/// What head drop can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadDropConfig {
    /// The most that may wait (tc `limit`).
    pub limit: Limit,
}

impl Configuration for HeadDropConfig {
    type Queue = HeadDrop;

    fn build(&self, _random: &mut RandomStream) -> HeadDrop {
        HeadDrop {
            limit: self.limit,
            waiting: Fifo::default(),
        }
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }
}

/// A FIFO that drops from its head (Linux `pfifo_head_drop`, and the same in bytes): senders learn
/// of the loss sooner, and what is sent is fresh.
#[derive(Clone, Debug)]
pub struct HeadDrop {
    limit: Limit,
    waiting: Fifo,
}

impl QueueDiscipline for HeadDrop {
    fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet) {
        let mut offered = packet;
        while let Err(refused) = self.waiting.push(context, self.limit, offered) {
            // Linux drops one and takes one: in packets that is the same. In bytes a large
            // arrival may take the place of several small packets.
            match self.waiting.pop(context) {
                Some(oldest) => context.drop(oldest, DropReason::Overlimit),
                None => return context.drop(refused, DropReason::Overlimit),
            }
            offered = refused;
        }
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        self.waiting.pop(context)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn boxed_clone(&self) -> Box<dyn QueueDiscipline> {
        Box::new(self.clone())
    }
}
