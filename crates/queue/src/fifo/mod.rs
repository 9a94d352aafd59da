//! The FIFO on which most disciplines are built.

pub mod drop_tail;
pub mod head_drop;
pub mod step;

use crate::{Backlog, Context, Limit};
use goodqueue_types::Packet;
use std::collections::VecDeque;

/// Packets in order of arrival, whose bytes are booked on the context's account.
#[derive(Clone, Debug, Default)]
pub struct Fifo {
    packets: VecDeque<Packet>,
    backlog: Backlog,
}

impl Fifo {
    /// Appends a packet if it fits into the limit and the buffer.
    ///
    /// # Errors
    /// Returns the packet if it does not fit.
    #[inline]
    pub fn push(
        &mut self,
        context: &mut Context<'_>,
        limit: Limit,
        packet: Packet,
    ) -> Result<(), Packet> {
        let bytes = context.frame_bytes(&packet);
        if !limit.admits(self.backlog, bytes) || !context.account.reserve(bytes) {
            return Err(packet);
        }
        self.backlog.add(bytes);
        self.packets.push_back(packet);
        Ok(())
    }

    /// Removes and returns the packet that has waited longest.
    #[inline]
    pub fn pop(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.release(context, &packet);
        Some(packet)
    }

    /// Removes and returns the packet that arrived last.
    pub fn pop_back(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        let packet = self.packets.pop_back()?;
        self.release(context, &packet);
        Some(packet)
    }

    /// Removes and returns the packet at this place, counted from the head.
    pub fn remove(&mut self, context: &mut Context<'_>, place: usize) -> Option<Packet> {
        let packet = self.packets.remove(place)?;
        self.release(context, &packet);
        Some(packet)
    }

    /// Returns the packet at this place, counted from the head.
    pub fn get(&self, place: usize) -> Option<&Packet> {
        self.packets.get(place)
    }

    #[inline]
    fn release(&mut self, context: &mut Context<'_>, packet: &Packet) {
        let bytes = context.frame_bytes(packet);
        self.backlog.remove(bytes);
        context.account.release(bytes);
    }

    /// Returns the packet that has waited longest.
    #[inline]
    pub fn head(&self) -> Option<&Packet> {
        self.packets.front()
    }

    /// Returns the packets and frame bytes that wait.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Returns true if no packet waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }
}
