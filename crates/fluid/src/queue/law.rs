//! Laws by which a queue drops before it is full: RED and `CoDel`, by slots of time.

use crate::link::FluidQueue;
use crate::noise::Noise;

/// The state of a queue's law.
#[derive(Clone, Debug)]
pub enum Law {
    /// Drops only packets for which it has no room.
    DropTail,
    /// RED.
    Red(Red),
    /// `CoDel`.
    CoDel(CoDel),
}

/// A slot, as a law sees it.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// The end of the slot and its length, in seconds.
    pub now_s: f64,
    /// Packets that wait, and that arrived.
    pub waiting: f64,
    /// See `waiting`.
    pub arrived: f64,
    /// Packets that the link could have sent.
    pub capacity: f64,
    /// Seconds that a packet waits.
    pub wait_s: f64,
}

impl Law {
    /// Makes the law of a queue.
    pub fn new(queue: &FluidQueue, noise: &mut Noise) -> Self {
        match *queue {
            FluidQueue::DropTail { .. } => Self::DropTail,
            FluidQueue::Red {
                min_threshold,
                max_threshold,
                max_probability,
                weight,
                ..
            } => Self::Red(Red {
                min: min_threshold,
                max: max_threshold,
                most: max_probability,
                keep: libm::log1p(-weight),
                average: 0.0,
                hazard: 0.0,
                bound: 2.0 * noise.unit(),
            }),
            FluidQueue::CoDel {
                target, interval, ..
            } => Self::CoDel(CoDel {
                target_s: target.as_secs_f64(),
                interval_s: interval.as_secs_f64(),
                ..CoDel::default()
            }),
        }
    }

    /// Number of packets of the slot that it drops.
    #[inline]
    pub fn drops(&mut self, seen: &Seen, noise: &mut Noise) -> u64 {
        match self {
            Self::DropTail => 0,
            Self::Red(red) => red.drops(seen, noise),
            Self::CoDel(codel) => codel.drops(seen),
        }
    }
}

/// Random early detection (Floyd and Jacobson 1993), gentle.
#[derive(Clone, Debug)]
pub struct Red {
    min: f64,
    max: f64,
    most: f64,
    /// ln(1 − weight).
    keep: f64,
    average: f64,
    /// The sum of probabilities since the last drop, and at which the next one comes: uniform from 0
    /// to 2, so that gaps between drops are uniform as with RED's count.
    hazard: f64,
    bound: f64,
}

impl Red {
    fn drops(&mut self, seen: &Seen, noise: &mut Noise) -> u64 {
        // An idle link counts the packets that it could have sent.
        let packets = if seen.waiting > 0.0 {
            seen.arrived
        } else {
            seen.capacity
        };
        self.average += (1.0 - libm::exp(self.keep * packets)) * (seen.waiting - self.average);
        let p = if self.average < self.min {
            self.hazard = 0.0;
            return 0;
        } else if self.average < self.max {
            self.most * (self.average - self.min) / (self.max - self.min)
        } else {
            (self.most + (1.0 - self.most) * (self.average / self.max - 1.0)).min(1.0)
        };
        self.hazard += p * seen.arrived;
        let mut drops = 0;
        while self.hazard >= self.bound {
            self.hazard -= self.bound;
            self.bound = 2.0 * noise.unit();
            drops += 1;
        }
        drops
    }
}

/// `CoDel`'s control law (RFC 8289 section 5).
#[derive(Clone, Debug, Default)]
pub struct CoDel {
    target_s: f64,
    interval_s: f64,
    /// Time at which the delay will have been above the target for an interval.
    first_above_s: Option<f64>,
    dropping: bool,
    next_s: f64,
    count: f64,
    last_count: f64,
}

impl CoDel {
    fn drops(&mut self, seen: &Seen) -> u64 {
        let now = seen.now_s;
        if seen.wait_s < self.target_s || seen.waiting < 1.0 {
            self.first_above_s = None;
            self.dropping = false;
            return 0;
        }
        let due = *self.first_above_s.get_or_insert(now + self.interval_s);
        if now < due {
            return 0;
        }
        let mut drops = 0;
        if !self.dropping {
            self.dropping = true;
            drops = 1;
            let delta = self.count - self.last_count;
            let recent = now - self.next_s < 16.0 * self.interval_s;
            self.count = if delta > 1.0 && recent { delta } else { 1.0 };
            self.last_count = self.count;
            self.next_s = now + self.interval_s / self.count.sqrt();
        }
        while now >= self.next_s {
            drops += 1;
            self.count += 1.0;
            self.next_s += self.interval_s / self.count.sqrt();
        }
        drops
    }
}
