//! Helpers for tests of the fair queues, in addition to [`Rig`].

use crate::rig::Rig;
use crate::{QueueDiscipline, Verdict};
use goodqueue_types::{Body, DropReason, FlowId, Hosts, Packet};

/// Returns a datagram of a flow that has a client host of its own.
pub fn packet(flow: u32, number: u64, size: u32) -> Packet {
    Packet {
        flow: FlowId(flow),
        hosts: Hosts {
            client: flow as u16,
            server: 0,
        },
        number,
        size,
        body: Body::Datagram,
        ..Packet::default()
    }
}

/// Flow and number of a packet.
pub type Name = (u32, u64);

fn name(packet: &Packet) -> Name {
    (packet.flow.0, packet.number)
}

impl<Q: QueueDiscipline> Rig<Q> {
    /// Offers one packet, which arrives now.
    pub fn offer(&mut self, packet: Packet) {
        let packet = Packet {
            arrived: self.now,
            ..packet
        };
        self.call(|queue, context| queue.enqueue(context, packet));
    }

    /// Returns the packet that is sent next.
    pub fn next(&mut self) -> Option<Name> {
        self.dequeue().as_ref().map(name)
    }

    /// Returns the packets that are sent until none waits.
    pub fn rest(&mut self) -> Vec<Name> {
        std::iter::from_fn(|| self.next()).collect()
    }

    /// Returns the packets that were dropped for this reason so far.
    pub fn dropped(&self, reason: DropReason) -> Vec<Name> {
        let gone = |verdict: &Verdict| match verdict {
            Verdict::Dropped(packet, why) if *why == reason => Some(name(packet)),
            _ => None,
        };
        self.verdicts.iter().filter_map(gone).collect()
    }
}
