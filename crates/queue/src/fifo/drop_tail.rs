//! Drop tail: a FIFO that drops arrivals which do not fit.

use crate::keys::LIMIT;
use crate::{
    Backlog, BuiltIn, Configuration, Context, Fifo, Limit, Qdisc, QueueDiscipline, Refusal,
};
use goodqueue_types::parameters::Tc;
use goodqueue_types::{DropReason, Packet, RandomStream, parameters};

parameters! {
    /// Parameters of drop tail.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DropTailConfig("drop_tail") {
        limit: Limit = Limit::Unlimited => LIMIT.required().in_tc(Tc::Hook);
    }
}

impl BuiltIn for DropTailConfig {
    const QDISC: Qdisc = Qdisc::Named("pfifo");

    fn qdisc(&self) -> Qdisc {
        match self.limit {
            Limit::Packets(_) => Qdisc::Named("pfifo"),
            Limit::Bytes(_) => Qdisc::Named("bfifo"),
            Limit::Unlimited => Qdisc::None(
                "no fifo of Linux is without a limit",
                "write a limit, as in limit = \"1000p\"",
            ),
        }
    }
}

impl Configuration for DropTailConfig {
    type Queue = DropTail;

    fn build(&self, _random: &mut RandomStream) -> DropTail {
        DropTail {
            limit: self.limit,
            waiting: Fifo::default(),
        }
    }

    /// Accepts any limit. A packet that finds the link idle bypasses the queue, so a link works
    /// even with a limit of zero.
    fn check(&self, _frame_bytes: u64) -> Result<(), Refusal> {
        Ok(())
    }
}

/// State of a FIFO that drops arrivals beyond its limit (Linux `pfifo` and `bfifo`, INET
/// `DropTailQueue`).
#[derive(Clone, Debug)]
pub struct DropTail {
    limit: Limit,
    waiting: Fifo,
}

impl QueueDiscipline for DropTail {
    #[inline]
    fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet) {
        if let Err(packet) = self.waiting.push(context, self.limit, packet) {
            context.drop(packet, DropReason::Overlimit);
        }
    }

    #[inline]
    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        self.waiting.pop(context)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn is_bypassed_when_idle(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::Rig;
    use crate::{BufferPool, Verdict};
    use goodqueue_types::{Body, Framing, Time};

    fn packet(number: u64, size: u32) -> Packet {
        Packet {
            size,
            number,
            body: Body::Datagram,
            ..Packet::default()
        }
    }

    /// Offers packets of these sizes and returns (numbers dropped, numbers served).
    fn offer(limit: Limit, capacity: u64, sizes: &[u32]) -> (Vec<u64>, Vec<u64>) {
        let mut random = RandomStream::new(1, "test", 0);
        let mut queue = DropTailConfig { limit }.build(&mut random);
        let mut pool = BufferPool::new(capacity, 1);
        let mut verdicts = Vec::new();
        let mut context = Context {
            now: Time::ZERO,
            framing: Framing::bytes(10),
            random: &mut random,
            account: pool.account(0),
            verdicts: &mut verdicts,
            split: &mut 0,
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
        assert_eq!(pool.used(), 0);
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

    /// `pfifo` counts a super-segment once, `bfifo` counts the bytes of all its frames
    /// (`qdisc_pkt_len_init`).
    #[test]
    fn a_super_segment_is_one_packet_with_the_bytes_of_its_frames() {
        let waiting = |limit| {
            let mut rig = Rig::new(&DropTailConfig { limit });
            rig.framing = Framing::bytes(14);
            (0..3).for_each(|_| rig.enqueue_super(40, 1_460));
            (rig.queue.backlog().packets, rig.verdicts.len())
        };
        let bytes = 40 * 1_514;
        assert_eq!(waiting(Limit::Packets(2)), (2, 1));
        assert_eq!(waiting(Limit::Bytes(2 * bytes)), (2, 1));
        assert_eq!(waiting(Limit::Bytes(2 * bytes - 1)), (1, 2));
    }
}
