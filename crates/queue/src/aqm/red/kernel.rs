//! The part of RED that Linux's `red` and `choke` share (`include/net/red.h`): an average in fixed
//! point, which decays on an idle link, and random marks between the thresholds.

use super::tc::IdleTable;
use crate::Refusal;
use goodqueue_types::{RandomStream, Rate, Time};

/// Values from which `tc` computes the average's weight and decay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Averaging {
    /// Exponent of the weight, or none if no weight fits the burst.
    pub wlog: Option<u8>,
    /// Number of packets of a burst that is not marked; the weight of the average follows from it.
    pub burst: u32,
    /// Upper threshold.
    pub max: u32,
    /// Name of the unit of the thresholds, in the plural.
    pub unit: &'static str,
    /// Mean packet size in bytes.
    pub avpkt: u32,
    pub bandwidth: Rate,
}

impl Averaging {
    /// Refuses values that the kernel or `tc` does not accept. `larger_burst` is the remedy if no
    /// weight fits the burst.
    pub fn check(&self, larger_burst: String) -> Result<(), Refusal> {
        const RATE: &str = "write the link's rate, as in bandwidth = \"10Mbps\"";
        if self.bandwidth == Rate(0) {
            return Err(Refusal::new("bandwidth", "a link that sends nothing", RATE));
        }
        let Some(wlog) = self.wlog else {
            let message = format!("no weight lets a burst of {} packets pass", self.burst);
            return Err(Refusal::new("burst", message, larger_burst));
        };
        // Fixed-point numbers must not overflow 32 bits (the kernel's `red_check_params`).
        if u32::BITS - self.max.leading_zeros() + u32::from(wlog) > 32 {
            return Err(Refusal::new(
                "max",
                format!("{} {} times 2^{wlog} pass 32 bits", self.max, self.unit),
                "write a smaller max or a smaller burst",
            ));
        }
        if IdleTable::new(wlog, self.avpkt, self.bandwidth).is_none() {
            let message = "the link is too slow for a table of idle times";
            return Err(Refusal::new("bandwidth", message, RATE));
        }
        Ok(())
    }
}

/// Average of the backlog and state of the random marks. The unit is that of the thresholds.
#[derive(Clone, Debug)]
pub(super) struct KernelRed {
    /// Fraction bits of the average.
    pub wlog: u8,
    idle_table: IdleTable,
    /// Average backlog, shifted left by `wlog`.
    pub average: u64,
    /// Number of packets since `mark_at` was drawn. `None` outside the thresholds.
    pub count: Option<u64>,
    /// Random product of the average's excess over `min` and `count` at which a packet is marked.
    pub mark_at: u64,
    /// Time since which the link is idle.
    pub idle_since: Option<Time>,
}

impl KernelRed {
    /// Creates the state of an idle queue. The values have passed [`Averaging::check`].
    pub fn new(values: &Averaging) -> Self {
        let wlog = values.wlog.unwrap_or(31);
        let idle_table = IdleTable::new(wlog, values.avpkt, values.bandwidth);
        Self {
            wlog,
            idle_table: idle_table.unwrap_or_default(),
            average: 0,
            count: None,
            mark_at: 0,
            idle_since: Some(Time::ZERO),
        }
    }

    /// Updates the average with the backlog that an arrival finds.
    pub fn update(&mut self, now: Time, backlog: u64) {
        self.average = match self.idle_since.take() {
            Some(since) => self.idle_table.decay(self.average, now - since),
            None => self.average + backlog - (self.average >> self.wlog),
        };
    }

    /// Returns the average at a time after the last arrival, without changing it.
    pub fn average_at(&self, time: Time) -> u64 {
        self.idle_since.map_or(self.average, |since| {
            let idle = time.saturating_since(since);
            self.idle_table.decay(self.average, idle)
        })
    }

    /// Records that the link found the queue empty.
    pub fn found_empty(&mut self, now: Time) {
        self.idle_since.get_or_insert(now);
    }

    /// Returns the average in whole units.
    pub fn whole(&self) -> u64 {
        self.average >> self.wlog
    }

    /// Returns the average as a real number.
    pub fn mean(&self) -> f64 {
        self.average as f64 / libm::exp2(f64::from(self.wlog))
    }

    /// Returns true if RED chooses the arrival at random. The average lies `above` the lower
    /// threshold, and `step` is the probability per unit between the thresholds, in units of 2⁻³².
    pub fn is_chosen(&mut self, above: u64, step: u64, random: &mut RandomStream) -> bool {
        let count = self.count.map_or(0, |count| count + 1);
        self.count = Some(count);
        if count > 0 && above * count < self.mark_at {
            return false;
        }
        if count > 0 {
            self.count = Some(0);
        }
        // A number uniformly below (max - min) / probability.
        self.mark_at = (random.bits() >> 32) / step;
        count > 0
    }
}
