//! A queue discipline: a FIFO that does not send packets that waited for too long.

use std::sync::Arc;

use goodqueue_queue::{Backlog, Context, CustomQueue, Fifo, Limit, QueueConfig, QueueDiscipline};
use goodqueue_types::{DropReason, Packet, Span};

/// A FIFO whose packets are dropped at the head if they have waited for longer than a bound. The last
/// packet is always sent, so that the link is not idle.
#[derive(Clone, Debug)]
pub struct Stale {
    waiting: Fifo,
    limit: Limit,
    longest: Span,
}

/// Returns the queue for `Network::set_queue`: its limit in packets, and the longest wait.
pub fn stale(packets: u64, longest: Span) -> QueueConfig {
    let limit = Limit::Packets(packets);
    QueueConfig::Custom(CustomQueue {
        name: "stale",
        make: Arc::new(move || {
            Box::new(Stale {
                waiting: Fifo::default(),
                limit,
                longest,
            })
        }),
        limit,
    })
}

impl QueueDiscipline for Stale {
    fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet) {
        if let Err(packet) = self.waiting.push(context, self.limit, packet) {
            context.drop(packet, DropReason::Overlimit);
        }
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        loop {
            let packet = self.waiting.pop(context)?;
            let is_last = self.waiting.backlog().packets == 0;
            if is_last || context.now - packet.arrived <= self.longest {
                return Some(packet);
            }
            context.drop(packet, DropReason::TargetExceeded);
        }
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }
}
