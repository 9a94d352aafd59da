//! The queue: arrivals of each slot by class, first in, first out.

use crate::noise::Noise;

/// Amounts below this, in packets, are left over by rounding and count as nothing.
const NOTHING: f64 = 1e-9;

/// Batches of packets in order of arrival. A batch has an amount for each class.
#[derive(Clone, Debug)]
pub struct Fifo {
    classes: usize,
    /// Amounts by batch and class, a ring of batches.
    amounts: Vec<f64>,
    /// Sums of batches.
    totals: Vec<f64>,
    head: usize,
    length: usize,
    waiting: f64,
}

impl Fifo {
    /// Makes an empty queue of this number of classes with room for some batches. It grows if it
    /// must.
    pub fn new(classes: usize, batches: usize) -> Self {
        let batches = batches.next_power_of_two();
        Self {
            classes,
            amounts: vec![0.0; batches * classes],
            totals: vec![0.0; batches],
            head: 0,
            length: 0,
            waiting: 0.0,
        }
    }

    /// Packets that wait.
    pub fn waiting(&self) -> f64 {
        self.waiting
    }

    /// Bytes of memory that the queue takes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.amounts) + size_of_val(&*self.totals)
    }

    /// Packets of a class that wait.
    #[cfg(test)]
    pub fn of_class(&self, class: usize) -> f64 {
        let batches = self.totals.len();
        (0..self.length)
            .map(|turn| self.amounts[((self.head + turn) & (batches - 1)) * self.classes + class])
            .sum()
    }

    /// Scales the waiting packets of a class to this number. [`sum_up`](Self::sum_up) must follow.
    pub fn scale(&mut self, class: usize, wanted: f64) {
        let batches = self.totals.len();
        let place = |turn: usize| ((self.head + turn) & (batches - 1)) * self.classes + class;
        let all: f64 = (0..self.length).map(|turn| self.amounts[place(turn)]).sum();
        if all > 0.0 {
            for turn in 0..self.length {
                let place = place(turn);
                self.amounts[place] *= wanted / all;
            }
        }
    }

    /// Sums batches up after their amounts have changed.
    pub fn sum_up(&mut self) {
        self.waiting = 0.0;
        for turn in 0..self.length {
            let place = (self.head + turn) & (self.totals.len() - 1);
            let first = place * self.classes;
            self.totals[place] = self.amounts[first..first + self.classes].iter().sum();
            self.waiting += self.totals[place];
        }
    }

    /// Adds the arrivals of a slot, none of them negative.
    pub fn push(&mut self, batch: &[f64]) {
        let total: f64 = batch.iter().sum();
        if total <= NOTHING {
            return;
        }
        if self.length == self.totals.len() {
            self.grow();
        }
        let place = (self.head + self.length) & (self.totals.len() - 1);
        self.amounts[place * self.classes..(place + 1) * self.classes].copy_from_slice(batch);
        self.totals[place] = total;
        self.length += 1;
        self.waiting += total;
    }

    #[cold]
    fn grow(&mut self) {
        let batches = self.totals.len();
        self.amounts.rotate_left(self.head * self.classes);
        self.totals.rotate_left(self.head);
        self.head = 0;
        self.amounts.resize(2 * batches * self.classes, 0.0);
        self.totals.resize(2 * batches, 0.0);
    }

    /// Takes up to `capacity` packets in order, and adds them by class to `served`. Returns their
    /// number.
    ///
    /// A batch is cut at random, as packets of a class come in bursts of `burst` packets at random
    /// places: the amounts before the cut are those of a hypergeometric law in its normal
    /// approximation. The pattern of arrivals therefore keeps its variance from round trip to round
    /// trip.
    pub fn serve(
        &mut self,
        capacity: f64,
        burst: f64,
        noise: &mut Noise,
        served: &mut [f64],
    ) -> f64 {
        let mut left = capacity;
        while self.length > 0 && left > NOTHING {
            let total = self.totals[self.head];
            let first = self.head * self.classes;
            let batch = &mut self.amounts[first..first + self.classes];
            if total <= left {
                for (served, amount) in served.iter_mut().zip(batch) {
                    *served += *amount;
                }
                left -= total;
                self.head = (self.head + 1) & (self.totals.len() - 1);
                self.length -= 1;
                self.waiting -= total;
            } else {
                cut(batch, total, left, burst, noise, served);
                self.totals[self.head] = total - left;
                self.waiting -= left;
                left = 0.0;
            }
        }
        if self.length == 0 {
            self.waiting = 0.0;
        }
        capacity - left
    }
}

/// Moves `taken` of the `total` in `batch` to `served`. The first class is drawn at random, so that
/// no class always gets the remainder.
fn cut(
    batch: &mut [f64],
    total: f64,
    taken: f64,
    burst: f64,
    noise: &mut Noise,
    served: &mut [f64],
) {
    let (mut rest, mut wanted) = (total, taken);
    let first = if batch.len() > 2 {
        noise.below(batch.len())
    } else {
        0
    };
    for place in (first..batch.len()).chain(0..first) {
        let amount = batch[place];
        if amount <= 0.0 {
            continue;
        }
        let others = (rest - amount).max(0.0);
        let part = if others <= NOTHING {
            wanted
        } else {
            let share = wanted / rest;
            let drawn = if amount <= burst {
                // A burst is not divided.
                if noise.unit() < share { amount } else { 0.0 }
            } else {
                let variance = burst * amount * (others / rest) * share * (1.0 - share);
                share * amount + variance.max(0.0).sqrt() * noise.normal()
            };
            drawn.max(wanted - others).max(0.0)
        };
        let part = part.min(amount).min(wanted);
        batch[place] -= part;
        served[place] += part;
        rest = others;
        wanted -= part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_or_made_in_the_queue() {
        let mut noise = Noise::new(3, "test");
        let mut fifo = Fifo::new(3, 2);
        let (mut came, mut went) = ([0.0; 3], [0.0; 3]);
        for _ in 0..1_000 {
            let batch = [4.0 * noise.unit(), 2.0 * noise.unit(), noise.unit()];
            for (came, batch) in came.iter_mut().zip(batch) {
                *came += batch;
            }
            fifo.push(&batch);
            fifo.serve(3.6, 2.0, &mut noise, &mut went);
        }
        fifo.serve(1e9, 2.0, &mut noise, &mut went);
        for (came, went) in came.iter().zip(went) {
            assert!((came - went).abs() < 1e-6 * came, "{came} {went}");
        }
    }

    #[test]
    fn service_removes_the_requested_amount() {
        let mut noise = Noise::new(3, "test");
        for _ in 0..1_000 {
            let mut fifo = Fifo::new(4, 2);
            let batch = [5.0, 0.0, 0.3, 1.0];
            fifo.push(&batch);
            let mut served = [0.0; 4];
            let taken = 6.3 * noise.unit();
            let got = fifo.serve(taken, 2.0, &mut noise, &mut served);
            assert!((got - taken).abs() < 1e-9);
            assert!((served.iter().sum::<f64>() - taken).abs() < 1e-9);
            for (served, batch) in served.iter().zip(batch) {
                assert!(*served >= 0.0 && *served <= batch + 1e-12);
            }
        }
    }
}
