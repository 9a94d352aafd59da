//! A queue discipline that does at random everything that a discipline may do. Tests use it to
//! compare the engines.

use goodqueue_queue::{Backlog, Context, CustomQueue, Fifo, Limit, QueueConfig, QueueDiscipline};
use goodqueue_types::{DropReason, Packet, Span, Time};
use std::sync::Arc;

/// A queue that sends the newest packet first, drops early and late, marks packets, and pauses
/// between packets.
#[derive(Clone, Debug)]
struct MoodyQueue {
    limit: Limit,
    waiting: Fifo,
    rests_until: Time,
}

/// Returns the configuration of a queue that does at random everything that a queue may do.
pub fn moody_queue(limit: Limit) -> QueueConfig {
    QueueConfig::Custom(CustomQueue {
        name: "moody",
        make: Arc::new(move || {
            Box::new(MoodyQueue {
                limit,
                waiting: Fifo::default(),
                rests_until: Time::ZERO,
            })
        }),
        limit,
    })
}

impl QueueDiscipline for MoodyQueue {
    fn enqueue(&mut self, context: &mut Context<'_>, mut packet: Packet) {
        if context.random.unit() < 0.05 {
            return context.drop(packet, DropReason::Early);
        }
        let marked = context.random.unit() < 0.1 && context.mark(&mut packet, DropReason::Early);
        if marked && let Some(victim) = self.waiting.pop(context) {
            context.drop(victim, DropReason::Forced);
        }
        if let Err(packet) = self.waiting.push(context, self.limit, packet) {
            context.drop(packet, DropReason::Overlimit);
        }
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        if context.now < self.rests_until {
            return None;
        }
        while context.random.unit() < 0.1 {
            let victim = self.waiting.pop(context)?;
            context.drop(victim, DropReason::TargetExceeded);
        }
        if context.random.unit() < 0.2 {
            self.rests_until = context.now + Span::from_micros(500);
        }
        self.waiting.pop(context)
    }

    fn next_ready(&self, now: Time) -> Option<Time> {
        (!self.waiting.is_empty()).then(|| self.rests_until.max(now))
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }
}
