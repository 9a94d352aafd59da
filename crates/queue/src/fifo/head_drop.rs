//! Head drop: a FIFO in which an arrival that does not fit pushes out the packet that has waited
//! longest.

use crate::keys::LIMIT;
use crate::{Backlog, BuiltIn, Configuration, Context, Fifo, Limit, Qdisc, QueueDiscipline};
use goodqueue_types::{DropReason, Packet, RandomStream, parameters};

parameters! {
    /// Parameters of head drop.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct HeadDropConfig("drop_head") {
        limit: Limit = Limit::Unlimited => LIMIT.required();
    }
}

impl BuiltIn for HeadDropConfig {
    const QDISC: Qdisc = Qdisc::Named("pfifo_head_drop");
}

impl Configuration for HeadDropConfig {
    type Queue = HeadDrop;

    fn build(&self, _random: &mut RandomStream) -> HeadDrop {
        HeadDrop {
            limit: self.limit,
            waiting: Fifo::default(),
        }
    }
}

/// State of a FIFO that drops from its head (Linux `pfifo_head_drop`, or the same in bytes).
/// Senders learn of the loss sooner, and the packets sent are the more recent ones.
#[derive(Clone, Debug)]
pub struct HeadDrop {
    limit: Limit,
    waiting: Fifo,
}

impl QueueDiscipline for HeadDrop {
    fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet) {
        let bytes = context.frame_bytes(&packet);
        if !self.limit.admits(Backlog::default(), bytes) {
            return context.drop(packet, DropReason::Overlimit);
        }
        let mut offered = packet;
        while let Err(refused) = self.waiting.push(context, self.limit, offered) {
            // Linux drops one packet and takes one, which is the same for a limit in packets. With
            // a limit in bytes a large arrival may take the place of several small packets.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use crate::rig::Rig;
    use goodqueue_types::Ecn;

    fn numbers(rig: &mut Rig<HeadDrop>) -> (Vec<u64>, Vec<u64>) {
        let dropped = |verdict: &Verdict| match verdict {
            Verdict::Dropped(packet, DropReason::Overlimit) => packet.number,
            other => panic!("{other:?}"),
        };
        let dropped = rig.verdicts.iter().map(dropped).collect();
        let served = std::iter::from_fn(|| rig.dequeue()).map(|packet| packet.number);
        (dropped, served.collect())
    }

    #[test]
    fn the_oldest_packets_make_room_for_the_newest() {
        let mut rig = Rig::new(&HeadDropConfig {
            limit: Limit::Packets(3),
        });
        rig.enqueue(5, 1000, Ecn::NotCapable);
        assert_eq!(numbers(&mut rig), (vec![0, 1], vec![2, 3, 4]));
    }

    #[test]
    fn a_limit_in_bytes_drops_several_small_packets_for_a_large_one() {
        let mut rig = Rig::new(&HeadDropConfig {
            limit: Limit::Bytes(1000),
        });
        rig.enqueue(5, 200, Ecn::NotCapable);
        rig.enqueue(1, 500, Ecn::NotCapable);
        rig.enqueue(1, 1001, Ecn::NotCapable);
        assert_eq!(numbers(&mut rig), (vec![0, 1, 2, 6], vec![3, 4, 5]));
    }
}
