//! Flows of one group with the same round-trip time: their windows and their packets under way.
//!
//! The packets of a window travel in *trains*: they are neighbours in every queue, because
//! acknowledgements trigger the next packets (Zhang, Shenker and Clark 1991). The ACKs of all
//! trains of a class reach the senders in a constant order, because queue and paths are first in,
//! first out.

use crate::flows::control::{Flow, Round};
use crate::link::{FlowGroup, FluidControl};
use crate::noise::Noise;
use crate::whole::floor;

/// Amounts below this, in packets, are left over by rounding and count as nothing.
const NOTHING: f64 = 1e-9;

/// Trains whose flows are read together, before their turn.
const READ_TOGETHER: usize = 16;

/// Packets after a lost one by which its sender detects the loss.
const TELLING: f64 = 3.0;

/// A part of a flow's window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Train {
    pub flow: u32,
    /// Packets in flight, including lost packets whose loss the sender has not detected.
    pub amount: f32,
}

/// Packets that a train sent in a slot.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    flow: u32,
    train: u32,
    /// Number of packets.
    pub amount: f64,
    /// Packets among them by which the window grew.
    pub extra: f64,
    /// Packets of the train that were acknowledged before these.
    place: f64,
}

impl Piece {
    /// Number of the flow in its class.
    pub fn flow(&self) -> u32 {
        self.flow
    }
}

/// Parameters of a class. Windows are in packets.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Number of the group.
    pub group: usize,
    /// Entries of the group's list of round-trip times, each with its number of flows.
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
    /// True if all flows of the link are in this class. In this case arrivals keep their pattern
    /// from round trip to round trip.
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
    whole_segments: bool,
    segment_bytes: Option<f64>,
    /// Packets of each flow whose ACK the receiver delays.
    held: f64,
    /// Acknowledged packets that do not make a whole unit yet.
    pub(crate) pending: f64,
    /// Packets that are acknowledged in each of the following slots, as a ring.
    pub(crate) returns: Vec<f64>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) trains: Vec<Train>,
    /// Trains of a flow.
    each: u16,
    /// Index of the train whose packets are acknowledged next. `left` are its packets that have not
    /// come back, and `factor` is the number of packets sent for each that comes back.
    pub(crate) at: usize,
    pub(crate) left: f64,
    /// Packets of that train at its first ACK.
    size: f64,
    pub(crate) factor: f64,
    /// Packets by which the window grew that are sent with the next piece.
    extra: f64,
    /// Number of slots since the last ACK.
    silent: usize,
    /// Pieces that trains sent in this slot.
    sent: Vec<Piece>,
    noise: Noise,
    updates: u64,
    reductions: u64,
}

impl Class {
    /// Makes a class whose flows are each somewhere between two losses.
    pub fn new(group: &FlowGroup, shape: Shape, noise: &mut Noise) -> Self {
        let control = group.control;
        let count = shape.entries.iter().map(|(_, flows)| flows).sum();
        let flows: Vec<Flow> = (0..count)
            .map(|_| control.somewhere(shape.window, noise.unit(), group.max_window))
            .collect();
        let ring = shape.rtt_slots + shape.queue_slots + 2;
        let mut class = Self {
            control,
            per_step: group.acks.per_step(),
            max_window: group.max_window,
            proportional: group.sender.proportional,
            whole_segments: group.sender.whole_segments,
            segment_bytes: group.sender.segment_bytes.map(f64::from),
            held: 0.5 * (group.acks.packets - 1.0),
            pending: shape.unit * noise.unit(),
            returns: vec![0.0; ring.next_power_of_two()],
            trains: Vec::with_capacity(shape.trains * flows.len()),
            each: shape.trains as u16,
            at: 0,
            left: 0.0,
            size: 0.0,
            factor: 1.0,
            extra: 0.0,
            silent: 0,
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
                amount: ((flow.window - self.held).max(1.0) / each) as f32,
            };
            flow.flight = each * f64::from(train.amount);
            for _ in 0..self.each {
                self.trains.push(train);
            }
        }
        // Flows already differ from one another at random, because one train of each is in a random
        // order.
        if self.flows.len() > 1 && self.each > 1 {
            for last in (1..self.trains.len()).rev() {
                self.trains.swap(last, noise.below(last + 1));
            }
        }
        self.left = f64::from(self.trains[0].amount);
        self.size = self.left;
    }

    /// Spreads the packets in flight over the round-trip time that begins now, in bursts.
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

    /// Parameters of the class.
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

    /// Bytes of memory that the class takes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.returns) + size_of_val(&*self.flows) + size_of_val(&*self.trains)
    }

    /// Begins the measured part.
    pub fn start_measuring(&mut self) {
        self.reductions = 0;
        for flow in &mut self.flows {
            flow.sent = 0.0;
            flow.events = 0;
        }
    }

    /// Schedules the ACKs of packets that left the link in slot `now` a base round-trip time later.
    #[inline]
    pub fn send_back(&mut self, now: u64, amount: f64) {
        let mask = self.returns.len() - 1;
        self.returns[(now as usize + self.shape.rtt_slots) & mask] += amount;
    }

    /// Sends the class's packets of a slot and returns their number: as many as are acknowledged,
    /// more if windows grow, and fewer if they shrink.
    #[inline]
    pub fn arrivals(&mut self, slot: u64, now_s: f64, wait_s: f64) -> f64 {
        let place = slot as usize & (self.returns.len() - 1);
        let back = std::mem::take(&mut self.returns[place]);
        self.pending += back;
        self.silent = if back > 0.0 { 0 } else { self.silent + 1 };
        if self.silent >= 2 * self.shape.rtt_slots && wait_s == 0.0 {
            // All packets were lost. A probe goes after two round trips (RFC 8985 section 7).
            self.silent = 0;
            self.pending += self.shape.unit;
        }
        let mut back = self.shape.unit * floor(self.pending / self.shape.unit);
        self.pending -= back;
        self.sent.clear();
        let mut all = 0.0;
        let mut round = self.round(now_s, wait_s);
        while back > NOTHING {
            let part = back.min(self.left);
            if part > 0.0 {
                // An ACK releases one packet more than it acknowledges, unless it is the last ACK
                // of the train.
                let mut extra = self.extra;
                if part < self.left {
                    extra = extra.min(libm::ceil(part / self.shape.unit));
                }
                self.extra -= extra;
                all += self.send(part * self.factor, extra);
                back -= part;
                self.left -= part;
            }
            if self.left <= NOTHING {
                all += self.next_train(&mut round);
            }
        }
        all
    }

    /// Conditions of growth in a slot.
    fn round(&self, now_s: f64, wait_s: f64) -> Round {
        Round {
            now: now_s,
            base_rtt: self.shape.rtt_s,
            rtt: self.shape.rtt_s + wait_s,
            part: 1.0 / f64::from(self.each),
            per_step: self.per_step,
            max_window: self.max_window,
            proportional: self.proportional,
            whole_segments: self.whole_segments,
            segment_bytes: self.segment_bytes,
            held: self.held,
            dither: 0.0,
        }
    }

    /// Sends this number of packets of the present train, and `extra` packets by which its window
    /// grew.
    fn send(&mut self, amount: f64, extra: f64) -> f64 {
        let train = &self.trains[self.at];
        self.sent.push(Piece {
            flow: train.flow,
            train: self.at as u32,
            amount: amount + extra,
            extra,
            place: self.size - self.left,
        });
        amount + extra
    }

    /// Begins with the next train, whose flow sends what its window now allows. Returns the packets
    /// that are sent at once because no packet of the train is acknowledged.
    #[inline]
    fn next_train(&mut self, round: &mut Round) -> f64 {
        self.at += 1;
        if self.at == self.trains.len() {
            self.at = 0;
        }
        if self.at.is_multiple_of(READ_TOGETHER) {
            self.read_ahead();
        }
        if !self.shape.together {
            round.dither = self.noise.unit() - 0.5;
        }
        let train = &mut self.trains[self.at];
        let flow = &mut self.flows[train.flow as usize];
        let before = f64::from(train.amount);
        let (after, known) = flow.pass(&self.control, self.each, before, round);
        self.reductions += u64::from(known);
        self.updates += 1;
        flow.sent += after;
        self.left = before;
        self.size = before;
        train.amount = after as f32;
        // The train then has the packets that it sends now.
        if before > NOTHING {
            self.factor = (after / before).min(1.0);
            self.extra = (after - before).max(0.0);
            return 0.0;
        }
        if after > 0.0 {
            self.send(0.0, after)
        } else {
            0.0
        }
    }

    /// Reads the flows of the following trains. They lie anywhere in memory: the cache then waits
    /// for all of them at once, and not for each at its turn.
    fn read_ahead(&self) {
        let first = self.at + READ_TOGETHER;
        let trains = self.trains.get(first..first + READ_TOGETHER);
        let read: f64 = trains
            .unwrap_or_default()
            .iter()
            .map(|train| {
                let flow = &self.flows[train.flow as usize];
                flow.window + f64::from(flow.grows)
            })
            .sum();
        std::hint::black_box(read);
    }

    /// Pieces that trains sent in this slot.
    pub fn sent(&self) -> &[Piece] {
        &self.sent
    }

    /// Marks this number of packets of a piece as lost, so that they are not acknowledged. Returns
    /// true if its flow had not lost a packet in this burst of losses.
    pub fn lose(&mut self, piece: usize, count: f64, burst: u32, noise: &mut Noise) -> bool {
        let sent = &mut self.sent[piece];
        sent.amount = (sent.amount - count).max(0.0);
        sent.extra = sent.extra.min(sent.amount);
        let piece = *sent;
        let flow = &mut self.flows[piece.flow as usize];
        let hit = flow.burst != burst;
        flow.burst = burst;
        // Three packets after the lost one cause the duplicate ACKs that show the loss.
        let size = flow.flight / f64::from(self.each);
        let late = noise.unit() * size < TELLING + piece.place;
        flow.lose(self.each, count, late);
        let amount = &mut self.trains[piece.train as usize].amount;
        *amount = (*amount - count as f32).max(0.0);
        hit
    }
}
