//! Many FIFOs in one pool of packets, so that a thousand queues need no allocations of their own.

use crate::{Backlog, Context};
use goodqueue_types::Packet;

const NONE: u32 = u32::MAX;

/// Pool of slots for packets. Each slot is in one chain or free.
#[derive(Clone, Debug)]
pub struct PacketPool {
    places: Vec<Place>,
    free: u32,
}

#[derive(Clone, Debug)]
struct Place {
    packet: Packet,
    next: u32,
    /// Previous slot of the chain, or `NONE` for the first one.
    previous: u32,
}

/// A FIFO whose packets are stored in a [`PacketPool`].
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    first: u32,
    last: u32,
    backlog: Backlog,
}

impl Default for PacketPool {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            free: NONE,
        }
    }
}

impl Default for Chain {
    fn default() -> Self {
        Self {
            first: NONE,
            last: NONE,
            backlog: Backlog::default(),
        }
    }
}

impl Chain {
    /// Returns the packets and frame bytes in the chain.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Returns true if the chain has no packets.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == NONE
    }
}

impl PacketPool {
    /// Appends a packet, whose frame takes `bytes` bytes, to a chain.
    ///
    /// # Errors
    /// Returns the packet if the context's buffer has no room for it.
    #[inline]
    pub fn push(
        &mut self,
        context: &mut Context<'_>,
        chain: &mut Chain,
        packet: Packet,
        bytes: u64,
    ) -> Result<(), Packet> {
        if !context.account.reserve(bytes) {
            return Err(packet);
        }
        let place = Place {
            packet,
            next: NONE,
            previous: chain.last,
        };
        let at = if let Some(free) = self.places.get_mut(self.free as usize) {
            let at = self.free;
            self.free = free.next;
            *free = place;
            at
        } else {
            self.places.push(place);
            self.places.len() as u32 - 1
        };
        match self.places.get_mut(chain.last as usize) {
            Some(last) => last.next = at,
            None => chain.first = at,
        }
        chain.last = at;
        chain.backlog.add(bytes);
        Ok(())
    }

    /// Removes and returns the first packet of a chain, with the bytes of its frame.
    #[inline]
    pub fn pop(&mut self, context: &mut Context<'_>, chain: &mut Chain) -> Option<(Packet, u64)> {
        let at = chain.first;
        let place = self.places.get_mut(at as usize)?;
        chain.first = place.next;
        if chain.first == NONE {
            chain.last = NONE;
        }
        Some(self.free(context, chain, at))
    }

    /// Removes and returns the last packet of a chain, with the bytes of its frame.
    pub fn pop_back(
        &mut self,
        context: &mut Context<'_>,
        chain: &mut Chain,
    ) -> Option<(Packet, u64)> {
        let at = chain.last;
        let previous = self.places.get(at as usize)?.previous;
        if at == chain.first {
            (chain.first, chain.last) = (NONE, NONE);
        } else {
            self.places[previous as usize].next = NONE;
            chain.last = previous;
        }
        Some(self.free(context, chain, at))
    }

    #[inline]
    fn free(&mut self, context: &mut Context<'_>, chain: &mut Chain, at: u32) -> (Packet, u64) {
        let place = &mut self.places[at as usize];
        place.next = self.free;
        self.free = at;
        let packet = place.packet;
        let bytes = context.frame_bytes(&packet);
        chain.backlog.remove(bytes);
        context.account.release(bytes);
        (packet, bytes)
    }

    /// Returns the first packet of a chain.
    #[inline]
    pub fn head(&self, chain: &Chain) -> Option<&Packet> {
        self.places
            .get(chain.first as usize)
            .map(|place| &place.packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BufferPool;
    use goodqueue_types::{Framing, RandomStream, Time};

    #[test]
    fn chains_keep_their_order_and_share_places() {
        let (mut buffer, mut verdicts) = (BufferPool::unlimited(), Vec::new());
        let mut random = RandomStream::new(1, "test", 0);
        let context = &mut Context {
            now: Time::ZERO,
            framing: Framing::bytes(10),
            random: &mut random,
            account: buffer.account(0),
            verdicts: &mut verdicts,
            split: &mut 0,
        };
        let packet = |number| Packet {
            number,
            size: 90,
            ..Packet::default()
        };
        let (mut pool, mut a, mut b) = (PacketPool::default(), Chain::default(), Chain::default());
        for round in 0..3 {
            for number in 0..4 {
                let chain = if number % 2 == 0 { &mut a } else { &mut b };
                pool.push(context, chain, packet(number), 100).unwrap();
            }
            assert_eq!(
                (
                    a.backlog().packets,
                    a.backlog().bytes,
                    context.account.used()
                ),
                (2, 200, 400),
                "round {round}"
            );
            let mut take =
                |chain: &mut _| pool.pop(context, chain).map(|(packet, _)| packet.number);
            let mut order = Vec::new();
            for _ in 0..3 {
                order.extend([take(&mut a), take(&mut b)]);
            }
            assert_eq!(order, [Some(0), Some(1), Some(2), Some(3), None, None]);
        }
        for number in 0..3 {
            pool.push(context, &mut a, packet(number), 100).unwrap();
        }
        let mut order = Vec::new();
        for _ in 0..2 {
            order.extend(
                pool.pop_back(context, &mut a)
                    .map(|(packet, _)| packet.number),
            );
            order.extend(pool.pop(context, &mut a).map(|(packet, _)| packet.number));
        }
        assert_eq!(order, [2, 0, 1], "from both ends");
        assert!(pool.pop_back(context, &mut a).is_none());
        assert!(a.is_empty() && pool.head(&b).is_none());
        assert_eq!(pool.places.len(), 4, "places are used again");
        assert_eq!(context.account.used(), 0);
    }
}
