//! The fast engine.
//!
//! It counts events first. The event queue holds the heads of lines (packets on their way to a
//! link where several sources meet) and timers, never packets. Between two such links a packet is
//! walked at once: a FIFO's departure is known on arrival, propagation is constant, and a host may
//! be run with the time its packet will have, because all its packets come along one route in
//! order. Whatever a host's timers do before then is done first. A dumbbell costs two events per
//! data packet: the data at the bottleneck, and its ACK at the reverse bottleneck.
//!
//! Why this is exact: every link and host sees its inputs in the order (time, kind, rank) that
//! `event_queue` defines, whether or not the engine worked ahead. The reference engine of the
//! test kit, which never does, must agree packet for packet.

use crate::agent::{Agent, agents, flow_outcome, receiver_of};
use crate::event_queue::{Event, EventQueue, Kind};
use crate::link::{Link, Offer};
use crate::link_meter::Window;
use crate::probe::{NoProbe, Probe, Recorder};
use crate::line::{Lines, Next, OnTheWay};
use crate::routing::{AT_ONCE, Hop, Routing};
use crate::{Network, Outcome, Totals};
use goodqueue_types::{
    Direction, DropReason, LinkId, Packet, PacketEvent, PacketEventKind, Time,
};

/// How often a run that can be stopped asks whether to go on.
const SLICES: u64 = 1_000;

/// Runs a network from start to end.
///
/// # Panics
/// If packets are not conserved, which no scenario can cause.
pub fn run(network: &Network) -> Outcome {
    run_while(network, || true).expect("nothing stops the run")
}

/// Runs a network while `go_on` says so, asked a thousand times over the run; `None` if it was
/// stopped.
///
/// # Panics
/// If packets are not conserved, which no scenario can cause.
pub fn run_while(network: &Network, go_on: impl FnMut() -> bool) -> Option<Outcome> {
    if network.record.series || network.record.packets {
        let observed = network.links.iter().map(|link| link.observed).collect();
        let recorder = Recorder::new(network.record, observed, network.flows.len());
        let simulation = Simulation::new(network, recorder);
        let (mut outcome, recorder) = simulation.complete_while(go_on)?;
        (outcome.series, outcome.packets) = recorder.finish();
        Some(outcome)
    } else {
        let simulation = Simulation::new(network, NoProbe);
        Some(simulation.complete_while(go_on)?.0)
    }
}

/// A run in progress.
#[derive(Debug)]
pub struct Simulation<'a, P> {
    network: &'a Network,
    window: Window,
    routing: Routing,
    events: EventQueue,
    links: Vec<Link>,
    lines: Lines,
    agents: Vec<Agent>,
    /// When each agent's pending wake event is; [`Time::MAX`] without one. Other wake events of
    /// the agent still in the queue are stale and ignored.
    pending_wake: Vec<Time>,
    /// Forward packets of each flow lost in the window.
    lost: Vec<u64>,
    delivered: u64,
    /// Packets that at the end wait at links that do not track what waits.
    queued_untracked: u64,
    in_flight: u64,
    event_count: u64,
    probe: P,
}

impl<'a, P: Probe> Simulation<'a, P> {
    /// A run about to start.
    pub fn new(network: &'a Network, probe: P) -> Self {
        let window = Window { from: network.warmup, to: network.end };
        let routing = Routing::new(network);
        let agents = agents(network);
        let mut simulation = Self {
            network,
            window,
            events: EventQueue::default(),
            links: network.links.iter().map(|link| Link::new(link, window)).collect(),
            lines: Lines::new(routing.shared_lines, routing.own_lines),
            pending_wake: vec![Time::MAX; agents.len()],
            lost: vec![0; network.flows.len()],
            delivered: 0,
            queued_untracked: 0,
            in_flight: 0,
            event_count: 0,
            routing,
            agents,
            probe,
        };
        for agent in 0..simulation.agents.len() {
            simulation.arm(agent);
        }
        simulation
    }

    /// Runs to the end and reports.
    pub fn complete(mut self) -> (Outcome, P) {
        self.run_until(self.window.to);
        self.finish()
    }

    /// Runs to the end and reports, unless stopped on the way.
    fn complete_while(mut self, mut go_on: impl FnMut() -> bool) -> Option<(Outcome, P)> {
        let end = self.window.to;
        for slice in 1..SLICES {
            if !go_on() {
                return None;
            }
            self.run_until(Time(end.0 / SLICES * slice));
        }
        Some(self.complete())
    }

    /// Handles every event up to and including `until`.
    pub fn run_until(&mut self, until: Time) {
        while let Some(event) = self.events.peek().filter(|event| event.time() <= until) {
            self.event_count += 1;
            match event.kind() {
                Kind::Arrival => self.arrival(event),
                Kind::Wake => self.wake(event),
            }
        }
    }

    /// The head of a line reaches its link, unless another has come before it since.
    #[inline]
    fn arrival(&mut self, event: Event) {
        let mut head = OnTheWay::default();
        match self.lines.take(event, &mut head) {
            Next::Arrival(next) => self.events.replace(next),
            Next::Nothing => self.events.pop(),
            Next::Stale => return self.events.pop(),
        }
        if let Some(now) = self.cross(&head.packet, head.hop, event.time()) {
            self.deliver(&head.packet, now);
        }
    }

    /// An agent's timer is due, unless it has been moved since.
    fn wake(&mut self, event: Event) {
        let index = event.index();
        let now = event.time();
        self.events.pop();
        if self.pending_wake[index] == now {
            self.pending_wake[index] = Time::MAX;
            if self.agents[index].wakes_at() <= now {
                self.fire(index, now);
            }
            self.arm(index);
        }
    }

    /// Lets an agent do what is due at `now`.
    fn fire(&mut self, index: usize, now: Time) {
        self.agents[index].wake(now);
        if P::ACTIVE {
            self.observe_agent(index, now, false);
        }
        self.transmit(index, now);
    }

    /// Makes sure the event queue wakes an agent in time. A pending event that is too early is
    /// left to re-arm itself: timers that move with every ACK cost one event per expiry, not one
    /// per ACK.
    #[inline]
    fn arm(&mut self, index: usize) {
        let due = self.agents[index].wakes_at();
        if due < self.pending_wake[index] && due <= self.window.to {
            self.pending_wake[index] = due;
            self.events.push(Event::new(due, Kind::Wake, 0, index as u32));
        }
    }

    /// Walks a packet over the `index`th hop, which it reaches at `now`, and on as far as nothing
    /// can interfere. Returns when it reaches its host, if it does.
    #[inline]
    fn cross(&mut self, packet: &Packet, mut index: u32, mut now: Time) -> Option<Time> {
        let mut hop = self.routing.hops[index as usize];
        loop {
            let link = hop.link as usize;
            let Offer::Accepted { start, arrival } = self.offer(link, packet, now) else {
                return None;
            };
            if arrival > self.window.to {
                self.stay(link, start);
                return None;
            }
            if hop.last {
                return Some(arrival);
            }
            now = arrival;
            index += 1;
            hop = self.routing.hops[index as usize];
            if hop.line != AT_ONCE {
                self.line_up(packet, hop, index, now);
                return None;
            }
        }
    }

    /// Offers a packet to a link and books a loss.
    #[inline]
    fn offer(&mut self, link: usize, packet: &Packet, now: Time) -> Offer {
        let id = LinkId(link as u32);
        let probe = &mut self.probe;
        if P::ACTIVE {
            let kind = PacketEventKind::Arrived(id);
            probe.packet(PacketEvent { time: now, kind, packet: *packet });
        }
        let offer = self.links[link].offer(now, packet.size, |time, backlog| {
            if P::ACTIVE {
                probe.backlog(id, time, backlog);
            }
        });
        match offer {
            Offer::Dropped(reason) => self.lose(id, packet, now, reason),
            Offer::Accepted { start, .. } if P::ACTIVE && start <= self.window.to => {
                let kind = PacketEventKind::ServiceStarted(id, start - now);
                self.probe.packet(PacketEvent { time: start, kind, packet: *packet });
            }
            Offer::Accepted { .. } => {}
        }
        offer
    }

    fn lose(&mut self, link: LinkId, packet: &Packet, now: Time, reason: DropReason) {
        if packet.direction == Direction::Forward && self.window.contains(now) {
            self.lost[packet.flow.0 as usize] += 1;
        }
        if P::ACTIVE {
            let kind = PacketEventKind::Dropped(link, reason);
            self.probe.packet(PacketEvent { time: now, kind, packet: *packet });
        }
    }

    /// The run ends while a packet waits at a link or is on its way behind it.
    fn stay(&mut self, link: usize, start: Time) {
        if start <= self.window.to {
            self.in_flight += 1;
        } else if self.links[link].queued().is_none() {
            self.queued_untracked += 1;
        }
    }

    /// Puts a packet in line before `hop`, the `index`th, where it arrives at `now`.
    #[inline]
    fn line_up(&mut self, packet: &Packet, hop: Hop, index: u32, now: Time) {
        let rank = self.routing.rank(packet);
        if let Some(head) = self.lines.place(hop, index, now, rank, packet) {
            self.events.push(head);
        }
    }

    /// A packet reaches its host at `now`, which may be ahead of the event queue.
    #[inline]
    fn deliver(&mut self, packet: &Packet, now: Time) {
        let index = receiver_of(packet);
        // What the host's own timers do before the packet arrives comes first.
        let mut due = self.agents[index].wakes_at();
        while due < now {
            self.fire(index, due);
            due = self.agents[index].wakes_at();
        }
        self.delivered += 1;
        self.agents[index].receive(now, packet);
        if P::ACTIVE {
            let kind = PacketEventKind::Delivered;
            self.probe.packet(PacketEvent { time: now, kind, packet: *packet });
            self.observe_agent(index, now, true);
        }
        self.transmit(index, now);
        self.arm(index);
    }

    /// Sends what an agent has to send.
    #[inline]
    fn transmit(&mut self, index: usize, now: Time) {
        let mut packet = Packet::default();
        while self.agents[index].transmit_into(now, &mut packet) {
            if P::ACTIVE {
                self.probe.packet(PacketEvent { time: now, kind: PacketEventKind::Sent, packet });
            }
            let first = self.routing.first_hops[index];
            let hop = self.routing.hops[first as usize];
            if hop.line != AT_ONCE {
                self.line_up(&packet, hop, first, now);
            } else if let Some(now) = self.cross(&packet, first, now) {
                self.deliver(&packet, now);
            }
        }
    }

    fn observe_agent(&mut self, index: usize, now: Time, received: bool) {
        // The client's variables are the flow's: it is the sender.
        if index.is_multiple_of(2) {
            self.probe.agent((index / 2) as u32, now, &self.agents[index], received);
        }
    }

    fn finish(mut self) -> (Outcome, P) {
        for (index, link) in self.links.iter_mut().enumerate() {
            let probe = &mut self.probe;
            link.finish(self.window.to, |time, backlog| {
                if P::ACTIVE {
                    probe.backlog(LinkId(index as u32), time, backlog);
                }
            });
            assert!(link.conserves(), "{}: packets not conserved", self.network.links[index].name);
        }
        // Nothing is lined up for a link that it would reach before the end.
        assert!(self.lines.is_empty(), "a line was left behind");
        let totals = self.totals();
        totals.check().unwrap_or_else(|message| panic!("{message}"));
        let links = self.network.links.iter().zip(&mut self.links);
        let outcome = Outcome {
            measured_s: self.window.seconds(),
            links: links
                .filter_map(|(config, link)| Some(link.take_meter()?.finish(&config.name)))
                .collect(),
            flows: self
                .network
                .flows
                .iter()
                .zip(self.agents.chunks_exact(2))
                .zip(&self.lost)
                .map(|((flow, ends), lost)| flow_outcome(flow, &ends[0], &ends[1], *lost))
                .collect(),
            totals,
            series: crate::Series::default(),
            packets: Vec::new(),
        };
        (outcome, self.probe)
    }

    /// Every count from its own source: agents, links, and the engine.
    fn totals(&self) -> Totals {
        let tracked: u64 = self.links.iter().filter_map(Link::queued).sum();
        Totals {
            sent: self.agents.iter().map(|agent| agent.totals().0).sum(),
            delivered: self.delivered,
            delivered_forward: self.agents.iter().skip(1).step_by(2).map(|s| s.totals().1).sum(),
            dropped: self.links.iter().map(Link::drops).sum(),
            queued: tracked + self.queued_untracked,
            in_flight: self.in_flight,
            events: self.event_count,
        }
    }

}

#[cfg(test)]
mod tests;
