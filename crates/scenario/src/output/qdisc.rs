//! Queues of a scenario as commands of `tc`.

use crate::Scenario;
use crate::language::units::UnitError;
use goodqueue_queue::{Limit, QueueConfig};

impl Scenario {
    /// The commands that give a Linux device the queue of this link. With `fifo_in_bytes` a
    /// drop-tail queue counts bytes there even if it counts packets here: a packet limit of Linux
    /// counts aggregates.
    ///
    /// # Errors
    /// If there is no such link, or no such queue in Linux, and why.
    pub fn qdisc_commands(
        &self,
        link: &str,
        fifo_in_bytes: bool,
    ) -> Result<Vec<String>, UnitError> {
        self.check_queue(link)?;
        let frame_bytes = self.buffer(link)?.frame_bytes;
        let direction = self.topology.direction(self.find_link(link)?);
        let (framing, mut queue) = (direction.framing, direction.queue.clone());
        let fits = |packet: &u64| framing.frame_bytes(*packet as u32) <= frame_bytes;
        let packet_bytes = (1..=frame_bytes).rev().find(fits).unwrap_or(frame_bytes);
        if let (QueueConfig::DropTail(fifo), true) = (&mut queue, fifo_in_bytes)
            && let Limit::Packets(packets) = fifo.limit
        {
            fifo.limit = Limit::Bytes(packets * frame_bytes);
        }
        goodqueue_tc::state_framing(&mut queue, framing);
        goodqueue_tc::qdisc_commands(&queue, frame_bytes, packet_bytes)
    }
}
