//! A link with any queue discipline. It has an event for the end of each transmission.
//!
//! The departure of a packet is not known on its arrival, because a discipline may drop it later or
//! send others first. Once the transmission has begun, however, nothing can change its end, so the
//! engine moves the packet on to the next link at once.

use crate::Network;
use crate::link::autorate::AutorateProcess;
use crate::link::impaired_path::{Arrived, ImpairedPath};
use crate::link::impairment::ImpairmentProcess;
use crate::link::loss::LossProcess;
use crate::link::pause::PauseState;
use crate::link::service::VaryingRate;
use crate::link::shared_buffer::{Buffer, SharedBuffer};
use crate::measure::link_meter::{LinkMeter, Window};
use goodqueue_queue::{Backlog, Configuration, Context, Discipline, QueueDiscipline, Verdict};
use goodqueue_types::{Bytes, DropReason, Framing, Packet, RandomStream, Rate, Span, Time};

/// The transmission of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Transmission {
    /// Time at which the packet's last bit leaves.
    pub end: Time,
    /// True if the link loses the packet at that time.
    pub lost: bool,
}

/// A queue, a transmitter, and counters.
#[derive(Debug)]
pub struct ServedLink {
    rate: Rate,
    /// Picoseconds per byte, or zero if they are not a whole number.
    picos_per_byte: u64,
    /// Changes of the rate, if it varies.
    varying: Option<Box<VaryingRate>>,
    pub delay: Span,
    framing: Framing,
    queue: Discipline,
    random: RandomStream,
    loss: Option<LossProcess>,
    drop_list: Box<[u64]>,
    buffer: Buffer,
    /// The last transmission that began.
    transmission: Transmission,
    /// True if it has not ended.
    busy: bool,
    /// True if a PAUSE stops the link.
    paused: bool,
    /// Time at which the queue may release a packet that it holds back.
    ready_at: Option<Time>,
    /// Drops and marks of the last call. The engine takes them from here.
    pub verdicts: Vec<Verdict>,
    reported: Backlog,
    arrivals: u64,
    /// Packets that the queue made of super-segments, beyond those that arrived.
    split: u64,
    drops: u64,
    started: u64,
    lost_after: u64,
    /// Packet in transmission, if the link loses it at the end of the transmission.
    lost_at_end: Option<Packet>,
    /// Path behind the transmitter, if this path can reorder or copy packets.
    path: Option<Box<ImpairedPath>>,
    /// Flow control by the node behind the link.
    pub pause: Option<Box<PauseState>>,
    /// Program that sets the rate of the queue.
    pub autorate: Option<Box<AutorateProcess>>,
    /// Start of the last transmission, in a network with flow control.
    pub began: Time,
    duplicated: u64,
    meter: Option<LinkMeter>,
}

impl ServedLink {
    /// Creates an idle link, the `index`th of its network.
    pub fn new(network: &Network, index: usize, window: Window, meter: Option<LinkMeter>) -> Self {
        let config = &network.links[index];
        let stream = |purpose| RandomStream::new(network.seed, purpose, index as u64);
        let (mut random, loss_random) = (stream("queue"), stream("loss"));
        let mut queue = config.queue.build(&mut random);
        let autorate = AutorateProcess::new(network, index, window).map(Box::new);
        if let Some(autorate) = &autorate {
            queue.set_rate(autorate.rate());
        }
        Self {
            rate: config.rate,
            picos_per_byte: config.rate.picos_per_byte().unwrap_or(0),
            varying: config
                .service
                .as_ref()
                .map(|service| Box::new(VaryingRate::new(service, network.seed, index, window))),
            delay: config.delay,
            framing: config.framing,
            queue,
            random,
            loss: config.loss.map(|loss| LossProcess::new(loss, loss_random)),
            drop_list: config.drop_list.as_slice().into(),
            buffer: Buffer::new(network, index),
            transmission: Transmission {
                end: Time::ZERO,
                lost: false,
            },
            busy: false,
            paused: false,
            ready_at: None,
            verdicts: Vec::with_capacity(64),
            reported: Backlog::default(),
            arrivals: 0,
            split: 0,
            drops: 0,
            started: 0,
            lost_after: 0,
            lost_at_end: None,
            path: ImpairmentProcess::new(&config.impairments, network.seed, index)
                .map(|process| Box::new(ImpairedPath::new(process, config.delay))),
            pause: config.pause.map(|pause| {
                let opposite = config
                    .opposite
                    .map(|link| (link.0, &network.links[link.0 as usize]));
                let delay = opposite.map_or(config.delay, |(_, opposite)| opposite.delay);
                let opposite = opposite.filter(|(_, opposite)| !opposite.only_delays());
                let opposite = opposite.map(|(link, _)| link);
                Box::new(PauseState::new(pause, opposite, delay, window))
            }),
            autorate,
            began: Time::ZERO,
            duplicated: 0,
            meter,
        }
    }

    /// Lets a packet arrive at `packet.arrived`. Returns the packet whose transmission begins, if
    /// one does.
    pub fn arrive(&mut self, packet: Packet, shared: &mut [SharedBuffer]) -> Option<Packet> {
        let now = packet.arrived;
        if let Some(meter) = &mut self.meter {
            meter.arrival(now);
        }
        let index = self.arrivals;
        self.arrivals += 1;
        if self.loses_on_entry(index, &packet) {
            self.verdicts
                .push(Verdict::Dropped(packet, DropReason::LinkLoss));
            self.count_verdicts(now);
            return None;
        }
        let idle = !self.busy;
        let open = idle && self.opens(now) == now;
        if open && self.queue.is_bypassed_when_idle() && self.queue.backlog().packets == 0 {
            self.start(now, &packet);
            return Some(packet);
        }
        let split = self.split;
        let begun = self.with_queue(now, shared, |queue, context| {
            queue.enqueue(context, packet);
            let asked = open || idle && queue.backlog().packets == 0;
            if asked { queue.dequeue(context) } else { None }
        });
        if let Some(meter) = &mut self.meter {
            meter.arrivals_by_split(now, self.split - split);
        }
        if let (Some(meter), Some(average)) = (&mut self.meter, self.queue.average()) {
            meter.average(now, average);
        }
        if let Some(packet) = &begun {
            self.start(now, packet);
        }
        begun
    }

    /// Counts a packet that passes a link which only delays.
    pub fn pass(&mut self, now: Time, packet: &Packet) {
        self.arrivals += 1;
        self.started += 1;
        if let Some(meter) = &mut self.meter {
            meter.pass(now, packet);
        }
    }

    /// Handles the end of a transmission, or the time at which a packet held back may leave.
    /// Returns the packet whose transmission begins, if one does. Returns none too if the event is
    /// out of date.
    pub fn serve(&mut self, now: Time, shared: &mut [SharedBuffer]) -> Option<Packet> {
        if self.busy && self.transmission.end == now {
            self.busy = false;
            if let Some(packet) = self.lost_at_end.take()
                && let Some(meter) = &mut self.meter
            {
                meter.loss(packet.arrived, now, &packet, DropReason::LinkLoss);
            }
        } else if self.busy || self.ready_at != Some(now) {
            return None;
        }
        // During an outage or a pause packets stay in the queue. An empty queue gets a dequeue call
        // when the link is idle.
        if self.opens(now) > now && self.queue.backlog().packets > 0 {
            return None;
        }
        let begun = self.with_queue(now, shared, QueueDiscipline::dequeue);
        if let Some(packet) = &begun {
            self.start(now, packet);
        }
        begun
    }

    /// Returns the time at which the queue may release a packet that it holds back, if the event
    /// queue has no event for it.
    #[inline]
    pub fn next_ready(&mut self, now: Time) -> Option<Time> {
        if self.busy {
            self.ready_at = None;
            return None;
        }
        let ready = match self.queue.next_ready(now) {
            Some(ready) if ready == now => Some(self.opens(now)),
            later => later,
        };
        debug_assert!(
            ready.is_none_or(|ready| ready > now),
            "an idle link was not given what was ready"
        );
        let news = ready.filter(|_| ready != self.ready_at);
        self.ready_at = ready;
        news
    }

    /// Returns the backlog if it has changed since the last call.
    #[inline]
    pub fn new_backlog(&mut self, now: Time) -> Option<Backlog> {
        let backlog = self.queue.backlog();
        if backlog == self.reported {
            return None;
        }
        self.reported = backlog;
        if let Some(meter) = &mut self.meter {
            meter.backlog(now, backlog);
        }
        Some(backlog)
    }

    /// Returns the time at which an idle link can begin a transmission: now, except during an
    /// outage, and never while it is paused.
    fn opens(&mut self, now: Time) -> Time {
        if self.paused {
            return Time::MAX;
        }
        match &mut self.varying {
            Some(varying) => varying.opens(now),
            None => now,
        }
    }

    /// Obeys the PAUSE frames whose effect has come. A link that resumes while it is idle asks its
    /// queue at once.
    pub fn obey_pauses(&mut self, now: Time) {
        if let Some(pause) = &mut self.pause {
            let resumed = pause.obey(now);
            self.paused = pause.is_paused();
            if resumed && !self.busy {
                self.ready_at = Some(now);
            }
        }
    }

    /// Gives the queue the rate that the program decides by `now`, if there is a new one.
    pub fn steer(&mut self, now: Time) {
        if let Some(rate) = (self.autorate.as_mut()).and_then(|autorate| autorate.decide(now)) {
            self.queue.set_rate(rate);
        }
    }

    /// Passes the pauses to the meter at the end of the run.
    pub fn finish_pauses(&mut self, in_cycle: bool) {
        if let (Some(meter), Some(pause)) = (&mut self.meter, &self.pause) {
            meter.set_pause(pause.finish(in_cycle));
        }
    }

    /// Returns the time at which the link can send a PAUSE: after the frame that it has begun before
    /// `now`. A frame that would begin at this instant comes after the PAUSE.
    pub fn free_for_pause(&self, now: Time) -> Time {
        if self.busy && self.began < now {
            self.transmission.end
        } else {
            now
        }
    }

    /// Returns the bytes of a packet's frames on this link.
    pub fn frame_bytes(&self, packet: &Packet) -> u64 {
        packet.frame_bytes(self.framing)
    }

    fn loses_on_entry(&mut self, index: u64, packet: &Packet) -> bool {
        let listed = !self.drop_list.is_empty() && self.drop_list.binary_search(&index).is_ok();
        let bytes = packet.frame_bytes(self.framing);
        let random = match &mut self.loss {
            Some(loss) if !loss.is_after_transmission() => loss.loses(packet, bytes),
            _ => false,
        };
        listed || random
    }

    /// Begins the transmission of a packet.
    fn start(&mut self, now: Time, packet: &Packet) {
        let bytes = packet.frame_bytes(self.framing);
        let end = match &mut self.varying {
            Some(varying) => varying.transmit(now, bytes),
            None if self.picos_per_byte > 0 => now + Span(bytes * self.picos_per_byte),
            None => now + self.rate.transmission_time(Bytes(bytes)),
        };
        self.started += 1;
        if let Some(autorate) = &mut self.autorate {
            autorate.sent(now, bytes);
        }
        if let Some(meter) = &mut self.meter {
            meter.service(packet.arrived, now, end, packet);
        }
        let lost = match &mut self.loss {
            Some(loss) if loss.is_after_transmission() => loss.loses(packet, bytes),
            _ => false,
        };
        self.transmission = Transmission { end, lost };
        self.busy = true;
    }

    /// Returns the last transmission that began.
    #[inline]
    pub fn transmission(&self) -> Transmission {
        self.transmission
    }

    /// Records that the packet in transmission is lost at its end, which is within the run.
    pub fn lose_after_transmission(&mut self, packet: &Packet) {
        self.lost_after += 1;
        self.lost_at_end = Some(*packet);
    }

    /// Returns true if packets can overtake one another behind the transmitter.
    pub fn is_impaired(&self) -> bool {
        self.path.is_some()
    }

    /// Sends a packet, whose transmission ends at `end` within the run, over the path with
    /// impairments. Returns the next arrival on that path if the event queue has no event for it.
    pub fn send_impaired(&mut self, packet: &Packet, rank: u32, end: Time) -> Option<Time> {
        let path = self.path.as_mut()?;
        if path.send(packet, rank, end) {
            self.duplicated += 1;
            if let Some(meter) = &mut self.meter {
                meter.duplicate(end);
            }
        }
        path.announce()
    }

    /// Returns the packet that leaves the path with impairments at `now`, if there is one, and the
    /// next arrival on that path if the event queue has no event for it.
    pub fn emerge(&mut self, now: Time) -> (Option<Packet>, Option<Time>) {
        let Some(path) = &mut self.path else {
            return (None, None);
        };
        let arrived = path.arrive(now);
        if let (
            Some(meter),
            Some(Arrived {
                overtaken: true, ..
            }),
        ) = (&mut self.meter, &arrived)
        {
            meter.reordering(now);
        }
        (arrived.map(|arrived| arrived.packet), path.announce())
    }

    fn with_queue<T>(
        &mut self,
        now: Time,
        shared: &mut [SharedBuffer],
        call: impl FnOnce(&mut Discipline, &mut Context<'_>) -> T,
    ) -> T {
        let mut context = Context {
            now,
            framing: self.framing,
            random: &mut self.random,
            account: self.buffer.account(shared, now),
            verdicts: &mut self.verdicts,
            split: &mut self.split,
        };
        let answer = call(&mut self.queue, &mut context);
        if !self.verdicts.is_empty() {
            self.count_verdicts(now);
        }
        answer
    }

    fn count_verdicts(&mut self, now: Time) {
        for verdict in &self.verdicts {
            match verdict {
                Verdict::Dropped(packet, reason) => {
                    self.drops += 1;
                    if let Some(meter) = &mut self.meter {
                        meter.loss(packet.arrived, now, packet, *reason);
                    }
                }
                Verdict::Marked(packet, reason) => {
                    if let Some(meter) = &mut self.meter {
                        meter.mark(packet.arrived, now, *reason);
                    }
                }
            }
        }
    }

    /// Returns the number of packets lost at this link in the whole run.
    pub fn drops(&self) -> u64 {
        self.drops + self.lost_after
    }

    /// Returns the number of copies made at this link in the whole run.
    pub fn duplicated(&self) -> u64 {
        self.duplicated
    }

    /// Returns the number of packets that the queue made of super-segments in the whole run, beyond
    /// those that arrived.
    pub fn split(&self) -> u64 {
        self.split
    }

    /// Returns the number of packets on the path with impairments.
    pub fn in_flight(&self) -> u64 {
        self.path.as_ref().map_or(0, |path| path.in_flight())
    }

    /// Returns the number of packets that wait.
    pub fn queued(&self) -> u64 {
        self.queue.backlog().packets
    }

    /// Returns the packets and bytes that wait.
    pub fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// Returns true if packets in + split = out + dropped + queued. Each of the five has a counter
    /// of its own.
    pub fn conserves(&self) -> bool {
        self.arrivals + self.split == self.drops + self.started + self.queued()
    }

    /// Takes the statistics out, if the link has any.
    pub fn take_meter(&mut self) -> Option<LinkMeter> {
        if let (Some(meter), Some(varying)) = (&mut self.meter, &self.varying) {
            meter.set_utilization(varying.utilization());
        }
        if let (Some(meter), Some(autorate)) = (&mut self.meter, &self.autorate) {
            meter.set_autorate(autorate.finish());
        }
        self.meter.take()
    }
}
