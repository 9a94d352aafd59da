//! A link of the reference engine.

use super::plain_pause::PlainPause;
use super::plain_service::PlainService;
use crate::Mutation;
use goodqueue_queue::{
    Backlog, BufferPool, Configuration, Context, Discipline, Limit, QueueDiscipline, Verdict,
};
use goodqueue_sim::{
    AutorateProcess, Buffer, ImpairmentProcess, Interrupts, LinkConfig, LinkMeter, LossProcess,
    Network, SharedBuffer, Window,
};
use goodqueue_types::{Packet, RandomStream, Span, Time};

/// A queue, the frame in transmission, and counters.
pub struct Link<'a> {
    pub config: &'a LinkConfig,
    pub queue: Discipline,
    pub in_service: Option<Packet>,
    /// Start and end of the last transmission that began.
    pub times: (Time, Time),
    /// The variable rate, if the link has one.
    pub varying: Option<PlainService<'a>>,
    /// Flow control, if the link has it.
    pub pause: Option<PlainPause>,
    /// Program that sets the rate of the queue.
    pub autorate: Option<AutorateProcess>,
    /// True if the link will lose the frame in transmission.
    pub loses: bool,
    /// Time at which the queue will be ready, if it holds packets back.
    pub ready_at: Option<Time>,
    random: RandomStream,
    loss: Option<LossProcess>,
    impairments: Option<ImpairmentProcess>,
    /// Interrupts of the network card behind the link, some of which may be to come.
    interrupts: Vec<Time>,
    /// Latest arrival so far, where jitter keeps the order of packets.
    latest: Time,
    /// Arrival of each transmitted packet and its place among simultaneous arrivals, in the order
    /// of transmission and without copies. Kept only if packets can be reordered.
    pub arrivals_there: Vec<(Time, u32, u64)>,
    pub duplicated: u64,
    /// Packets that the queue made of super-segments, beyond those that arrived.
    pub split: u64,
    buffer: Buffer,
    pub reported: Backlog,
    pub arrivals: u64,
    pub drops: u64,
    pub meter: Option<LinkMeter>,
}

impl<'a> Link<'a> {
    pub fn new(
        network: &'a Network,
        index: usize,
        meter: Option<LinkMeter>,
        window: Window,
        mutation: Option<Mutation>,
    ) -> Self {
        let config = &network.links[index];
        let mut queue = config.queue.clone();
        match (mutation, queue.limit()) {
            (Some(Mutation::LimitOffByOne), Limit::Packets(limit)) => {
                queue.set_limit(Limit::Packets(limit + 1));
            }
            (Some(Mutation::LimitOffByOne), Limit::Bytes(limit)) => {
                queue.set_limit(Limit::Bytes(limit + 1));
            }
            _ => {}
        }
        let stream = |purpose| RandomStream::new(network.seed, purpose, index as u64);
        let (mut random, loss) = (stream("queue"), stream("loss"));
        let mut queue = queue.build(&mut random);
        let autorate = AutorateProcess::new(network, index, window);
        if let Some(autorate) = &autorate {
            queue.set_rate(autorate.rate());
        }
        Self {
            config,
            queue,
            autorate,
            in_service: None,
            times: (Time::ZERO, Time::ZERO),
            varying: PlainService::new(network, index),
            pause: config
                .pause
                .map(|pause| PlainPause::new(pause, network, index)),
            loses: false,
            ready_at: None,
            random,
            loss: config.loss.map(|config| LossProcess::new(config, loss)),
            impairments: ImpairmentProcess::new(&config.impairments, network.seed, index),
            interrupts: Vec::new(),
            latest: Time::ZERO,
            arrivals_there: Vec::new(),
            duplicated: 0,
            split: 0,
            buffer: match mutation {
                Some(Mutation::BuffersNotShared) => Buffer::Own(BufferPool::unlimited()),
                _ => Buffer::new(network, index),
            },
            reported: Backlog::default(),
            arrivals: 0,
            drops: 0,
            meter,
        }
    }

    /// Calls the queue. Returns its result and the packets that it dropped and marked.
    pub fn with_queue<T>(
        &mut self,
        now: Time,
        shared: &mut [SharedBuffer],
        call: impl FnOnce(&mut Discipline, &mut Context<'_>) -> T,
    ) -> (T, Vec<Verdict>) {
        let mut verdicts = Vec::new();
        let mut context = Context {
            now,
            framing: self.config.framing,
            random: &mut self.random,
            account: self.buffer.account(shared, now),
            verdicts: &mut verdicts,
            split: &mut self.split,
        };
        (call(&mut self.queue, &mut context), verdicts)
    }

    /// Returns whether the link loses the next packet, before the queue or after the transmission.
    pub fn loses(&mut self, packet: &Packet, after_transmission: bool) -> bool {
        let bytes = self.frame_bytes(packet);
        match &mut self.loss {
            Some(loss) if loss.is_after_transmission() == after_transmission => {
                loss.loses(packet, bytes)
            }
            _ => false,
        }
    }

    /// Returns the time at which a packet transmitted until `now` arrives at the end of the link,
    /// and the arrival of its copy, if there is one.
    pub fn propagate(
        &mut self,
        packet: &Packet,
        rank: u32,
        now: Time,
        mutation: Option<Mutation>,
    ) -> (Time, Option<Time>) {
        let Some(process) = &mut self.impairments else {
            return (now + self.config.delay, None);
        };
        let fate = process.decide(now);
        let keeps_order = process.keeps_order() && mutation != Some(Mutation::OrderNotKept);
        let (delay, interrupts) = (self.config.delay, self.config.impairments.interrupts);
        let interrupts = interrupts.filter(|_| mutation != Some(Mutation::EachArrivalInterrupts));
        let mut after = |jitter: Span| {
            let mut arrival = now.saturating_add(delay).saturating_add(jitter);
            if keeps_order {
                if let Some(Interrupts { interval }) = interrupts {
                    arrival = next_interrupt(&mut self.interrupts, arrival, interval);
                }
                self.latest = arrival.max(self.latest + Span(1));
                self.latest
            } else {
                arrival
            }
        };
        let in_turn = after(fate.jitter);
        let arrival = in_turn.saturating_add(fate.held_back.unwrap_or(Span::ZERO));
        let mut copy = fate.copy.map(after);
        if mutation == Some(Mutation::CopyHeldBack) {
            copy = copy.map(|copy| copy + fate.held_back.unwrap_or(Span::ZERO));
        }
        self.arrivals_there.push((arrival, rank, packet.number));
        (arrival, copy)
    }

    /// Returns the times until `end` at which packets arrived that a later one had overtaken (RFC
    /// 4737 section 3.3).
    pub fn reorderings(&self, end: Time) -> Vec<Time> {
        let mut arrived: Vec<_> = (self.arrivals_there.iter().enumerate())
            .filter(|(_, place)| place.0 <= end)
            .map(|(sent, place)| (*place, sent))
            .collect();
        arrived.sort_unstable();
        let mut greatest = None;
        let mut late = Vec::new();
        for ((time, ..), sent) in arrived {
            if greatest.is_some_and(|greatest| sent < greatest) {
                late.push(time);
            } else {
                greatest = Some(sent);
            }
        }
        late
    }

    pub fn frame_bytes(&self, packet: &Packet) -> u64 {
        packet.frame_bytes(self.config.framing)
    }
}

/// Returns the interrupt that hands over a packet that has arrived: the first one from then on if it
/// is due, or one that this arrival causes.
fn next_interrupt(interrupts: &mut Vec<Time>, arrival: Time, interval: Span) -> Time {
    let due = interrupts.last().copied();
    match due {
        Some(due) if due >= arrival => due,
        _ => {
            let earliest = due.map_or(Time::ZERO, |last| last.saturating_add(interval));
            interrupts.push(earliest.max(arrival));
            earliest.max(arrival)
        }
    }
}
