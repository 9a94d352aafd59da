//! Flows of one group with the same round-trip time: what of theirs is under way, and their windows.
//!
//! The packets of a window travel in *trains*, neighbours in every queue, as acknowledgements clock
//! the next ones out (Zhang, Shenker and Clark 1991). All trains of a class pass its senders in an order
//! that never changes, because queue and paths are first in, first out.

use crate::control::{Flow, Round};
use crate::link::{FlowGroup, FluidControl};
use crate::noise::Noise;

/// Amounts below this are nothing: what rounding leaves.
const NOTHING: f64 = 1e-9;

/// How often a train's peaks change.
const REDRAWN: f64 = 0.15;

/// Packets after a lost one that tell its sender of the loss.
const TELLING: f64 = 3.0;

/// A part of a flow's window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Train {
    pub flow: u32,
    /// Packets under way, those included whose loss is not known.
    pub amount: f32,
    /// How far its bursts raise the queue above what waits on average.
    peak: f32,
}

/// What a train sent in a slot.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    flow: u32,
    train: u32,
    /// Packets.
    pub amount: f64,
    /// See the train's.
    pub peak: f64,
}

/// What a class is made from. Windows are in packets.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Number of the group.
    pub group: usize,
    /// Entries of the group's list of round-trip times, and how many flows have each.
    pub entries: Vec<(usize, usize)>,
    /// Base round-trip time, in slots and seconds.
    pub rtt_slots: usize,
    /// See `rtt_slots`.
    pub rtt_s: f64,
    /// Slots that the queue takes to empty.
    pub queue_slots: usize,
    /// Mean window.
    pub window: f64,
    /// Trains of each flow.
    pub trains: usize,
    /// Packets that a sender hands to its link at once.
    pub unit: f64,
    /// How far a unit raises the queue above what waits at the end of its slot, at most.
    pub burst: f64,
    /// Mean of the trains' peaks.
    pub peak: f64,
    /// Whether all flows of the link are in this class. Then what they send keeps its pattern from
    /// round trip to round trip.
    pub together: bool,
}

/// A class of flows. Amounts are in packets.
#[derive(Clone, Debug)]
pub struct Class {
    pub(crate) shape: Shape,
    pub(crate) control: FluidControl,
    pub(crate) per_step: f64,
    pub(crate) max_window: f64,
    proportional: bool,
    /// What has come back towards the next unit.
    pub(crate) pending: f64,
    /// What comes back to the senders in the slots to come, a ring.
    pub(crate) returns: Vec<f64>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) trains: Vec<Train>,
    /// Trains of a flow.
    each: u16,
    /// The train that comes back, what of it has not, and packets sent for each that comes.
    pub(crate) at: usize,
    pub(crate) left: f64,
    pub(crate) factor: f64,
    /// What trains sent in this slot.
    sent: Vec<Piece>,
    noise: Noise,
    updates: u64,
    reductions: u64,
}

impl Class {
    /// Flows that are each somewhere between two losses.
    pub fn new(group: &FlowGroup, shape: Shape, noise: &mut Noise) -> Self {
        let control = group.control;
        let count = shape.entries.iter().map(|(_, flows)| flows).sum();
        let flows: Vec<Flow> = (0..count)
            .map(|_| control.somewhere(shape.window, noise.unit(), group.max_window))
            .collect();
        let ring = shape.rtt_slots + shape.queue_slots + 2;
        let mut class = Self {
            control,
            per_step: if group.acks.bytes_counted {
                1.0
            } else {
                group.acks.packets
            },
            max_window: group.max_window,
            proportional: group.recovery.proportional,
            pending: shape.unit * noise.unit(),
            returns: vec![0.0; ring.next_power_of_two()],
            trains: Vec::with_capacity(shape.trains * flows.len()),
            each: shape.trains as u16,
            at: 0,
            left: 0.0,
            factor: 1.0,
            sent: Vec::with_capacity(64),
            noise: noise.fork(),
            updates: 0,
            reductions: 0,
            flows,
            shape,
        };
        class.line_up(noise);
        class.fill(group.acks.packets, noise);
        class
    }

    /// Puts trains into an order drawn at random.
    fn line_up(&mut self, noise: &mut Noise) {
        let each = f64::from(self.each);
        for (number, flow) in self.flows.iter_mut().enumerate() {
            let train = Train {
                flow: number as u32,
                amount: (flow.window / each) as f32,
                peak: 0.0,
            };
            flow.flight = each * f64::from(train.amount);
            for _ in 0..self.each {
                let peak = (self.shape.peak * noise.exponential()) as f32;
                self.trains.push(Train { peak, ..train });
            }
        }
        // Flows differ from one another at random: one train of each is in a random order already.
        if self.flows.len() > 1 && self.each > 1 {
            for last in (1..self.trains.len()).rev() {
                self.trains.swap(last, noise.below(last + 1));
            }
        }
        self.left = f64::from(self.trains[0].amount);
    }

    /// Spreads what is in flight over the round-trip time that begins now, in bursts.
    fn fill(&mut self, burst: f64, noise: &mut Noise) {
        let slots = self.shape.rtt_slots.max(1);
        let window: f64 = self.flows.iter().map(|flow| flow.flight).sum();
        let bursts = libm::ceil(window / burst) as usize;
        if bursts > 4 * slots || self.flows.len() == 1 {
            self.returns[..slots].fill(window / slots as f64);
            return;
        }
        for _ in 0..bursts {
            self.returns[noise.below(slots)] += window / bursts as f64;
        }
    }

    /// What it was made from.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The flows.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// Updates of windows and reductions so far.
    pub fn counts(&self) -> (u64, u64) {
        (self.updates, self.reductions)
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.returns) + size_of_val(&*self.flows) + size_of_val(&*self.trains)
    }

    /// The measured part begins.
    pub fn start_measuring(&mut self) {
        self.reductions = 0;
        for flow in &mut self.flows {
            flow.sent = 0.0;
            flow.events = 0;
        }
    }

    /// What has left the link in slot `now` comes back a base round-trip time later.
    #[inline]
    pub fn send_back(&mut self, now: u64, amount: f64) {
        let mask = self.returns.len() - 1;
        self.returns[(now as usize + self.shape.rtt_slots) & mask] += amount;
    }

    /// The packets that the class sends in a slot: as many as come back, more where windows
    /// grow, less where they shrink.
    #[inline]
    pub fn arrivals(&mut self, slot: u64, now_s: f64, wait_s: f64) -> f64 {
        let place = slot as usize & (self.returns.len() - 1);
        self.pending += std::mem::take(&mut self.returns[place]);
        let mut back = self.shape.unit * libm::floor(self.pending / self.shape.unit);
        self.pending -= back;
        self.sent.clear();
        let mut all = 0.0;
        while back > NOTHING {
            let part = back.min(self.left);
            if part > 0.0 {
                all += self.send(part * self.factor);
                back -= part;
                self.left -= part;
            }
            if self.left <= NOTHING {
                all += self.next_train(now_s, wait_s);
            }
        }
        all
    }

    /// The present train sends so many packets.
    fn send(&mut self, amount: f64) -> f64 {
        let train = &self.trains[self.at];
        self.sent.push(Piece {
            flow: train.flow,
            train: self.at as u32,
            amount,
            peak: f64::from(train.peak),
        });
        amount
    }

    /// The next train begins to come back, and its flow sends what its window now is.
    /// Returns what is sent at once because nothing comes back.
    fn next_train(&mut self, now_s: f64, wait_s: f64) -> f64 {
        self.at += 1;
        if self.at == self.trains.len() {
            self.at = 0;
        }
        let round = Round {
            now: now_s,
            base_rtt: self.shape.rtt_s,
            rtt: self.shape.rtt_s + wait_s,
            per_step: self.per_step,
            max_window: self.max_window,
            proportional: self.proportional,
            dither: if self.shape.together {
                0.0
            } else {
                self.noise.unit() - 0.5
            },
        };
        let train = &mut self.trains[self.at];
        let flow = &mut self.flows[train.flow as usize];
        let before = f64::from(train.amount);
        let (after, known) = flow.pass(&self.control, self.each, before, &round);
        self.reductions += u64::from(known);
        self.updates += 1;
        flow.sent += after;
        self.left = before;
        train.amount = after as f32;
        if known || self.noise.unit() < REDRAWN {
            train.peak = (self.shape.peak * self.noise.exponential()) as f32;
        }
        // What is sent is what will come back.
        if before > NOTHING {
            self.factor = after / before;
            return 0.0;
        }
        if after > 0.0 { self.send(after) } else { 0.0 }
    }

    /// How far the packets of a unit that arrive at once raise the queue above its mean, at most.
    pub fn burst(&self) -> f64 {
        self.shape.burst
    }

    /// What trains sent in this slot.
    pub fn sent(&self) -> &[Piece] {
        &self.sent
    }

    /// So many packets of this piece are lost: they do not come back. Returns whether its flow was not yet hit by this burst.
    pub fn lose(&mut self, piece: usize, count: f64, burst: u32, noise: &mut Noise) -> bool {
        let piece = self.sent[piece];
        let flow = &mut self.flows[piece.flow as usize];
        let hit = flow.burst != burst;
        flow.burst = burst;
        // Three packets after the lost one tell of it.
        let size = flow.flight / f64::from(self.each);
        let late = noise.unit() * size < TELLING;
        flow.lose(self.each, count, late);
        let amount = &mut self.trains[piece.train as usize].amount;
        *amount = (*amount - count as f32).max(0.0);
        hit
    }
}
