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

/// Trains that a class has at least, so that one flow's losses are known at their place in the round
/// trip.
const LEAST_TRAINS: usize = 16;

/// A part of a flow's window.
#[derive(Clone, Copy, Debug, Default)]
struct Train {
    flow: u32,
    /// Packets under way, those included whose loss is not known.
    amount: f32,
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

/// A class of flows. Amounts are in packets.
#[derive(Clone, Debug)]
pub struct Class {
    /// Slots of the base round-trip time.
    pub rtt_slots: usize,
    control: FluidControl,
    per_step: f64,
    max_window: f64,
    base_rtt_s: f64,
    proportional: bool,
    /// Packets that a sender hands to its link at once, and what has come back towards the next.
    unit: f64,
    pending: f64,
    /// What comes back to the senders in the slots to come, a ring.
    returns: Vec<f64>,
    flows: Vec<Flow>,
    trains: Vec<Train>,
    /// Trains of a flow.
    each: u16,
    /// The train that comes back, what of it has not, and packets sent for each that comes.
    at: usize,
    left: f64,
    factor: f64,
    /// What trains sent in this slot.
    sent: Vec<Piece>,
    /// Mean of the peaks, and whether they last from round trip to round trip.
    peak: f64,
    lasting: bool,
    noise: Noise,
    updates: u64,
    reductions: u64,
}

impl Class {
    /// Flows with windows around `window`, each somewhere between two losses.
    pub fn new(
        group: &FlowGroup,
        flows: usize,
        rtt_s: f64,
        window: f64,
        (rtt_slots, ring): (usize, usize),
        (trains, lasting): (usize, bool),
        (peak, unit): (f64, f64),
        noise: &mut Noise,
    ) -> Self {
        let control = group.control;
        let flows: Vec<Flow> = (0..flows)
            .map(|_| control.somewhere(window, noise.unit(), group.max_window))
            .collect();
        let each = trains.max(LEAST_TRAINS.div_ceil(flows.len()));
        let mut class = Self {
            rtt_slots,
            control,
            per_step: if group.acks.bytes_counted {
                1.0
            } else {
                group.acks.packets
            },
            max_window: group.max_window,
            base_rtt_s: rtt_s,
            proportional: group.recovery.proportional,
            unit,
            pending: unit * noise.unit(),
            returns: vec![0.0; ring.next_power_of_two()],
            trains: Vec::with_capacity(each * flows.len()),
            each: each as u16,
            at: 0,
            left: 0.0,
            factor: 1.0,
            sent: Vec::with_capacity(64),
            peak,
            lasting,
            noise: noise.fork(),
            updates: 0,
            reductions: 0,
            flows,
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
                let peak = (self.peak * noise.exponential()) as f32;
                self.trains.push(Train { peak, ..train });
            }
        }
        if self.flows.len() > 1 {
            for last in (1..self.trains.len()).rev() {
                self.trains.swap(last, noise.below(last + 1));
            }
        }
        self.left = f64::from(self.trains[0].amount);
    }

    /// Spreads what is in flight over the round-trip time that begins now, in bursts.
    fn fill(&mut self, burst: f64, noise: &mut Noise) {
        let slots = self.rtt_slots.max(1);
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
        self.returns[(now as usize + self.rtt_slots) & mask] += amount;
    }

    /// The packets that the class sends in a slot: as many as come back, more where windows
    /// grow, less where they shrink.
    #[inline]
    pub fn arrivals(&mut self, slot: u64, now_s: f64, wait_s: f64) -> f64 {
        let place = slot as usize & (self.returns.len() - 1);
        self.pending += std::mem::take(&mut self.returns[place]);
        let mut back = self.unit * libm::floor(self.pending / self.unit);
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
            base_rtt: self.base_rtt_s,
            rtt: self.base_rtt_s + wait_s,
            per_step: self.per_step,
            max_window: self.max_window,
            proportional: self.proportional,
            dither: if self.lasting {
                0.0
            } else {
                self.noise.unit() - 0.5
            },
        };
        let train = &mut self.trains[self.at];
        let flow = &mut self.flows[train.flow as usize];
        // What the train owes is not there, and no later train makes up for it.
        let before = f64::from(train.amount).max(0.0);
        flow.flight += before - f64::from(train.amount);
        let (after, known) = flow.pass(&self.control, self.each, before, &round);
        self.reductions += u64::from(known);
        self.updates += 1;
        flow.sent += after;
        self.left = before;
        train.amount = after as f32;
        if known || self.noise.unit() < REDRAWN {
            train.peak = (self.peak * self.noise.exponential()) as f32;
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
        if self.lasting && self.flows.len() > 1 {
            0.0
        } else {
            self.unit - 1.0
        }
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
        self.trains[piece.train as usize].amount -= count as f32;
        hit
    }
}
