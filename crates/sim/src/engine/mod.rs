//! The fast engine.
//!
//! Its design minimises events. The event queue holds the heads of lines (packets that travel to a
//! link with several sources) and timers, never packets. Between two such links a packet is moved
//! at once: a FIFO's departure is known on arrival, propagation is constant, and all packets to a
//! host come along one route in order, so a host can process a packet ahead of the event queue, at
//! the packet's future arrival time. The host's timers before that time fire first. A dumbbell
//! costs two events per data packet: the data at the bottleneck, and its ACK at the reverse
//! bottleneck.
//!
//! The result is exact because every link and host sees its inputs in the order (time, kind, rank)
//! that `event_queue` defines, whether or not the engine worked ahead. The reference engine of the
//! test kit, which never works ahead, must agree packet for packet.

#![expect(
    clippy::inline_always,
    reason = "part of the engine's two loops, see `engine::core`"
)]

mod core;
mod crossing;
mod ending;
pub mod event_queue;
pub mod in_order;
pub mod line;
pub mod probe;
pub mod routing;
mod serving;

use self::core::Core;
pub(crate) use self::core::Host;
use crate::engine::crossing::Crossed;
use crate::engine::event_queue::{Event, Kind};
use crate::engine::in_order::InOrder;
use crate::engine::line::{Lines, OnTheWay};
use crate::engine::probe::{NoProbe, Probe, Recorder};
use crate::engine::routing::{Hop, Routing};
use crate::engine::serving::Announcement;
use crate::host::agent::{flow_outcome, receiver_of};
use crate::measure::fairness::add_fairness;
use crate::{Network, Outcome, Totals, footprint};
use goodqueue_types::{Packet, PacketSink, Time};
use std::borrow::Cow;

/// Most events, and most packets of hosts, between two calls of `go_on`. A block takes some
/// milliseconds of computing for any amount of simulated time.
const BLOCK: u64 = 1 << 14;

/// Runs a network from start to end.
///
/// # Panics
/// Panics if packets are not conserved, which no scenario can cause.
pub fn run(network: &Network) -> Outcome {
    run_while(network, |_| true).expect("nothing stops the run")
}

/// Runs a network while `go_on` returns true. Returns `None` if it was stopped. `go_on` is called
/// with the simulated time before the first event, every few milliseconds of computing, and after
/// the last event.
///
/// # Panics
/// Panics if packets are not conserved, which no scenario can cause.
pub fn run_while(network: &Network, go_on: impl FnMut(Time) -> bool) -> Option<Outcome> {
    if network.record.series || network.record.packets {
        let recorder = recorder(network);
        let simulation = Simulation::new(network, recorder);
        let (mut outcome, recorder) = simulation.complete_while(go_on)?;
        (outcome.series, outcome.packets) = recorder.finish();
        Some(outcome)
    } else {
        let simulation = Simulation::new(network, NoProbe);
        Some(simulation.complete_while(go_on)?.0)
    }
}

/// Runs a network as [`run_while`] does and passes the packet events to a sink during the run, in
/// order of time.
///
/// # Panics
/// Panics if packets are not conserved, which no scenario can cause.
pub fn run_traced(
    network: &Network,
    sink: &mut impl PacketSink,
    go_on: impl FnMut(Time) -> bool,
) -> Option<Outcome> {
    let probe = (recorder(network), InOrder::new(sink));
    let simulation = Simulation::new(network, probe);
    let (mut outcome, (recorder, in_order)) = simulation.complete_while(go_on)?;
    in_order.finish();
    (outcome.series, outcome.packets) = recorder.finish();
    Some(outcome)
}

/// Runs a network as [`run_while`] does, but with this probe in place of the records that the
/// network asks for. Returns the probe with the outcome.
///
/// # Panics
/// Panics if packets are not conserved, which no scenario can cause.
pub fn run_probed<P: Probe>(
    network: &Network,
    probe: P,
    go_on: impl FnMut(Time) -> bool,
) -> Option<(Outcome, P)> {
    Simulation::new(network, probe).complete_while(go_on)
}

fn recorder(network: &Network) -> Recorder {
    let observed = network.links.iter().map(|link| link.observed).collect();
    Recorder::new(network.record, observed, network.flows.len())
}

/// A run in progress.
///
/// Packets are handled at their place in the lines and are never copied between two lines. The
/// lines are therefore separate from the core, which has the links and hosts.
#[derive(Debug)]
pub struct Simulation<'a, P> {
    network: Cow<'a, Network>,
    core: Core<P>,
    lines: Lines,
    event_count: u64,
    /// Number of packets that hosts have sent. One event may send many.
    sent_count: u64,
    /// Packets of one flow that arrive at the present instant, in a network with shared buffers.
    tied: Vec<OnTheWay>,
}

impl<'a, P: Probe> Simulation<'a, P> {
    /// Creates a run that has not started.
    pub fn new(network: &'a Network, probe: P) -> Self {
        Self::with(Cow::Borrowed(network), probe)
    }

    fn with(network: Cow<'a, Network>, probe: P) -> Self {
        let (routing, first_hops) = Routing::new(&network, P::UNFOLDS);
        let lines = Lines::new(routing.shared_lines, routing.own_lines);
        let core = Core::new(&network, routing, first_hops, probe);
        let mut simulation = Self {
            network,
            core,
            lines,
            event_count: 0,
            sent_count: 0,
            tied: Vec::new(),
        };
        for host in 0..simulation.core.hosts.len() {
            simulation.core.arm(host);
        }
        simulation.core.begin_autorates();
        simulation
    }

    /// Runs to the end and returns the outcome.
    pub fn complete(mut self) -> (Outcome, P) {
        self.run_until(self.core.window.to);
        self.finish()
    }

    /// Runs to the end and returns the outcome, or returns none if `go_on` stopped the run.
    fn complete_while(mut self, mut go_on: impl FnMut(Time) -> bool) -> Option<(Outcome, P)> {
        let mut now = Time::ZERO;
        while go_on(now) {
            let Some(next) = self.advance() else {
                // A run that failed in its last block must have no outcome.
                let end = self.core.window.to;
                return go_on(end).then(|| self.finish());
            };
            now = next;
        }
        None
    }

    /// Runs for some milliseconds of computing. Returns the simulated time of the next event, or
    /// none if the run has reached its end.
    pub fn advance(&mut self) -> Option<Time> {
        self.advance_by(BLOCK)
    }

    /// Handles up to this number of events, fewer if hosts send as many packets before. Returns the
    /// simulated time of the next event, or none if the run has reached its end.
    pub fn advance_by(&mut self, events: u64) -> Option<Time> {
        let end = self.core.window.to;
        (!self.run_block(end, events)).then(|| self.core.events.peek().time().min(end))
    }

    /// Handles every event up to and including `until`.
    pub fn run_until(&mut self, until: Time) {
        while !self.run_block(until, BLOCK) {}
    }

    /// Handles up to `most` events up to and including `until`, fewer if hosts send as many packets
    /// before. Returns true if no event is left.
    fn run_block(&mut self, until: Time, most: u64) -> bool {
        let (pause, rest) = (self.event_count + most, self.sent_count + most);
        debug_assert!(until < Time::MAX);
        loop {
            let event = self.core.events.peek();
            // Without an event the time is `Time::MAX`, which no run reaches.
            if event.time() > until {
                return true;
            }
            if self.event_count >= pause || self.sent_count >= rest {
                return false;
            }
            self.event_count += 1;
            if P::ACTIVE {
                self.core.probe.advance(event.time());
            }
            // Most events are arrivals, so they are tried first.
            if event.kind() == Kind::Arrival {
                self.arrival(event);
                continue;
            }
            match event.kind() {
                Kind::Service => self.service(event),
                Kind::Emergence => self.emergence(event),
                _ => self.wake(event),
            }
        }
    }

    /// Lets the head of a line arrive at its link. Does nothing if another packet has become the
    /// head since the event was set.
    #[inline]
    fn arrival(&mut self, event: Event) {
        let core = &mut self.core;
        let Some((head, next)) = self.lines.take(event) else {
            return core.events.pop(Kind::Arrival);
        };
        if next == Event::NONE {
            core.events.pop(Kind::Arrival);
        } else {
            core.events.replace(Kind::Arrival, next);
        }
        let hop = &core.routing.hops[head.hop as usize];
        if hop.served {
            if !core.shared_buffers.is_empty() && core.events.peek().ties_with(event) {
                let head = *head;
                return self.arrive_by_number(event, head);
            }
            let (link, packet, now) = (hop.link, head.packet, event.time());
            return self.arrive(link, packet, now);
        }
        match core.cross(&head.packet, head.hop, event.time()) {
            Crossed::Arrives(now) => {
                let host = receiver_of(&head.packet);
                if !core.receive(host, &head.packet, now) {
                    let packet = head.packet;
                    self.receive_late(host, &packet, now);
                }
                self.transmit(host, now);
            }
            Crossed::Waits { hop, at } => {
                let packet = head.packet;
                *self.lines.place(core.routing.hops[hop as usize].line) = packet;
                self.line_up(hop, at, self.core.routing.rank(&packet));
            }
            Crossed::Ends => {}
        }
    }

    /// Lets packets of equal time and rank arrive in the order of their numbers. They belong to one
    /// flow. Their order among different links matters only if the links share a buffer.
    #[cold]
    fn arrive_by_number(&mut self, event: Event, first: OnTheWay) {
        let mut tied = std::mem::take(&mut self.tied);
        tied.push(first);
        loop {
            let next = self.core.events.peek();
            if !next.ties_with(event) {
                break;
            }
            self.event_count += 1;
            let taken = self.lines.take(next);
            match taken {
                Some((_, after)) if after != Event::NONE => {
                    self.core.events.replace(Kind::Arrival, after);
                }
                _ => self.core.events.pop(Kind::Arrival),
            }
            tied.extend(taken.map(|(head, _)| *head));
        }
        let hops = &self.core.routing.hops;
        tied.sort_by_key(|head| (head.packet.number, hops[head.hop as usize].link));
        for OnTheWay { hop, packet } in tied.drain(..) {
            let Hop { served, link, .. } = self.core.routing.hops[hop as usize];
            if served {
                self.arrive(link, packet, event.time());
            } else {
                let crossed = self.core.cross(&packet, hop, event.time());
                self.follow(&packet, crossed);
            }
        }
        self.tied = tied;
    }

    /// Lets a packet arrive at a link with a queue discipline.
    #[inline(always)]
    fn arrive(&mut self, link: u32, packet: Packet, now: Time) {
        if let Some(packet) = self.core.arrive(link, packet, now) {
            let crossed = self.core.begin(link, &packet, now, Announcement::Pushed);
            self.follow(&packet, crossed);
        }
    }

    /// Serves a link with a queue discipline that has sent a frame or may send a packet that its
    /// queue held back. The event for the end of the next transmission replaces the present event.
    fn service(&mut self, event: Event) {
        let (link, now) = (event.index() as u32, event.time());
        if let Some(packet) = self.core.serve(link, now) {
            let crossed = self.core.begin(link, &packet, now, Announcement::Replaces);
            self.follow(&packet, crossed);
        } else {
            self.core.events.pop(Kind::Service);
        }
    }

    /// Lets a packet leave a link with impairments and moves it on to the next link at which other
    /// packets can arrive before it.
    #[cold]
    fn emergence(&mut self, event: Event) {
        let (link, now) = (event.index() as u32, event.time());
        self.core.events.pop(Kind::Emergence);
        if let Some((packet, crossed)) = self.core.emerge(link, now) {
            self.follow(&packet, crossed);
        }
    }

    /// Continues the path of a packet that left a link with a queue discipline.
    #[inline]
    fn follow(&mut self, packet: &Packet, crossed: Crossed) {
        match crossed {
            Crossed::Arrives(now) => {
                let host = receiver_of(packet);
                if !self.core.receive(host, packet, now) {
                    self.receive_late(host, packet, now);
                }
                self.transmit(host, now);
            }
            Crossed::Waits { hop, at } => {
                let before = self.core.routing.hops[hop as usize].line;
                *self.lines.place(before) = *packet;
                self.line_up(hop, at, self.core.routing.rank(packet));
            }
            Crossed::Ends => {}
        }
    }

    /// Fires an agent's timer, unless it has been moved since the event was set.
    #[cold]
    fn wake(&mut self, event: Event) {
        let (index, now) = (event.index(), event.time());
        self.core.events.pop(Kind::Wake);
        let host = &mut self.core.hosts[index];
        if host.pending_wake == now {
            host.pending_wake = Time::MAX;
            if host.wakes_at <= now {
                self.fire(index, now);
            } else {
                self.core.arm(index);
            }
        }
    }

    /// Makes the activities of an agent that are due at `now`, and lets it send.
    fn fire(&mut self, host: usize, now: Time) {
        self.core.fire(host, now);
        self.transmit(host, now);
    }

    /// Delivers a packet to a host after firing the host's earlier timers.
    #[cold]
    fn receive_late(&mut self, host: usize, packet: &Packet, now: Time) {
        while self.core.is_late(host, now) {
            self.fire(host, self.core.hosts[host].wakes_at);
        }
        self.core.receive(host, packet, now);
    }

    /// Sends the packets of a host, which may be ahead of the event queue. If they reach the other
    /// end at once, it answers at once too. The answer waits in a line, because every loop from a
    /// host back to itself contains a line. At most two hosts are therefore involved.
    fn transmit(&mut self, mut host: usize, mut now: Time) {
        let mut interrupted = None;
        loop {
            let core = &mut self.core;
            let Some((packet, hop)) = core.send(host, now, &mut self.lines) else {
                let Some(sender) = interrupted.take() else {
                    return;
                };
                (host, now) = sender;
                continue;
            };
            self.sent_count += 1;
            match core.cross_from_host(packet, hop, now) {
                Crossed::Arrives(time) => {
                    debug_assert!(interrupted.is_none());
                    interrupted = Some((host, now));
                    (host, now) = (receiver_of(packet), time);
                    if !core.receive(host, packet, now) {
                        let packet = *packet;
                        self.receive_late(host, &packet, now);
                    }
                }
                Crossed::Waits { hop, at } => {
                    let rank = core.routing.rank(packet);
                    self.line_up(hop, at, rank);
                }
                Crossed::Ends => {}
            }
        }
    }

    /// Puts the packet in the place before the `index`th hop in line, with its arrival at `now`.
    #[inline(always)]
    fn line_up(&mut self, index: u32, now: Time, rank: u32) {
        let hop = &self.core.routing.hops[index as usize];
        if let Some(head) = self.lines.join(hop, index, now, rank) {
            self.core.events.push(head);
        }
    }

    /// Returns the steps of computing so far: events, and packets that hosts sent.
    pub fn steps(&self) -> u64 {
        self.event_count + self.sent_count
    }

    /// Estimates the bytes that have grown with the run: packets in the network, with the senders'
    /// records of them, and the connections of sessions.
    pub fn grown_bytes(&self) -> u64 {
        let totals = self.core.totals();
        let gone = totals.delivered + totals.dropped;
        let under_way = (totals.sent + totals.duplicated + totals.split).saturating_sub(gone);
        let hosts = self.core.hosts.iter();
        let sessions = hosts.map(|host| host.agent.behaviour().session_bytes());
        under_way * footprint::packet() as u64 + sessions.sum::<usize>() as u64
    }

    /// Returns the probe of a run that is in progress.
    pub fn probe(&self) -> &P {
        &self.core.probe
    }

    /// Returns the outcome of a run that has reached its end.
    ///
    /// # Panics
    /// Panics before the end, or if packets are not conserved, which no scenario can cause.
    pub fn finish(self) -> (Outcome, P) {
        // Packets that would arrive after the end are never put in line.
        assert!(self.lines.is_empty(), "a line was left behind");
        // Frees the memory of the packets in flight before the results need memory.
        drop(self.lines);
        let (network, mut core) = (self.network.as_ref(), self.core);
        core.observe_end();
        core.finish_links(network);
        let totals = Totals {
            events: self.event_count,
            ..core.totals()
        };
        totals.check().unwrap_or_else(|message| panic!("{message}"));
        let links = network.links.iter().enumerate();
        let links = links
            .filter_map(|(index, config)| Some(core.take_meter(index)?.finish(&config.name)))
            .collect();
        let pools = core.take_pools(network);
        let ends = core.hosts.chunks_exact(2);
        let ends = ends.map(|ends| (&ends[0].agent, &ends[1].agent));
        let mut outcome = Outcome {
            measured_s: core.window.seconds(),
            links,
            flows: ends
                .clone()
                .map(|(client, server)| flow_outcome(network, client, server, &core.signals))
                .collect(),
            pools,
            totals,
            series: crate::Series::default(),
            packets: Vec::new(),
        };
        add_fairness(&mut outcome, network, ends);
        (outcome, core.probe)
    }
}

impl<P: Probe> Simulation<'static, P> {
    /// Creates a run that has not started and keeps its network.
    pub fn owned(network: Network, probe: P) -> Self {
        Self::with(Cow::Owned(network), probe)
    }
}

#[cfg(test)]
mod tests;
