//! The links, the hosts and the event queue of a run: everything except the lines.

#![expect(
    clippy::inline_always,
    reason = "two functions hold all that happens to a packet; a call for each of its steps took a tenth of the run time"
)]

use crate::engine::event_queue::{Event, EventQueue, Kind};
use crate::engine::line::Lines;
use crate::engine::probe::Probe;
use crate::engine::routing::{AT_ONCE, Routing, STRETCH, Stretch};
use crate::host::agent::{Agent, agents, sender_of};
use crate::link::served_link::{ServedLink, Transmission};
use crate::link::shared_buffer::{SharedBuffer, shared_buffers};
use crate::link::{Link, Offer};
use crate::measure::link_meter::{LinkMeter, Window};
use crate::measure::loss_bursts::meters;
use crate::measure::signals::Signals;
use crate::{Network, PoolOutcome, Totals};
use goodqueue_queue::Verdict;
use goodqueue_types::{DropReason, LinkId, Packet, PacketEvent, PacketEventKind, Span, Time};

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
    shared_buffers: Vec<SharedBuffer>,
    pub hosts: Vec<Host>,
    /// Drops and marks that links made in the window, by flow.
    pub signals: Signals,
    pub delivered: u64,
    /// Packets that wait at the end of the run at links that consist of a transmitter alone.
    queued_untracked: u64,
    in_flight: u64,
    pub probe: P,
}

/// Agent with the engine's state for it.
#[derive(Debug)]
pub struct Host {
    /// Time at which the agent next has something to do.
    pub wakes_at: Time,
    /// Time of the agent's pending wake event, or [`Time::MAX`] without one. Other wake events of
    /// the agent in the queue are out of date and ignored.
    pub pending_wake: Time,
    /// Index of the first hop of the route of the host's packets.
    pub first_hop: u32,
    /// Line in which the host's packets first wait, or [`AT_ONCE`].
    pub first_line: u32,
    /// True if this host's timer fires after other timers of the same instant.
    wakes_last: bool,
    pub agent: Agent,
}

impl Host {
    /// Ensures that the event queue wakes the agent in time. A pending event that is too early
    /// stays and re-arms itself, so timers that move with every ACK cost one event per expiry
    /// instead of one per ACK.
    #[inline(always)]
    fn arm(&mut self, index: usize, events: &mut EventQueue, window: Window) {
        self.wakes_at = self.agent.wakes_at();
        if self.wakes_at < self.pending_wake && self.wakes_at <= window.to {
            self.pending_wake = self.wakes_at;
            let rank = u32::from(self.wakes_last);
            events.push(Event::new(self.wakes_at, Kind::Wake, rank, index as u32));
        }
    }
}

/// Place at which the walk of a packet ended.
#[derive(Clone, Copy, Debug)]
pub enum Crossed {
    /// The packet reaches its host at this time.
    Arrives(Time),
    /// The packet must wait in line before a hop.
    Waits {
        /// Index of the hop.
        hop: u32,
        /// Time of arrival at the hop.
        at: Time,
    },
    /// The packet is lost, or the run ends before it arrives.
    Ends,
}

/// Way in which the end of a transmission enters the event queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announcement {
    /// It is a new event.
    Pushed,
    /// It replaces the earliest event.
    Replaces,
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
        let hosts = agents(network)
            .into_iter()
            .zip(first_hops)
            .map(|(agent, first)| Host {
                wakes_at: Time::MAX,
                pending_wake: Time::MAX,
                first_hop: first,
                first_line: routing.first_line(first),
                wakes_last: !routing.is_instant(first),
                agent,
            });
        Self {
            window,
            events: EventQueue::default(),
            links,
            served,
            shared_buffers: shared_buffers(network),
            hosts: hosts.collect(),
            signals: Signals::new(network),
            delivered: 0,
            queued_untracked: 0,
            in_flight: 0,
            routing,
            probe,
        }
    }

    /// Ensures that the event queue wakes an agent in time.
    pub fn arm(&mut self, index: usize) {
        self.hosts[index].arm(index, &mut self.events, self.window);
    }

    /// Returns true if a host has something to do before `now`.
    pub fn is_late(&self, host: usize, now: Time) -> bool {
        self.hosts[host].wakes_at < now
    }

    /// Lets an agent do what is due at `now`, except sending.
    pub fn fire(&mut self, host: usize, now: Time) {
        self.hosts[host].agent.wake(now);
        if P::ACTIVE {
            self.observe_agent(host, now, None);
        }
    }

    /// Delivers a packet to its host and returns true. Returns false and does nothing if the host
    /// has something to do before.
    #[inline(always)]
    pub fn receive(&mut self, index: usize, packet: &Packet, now: Time) -> bool {
        let host = &mut self.hosts[index];
        if host.wakes_at < now {
            return false;
        }
        self.delivered += 1;
        let rtt = host.agent.receive(now, packet);
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
            host.arm(index, &mut self.events, self.window);
            return None;
        }
        let packet = lines.place(host.first_line);
        if !host.agent.transmit_into(now, packet) {
            host.arm(index, &mut self.events, self.window);
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

    /// Walks a packet from its host, over the `first` hop of its route and on.
    #[inline(always)]
    pub fn cross_from_host(&mut self, packet: &Packet, first: u32, now: Time) -> Crossed {
        if self.routing.hops[first as usize].line == AT_ONCE {
            self.cross(packet, first, now)
        } else {
            Crossed::Waits {
                hop: first,
                at: now,
            }
        }
    }

    /// Walks a packet over the `index`th hop, which it reaches at `now`, and on as far as nothing
    /// can interfere.
    #[inline(always)]
    pub fn cross(&mut self, packet: &Packet, mut index: u32, mut now: Time) -> Crossed {
        let until = self.window.to;
        let Self {
            routing: Routing {
                hops, stretches, ..
            },
            links,
            probe,
            ..
        } = self;
        for hop in &mut hops[index as usize..] {
            let link = hop.link;
            let (start, arrival) = if let Some(transmitter) = &mut hop.transmitter {
                let (start, arrival) = transmitter.send(now, packet.size);
                if P::ACTIVE {
                    observe_arrival(probe, link, packet, now);
                    observe_start(probe, link, packet, now, start, until);
                }
                (start, arrival)
            } else if link == STRETCH {
                let stretch = &stretches[hop.own_line as usize];
                (now, pass(stretch, links, probe, packet, now, until))
            } else {
                match offer(links, probe, link, packet, now, until) {
                    Offer::Accepted { start, arrival } => (start, arrival),
                    Offer::Dropped(reason) => {
                        self.lose(link, packet, now, reason);
                        return Crossed::Ends;
                    }
                }
            };
            if arrival > until {
                self.stay(link, start);
                return Crossed::Ends;
            }
            if hop.last {
                return Crossed::Arrives(arrival);
            }
            now = arrival;
            index += 1;
            if hop.before_line {
                return Crossed::Waits {
                    hop: index,
                    at: now,
                };
            }
        }
        unreachable!("the last hop of a route is marked")
    }

    #[cold]
    fn lose(&mut self, link: u32, packet: &Packet, now: Time, reason: DropReason) {
        self.signals.drop(LinkId(link), packet, now);
        if P::ACTIVE {
            let kind = PacketEventKind::Dropped(LinkId(link), reason);
            self.probe.packet(PacketEvent {
                time: now,
                kind,
                packet: *packet,
            });
        }
    }

    /// Counts a packet that waits at a link, or is in flight behind it, when the run ends.
    #[cold]
    fn stay(&mut self, link: u32, start: Time) {
        if start <= self.window.to {
            self.in_flight += 1;
        } else if self.links[link as usize].is_none() {
            self.queued_untracked += 1;
        }
    }

    /// Lets a packet arrive at a link with a queue discipline. Returns the packet whose transmission
    /// begins, if one does.
    pub fn arrive(&mut self, link: u32, mut packet: Packet, now: Time) -> Option<Packet> {
        if P::ACTIVE {
            observe_arrival(&mut self.probe, link, &packet, now);
        }
        packet.arrived = now;
        let begun = served(&mut self.served, link).arrive(packet, &mut self.shared_buffers);
        self.after_queue(link, now);
        begun
    }

    /// Serves a link with a queue discipline whose transmission has ended or whose queue may
    /// release a packet. Returns the packet whose transmission begins, if one does.
    pub fn serve(&mut self, link: u32, now: Time) -> Option<Packet> {
        let begun = served(&mut self.served, link).serve(now, &mut self.shared_buffers);
        self.after_queue(link, now);
        begun
    }

    /// Passes on the actions of a queue discipline: its next event, its backlog, its drops and
    /// marks.
    #[inline]
    fn after_queue(&mut self, index: u32, now: Time) {
        let link = served(&mut self.served, index);
        if let Some(ready) = link.next_ready(now).filter(|time| *time <= self.window.to) {
            self.events.push(Event::new(ready, Kind::Service, 0, index));
        }
        if let Some(backlog) = link.new_backlog(now)
            && P::ACTIVE
        {
            self.probe.backlog(LinkId(index), now, backlog);
        }
        if !link.verdicts.is_empty() {
            self.pass_verdicts(index, now);
        }
    }

    #[cold]
    fn pass_verdicts(&mut self, index: u32, now: Time) {
        let link = served(&mut self.served, index);
        let mut verdicts = std::mem::take(&mut link.verdicts);
        for verdict in verdicts.drain(..) {
            match verdict {
                Verdict::Dropped(packet, reason) => self.lose(index, &packet, now, reason),
                Verdict::Marked(packet, reason) => {
                    self.signals.mark(LinkId(index), &packet, now);
                    if P::ACTIVE {
                        let kind = PacketEventKind::Marked(LinkId(index), reason);
                        let time = now;
                        self.probe.packet(PacketEvent { time, kind, packet });
                    }
                }
            }
        }
        served(&mut self.served, index).verdicts = verdicts;
    }

    /// Begins the transmission of a packet. Returns how far the packet was walked.
    pub fn begin(
        &mut self,
        link: u32,
        packet: &Packet,
        now: Time,
        announcement: Announcement,
    ) -> Crossed {
        if P::ACTIVE {
            let (probe, until) = (&mut self.probe, self.window.to);
            observe_start(probe, link, packet, packet.arrived, now, until);
        }
        let served = served(&mut self.served, link);
        let Transmission { end, lost } = served.transmission();
        let arrival = end.saturating_add(served.delay);
        let ends = end <= self.window.to;
        match announcement {
            Announcement::Pushed if !ends => {}
            Announcement::Pushed => self.events.push(Event::new(end, Kind::Service, 0, link)),
            Announcement::Replaces if !ends => self.events.pop(Kind::Service),
            Announcement::Replaces => {
                let next = Event::new(end, Kind::Service, 0, link);
                self.events.replace(next);
            }
        }
        if ends && lost {
            served.lose_after_transmission(packet);
            self.lose(link, packet, end, DropReason::LinkLoss);
            return Crossed::Ends;
        }
        if ends && served.is_impaired() {
            let rank = self.routing.rank(packet);
            let next = served.send_impaired(packet, rank, end);
            self.await_emergence(link, next);
            return Crossed::Ends;
        }
        if arrival > self.window.to {
            self.in_flight += 1;
            return Crossed::Ends;
        }
        self.go_on(link, packet, arrival)
    }

    /// Walks a packet that leaves a link at `now` over the rest of its route.
    #[inline]
    fn go_on(&mut self, link: u32, packet: &Packet, now: Time) -> Crossed {
        let hop = self.routing.hop(sender_of(packet), link);
        if self.routing.hops[hop as usize].last {
            Crossed::Arrives(now)
        } else {
            self.cross_from_host(packet, hop + 1, now)
        }
    }

    /// Lets a packet leave a link with impairments. Returns it with how far it was walked, or none
    /// if the event is out of date.
    pub fn emerge(&mut self, link: u32, now: Time) -> Option<(Packet, Crossed)> {
        let (packet, next) = served(&mut self.served, link).emerge(now);
        self.await_emergence(link, next);
        let packet = packet?;
        let crossed = self.go_on(link, &packet, now);
        Some((packet, crossed))
    }

    /// Schedules the next packet to leave a link with impairments, unless that is after the end of
    /// the run.
    fn await_emergence(&mut self, link: u32, next: Option<Time>) {
        if let Some(time) = next.filter(|time| *time <= self.window.to) {
            self.events.push(Event::new(time, Kind::Emergence, 0, link));
        }
    }

    fn observe_agent(&mut self, index: usize, now: Time, rtt: Option<Span>) {
        // The client is the sender, so its variables are those of the flow.
        if index.is_multiple_of(2) {
            self.probe
                .agent((index / 2) as u32, now, &self.hosts[index].agent, rtt);
        }
    }

    /// Reports the state of all clients at the end to the probe.
    pub fn observe_end(&mut self) {
        if P::ACTIVE {
            for index in 0..self.hosts.len() {
                self.observe_agent(index, self.window.to, None);
            }
        }
    }

    /// Advances all links to the end of the run.
    ///
    /// # Panics
    /// Panics if a link has not conserved packets.
    pub fn finish_links(&mut self, network: &Network) {
        for (index, link) in self.links.iter_mut().enumerate() {
            let Some(link) = link else { continue };
            let probe = &mut self.probe;
            link.finish(self.window.to, |time, backlog| {
                if P::ACTIVE {
                    probe.backlog(LinkId(index as u32), time, backlog);
                }
            });
            let name = &network.links[index].name;
            assert!(link.conserves(), "{name}: packets not conserved");
        }
        for (config, link) in network.links.iter().zip(&self.served) {
            let conserves = link.as_ref().is_none_or(|link| link.conserves());
            assert!(conserves, "{}: packets not conserved", config.name);
        }
    }

    /// Takes the statistics out of a link, if it has any.
    pub fn take_meter(&mut self, index: usize) -> Option<LinkMeter> {
        match (&mut self.links[index], self.served.get_mut(index)) {
            (Some(link), _) => link.take_meter(),
            (None, Some(Some(served))) => served.take_meter(),
            _ => None,
        }
    }

    /// Takes the results out of the shared buffers.
    pub fn take_pools(&mut self, network: &Network) -> Vec<PoolOutcome> {
        let buffers = std::mem::take(&mut self.shared_buffers).into_iter();
        buffers
            .zip(&network.pools)
            .map(|(buffer, config)| buffer.finish(config))
            .collect()
    }

    /// Returns the counts of the run, each from a source of its own: agents, links, and the engine.
    pub fn totals(&self) -> Totals {
        let servers = self.hosts.iter().skip(1).step_by(2);
        let links = || self.links.iter().flatten();
        let served = || self.served.iter().flatten();
        Totals {
            sent: self.hosts.iter().map(|host| host.agent.totals().0).sum(),
            duplicated: served().map(|link| link.duplicated()).sum(),
            delivered: self.delivered,
            delivered_forward: servers.map(|host| host.agent.totals().1).sum(),
            dropped: links().map(|link| link.drops()).sum::<u64>()
                + served().map(|link| link.drops()).sum::<u64>(),
            queued: links().map(|link| link.queued()).sum::<u64>()
                + served().map(|link| link.queued()).sum::<u64>()
                + self.queued_untracked,
            in_flight: self.in_flight + served().map(|link| link.in_flight()).sum::<u64>(),
            events: 0,
        }
    }
}

/// Returns the time at which a packet has passed a stretch of links that only delay.
fn pass<P: Probe>(
    stretch: &Stretch,
    links: &mut [Option<Box<Link>>],
    probe: &mut P,
    packet: &Packet,
    now: Time,
    until: Time,
) -> Time {
    for (link, after) in &stretch.observed {
        if let Some(link) = &mut links[*link as usize] {
            link.pass(now.saturating_add(*after), packet);
        }
    }
    if P::UNFOLDS {
        for (link, after) in &stretch.unfolded {
            let (link, time) = (LinkId(*link), now.saturating_add(*after));
            if time > until {
                break;
            }
            let (arrived, left) = (
                PacketEventKind::Arrived(link),
                PacketEventKind::ServiceStarted(link, Span::ZERO),
            );
            for kind in [arrived, left] {
                let packet = *packet;
                probe.packet(PacketEvent { time, kind, packet });
            }
        }
    }
    now.saturating_add(stretch.delay)
}

/// Offers a packet to a link that has a drop-tail queue.
#[inline(always)]
fn offer<P: Probe>(
    links: &mut [Option<Box<Link>>],
    probe: &mut P,
    link: u32,
    packet: &Packet,
    now: Time,
    until: Time,
) -> Offer {
    if P::ACTIVE {
        observe_arrival(probe, link, packet, now);
    }
    let queueing = links[link as usize]
        .as_mut()
        .expect("made for every such hop");
    let offer = queueing.offer(now, packet, |time, backlog| {
        if P::ACTIVE {
            probe.backlog(LinkId(link), time, backlog);
        }
    });
    if let Offer::Accepted { start, .. } = offer
        && P::ACTIVE
    {
        observe_start(probe, link, packet, now, start, until);
    }
    offer
}

fn observe_arrival<P: Probe>(probe: &mut P, link: u32, packet: &Packet, now: Time) {
    let kind = PacketEventKind::Arrived(LinkId(link));
    probe.packet(PacketEvent {
        time: now,
        kind,
        packet: *packet,
    });
}

fn observe_start<P: Probe>(
    probe: &mut P,
    link: u32,
    packet: &Packet,
    now: Time,
    start: Time,
    until: Time,
) {
    if start <= until {
        let kind = PacketEventKind::ServiceStarted(LinkId(link), start - now);
        probe.packet(PacketEvent {
            time: start,
            kind,
            packet: *packet,
        });
    }
}

/// Returns the link with this index, which has a queue discipline.
fn served(links: &mut [Option<Box<ServedLink>>], index: u32) -> &mut ServedLink {
    links[index as usize]
        .as_mut()
        .expect("made for every such link")
}
