//! Steps of time: what comes back is sent again, waits, is lost or served, and comes back.

use std::collections::BTreeMap;

use goodqueue_types::Span;

use crate::class::Class;
use crate::fifo::Fifo;
use crate::link::{Extent, FlowGroup, FluidLink, flows_at};
use crate::noise::Noise;
use crate::outcome::{Cost, FluidOutcome};
use crate::tally::Tally;

/// A slot is at most this part of the shortest round-trip time, and of the buffer.
const SLOTS_PER_RTT: f64 = 32.0;
/// See `SLOTS_PER_RTT`.
const SLOTS_PER_BUFFER: f64 = 8.0;

/// Fewest packets that the link sends in a slot.
const LEAST_PER_SLOT: f64 = 0.5;

/// Transmission at the bottleneck and on access links ten times as fast, in bottleneck packets.
const TRANSMISSIONS: f64 = 1.2;

/// Trains of a window where all flows have one round-trip time, and where they mix.
const TRAINS_TOGETHER: usize = 3;
/// See `TRAINS_TOGETHER`.
const TRAINS_MIXED: usize = 2;

/// Mean height of a train's peaks above the mean, for each packet beyond the first that is sent at once.
const PEAK: f64 = 0.6;

/// Packets of a train that is long enough to have most of that.
const LONG_TRAIN: f64 = 10.0;

/// Units of work between two questions whether to go on.
const ASKED_EVERY: u64 = 1 << 20;

/// The caller wished no answer any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Simulates the link. `should_continue` is asked every few milliseconds of computing.
///
/// # Errors
/// [`Stopped`] if `should_continue` returned false.
pub fn simulate(
    link: &FluidLink,
    extent: &Extent,
    should_continue: &mut dyn FnMut() -> bool,
) -> Result<FluidOutcome, Stopped> {
    let mut engine = Engine::new(link, extent);
    let end = engine.slots_of(extent.duration.as_secs_f64());
    let warm = engine.slots_of(extent.warmup.as_secs_f64()).min(end);
    engine.run(warm, should_continue)?;
    engine.start_measuring();
    engine.run(end, should_continue)?;
    Ok(engine.outcome((end - warm) as f64))
}

/// The state of a run. Amounts are in packets.
struct Engine {
    slot_s: f64,
    /// Packets that the link sends in a slot.
    per_slot: f64,
    packets_per_s: f64,
    buffer: f64,
    /// No peak is higher.
    margin: f64,
    background: f64,
    background_burst: f64,
    burst: f64,
    classes: Vec<Class>,
    fifo: Fifo,
    /// Arrivals of the slot by class, and what the link served; the last one is the background.
    batch: Vec<f64>,
    served: Vec<f64>,
    /// Lost packets that a class had not sent in full.
    debts: Vec<f64>,
    noise: Noise,
    slot: u64,
    tally: Tally,
}

impl Engine {
    fn new(link: &FluidLink, extent: &Extent) -> Self {
        let packets_per_s = link.packets_per_second();
        let transmission_s = TRANSMISSIONS / packets_per_s;
        let shortest_s = link
            .groups
            .iter()
            .flat_map(|group| &group.rtts)
            .map(|rtt| rtt.as_secs_f64() + transmission_s)
            .fold(f64::INFINITY, f64::min);
        let buffer = link.queue.packets();
        let wished = (shortest_s * packets_per_s / SLOTS_PER_RTT)
            .min(buffer / SLOTS_PER_BUFFER)
            .max(LEAST_PER_SLOT);
        // A whole number of slots in the shortest round-trip time.
        let slots = libm::ceil(shortest_s * packets_per_s / wished).max(1.0);
        let slot_s = shortest_s / slots;
        let per_slot = slot_s * packets_per_s;

        let mut noise = Noise::new(extent.seed, "fluid");
        let share = (1.0 - link.background.share).max(0.0);
        let per_window: f64 = rtts(link)
            .map(|(flows, rtt_s)| flows / (rtt_s + transmission_s))
            .sum();
        let window = share * packets_per_s / per_window;
        let queue_slots = libm::ceil(buffer / per_slot) as usize + 4;
        let mut classes = Vec::new();
        let (mut highest, mut largest) = (0.0_f64, 0.0_f64);
        for group in &link.groups {
            let counts = by_slots(group, |rtt| {
                libm::round((rtt.as_secs_f64() + transmission_s) / slot_s) as usize
            });
            let together = link.groups.len() == 1 && counts.len() == 1;
            let trains = if together {
                (TRAINS_TOGETHER, true)
            } else {
                (TRAINS_MIXED, false)
            };
            let flows = link.flows() as f64;
            let train = window / trains.0.max(16_usize.div_ceil(flows as usize)) as f64;
            let unit = unit(group, window, link.mean_rtt_s());
            let length = train * train / (train * train + LONG_TRAIN * LONG_TRAIN);
            let peak = if together {
                PEAK * (1.0 - 1.0 / flows) * length * (unit - 1.0)
            } else {
                0.0
            };
            highest = highest.max(peak);
            if !together || flows < 2.0 {
                largest = largest.max(unit - 1.0);
            }
            for (rtt_slots, flows) in &counts {
                let rtt_s = *rtt_slots as f64 * slot_s;
                let sizes = (*rtt_slots, rtt_slots + queue_slots + 2);
                classes.push(Class::new(
                    group,
                    *flows,
                    rtt_s,
                    window,
                    sizes,
                    trains,
                    (peak, unit),
                    &mut noise,
                ));
            }
        }
        let places = classes.len() + 1;
        Self {
            slot_s,
            per_slot,
            packets_per_s,
            buffer,
            margin: 40.0 * highest + largest,
            background: link.background.share * per_slot,
            background_burst: link.background.burst_packets,
            burst: 2.0,
            fifo: Fifo::new(places, queue_slots),
            batch: vec![0.0; places],
            served: vec![0.0; places],
            debts: vec![0.0; places],
            noise,
            slot: 0,
            tally: Tally::new(buffer, packets_per_s, link.mean_rtt_s()),
            classes,
        }
    }

    fn slots_of(&self, seconds: f64) -> u64 {
        libm::round(seconds / self.slot_s) as u64
    }

    fn run(&mut self, end: u64, should_continue: &mut dyn FnMut() -> bool) -> Result<(), Stopped> {
        let mut asked = 0;
        while self.slot < end {
            self.step();
            let work = self.slot * self.classes.len() as u64;
            if work - asked >= ASKED_EVERY {
                asked = work;
                if !should_continue() {
                    return Err(Stopped);
                }
            }
        }
        Ok(())
    }

    fn step(&mut self) {
        let now_s = self.slot as f64 * self.slot_s;
        let wait_s = self.fifo.waiting() / self.packets_per_s;
        let mut arrived = 0.0;
        for (place, class) in self.classes.iter_mut().enumerate() {
            let amount = class.arrivals(self.slot, now_s, wait_s);
            arrived += amount;
            // What is owed for packets lost in part is taken from what comes next.
            let paid = amount.min(self.debts[place]);
            self.debts[place] -= paid;
            self.batch[place] = amount - paid;
        }
        if self.background > 0.0 {
            let spread = (self.background_burst * self.background).sqrt();
            let amount = (self.background + spread * self.noise.normal()).max(0.0);
            arrived += amount;
            *self.batch.last_mut().expect("the background's place") = amount;
        }
        let present: f64 = self.batch.iter().sum();
        let before = self.fifo.waiting();
        let drift = present - self.per_slot;
        let mut lost = 0.0;
        if before + drift.max(0.0) + self.margin >= self.buffer + 1.0 {
            lost = self.overflow(before, present, now_s);
        }
        self.fifo.push(self.slot, &self.batch);
        let after = (before + present - lost - self.per_slot).max(0.0);
        let served = self
            .fifo
            .serve(self.per_slot, self.burst, &mut self.noise, &mut self.served);
        for (class, served) in self.classes.iter_mut().zip(&mut self.served) {
            if *served > 0.0 {
                class.send_back(self.slot, std::mem::take(served));
            }
        }
        *self.served.last_mut().expect("the background's place") = 0.0;
        self.tally
            .slot(arrived, lost, served, 0.5 * (before + after));
        self.slot += 1;
    }

    /// Pieces of trains arrive one after the other at a queue that is nearly full, and lose what it has
    /// no room for. Returns how much.
    fn overflow(&mut self, before: f64, present: f64, now_s: f64) -> f64 {
        let drift = (present - self.per_slot) / present;
        let (mut waiting, mut lost) = (before, 0.0);
        // Classes send at the same time: none is always the last.
        let first = self.noise.below(self.classes.len());
        for place in (first..self.classes.len()).chain(0..first) {
            for piece in 0..self.classes[place].sent().len() {
                let sent = self.classes[place].sent()[piece];
                waiting += drift * sent.amount;
                let burst = self.classes[place].burst() * self.noise.unit();
                let excess = waiting + sent.peak + burst - self.buffer;
                if excess < 1.0 {
                    continue;
                }
                let count = libm::floor(excess).min(libm::ceil(sent.amount));
                waiting -= count;
                lost += count;
                self.lose(place, piece, count, now_s);
            }
        }
        // Background.
        let amount = *self.batch.last().expect("the background's place");
        let excess = libm::floor(waiting + drift * amount - self.buffer).min(amount);
        if excess >= 1.0 {
            *self.batch.last_mut().expect("the background's place") -= excess;
            lost += excess;
        }
        lost
    }

    /// So many packets of a piece are lost.
    fn lose(&mut self, place: usize, piece: usize, count: f64, now_s: f64) {
        let burst = self.tally.burst(now_s);
        let taken = self.batch[place].min(count);
        self.batch[place] -= taken;
        self.debts[place] += count - taken;
        let class = &mut self.classes[place];
        if class.lose(piece, count, burst, &mut self.noise) {
            self.tally.hit();
        }
    }

    fn start_measuring(&mut self) {
        self.tally.start();
        for class in &mut self.classes {
            class.start_measuring();
        }
    }

    fn outcome(self, slots: f64) -> FluidOutcome {
        let bytes = self.fifo.bytes() + self.classes.iter().map(Class::bytes).sum::<usize>();
        let cost = Cost {
            slots: self.slot,
            updates: self.classes.iter().map(|class| class.counts().0).sum(),
            bytes: bytes as u64,
        };
        let capacity = slots * self.per_slot;
        self.tally
            .outcome(slots * self.slot_s, capacity, &self.classes, cost)
    }
}

/// Packets that a sender hands to its link at once: two for a delayed ACK; with segmentation offload
/// (`proportional`, Linux) what the pace of 1.2 windows per round trip sends in 2^-10 s, 44 at most.
fn unit(group: &FlowGroup, window: f64, rtt_s: f64) -> f64 {
    if group.paced {
        return 1.0;
    }
    if group.recovery.proportional {
        (1.2 * window / rtt_s / 1024.0).clamp(group.acks.packets, 44.0)
    } else {
        group.acks.packets
    }
}

/// The flows and the base round-trip time in seconds of each entry of the groups.
fn rtts(link: &FluidLink) -> impl Iterator<Item = (f64, f64)> + '_ {
    link.groups.iter().flat_map(|group| {
        group.rtts.iter().enumerate().map(|(place, rtt)| {
            let flows = flows_at(group.count, group.rtts.len(), place);
            (flows as f64, rtt.as_secs_f64())
        })
    })
}

/// How many flows of a group have a round-trip time of so many slots.
fn by_slots(group: &FlowGroup, slots: impl Fn(Span) -> usize) -> BTreeMap<usize, usize> {
    let mut counts = BTreeMap::new();
    for (place, rtt) in group.rtts.iter().enumerate() {
        let flows = flows_at(group.count, group.rtts.len(), place) as usize;
        if flows > 0 {
            *counts.entry(slots(*rtt)).or_default() += flows;
        }
    }
    counts
}
