//! A drop-tail FIFO link that works ahead: the departure of a packet is known on its arrival.
//!
//! Nothing that arrives later can change the departure of an admitted packet from a FIFO, so the
//! link needs no events of its own. The backlog is found by removing the frames whose transmission
//! has begun.

#![expect(
    clippy::inline_always,
    reason = "part of the engine's two loops, see `engine::core`"
)]

pub mod autorate;
pub mod bottleneck;
pub mod impaired_path;
pub mod impairment;
pub mod loss;
pub mod pause;
pub mod served_link;
pub mod service;
pub mod shared_buffer;

use crate::LinkConfig;
use crate::measure::link_meter::LinkMeter;
use goodqueue_queue::{Backlog, Limit};
use goodqueue_types::{Bytes, DropReason, Framing, Packet, Rate, Span, Time};
use std::collections::VecDeque;
use std::num::NonZeroU64;

/// Outcome of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// The packet is admitted.
    Accepted {
        /// Start of its transmission.
        start: Time,
        /// Time at which it reaches the next place.
        arrival: Time,
    },
    /// The packet is lost.
    Dropped(DropReason),
}

/// Link that consists of a transmitter alone: it is not observed, has no limit and loses nothing.
#[derive(Clone, Debug)]
pub struct Transmitter {
    /// Time at which the last transmission ends.
    free_at: Time,
    delay: Span,
    picos_per_byte: NonZeroU64,
    /// Bytes that framing adds to each packet. Other framing is not supported here.
    overhead: u32,
}

impl Transmitter {
    /// Returns an idle transmitter if the link has no other part and its time per byte is a whole
    /// number of picoseconds, which holds for most real rates. Returns none otherwise.
    pub fn new(config: &LinkConfig) -> Option<Self> {
        let unlimited = config.fifo_limit() == Some(Limit::Unlimited);
        let plain = config.framing == Framing::bytes(config.framing.overhead);
        if config.observed || !unlimited || !plain || !config.drop_list.is_empty() {
            return None;
        }
        Some(Self {
            free_at: Time::ZERO,
            delay: config.delay,
            picos_per_byte: NonZeroU64::new(config.rate.picos_per_byte()?)?,
            overhead: config.framing.overhead,
        })
    }

    /// Sends a packet that arrives at `now`. Returns the start of its transmission and the time at
    /// which it reaches the next place.
    #[inline]
    pub fn send(&mut self, now: Time, packet: &Packet) -> (Time, Time) {
        let overhead = u64::from(self.overhead) * u64::from(packet.segments());
        let frame_bytes = u64::from(packet.size) + overhead;
        let start = self.free_at.max(now);
        self.free_at = start + Span(frame_bytes * self.picos_per_byte.get());
        (start, self.free_at + self.delay)
    }
}

/// A transmitter of finite rate behind a drop-tail queue, and the propagation after it.
#[derive(Debug)]
pub struct Link {
    /// Time at which the last transmission ends.
    free_at: Time,
    delay: Span,
    /// Picoseconds per byte, or zero if they are not a whole number.
    picos_per_byte: u64,
    rate: Rate,
    framing: Framing,
    queue: Queue,
}

/// Packets that wait at a link, and the link's counters.
#[derive(Debug)]
struct Queue {
    limit: Limit,
    backlog: Backlog,
    waiting: VecDeque<Waiting>,
    arrivals: u64,
    drops: u64,
    started: u64,
    drop_list: Box<[u64]>,
    meter: Option<LinkMeter>,
}

/// A frame that waits for the transmitter.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    start: Time,
    frame_bytes: u32,
}

impl Link {
    /// Creates an idle link, or none if the link is not a drop-tail FIFO with a buffer of its own.
    pub fn new(config: &LinkConfig, meter: Option<LinkMeter>) -> Option<Self> {
        let queue = Queue::new(config, config.fifo_limit()?, meter);
        Some(Self {
            free_at: Time::ZERO,
            delay: config.delay,
            picos_per_byte: config.rate.picos_per_byte().unwrap_or(0),
            rate: config.rate,
            framing: config.framing,
            queue,
        })
    }

    /// Offers a packet at `now`, which is never earlier than at the call before. Calls `changed`
    /// with each new backlog and the time of the change.
    #[inline(always)]
    pub fn offer(
        &mut self,
        now: Time,
        packet: &Packet,
        mut changed: impl FnMut(Time, Backlog),
    ) -> Offer {
        let frame_bytes = packet.frame_bytes(self.framing);
        // A frame whose transmission ends now has left, so the transmitter is free.
        let start = self.free_at.max(now);
        if let Some(reason) = self
            .queue
            .refuses(now, start, frame_bytes, packet, &mut changed)
        {
            return Offer::Dropped(reason);
        }
        let end = start + self.transmission_time(frame_bytes);
        if let Some(meter) = &mut self.queue.meter {
            meter.service(now, start, end, packet);
        }
        self.free_at = end;
        Offer::Accepted {
            start,
            arrival: end + self.delay,
        }
    }

    /// Counts a packet that passes a link that only delays.
    pub fn pass(&mut self, now: Time, packet: &Packet) {
        if let Some(meter) = &mut self.queue.meter {
            meter.pass(now, packet);
        }
    }

    #[inline]
    fn transmission_time(&self, frame_bytes: u64) -> Span {
        if self.picos_per_byte > 0 {
            Span(frame_bytes * self.picos_per_byte)
        } else {
            self.rate.transmission_time(Bytes(frame_bytes))
        }
    }

    /// Advances the link to the end of the run.
    pub fn finish(&mut self, end: Time, mut changed: impl FnMut(Time, Backlog)) {
        self.queue.settle(end, &mut changed);
    }

    /// Returns the number of packets lost at this link in the whole run.
    pub fn drops(&self) -> u64 {
        self.queue.drops
    }

    /// Returns the number of packets that wait.
    pub fn queued(&self) -> u64 {
        self.queue.waiting.len() as u64
    }

    /// Returns true if packets in = out + dropped + queued. Each of the four has a counter of its
    /// own.
    pub fn conserves(&self) -> bool {
        self.queue.conserves()
    }

    /// Takes the statistics out, if the link has any.
    pub fn take_meter(&mut self) -> Option<LinkMeter> {
        self.queue.meter.take()
    }

    #[cfg(test)]
    pub(crate) fn corrupt_arrivals(&mut self) {
        self.queue.arrivals += 1;
    }
}

impl Queue {
    fn new(config: &LinkConfig, limit: Limit, meter: Option<LinkMeter>) -> Self {
        Self {
            limit,
            backlog: Backlog::default(),
            waiting: VecDeque::new(),
            arrivals: 0,
            drops: 0,
            started: 0,
            drop_list: config.drop_list.as_slice().into(),
            meter,
        }
    }

    /// Decides on an arrival whose transmission could begin at `start`. Returns the reason if the
    /// packet is lost.
    #[inline(always)]
    fn refuses(
        &mut self,
        now: Time,
        start: Time,
        frame_bytes: u64,
        packet: &Packet,
        changed: &mut impl FnMut(Time, Backlog),
    ) -> Option<DropReason> {
        self.settle(now, changed);
        if let Some(meter) = &mut self.meter {
            meter.arrival(now);
        }
        let index = self.arrivals;
        self.arrivals += 1;
        if !self.drop_list.is_empty() && self.drop_list.binary_search(&index).is_ok() {
            return Some(self.lose(now, packet, DropReason::LinkLoss));
        }
        if start == now {
            self.started += 1;
        } else if self.limit.admits(self.backlog, frame_bytes) {
            self.waiting.push_back(Waiting {
                start,
                frame_bytes: frame_bytes as u32,
            });
            self.backlog.add(frame_bytes);
            self.report(now, changed);
        } else {
            return Some(self.lose(now, packet, DropReason::Overlimit));
        }
        None
    }

    #[cold]
    fn lose(&mut self, now: Time, packet: &Packet, reason: DropReason) -> DropReason {
        self.drops += 1;
        if let Some(meter) = &mut self.meter {
            meter.loss(now, now, packet, reason);
        }
        reason
    }

    /// Removes the frames whose transmission has begun by `now` from the backlog.
    #[inline]
    fn settle(&mut self, now: Time, changed: &mut impl FnMut(Time, Backlog)) {
        while let Some(frame) = self
            .waiting
            .front()
            .copied()
            .filter(|frame| frame.start <= now)
        {
            self.waiting.pop_front();
            self.backlog.remove(u64::from(frame.frame_bytes));
            self.started += 1;
            self.report(frame.start, changed);
        }
    }

    #[inline(always)]
    fn report(&mut self, time: Time, changed: &mut impl FnMut(Time, Backlog)) {
        if let Some(meter) = &mut self.meter {
            meter.backlog(time, self.backlog);
        }
        changed(time, self.backlog);
    }

    fn conserves(&self) -> bool {
        let waiting = self.waiting.len() as u64;
        self.arrivals == self.drops + self.started + waiting && self.backlog.packets == waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(limit: Limit, drop_list: Vec<u64>) -> Link {
        // The rate is a byte per microsecond.
        let mut config = LinkConfig::drop_tail(Rate(8_000_000), Span::from_millis(1), limit);
        config.framing = Framing::bytes(7);
        config.drop_list = drop_list;
        Link::new(&config, None).expect("a FIFO")
    }

    fn micros(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    /// Offers packets of 93 bytes (100 µs each on the wire) and returns the start of each
    /// transmission.
    fn starts(link: &mut Link, at: &[u64]) -> Vec<Option<Time>> {
        let packet = Packet {
            size: 93,
            ..Packet::default()
        };
        at.iter()
            .map(|us| match link.offer(micros(*us), &packet, |_, _| ()) {
                Offer::Accepted { start, arrival } => {
                    assert_eq!(arrival, start + Span::from_micros(1100));
                    Some(start)
                }
                Offer::Dropped(_) => None,
            })
            .collect()
    }

    #[test]
    fn the_limit_counts_waiting_frames_without_the_one_in_service() {
        let mut link = link(Limit::Packets(1), vec![]);
        let started = starts(&mut link, &[0, 10, 20, 100, 150, 200]);
        // The second packet waits until 100 µs. Its transmission begins then, so the fourth may
        // wait until 200 µs.
        let expected =
            [Some(0), Some(100), None, Some(200), None, Some(300)].map(|us| us.map(micros));
        assert_eq!(started, expected);
        assert!(link.conserves());
        link.finish(micros(250), |_, _| ());
        assert_eq!((link.drops(), link.queued()), (2, 1));
    }

    #[test]
    fn the_drop_list_counts_arrivals_from_zero() {
        let mut link = link(Limit::Unlimited, vec![1, 2]);
        let started = starts(&mut link, &[0, 10, 20, 30]);
        assert_eq!(started, [Some(micros(0)), None, None, Some(micros(100))]);
    }

    #[test]
    fn a_corrupted_counter_is_seen() {
        let mut link = link(Limit::Packets(1), vec![]);
        starts(&mut link, &[0, 10, 20]);
        assert!(link.conserves());
        link.corrupt_arrivals();
        assert!(!link.conserves());
    }
}
