//! Links with queue disciplines: their arrivals, transmissions and drops.

use crate::engine::core::Core;
use crate::engine::crossing::{Crossed, observe_arrival, observe_start};
use crate::engine::event_queue::{Event, Kind};
use crate::engine::probe::Probe;
use crate::host::agent::sender_of;
use crate::link::pause::PauseState;
use crate::link::served_link::{ServedLink, Transmission};
use goodqueue_queue::Verdict;
use goodqueue_types::{Body, DropReason, LinkId, Packet, PacketEvent, PacketEventKind, Time};

/// Way in which the end of a transmission enters the event queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announcement {
    /// It is a new event.
    Pushed,
    /// It replaces the earliest event.
    Replaces,
}

impl<P: Probe> Core<P> {
    /// Lets a packet arrive at a link with a queue discipline. Returns the packet whose transmission
    /// begins, if one does.
    pub fn arrive(&mut self, link: u32, mut packet: Packet, now: Time) -> Option<Packet> {
        if P::ACTIVE {
            observe_arrival(&mut self.probe, link, &packet, now);
        }
        packet.arrived = now;
        if self.has_flow_control {
            return self.arrive_counted(link, packet, now);
        }
        let begun = served(&mut self.served, link).arrive(packet, &mut self.shared_buffers);
        self.after_queue(link, now);
        begun
    }

    /// Serves a link with a queue discipline whose transmission has ended or whose queue may
    /// release a packet. Returns the packet whose transmission begins, if one does.
    pub fn serve(&mut self, link: u32, now: Time) -> Option<Packet> {
        if self.has_autorate {
            self.steer(link, now);
        }
        if self.has_flow_control {
            return self.serve_counted(link, now);
        }
        let begun = served(&mut self.served, link).serve(now, &mut self.shared_buffers);
        self.after_queue(link, now);
        begun
    }

    /// Lets the program of a link, if it has one, decide on its rate, and schedules its next tick.
    #[cold]
    #[inline(never)]
    fn steer(&mut self, link: u32, now: Time) {
        let index = link;
        let link = served(&mut self.served, link);
        let next_tick = |link: &ServedLink| link.autorate.as_ref().map(|one| one.next_tick());
        let before = next_tick(link);
        link.steer(now);
        let next = next_tick(link).filter(|next| Some(*next) != before);
        self.await_decision(index, next);
    }

    /// Schedules the first tick of each program.
    pub fn begin_autorates(&mut self) {
        for index in 0..self.served.len() {
            let link = self.served[index].as_ref();
            let autorate = link.and_then(|link| link.autorate.as_ref());
            let tick = autorate.map(|autorate| autorate.next_tick());
            self.await_decision(index as u32, tick);
        }
    }

    /// Passes a packet to the programs that wait for it if it is the reply to their ping.
    #[cold]
    #[inline(never)]
    pub fn take_reply(&mut self, packet: &Packet, now: Time) {
        if !matches!(packet.body, Body::EchoReply { .. }) {
            return;
        }
        for index in 0..self.served.len() {
            let link = self.served[index].as_mut();
            let autorate = link.and_then(|link| link.autorate.as_mut());
            let handled = autorate.and_then(|autorate| autorate.take(now, packet));
            self.await_decision(index as u32, handled);
        }
    }

    /// Schedules a decision of a link's program, unless that is after the end of the run.
    fn await_decision(&mut self, link: u32, time: Option<Time>) {
        if let Some(time) = time.filter(|time| *time <= self.window.to) {
            self.events.push(Event::new(time, Kind::Service, 0, link));
        }
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

    /// Does what [`arrive`](Self::arrive) does in a network with flow control.
    #[cold]
    #[inline(never)]
    fn arrive_counted(&mut self, link: u32, packet: Packet, now: Time) -> Option<Packet> {
        let begun = served(&mut self.served, link).arrive(packet, &mut self.shared_buffers);
        self.count_waiting(link, Some(&packet), begun.as_ref(), now);
        self.after_queue(link, now);
        begun
    }

    /// Does what [`serve`](Self::serve) does in a network with flow control.
    #[cold]
    #[inline(never)]
    fn serve_counted(&mut self, index: u32, now: Time) -> Option<Packet> {
        let link = served(&mut self.served, index);
        link.obey_pauses(now);
        let begun = link.serve(now, &mut self.shared_buffers);
        self.count_waiting(index, None, begun.as_ref(), now);
        self.after_queue(index, now);
        begun
    }

    /// Counts the packets that came to wait in front of a link, or wait no longer, at the links over
    /// which they came, and schedules the effects of the requests that follow.
    fn count_waiting(
        &mut self,
        index: u32,
        arrived: Option<&Packet>,
        begun: Option<&Packet>,
        now: Time,
    ) {
        let mut changes = std::mem::take(&mut self.changes);
        let link = served(&mut self.served, index);
        if begun.is_some() {
            link.began = now;
        }
        changes.extend(arrived.map(|packet| (*packet, true)));
        changes.extend(link.verdicts.iter().filter_map(|verdict| match verdict {
            Verdict::Dropped(packet, _) => Some((*packet, false)),
            Verdict::Marked(..) => None,
        }));
        changes.extend(begun.map(|packet| (*packet, false)));
        for (packet, waits) in &changes {
            let bytes = served(&mut self.served, index).frame_bytes(packet);
            match self.pause_before(packet, index) {
                Some((_, pause)) if *waits => pause.add(index, bytes),
                Some((_, pause)) => pause.remove(index, bytes),
                None => {}
            }
        }
        for (packet, _) in changes.drain(..) {
            self.request_pause(&packet, index, now);
        }
        self.changes = changes;
    }

    /// Schedules the effect of a request to the link over which a packet came to a link, if one is
    /// due.
    fn request_pause(&mut self, packet: &Packet, index: u32, now: Time) {
        let Some((_, pause)) = self.pause_before(packet, index) else {
            return;
        };
        let opposite = pause.opposite;
        let free = opposite.map_or(now, |link| {
            served(&mut self.served, link).free_for_pause(now)
        });
        let until = self.window.to;
        if let Some((from, pause)) = self.pause_before(packet, index)
            && let Some(effect) = pause.decide(now, free).filter(|effect| *effect <= until)
        {
            self.events.push(Event::new(effect, Kind::Service, 0, from));
        }
    }

    /// Returns the link over which a packet came to a link, with its flow control, if it has any.
    fn pause_before(&mut self, packet: &Packet, index: u32) -> Option<(u32, &mut PauseState)> {
        let from = self.routing.link_before(sender_of(packet), index)?;
        let link = self.served.get_mut(from as usize)?.as_mut()?;
        Some((from, link.pause.as_mut()?))
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
                self.events.replace(Kind::Service, next);
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
}

/// Returns the link with this index, which has a queue discipline.
fn served(links: &mut [Option<Box<ServedLink>>], index: u32) -> &mut ServedLink {
    links[index as usize]
        .as_mut()
        .expect("made for every such link")
}
