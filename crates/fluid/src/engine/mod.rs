//! Steps of time: acknowledged packets are replaced by new ones, which wait, are lost or sent, and
//! are acknowledged in turn.

mod leap;
mod overflow;
mod setup;
mod tally;

use crate::flows::class::Class;
use crate::link::{Extent, FluidLink};
use crate::noise::Noise;
use crate::outcome::{Cost, FluidOutcome};
use crate::queue::fifo::Fifo;
use crate::queue::law::{Law, Seen};
use overflow::Burst;
use tally::Tally;

/// Units of work, slots times classes, between two calls of `should_continue`.
const ASKED_EVERY: u64 = 1 << 18;

/// Packets of one burst, which are not divided between two parts of the queue.
pub(crate) const BURST: f64 = 2.0;

/// Error of a run that its caller stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Simulates the link. `should_continue` is called every few milliseconds of computing.
///
/// # Errors
/// [`Stopped`] if `should_continue` returned false.
pub fn simulate(
    link: &FluidLink,
    extent: &Extent,
    should_continue: &mut dyn FnMut() -> bool,
) -> Result<FluidOutcome, Stopped> {
    let mut engine = Engine::new(link, extent.seed);
    // Runs of many flows that lose in step would all begin at the same phase of their common cycle.
    let begin_s = Noise::new(extent.seed, "phase").unit() * cycle_s(link);
    let end_s = begin_s + extent.duration.as_secs_f64();
    let warm_s = begin_s + extent.warmup.as_secs_f64();
    engine.run(warm_s.min(end_s), should_continue)?;
    let from_s = engine.now_s();
    engine.start_measuring();
    engine.run(end_s, should_continue)?;
    let measured_s = engine.now_s() - from_s;
    Ok(engine.outcome(link, measured_s))
}

/// Seconds between two losses of flows that all lose at once, for the group with the longest such time.
/// The round-trip times are those with a full queue.
fn cycle_s(link: &FluidLink) -> f64 {
    let pace = link.packets_per_second();
    let rtt_s = link.mean_rtt_s() + link.queue.packets() / pace;
    let flows = link.flows().max(1) as f64;
    let top = (1.0 - link.background.share) * pace * rtt_s / flows;
    let cycles = link.groups.iter().map(|group| {
        let top = top.min(group.max_window);
        group.control.epoch_s(top, rtt_s, group.acks.per_step())
    });
    cycles.fold(0.0, f64::max)
}

/// The state of a run. Amounts are in packets.
pub(crate) struct Engine {
    pub slot_s: f64,
    /// Packets that the link sends in a slot; `packets_per_s` is the same for a second.
    pub per_slot: f64,
    /// See `per_slot`.
    pub packets_per_s: f64,
    pub buffer: f64,
    /// Largest number of packets by which bursts raise the queue above its level.
    pub margin: f64,
    /// Arrivals per slot that do not react to losses; `background_burst` are the packets of a burst.
    pub background: f64,
    /// See `background`.
    pub background_burst: f64,
    pub law: Law,
    pub classes: Vec<Class>,
    pub fifo: Fifo,
    /// Arrivals of the slot by class, the last of them the background; `served` is the same for
    /// departures.
    pub batch: Vec<f64>,
    /// See `batch`.
    pub served: Vec<f64>,
    pub noise: Noise,
    /// Bursts of a slot in which the queue is nearly full.
    pub bursts: Vec<Burst>,
    /// Packets by which the level at the end of the slot is too high, because the phase of a burst lies
    /// after that end.
    pub early: f64,
    /// Packets of such bursts. They are in the queue's account and have not arrived.
    pub late: f64,
    pub slot: u64,
    /// Seconds that leaps passed over.
    pub leapt_s: f64,
    pub tally: Tally,
    /// State of the queue since the last decision about a leap.
    pub calm: Calm,
}

/// Events of the last round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Calm {
    pub slots: u64,
    /// Number of slots that ended with a backlog.
    pub waiting: u64,
    pub lost: bool,
}

impl Engine {
    pub fn now_s(&self) -> f64 {
        self.slot as f64 * self.slot_s + self.leapt_s
    }

    pub fn run(
        &mut self,
        end_s: f64,
        should_continue: &mut dyn FnMut() -> bool,
    ) -> Result<(), Stopped> {
        let mut asked = 0;
        while self.now_s() + 0.5 * self.slot_s < end_s {
            self.step();
            self.leap(end_s);
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
        let now_s = self.now_s();
        let before = self.fifo.waiting();
        let early = self.early;
        self.early = (early - self.per_slot).max(0.0);
        if self.early <= 0.0 {
            self.late = 0.0;
        }
        let wait_s = before / self.packets_per_s;
        let present = self.arrivals(now_s, wait_s);
        let mut lost = self.drops(now_s, wait_s, present);
        let drift = present - lost - self.per_slot;
        if before + drift.max(0.0) + self.margin >= self.buffer + 1.0 {
            lost += self.overflow(before, now_s);
        }
        self.fifo.push(&self.batch);
        let served = self
            .fifo
            .serve(self.per_slot, BURST, &mut self.noise, &mut self.served);
        for (class, served) in self.classes.iter_mut().zip(&mut self.served) {
            if *served > 0.0 {
                class.send_back(self.slot, std::mem::take(served));
            }
        }
        *self.last_served() = 0.0;
        let after = self.fifo.waiting();
        let waiting = 0.5 * (before - early + after - self.early);
        self.tally.slot(present, lost, served, waiting);
        self.calm.slots += 1;
        self.calm.waiting += u64::from(after > 0.0);
        self.calm.lost |= lost > 0.0;
        self.slot += 1;
    }

    fn last_served(&mut self) -> &mut f64 {
        self.served.last_mut().expect("the background's place")
    }

    pub fn last_batch(&mut self) -> &mut f64 {
        self.batch.last_mut().expect("the background's place")
    }

    /// Fills in the arrivals of the slot. Returns their sum.
    fn arrivals(&mut self, now_s: f64, wait_s: f64) -> f64 {
        let mut all = 0.0;
        for (class, amount) in self.classes.iter_mut().zip(&mut self.batch) {
            *amount = class.arrivals(self.slot, now_s, wait_s);
            all += *amount;
        }
        if self.background > 0.0 {
            let spread = (self.background_burst * self.background).sqrt();
            let amount = (self.background + spread * self.noise.normal()).max(0.0);
            *self.last_batch() = amount;
            all += amount;
        }
        all
    }

    /// Drops the packets that the queue's law requires. Returns their number.
    fn drops(&mut self, now_s: f64, wait_s: f64, present: f64) -> f64 {
        if matches!(self.law, Law::DropTail) {
            return 0.0;
        }
        let seen = Seen {
            now_s,
            waiting: self.fifo.waiting(),
            arrived: present,
            capacity: self.per_slot,
            wait_s,
        };
        let drops = self.law.drops(&seen, &mut self.noise);
        let mut lost = 0.0;
        for _ in 0..drops {
            lost += self.drop_any(present - lost, now_s);
        }
        lost
    }

    /// Drops a packet drawn from the arrivals of the slot, or the part of one that arrived. Returns
    /// that part.
    fn drop_any(&mut self, present: f64, now_s: f64) -> f64 {
        let mut left = self.noise.unit() * present;
        for place in 0..self.classes.len() {
            for piece in 0..self.classes[place].sent().len() {
                let amount = self.classes[place].sent()[piece].amount;
                left -= amount;
                if left < 0.0 {
                    let count = amount.min(1.0);
                    self.lose(place, piece, count, now_s);
                    return count;
                }
            }
        }
        let count = self.last_batch().min(1.0);
        *self.last_batch() -= count;
        count
    }

    /// Marks this number of packets of a piece as lost.
    pub fn lose(&mut self, place: usize, piece: usize, count: f64, now_s: f64) {
        let burst = self.tally.burst(now_s);
        self.batch[place] -= count;
        if self.classes[place].lose(piece, count, burst, &mut self.noise) {
            self.tally.hit();
        }
    }

    /// Packets in the queue that arrive after the present moment. The packets sent in this slot
    /// have arrived.
    fn still_to_arrive(&self) -> f64 {
        self.late.min(self.fifo.waiting())
    }

    fn start_measuring(&mut self) {
        self.tally.start(self.still_to_arrive());
        for class in &mut self.classes {
            class.start_measuring();
        }
    }

    fn outcome(self, link: &FluidLink, measured_s: f64) -> FluidOutcome {
        let bytes = self.fifo.bytes() + self.classes.iter().map(Class::bytes).sum::<usize>();
        let cost = Cost {
            slots: self.slot,
            updates: self.classes.iter().map(|class| class.counts().0).sum(),
            bytes: bytes as u64,
        };
        let capacity = measured_s * self.packets_per_s;
        let late = self.still_to_arrive();
        self.tally
            .outcome(link, (measured_s, capacity), late, &self.classes, cost)
    }
}
