//! The links, the hosts and the event queue of a run: everything except the lines. This module has
//! what happens at hosts, [`crossing`](crate::engine::crossing) the movement of a packet over its
//! route, [`serving`](crate::engine::serving) links with queue disciplines, and
//! [`ending`](crate::engine::ending) the end of a run.

#![expect(
    clippy::inline_always,
    reason = "two functions hold all that happens to a packet; a call for each of its steps took a tenth of the run time"
)]

use crate::Network;
use crate::engine::event_queue::{Event, EventQueue, Kind};
use crate::engine::line::Lines;
use crate::engine::probe::Probe;
use crate::engine::routing::{Routing, STRETCH};
use crate::host::agent::{Agent, agents};
use crate::link::Link;
use crate::link::served_link::ServedLink;
use crate::link::shared_buffer::{SharedBuffer, shared_buffers};
use crate::measure::link_meter::Window;
use crate::measure::loss_bursts::meters;
use crate::measure::signals::Signals;
use goodqueue_types::{Packet, PacketEvent, PacketEventKind, Span, Time};

/// State of a run except the lines.
#[derive(Debug)]
pub struct Core<P> {
    pub window: Window,
    pub routing: Routing,
    pub events: EventQueue,
    /// Drop-tail links. None if the transmitter in a hop represents the whole link, or if the link
    /// is in `served`.
    pub links: Vec<Option<Box<Link>>>,
    /// Links with other disciplines, by link index, none for drop-tail links. Empty if all links
    /// are drop-tail.
    pub served: Vec<Option<Box<ServedLink>>>,
    pub shared_buffers: Vec<SharedBuffer>,
    pub hosts: Vec<Host>,
    /// Drops and marks that links made in the window, by flow.
    pub signals: Signals,
    pub delivered: u64,
    /// Packets that wait at the end of the run at links that consist of a transmitter alone.
    pub queued_untracked: u64,
    pub in_flight: u64,
    pub probe: P,
    pub has_flow_control: bool,
    pub has_autorate: bool,
    /// Packets that have just come to wait (true) or wait no longer, in a network with flow control.
    pub changes: Vec<(Packet, bool)>,
}

/// An agent, and the engine's state of this agent.
#[derive(Debug)]
pub struct Host {
    /// Time of the agent's next activity.
    pub wakes_at: Time,
    /// Time of the agent's pending wake event, or [`Time::MAX`] without one. Other wake events of
    /// the agent in the queue are out of date and ignored.
    pub pending_wake: Time,
    /// Index of the first hop of the route of the host's packets.
    pub first_hop: u32,
    /// Line in which the host's packets first wait, or [`AT_ONCE`].
    pub first_line: u32,
    pub agent: Agent,
}

impl Host {
    /// Ensures that the event queue wakes the agent in time. A pending event that is too early
    /// stays and re-arms itself, so timers that move with every ACK cost one event per expiry
    /// instead of one per ACK.
    #[inline(always)]
    fn arm(&mut self, index: usize, routing: &Routing, events: &mut EventQueue, window: Window) {
        self.wakes_at = self.agent.wakes_at();
        if self.wakes_at < self.pending_wake && self.wakes_at <= window.to {
            self.pending_wake = self.wakes_at;
            let rank = u32::from(!routing.is_instant(self.first_hop));
            events.push(Event::new(self.wakes_at, Kind::Wake, rank, index as u32));
        }
    }
}

impl<P: Probe> Core<P> {
    /// Creates the state of a network at time zero.
    pub fn new(network: &Network, routing: Routing, first_hops: Vec<u32>, probe: P) -> Self {
        let window = Window {
            from: network.warmup,
            to: network.end,
        };
        let mut in_its_hop = vec![false; network.links.len()];
        for hop in routing.hops.iter().filter(|hop| hop.link != STRETCH) {
            in_its_hop[hop.link as usize] = hop.transmitter.is_some();
        }
        let room = network.links.len();
        let (mut links, mut served) = (Vec::with_capacity(room), Vec::with_capacity(room));
        for (index, meter) in meters(network, window).into_iter().enumerate() {
            let meter = meter.map(|meter| *meter);
            let config = &network.links[index];
            if config.fifo_limit().is_some() {
                let link = Link::new(config, meter).filter(|_| !in_its_hop[index]);
                links.push(link.map(Box::new));
                served.push(None);
            } else {
                let link = ServedLink::new(network, index, window, meter);
                links.push(None);
                served.push(Some(Box::new(link)));
            }
        }
        if served.iter().all(Option::is_none) {
            served = Vec::new();
        }
        let mut hosts = Vec::with_capacity(first_hops.len());
        hosts.extend(agents(network).zip(first_hops).map(|(agent, first)| Host {
            wakes_at: Time::MAX,
            pending_wake: Time::MAX,
            first_hop: first,
            first_line: routing.first_line(first),
            agent,
        }));
        Self {
            window,
            events: EventQueue::default(),
            links,
            served,
            shared_buffers: shared_buffers(network),
            hosts,
            signals: Signals::new(network),
            delivered: 0,
            queued_untracked: 0,
            in_flight: 0,
            has_flow_control: network.links.iter().any(|link| link.pause.is_some()),
            has_autorate: network.links.iter().any(|link| link.autorate.is_some()),
            changes: Vec::new(),
            routing,
            probe,
        }
    }

    /// Ensures that the event queue wakes an agent in time.
    pub fn arm(&mut self, index: usize) {
        self.hosts[index].arm(index, &self.routing, &mut self.events, self.window);
    }

    /// Returns true if a host has an activity that is due before `now`.
    pub fn is_late(&self, host: usize, now: Time) -> bool {
        self.hosts[host].wakes_at < now
    }

    /// Makes the activities of an agent that are due at `now`, except sending.
    pub fn fire(&mut self, host: usize, now: Time) {
        let rtt = self.hosts[host].agent.wake(now);
        if P::ACTIVE {
            self.observe_agent(host, now, rtt);
        }
    }

    /// Delivers a packet to its host and returns true. Returns false and does nothing if the host
    /// has an earlier activity.
    #[inline(always)]
    pub fn receive(&mut self, index: usize, packet: &Packet, now: Time) -> bool {
        let host = &mut self.hosts[index];
        if host.wakes_at < now {
            return false;
        }
        self.delivered += 1;
        let rtt = host.agent.receive(now, packet);
        if self.has_autorate {
            self.take_reply(packet, now);
        }
        if P::ACTIVE {
            let kind = PacketEventKind::Delivered;
            self.probe.packet(PacketEvent {
                time: now,
                kind,
                packet: *packet,
            });
            self.observe_agent(index, now, rtt);
        }
        true
    }

    /// Writes the next packet that a host sends into its place. Returns it and its first hop, or
    /// none if there is nothing to send.
    #[inline(always)]
    pub fn send<'l>(
        &mut self,
        index: usize,
        now: Time,
        lines: &'l mut Lines,
    ) -> Option<(&'l Packet, u32)> {
        let host = &mut self.hosts[index];
        if !host.agent.may_transmit() {
            host.arm(index, &self.routing, &mut self.events, self.window);
            return None;
        }
        let packet = lines.place(host.first_line);
        if !host.agent.transmit_into(now, packet) {
            host.arm(index, &self.routing, &mut self.events, self.window);
            return None;
        }
        if P::ACTIVE {
            let kind = PacketEventKind::Sent;
            self.probe.packet(PacketEvent {
                time: now,
                kind,
                packet: *packet,
            });
        }
        Some((packet, host.first_hop))
    }

    pub fn observe_agent(&mut self, index: usize, now: Time, rtt: Option<Span>) {
        // The client is the sender, so its variables are those of the flow.
        if index.is_multiple_of(2) {
            self.probe
                .agent((index / 2) as u32, now, &self.hosts[index].agent, rtt);
        }
    }
}
