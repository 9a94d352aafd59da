//! The reference engine, which is slow and simple and verifies the fast one.
//!
//! It shares agents, queue disciplines and meters with the fast engine, but neither the event loop
//! nor the links nor the routing. The heap has an entry for every packet in flight and for every
//! frame in transmission. A link consists of a queue and the frame in transmission. No event is
//! computed before its time. To verify a result, a reader can read this folder from top to
//! bottom.

mod ending;
mod link;
mod pausing;
mod plain_pause;
mod plain_service;
mod steering;

use crate::Mutation;
use goodqueue_queue::{Backlog, Context, Discipline, QueueDiscipline, Verdict};
use goodqueue_sim::{
    Agent, Network, Outcome, Probe, Recorder, SharedBuffer, Signals, TieOrder, Window, agents,
    meters, receiver_of, shared_buffers,
};
use goodqueue_types::{
    Bytes, Direction, DropReason, LinkId, Packet, PacketEvent, PacketEventKind, Span, Time,
};
use link::Link;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Runs a network from start to end, one event at a time.
///
/// # Panics
/// Panics if packets are not conserved or a timer lies in the past.
pub fn run_reference(network: &Network) -> Outcome {
    Reference::new(network, None).run()
}

/// Runs a network with an error in one rule, to show that the comparison of the engines finds it.
///
/// # Panics
/// Panics under the same conditions as [`run_reference`].
pub fn run_mutant(network: &Network, mutation: Mutation) -> Outcome {
    Reference::new(network, Some(mutation)).run()
}

/// Kind of an event.
#[derive(Clone, Copy, Debug)]
enum What {
    /// A PAUSE, or its end, takes effect at a link.
    Pause(usize),
    /// A program may set the rate of a link's queue.
    Steer(usize),
    /// A link has sent the last bit of a frame.
    ServiceEnd(usize),
    /// A link's queue may release a packet that it held back.
    Ready(usize),
    /// A packet passes an observed link that only delays packets.
    Pass(usize, Packet),
    /// A packet reaches its host.
    Delivery(Packet),
    /// An agent's timer or application may be due.
    Wake(usize),
    /// A packet reaches a link.
    Arrival(usize, Packet),
}

/// Time of an event, and its place among simultaneous events: kind, then rank and number of the
/// packet, then the link at which it arrives. Copies of a packet that arrive at one place keep the
/// order in which they were scheduled.
type Key = (Time, u8, u64, u64, usize, u64);

/// An entry of the heap, ordered by key.
#[derive(Clone, Copy, Debug)]
struct Event {
    key: Key,
    what: What,
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

struct Reference<'a> {
    network: &'a Network,
    mutation: Option<Mutation>,
    window: Window,
    ties: TieOrder,
    events: BinaryHeap<Reverse<Event>>,
    links: Vec<Link<'a>>,
    shared: Vec<SharedBuffer>,
    agents: Vec<Agent>,
    signals: Signals,
    delivered: u64,
    scheduled: u64,
    handled: u64,
    recorder: Recorder,
}

impl<'a> Reference<'a> {
    fn new(network: &'a Network, mutation: Option<Mutation>) -> Self {
        let window = Window {
            from: network.warmup,
            to: network.end,
        };
        let observed = network.links.iter().map(|link| link.observed).collect();
        let meters = meters(network, window).into_iter().enumerate();
        let links = meters
            .map(|(index, meter)| {
                Link::new(network, index, meter.map(|meter| *meter), window, mutation)
            })
            .collect();
        Self {
            network,
            mutation,
            window,
            ties: TieOrder::new(network.seed, network.flows.len()),
            events: BinaryHeap::new(),
            links,
            shared: shared_buffers(network),
            agents: agents(network).collect(),
            signals: Signals::new(network),
            delivered: 0,
            scheduled: 0,
            handled: 0,
            recorder: Recorder::new(network.record, observed, network.flows.len()),
        }
    }

    fn run(mut self) -> Outcome {
        for agent in 0..self.agents.len() {
            self.arm(agent, Time::ZERO);
        }
        self.begin_autorates();
        while let Some(Reverse(event)) = self.events.peek().copied() {
            let now = event.key.0;
            let excluded = now == self.window.to && self.has(Mutation::EndExcluded);
            if now > self.window.to || excluded {
                break;
            }
            self.events.pop();
            self.handled += 1;
            match event.what {
                What::Pause(link) => self.pause(link, now),
                What::Steer(link) => self.steer(link, now),
                What::ServiceEnd(link) => self.service_end(link, now),
                What::Ready(link) => self.ready(link, now),
                What::Pass(link, packet) => self.pass(link, &packet, now),
                What::Delivery(packet) => self.delivery(packet, now),
                What::Wake(agent) => self.wake(agent, now),
                What::Arrival(link, packet) => self.arrival(link, packet, now),
            }
            self.request_pauses(now);
        }
        self.finish()
    }

    fn has(&self, mutation: Mutation) -> bool {
        self.mutation == Some(mutation)
    }

    /// Puts an event on the heap.
    fn schedule(&mut self, time: Time, what: What) {
        let usual = match what {
            What::Pause(_) | What::Steer(_) => 0,
            What::ServiceEnd(_) | What::Ready(_) => 1,
            What::Pass(..) | What::Delivery(_) => 3,
            What::Wake(_) => 5,
            What::Arrival(..) => 7,
        };
        let kind = match (self.mutation, what) {
            (Some(Mutation::TimerBeforeDelivery), What::Wake(_)) => 2,
            (Some(Mutation::ArrivalBeforeWake), What::Arrival(..)) => 4,
            (Some(Mutation::ArrivalBeforeServiceEnd), What::Arrival(..)) => 0,
            _ => usual,
        };
        let (rank, number) = match what {
            What::Pause(index)
            | What::Steer(index)
            | What::ServiceEnd(index)
            | What::Ready(index) => (index as u64, 0),
            What::Wake(index) => (u64::from(!self.sends_instantly(index)), index as u64),
            What::Arrival(..) if self.has(Mutation::TiesByInsertion) => (self.scheduled, 0),
            What::Pass(_, packet) | What::Delivery(packet) | What::Arrival(_, packet) => {
                (u64::from(self.ties.rank(&packet)), packet.number)
            }
        };
        let link = match what {
            What::Arrival(link, _) => link,
            _ => 0,
        };
        self.scheduled += 1;
        self.events.push(Reverse(Event {
            key: (time, kind, rank, number, link, self.scheduled),
            what,
        }));
    }

    fn record(&mut self, time: Time, kind: PacketEventKind, packet: Packet) {
        self.recorder.packet(PacketEvent { time, kind, packet });
    }

    /// Returns whether packets that an agent sends reach the other end at the same instant.
    fn sends_instantly(&self, agent: usize) -> bool {
        let flow = &self.network.flows[agent / 2];
        let route = if agent.is_multiple_of(2) {
            &flow.forward
        } else {
            &flow.reverse
        };
        let mut configs = route
            .iter()
            .map(|link| &self.network.links[link.0 as usize]);
        configs.all(|link| link.only_delays() && link.delay == Span::ZERO)
    }

    /// Returns the links that a packet crosses.
    fn route(&self, packet: &Packet) -> &'a [LinkId] {
        let flow = &self.network.flows[packet.flow.0 as usize];
        match packet.direction {
            Direction::Forward => &flow.forward,
            Direction::Reverse => &flow.reverse,
        }
    }

    /// Handles a packet that reaches a link: it is lost, transmitted, or waits.
    fn arrival(&mut self, index: usize, mut packet: Packet, now: Time) {
        let id = LinkId(index as u32);
        self.record(now, PacketEventKind::Arrived(id), packet);
        let counts_from_one = self.has(Mutation::DropListFromOne);
        let link = &mut self.links[index];
        if let Some(meter) = &mut link.meter {
            meter.arrival(now);
        }
        let place = link.arrivals + u64::from(counts_from_one);
        link.arrivals += 1;
        packet.arrived = now;
        self.waits(index, &packet);
        let link = &mut self.links[index];
        let listed = link.config.drop_list.contains(&place);
        let swapped = self.mutation == Some(Mutation::LossPlacesSwapped);
        if link.loses(&packet, swapped) || listed {
            self.leaves(index, &packet);
            self.lose(index, packet, now, DropReason::LinkLoss);
        } else if self.passes_by(index, now) {
            self.start_service(index, packet, now);
        } else {
            let split = self.links[index].split;
            self.with_queue(index, now, |queue, context| queue.enqueue(context, packet));
            let link = &mut self.links[index];
            if let Some(meter) = &mut link.meter {
                (split..link.split).for_each(|_| meter.arrival(now));
            }
            if let (Some(meter), Some(average)) = (&mut link.meter, link.queue.average()) {
                meter.average(now, average);
            }
            self.serve(index, now);
        }
    }

    /// Returns whether an arrival is transmitted without calling the queue.
    fn passes_by(&self, index: usize, now: Time) -> bool {
        let link = &self.links[index];
        let now_open = self.opens(index, now) == now;
        let bypassed = link.queue.is_bypassed_when_idle() || self.has(Mutation::EveryQueueBypassed);
        link.in_service.is_none() && now_open && bypassed && link.queue.backlog().packets == 0
    }

    /// Calls a link's queue and reports the packets that it dropped and marked.
    fn with_queue<T>(
        &mut self,
        index: usize,
        now: Time,
        call: impl FnOnce(&mut Discipline, &mut Context<'_>) -> T,
    ) -> T {
        let (answer, verdicts) = self.links[index].with_queue(now, &mut self.shared, call);
        for verdict in verdicts {
            match verdict {
                Verdict::Dropped(packet, reason) => {
                    self.leaves(index, &packet);
                    self.lose(index, packet, now, reason);
                }
                Verdict::Marked(packet, reason) => {
                    if let Some(meter) = &mut self.links[index].meter {
                        meter.mark(packet.arrived, now, reason);
                    }
                    let id = LinkId(index as u32);
                    if !self.has(Mutation::MarksNotBlamed) {
                        self.signals.mark(id, &packet, now);
                    }
                    let kind = PacketEventKind::Marked(id, reason);
                    self.record(now, kind, packet);
                }
            }
        }
        answer
    }

    /// Starts the next transmission if the link is idle and the queue returns a packet. Reports the
    /// backlog if it has changed.
    fn serve(&mut self, index: usize, now: Time) {
        let link = &self.links[index];
        let skipped = self.has(Mutation::EmptyQueueNotAsked) && link.queue.backlog().packets == 0;
        let outage = link.queue.backlog().packets > 0 && self.opens(index, now) > now;
        if link.in_service.is_none() && outage {
            self.report_backlog_if_new(index, now);
            self.await_ready(index, now);
        } else if link.in_service.is_none() && !skipped {
            let next = self.with_queue(index, now, QueueDiscipline::dequeue);
            self.report_backlog_if_new(index, now);
            match next {
                Some(next) => self.start_service(index, next, now),
                None => self.await_ready(index, now),
            }
        } else {
            self.report_backlog_if_new(index, now);
        }
    }

    /// Schedules the time at which a queue that holds packets back may release one.
    fn await_ready(&mut self, index: usize, now: Time) {
        let ready = self.links[index].queue.next_ready(now);
        // A request to pause that is under way may be withdrawn before the queue is ready.
        let ready = ready.map(|ready| {
            if ready > now {
                self.has_rate(index, ready)
            } else {
                self.opens(index, now)
            }
        });
        self.links[index].ready_at = ready;
        if let Some(ready) = ready.filter(|_| !self.has(Mutation::ReadinessForgotten)) {
            self.schedule(ready, What::Ready(index));
        }
    }

    /// Returns the earliest time from `time` on at which a link can begin a transmission.
    fn opens(&self, index: usize, time: Time) -> Time {
        let pause = self.links[index].pause.as_ref();
        if pause.is_some_and(|pause| pause.is_paused(time)) {
            return Time::MAX;
        }
        self.has_rate(index, time)
    }

    /// Returns the earliest time from `time` on at which a link is in no outage.
    fn has_rate(&self, index: usize, time: Time) -> Time {
        match &self.links[index].varying {
            Some(varying) if !self.has(Mutation::OutageIgnored) => varying.opens(time),
            _ => time,
        }
    }

    fn ready(&mut self, index: usize, now: Time) {
        let link = &self.links[index];
        if link.in_service.is_none() && link.ready_at == Some(now) {
            self.serve(index, now);
        }
    }

    fn lose(&mut self, index: usize, packet: Packet, now: Time, reason: DropReason) {
        let behind_queue = self.has(Mutation::DropListBehindQueue);
        let link = &mut self.links[index];
        link.drops += 1;
        if behind_queue && reason == DropReason::Overlimit {
            link.arrivals = link.arrivals.saturating_sub(1);
        }
        if let Some(meter) = &mut link.meter {
            meter.loss(packet.arrived, now, &packet, reason);
        }
        if !(reason == DropReason::LinkLoss && self.has(Mutation::LinkLossNotBlamed)) {
            self.signals.drop(LinkId(index as u32), &packet, now);
        }
        self.record(
            now,
            PacketEventKind::Dropped(LinkId(index as u32), reason),
            packet,
        );
    }

    /// Begins the transmission of a packet.
    fn start_service(&mut self, index: usize, packet: Packet, now: Time) {
        self.leaves(index, &packet);
        if self.has(Mutation::IdleLinkQueues) && packet.arrived == now {
            self.report_backlog(index, now);
        }
        let end = self.end_of_transmission(index, &packet, now);
        let window = self.window;
        let link = &mut self.links[index];
        let bytes = link.frame_bytes(&packet);
        if let Some(autorate) = &mut link.autorate {
            autorate.sent(now, bytes);
        }
        if let Some(varying) = &mut link.varying {
            varying.count(now, end, window);
        }
        link.in_service = Some(packet);
        link.times = (now, end);
        link.loses = link.loses(&packet, self.mutation != Some(Mutation::LossPlacesSwapped));
        if let Some(meter) = &mut link.meter {
            meter.service(packet.arrived, now, end, &packet);
        }
        self.record(
            now,
            PacketEventKind::ServiceStarted(LinkId(index as u32), now - packet.arrived),
            packet,
        );
        self.schedule(end, What::ServiceEnd(index));
    }

    fn end_of_transmission(&self, index: usize, packet: &Packet, now: Time) -> Time {
        let link = &self.links[index];
        let rate = link.config.rate;
        let bytes = match self.mutation {
            Some(Mutation::FramingForgotten) => u64::from(packet.size),
            _ => link.frame_bytes(packet),
        };
        if let Some(varying) = &link.varying {
            return varying.end(now, bytes);
        }
        now + match self.mutation {
            Some(Mutation::ServiceTimeRoundedDown) => {
                Span((u128::from(bytes) * 8_000_000_000_000 / u128::from(rate.0)) as u64)
            }
            _ => rate.transmission_time(Bytes(bytes)),
        }
    }

    /// Handles the end of a transmission: the packet propagates or is lost, and the next
    /// transmission starts.
    fn service_end(&mut self, index: usize, now: Time) {
        let link = &mut self.links[index];
        let packet = link
            .in_service
            .take()
            .expect("a transmission that ends has begun");
        let lost = link.loses;
        if lost {
            self.lose(index, packet, now, DropReason::LinkLoss);
        }
        let rank = self.ties.rank(&packet);
        let (mutation, link) = (self.mutation, &mut self.links[index]);
        let fate = (!lost || mutation == Some(Mutation::ImpairedBeforeLoss))
            .then(|| link.propagate(&packet, rank, now, mutation));
        self.serve(index, now);
        let Some((there, copy)) = fate.filter(|_| !lost) else {
            return;
        };
        self.go_on(index, packet, there);
        if let Some(there) = copy {
            let link = &mut self.links[index];
            link.duplicated += 1;
            if let Some(meter) = &mut link.meter {
                meter.duplicate(now);
            }
            self.go_on(index, packet, there);
        }
    }

    /// Moves a packet to the end of a link.
    fn go_on(&mut self, index: usize, packet: Packet, there: Time) {
        let mut route = self.route(&packet).iter();
        let here = route.position(|link| link.0 as usize == index);
        self.go_along(here.map_or(0, |hop| hop + 1), packet, there);
    }

    /// Moves a packet to the beginning of the `hop`th link of its route, or to its host. Links that
    /// only delay packets are passed on the way.
    fn go_along(&mut self, hop: usize, packet: Packet, mut now: Time) {
        for link in &self.route(&packet)[hop..] {
            let (index, config) = (link.0 as usize, &self.network.links[link.0 as usize]);
            if !config.only_delays() {
                return self.schedule(now, What::Arrival(index, packet));
            }
            if config.observed {
                self.schedule(now, What::Pass(index, packet));
            }
            if !self.has(Mutation::PureDelayForgotten) {
                now = now.saturating_add(config.delay);
            }
        }
        self.schedule(now, What::Delivery(packet));
    }

    /// Counts a packet that passes a link that only delays packets.
    fn pass(&mut self, index: usize, packet: &Packet, now: Time) {
        if let Some(meter) = &mut self.links[index].meter {
            meter.pass(now, packet);
        }
    }

    fn report_backlog_if_new(&mut self, index: usize, now: Time) {
        let link = &mut self.links[index];
        let backlog = link.queue.backlog();
        if backlog != std::mem::replace(&mut link.reported, backlog) {
            self.report_backlog(index, now);
        }
    }

    fn report_backlog(&mut self, index: usize, now: Time) {
        let counts_service = self.has(Mutation::FrameInServiceCounted);
        let link = &mut self.links[index];
        let mut backlog: Backlog = link.queue.backlog();
        if counts_service && let Some(packet) = &link.in_service {
            backlog.add(link.frame_bytes(packet));
        }
        if let Some(meter) = &mut link.meter {
            meter.backlog(now, backlog);
        }
        self.recorder.backlog(LinkId(index as u32), now, backlog);
    }

    /// Handles a packet that reaches its host.
    fn delivery(&mut self, packet: Packet, now: Time) {
        let index = receiver_of(&packet);
        self.delivered += 1;
        let rtt = self.agents[index].receive(now, &packet);
        self.take_reply(&packet, now);
        self.record(now, PacketEventKind::Delivered, packet);
        self.observe_agent(index, now, rtt);
        self.transmit(index, now);
    }

    /// Wakes an agent if its timer is due. It may have changed after this event was scheduled.
    fn wake(&mut self, index: usize, now: Time) {
        if self.agents[index].next_wake().is_some_and(|due| due <= now) {
            let rtt = self.agents[index].wake(now);
            self.observe_agent(index, now, rtt);
            self.transmit(index, now);
        }
    }

    /// Sends the packets that an agent has to send, and schedules its next timer.
    fn transmit(&mut self, index: usize, now: Time) {
        while let Some(packet) = self.agents[index].transmit(now) {
            self.record(now, PacketEventKind::Sent, packet);
            self.go_along(0, packet, now);
        }
        self.arm(index, now);
    }

    fn arm(&mut self, index: usize, now: Time) {
        if let Some(due) = self.agents[index].next_wake() {
            assert!(
                due >= now,
                "agent {index} has at {now:?} a timer due at {due:?}"
            );
            self.schedule(due, What::Wake(index));
        }
    }

    fn observe_agent(&mut self, index: usize, now: Time, rtt: Option<Span>) {
        if index.is_multiple_of(2) {
            self.recorder
                .agent((index / 2) as u32, now, &self.agents[index], rtt);
        }
    }
}
