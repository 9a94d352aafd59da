//! The links of a network, through which packets from outside travel.
//!
//! Nothing here reads a clock or a device: the caller gives the time of every arrival and gets the
//! packet events of the simulator back, with computed times.

use goodqueue_queue::Backlog;
use goodqueue_sim::{Bottleneck, LinkOutcome, Network, PacketFate};
use goodqueue_types::{LinkId, Packet, PacketEvent, PacketEventKind, Time};

/// Links with their queues, and the routes of flows over them.
#[derive(Debug)]
pub struct Fabric {
    links: Vec<Bottleneck>,
    /// Links from client to server, and back, by flow.
    routes: Vec<[Vec<LinkId>; 2]>,
    events: Vec<PacketEvent>,
    /// Numbers of the packets of which a link made a copy.
    copies: Vec<u64>,
    /// Changes of backlogs.
    backlogs: Vec<(LinkId, Time, Backlog)>,
}

impl Fabric {
    /// Returns the idle links of a network. Its flows give the routes; their workloads are not
    /// read.
    pub fn new(network: &Network) -> Self {
        let links = 0..network.links.len();
        let flows = network.flows.iter();
        Self {
            links: links.map(|index| Bottleneck::new(network, index)).collect(),
            routes: flows
                .map(|flow| [flow.forward.clone(), flow.reverse.clone()])
                .collect(),
            events: Vec::new(),
            copies: Vec::new(),
            backlogs: Vec::new(),
        }
    }

    /// Lets a host send a packet at `now`. The packet's flow and direction give its route.
    pub fn send(&mut self, now: Time, packet: Packet) {
        self.advance(now);
        self.report(now, PacketEventKind::Sent, packet);
        self.enter(now, packet, None);
    }

    /// Handles everything that happens up to and including `now`.
    pub fn advance(&mut self, now: Time) {
        while let Some(time) = self.next().filter(|time| *time <= now) {
            self.step(time);
        }
    }

    /// Returns the time of the next event, or none if nothing happens until a host sends.
    pub fn next(&self) -> Option<Time> {
        self.links.iter().filter_map(Bottleneck::next).min()
    }

    /// Returns a time before which no packet reaches a host or a further link, or none if nothing
    /// does until a host sends. What happens earlier, at queues, need not be handled in time.
    pub fn next_delivery(&self) -> Option<Time> {
        let links = self.links.iter();
        links.filter_map(Bottleneck::next_delivery).min()
    }

    /// Takes the packet events since the last call out, in order of time.
    pub fn take_events(&mut self) -> std::vec::Drain<'_, PacketEvent> {
        self.events.drain(..)
    }

    /// Takes the numbers of the packets out of which links made copies since the last call. A
    /// copied packet is delivered, or lost, once more.
    pub fn take_copies(&mut self) -> std::vec::Drain<'_, u64> {
        self.copies.drain(..)
    }

    /// Takes the changes of backlogs since the last call out: the link, the time from which the
    /// backlog holds, and the backlog. Those of one link are in order of time.
    pub fn take_backlogs(&mut self) -> std::vec::Drain<'_, (LinkId, Time, Backlog)> {
        self.backlogs.drain(..)
    }

    /// Returns a link.
    pub fn link(&self, id: LinkId) -> &Bottleneck {
        &self.links[id.0 as usize]
    }

    /// Returns the results of the observed links, over the measured time until `end`.
    pub fn finish(self, end: Time) -> Vec<LinkOutcome> {
        let links = self.links.into_iter();
        links.filter_map(|link| link.finish(end)).collect()
    }

    /// Handles the events of the links at the earliest time at which there is one.
    fn step(&mut self, now: Time) {
        for index in 0..self.links.len() {
            if self.links[index].next().is_some_and(|time| time <= now) {
                self.links[index].advance(now);
                self.follow(index);
            }
        }
    }

    /// Lets a packet arrive at the link after `link` on its route, or at its host.
    fn enter(&mut self, now: Time, packet: Packet, link: Option<LinkId>) {
        let route = &self.routes[packet.flow.0 as usize][packet.direction as usize];
        let passed = link.map_or(0, |link| {
            1 + route.iter().position(|hop| *hop == link).unwrap_or(0)
        });
        match route.get(passed).copied() {
            Some(next) => {
                self.report(now, PacketEventKind::Arrived(next), packet);
                self.links[next.0 as usize].arrive(now, packet);
                self.follow(next.0 as usize);
            }
            None => self.report(now, PacketEventKind::Delivered, packet),
        }
    }

    /// Passes on what a link did.
    fn follow(&mut self, index: usize) {
        let link = LinkId(index as u32);
        let changes = self.links[index].take_backlogs();
        self.backlogs
            .extend(changes.map(|(time, backlog)| (link, time, backlog)));
        let events: Vec<_> = self.links[index].take_events().collect();
        for event in events {
            let kind = match event.fate {
                PacketFate::Marked(reason) => PacketEventKind::Marked(link, reason),
                PacketFate::Dropped(reason) => PacketEventKind::Dropped(link, reason),
                PacketFate::Started(wait) => PacketEventKind::ServiceStarted(link, wait),
                PacketFate::Copied => {
                    self.copies.push(event.packet.number);
                    continue;
                }
                PacketFate::Delivered => {
                    self.enter(event.time, event.packet, Some(link));
                    continue;
                }
            };
            self.report(event.time, kind, event.packet);
        }
    }

    fn report(&mut self, time: Time, kind: PacketEventKind, packet: Packet) {
        self.events.push(PacketEvent { time, kind, packet });
    }
}
