//! One link of a network, whose caller determines the time, virtual or real.
//!
//! The link is the simulator's own: the same queue, transmitter, losses and impairments. Its caller
//! lets packets arrive and asks for what happened until a given time.

use crate::Network;
use crate::link::served_link::{ServedLink, Transmission};
use crate::link::shared_buffer::{SharedBuffer, shared_buffers};
use crate::measure::link_meter::Window;
use crate::measure::loss_bursts::meters;
use crate::measure::outcome::LinkOutcome;
use goodqueue_queue::{Backlog, Verdict};
use goodqueue_types::{DropReason, Packet, Span, Time};
use std::collections::VecDeque;

/// Fate of a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketFate {
    /// The queue marked the packet (ECN) and did not drop it.
    Marked(DropReason),
    /// The packet was lost for this reason.
    Dropped(DropReason),
    /// The packet's transmission began after this queueing delay.
    Started(Span),
    /// The link made a copy of the packet, which is delivered beside it.
    Copied,
    /// The packet reached the other end of the link.
    Delivered,
}

/// One event of a packet at a [`Bottleneck`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BottleneckEvent {
    /// Time of the event. It is computed from arrivals and from the link's parameters, and does
    /// not depend on when the caller asks.
    pub time: Time,
    /// The kind of event.
    pub fate: PacketFate,
    /// Packet to which it happened.
    pub packet: Packet,
}

/// A link with its queue, driven from outside.
///
/// Calls must not go back in time. A transmission that ends at the time of an arrival ends before it,
/// as in the simulator.
#[derive(Debug)]
pub struct Bottleneck {
    name: String,
    link: ServedLink,
    /// True if the link has neither a queue nor a transmitter.
    only_delays: bool,
    buffers: Vec<SharedBuffer>,
    /// Transmission in progress, and its packet.
    sending: Option<(Transmission, Packet)>,
    /// Time at which the queue may release a packet that it holds back.
    ready: Option<Time>,
    /// Packets in propagation, with the time of their arrival, in order.
    flying: VecDeque<(Time, Packet)>,
    /// Next arrival behind a path with impairments.
    emergence: Option<Time>,
    events: Vec<BottleneckEvent>,
    /// Changes of the backlog since they were last taken.
    backlogs: Vec<(Time, Backlog)>,
}

impl Bottleneck {
    /// Returns the idle link `index` of `network`. Other links of the network have no effect,
    /// except for the size of buffers that this link shares with them.
    ///
    /// # Panics
    /// Panics if the network has no such link.
    pub fn new(network: &Network, index: usize) -> Self {
        let window = Window {
            from: network.warmup,
            to: network.end,
        };
        let meter = meters(network, window).swap_remove(index);
        let meter = meter.map(|meter| *meter);
        Self {
            name: network.links[index].name.clone(),
            only_delays: network.links[index].only_delays(),
            link: ServedLink::new(network, index, window, meter),
            buffers: shared_buffers(network),
            sending: None,
            ready: None,
            flying: VecDeque::new(),
            emergence: None,
            events: Vec::new(),
            backlogs: Vec::new(),
        }
    }

    /// Lets a packet arrive at `now`. Its field `arrived` is set here.
    pub fn arrive(&mut self, now: Time, packet: Packet) {
        self.advance(now);
        if self.only_delays {
            self.link.pass(now, &packet);
            self.fly(now, packet);
            return;
        }
        let packet = Packet {
            arrived: now,
            ..packet
        };
        let begun = self.link.arrive(packet, &mut self.buffers);
        self.follow_queue(now);
        self.begin(now, begun);
    }

    /// Handles everything that happens up to and including `now`.
    pub fn advance(&mut self, now: Time) {
        while let Some(time) = self.next().filter(|time| *time <= now) {
            self.step(time);
        }
    }

    /// Returns the time of the next event, or none if nothing happens without an arrival.
    pub fn next(&self) -> Option<Time> {
        let sent = self.sending.map(|(transmission, _)| transmission.end);
        let flying = self.flying.front().map(|(time, _)| *time);
        let times = [sent, self.ready, flying, self.emergence];
        times.into_iter().flatten().min()
    }

    /// Returns the earliest time at which a packet can reach the other end of the link, or none if
    /// that needs an arrival. Until then events at the link affect only its queue.
    pub fn next_delivery(&self) -> Option<Time> {
        // A packet that starts at the end of the present transmission, or when the queue releases
        // it, still has to cross the link. Impairments may shorten the remaining time of a packet.
        let delay = if self.link.is_impaired() {
            Span::ZERO
        } else {
            self.link.delay
        };
        let sent = self.sending.map(|(transmission, _)| transmission.end);
        let started = [sent.filter(|_| self.backlog().packets > 0), self.ready];
        let started = started.map(|time| time.map(|time| time.saturating_add(delay)));
        let flying = self.flying.front().map(|(time, _)| *time);
        let times = started.into_iter().chain([flying, self.emergence]);
        times.flatten().min()
    }

    /// Takes the events since the last call out, in order of time.
    pub fn take_events(&mut self) -> impl Iterator<Item = BottleneckEvent> + '_ {
        self.events.drain(..)
    }

    /// Takes the changes of the backlog since the last call out, each with its time.
    pub fn take_backlogs(&mut self) -> impl Iterator<Item = (Time, Backlog)> + '_ {
        self.backlogs.drain(..)
    }

    /// Returns the packets and bytes that wait, without the packet in transmission.
    pub fn backlog(&self) -> Backlog {
        self.link.backlog()
    }

    /// Returns true if every packet that arrived was sent or lost, or waits.
    pub fn conserves(&self) -> bool {
        self.link.conserves()
    }

    /// Returns the link's results over the measured time of the network, which ends at `end` at the
    /// latest, or none if the link is not observed.
    pub fn finish(mut self, end: Time) -> Option<LinkOutcome> {
        let mut meter = self.link.take_meter()?;
        meter.end_at(end);
        Some(meter.finish(&self.name))
    }

    /// Handles the events of one instant.
    fn step(&mut self, now: Time) {
        while self.flying.front().is_some_and(|(time, _)| *time <= now) {
            let arrived = self.flying.pop_front().map(|(_, packet)| packet);
            self.report(now, PacketFate::Delivered, arrived);
        }
        let ended = self.sending.take_if(|(sending, _)| sending.end <= now);
        let lost = ended.filter(|(sending, _)| sending.lost);
        let lost = lost.map(|(_, packet)| packet);
        self.report(now, PacketFate::Dropped(DropReason::LinkLoss), lost);
        if ended.is_some() || self.ready.take_if(|time| *time <= now).is_some() {
            let begun = self.link.serve(now, &mut self.buffers);
            self.follow_queue(now);
            self.begin(now, begun);
        }
        if self.emergence.take_if(|time| *time <= now).is_some() {
            let (packet, next) = self.link.emerge(now);
            self.emergence = next.or(self.emergence);
            self.report(now, PacketFate::Delivered, packet);
        }
    }

    /// Takes over what the queue did in the last call.
    fn follow_queue(&mut self, now: Time) {
        if let Some(ready) = self.link.next_ready(now) {
            self.ready = Some(ready);
        }
        let change = self.link.new_backlog(now);
        self.backlogs.extend(change.map(|backlog| (now, backlog)));
        for verdict in self.link.verdicts.drain(..) {
            let (fate, packet) = match verdict {
                Verdict::Dropped(packet, reason) => (PacketFate::Dropped(reason), packet),
                Verdict::Marked(packet, reason) => (PacketFate::Marked(reason), packet),
            };
            let time = now;
            self.events.push(BottleneckEvent { time, fate, packet });
        }
    }

    fn begin(&mut self, now: Time, begun: Option<Packet>) {
        let Some(packet) = begun else { return };
        let transmission = self.link.transmission();
        let Transmission { end, lost } = transmission;
        self.report(now, PacketFate::Started(now - packet.arrived), [packet]);
        if lost {
            self.link.lose_after_transmission(&packet);
        } else if self.link.is_impaired() {
            let copies = self.link.duplicated();
            let next = self.link.send_impaired(&packet, 0, end);
            self.emergence = next.or(self.emergence);
            if self.link.duplicated() > copies {
                self.report(now, PacketFate::Copied, [packet]);
            }
        } else {
            self.fly(end, packet);
        }
        self.sending = Some((transmission, packet));
    }

    /// Lets a packet, whose last bit leaves at `end`, propagate to the other end of the link.
    fn fly(&mut self, end: Time, packet: Packet) {
        let arrival = end.saturating_add(self.link.delay);
        self.flying.push_back((arrival, packet));
    }

    fn report(&mut self, time: Time, fate: PacketFate, packets: impl IntoIterator<Item = Packet>) {
        let events = packets
            .into_iter()
            .map(|packet| BottleneckEvent { time, fate, packet });
        self.events.extend(events);
    }
}
