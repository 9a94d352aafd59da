//! Drop tail: first in, first out, and what does not fit is lost.

use crate::{Backlog, Context, Limit, QueueDiscipline};
use goodqueue_types::{DropReason, Packet, Time};
use std::collections::VecDeque;

/// A FIFO that drops arrivals beyond its limit (Linux `pfifo` and `bfifo`, INET `DropTailQueue`).
#[derive(Clone, Debug)]
pub struct DropTail {
    limit: Limit,
    waiting: VecDeque<Packet>,
    backlog: Backlog,
}

impl DropTail {
    /// An empty queue with this limit.
    pub fn new(limit: Limit) -> Self {
        Self {
            limit,
            waiting: VecDeque::new(),
            backlog: Backlog::default(),
        }
    }
}

impl QueueDiscipline for DropTail {
    fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet) {
        let bytes = context.frame_bytes(&packet);
        if self.limit.admits(self.backlog, bytes) && context.account.reserve(bytes) {
            self.backlog.add(bytes);
            self.waiting.push_back(packet);
        } else {
            context.drop(packet, DropReason::Overlimit);
        }
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        let packet = self.waiting.pop_front()?;
        let bytes = context.frame_bytes(&packet);
        self.backlog.remove(bytes);
        context.account.release(bytes);
        Some(packet)
    }

    fn next_ready(&self, now: Time) -> Option<Time> {
        (!self.waiting.is_empty()).then_some(now)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BufferAccount, Verdict};
    use goodqueue_types::{Body, Direction, Ecn, FlowId, RandomStream};

    fn packet(number: u64, size: u32) -> Packet {
        Packet {
            flow: FlowId(0),
            direction: Direction::Forward,
            ecn: Ecn::NotCapable,
            size,
            number,
            sent: Time::ZERO,
            body: Body::Datagram,
        }
    }

    /// Offers packets of these sizes and returns (numbers dropped, numbers served).
    fn offer(limit: Limit, capacity: u64, sizes: &[u32]) -> (Vec<u64>, Vec<u64>) {
        let mut queue = DropTail::new(limit);
        let mut random = RandomStream::new(1, "test", 0);
        let mut account = BufferAccount::of(capacity);
        let mut verdicts = Vec::new();
        let mut context = Context {
            now: Time::ZERO,
            framing: 10,
            random: &mut random,
            account: &mut account,
            verdicts: &mut verdicts,
        };
        for (number, size) in sizes.iter().enumerate() {
            queue.enqueue(&mut context, packet(number as u64, *size));
        }
        assert_eq!(context.account.used(), queue.backlog().bytes);
        assert_eq!(
            queue.next_ready(Time(3)).is_some(),
            queue.backlog().packets > 0
        );
        let served = std::iter::from_fn(|| queue.dequeue(&mut context))
            .map(|p| p.number)
            .collect();
        assert_eq!(queue.backlog(), Backlog::default());
        assert_eq!(account.used(), 0);
        let dropped = verdicts
            .iter()
            .map(|verdict| match verdict {
                Verdict::Dropped(packet, DropReason::Overlimit) => packet.number,
                other => panic!("{other:?}"),
            })
            .collect();
        (dropped, served)
    }

    #[test]
    fn packets_beyond_the_limit_are_lost_and_the_rest_keep_their_order() {
        let (dropped, served) = offer(Limit::Packets(2), u64::MAX, &[100, 100, 100, 100]);
        assert_eq!((dropped, served), (vec![2, 3], vec![0, 1]));
    }

    #[test]
    fn byte_limits_count_framing_and_let_a_small_packet_in_after_a_large_one_was_refused() {
        let (dropped, served) = offer(Limit::Bytes(1000), u64::MAX, &[490, 500, 480]);
        assert_eq!((dropped, served), (vec![1], vec![0, 2]));
    }

    #[test]
    fn a_full_shared_buffer_drops_before_the_limit_does() {
        let (dropped, served) = offer(Limit::Packets(9), 250, &[90, 90, 90]);
        assert_eq!((dropped, served), (vec![2], vec![0, 1]));
    }
}
