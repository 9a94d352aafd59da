//! Losses at equal distances.

use super::{LossLaw, LossScope, LossState};
use goodqueue_types::parameters;
use goodqueue_types::parameters::integer;

parameters! {
    /// One packet is lost in each period, which is a number of packets or of bytes.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PeriodicLoss("periodic loss") {
        /// Packets, or bytes, from one loss to the next; the packet with the last of them is lost.
        interval: u64 = 1 => integer(1, 1_000_000_000_000).required().example("100");
        /// Packets, or bytes, up to the first loss, which they include; 0: those of an interval.
        first: u64 = 0 => integer(0, 1_000_000_000_000).example("1");
        scope: LossScope = LossScope::default();
    }
}

impl LossLaw for PeriodicLoss {
    fn scope(&self) -> LossScope {
        self.scope
    }

    fn start(&self) -> Box<dyn LossState> {
        let first = if self.first > 0 {
            self.first
        } else {
            self.interval
        };
        Box::new(Count {
            interval: self.interval,
            next: first,
            passed: 0,
        })
    }
}

#[derive(Debug)]
struct Count {
    interval: u64,
    /// Units from the last loss to the next.
    next: u64,
    /// Units since the last loss.
    passed: u64,
}

impl LossState for Count {
    fn loses(&mut self, units: u64, _random: f64) -> bool {
        self.passed += units;
        let lost = self.passed >= self.next;
        if lost {
            self.passed = (self.passed - self.next) % self.interval;
            self.next = self.interval;
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the numbers of the lost packets among the first ten, from 1 on.
    fn lost(interval: u64, units: u64) -> Vec<usize> {
        lost_from(interval, 0, units)
    }

    fn lost_from(interval: u64, first: u64, units: u64) -> Vec<usize> {
        let scope = LossScope::default();
        let mut state = PeriodicLoss {
            interval,
            first,
            scope,
        }
        .start();
        let packets = 1..=10;
        packets.filter(|_| state.loses(units, 0.0)).collect()
    }

    #[test]
    fn every_third_packet_is_lost() {
        assert_eq!(lost(3, 1), [3, 6, 9]);
        assert_eq!(lost(1, 1).len(), 10);
    }

    #[test]
    fn the_first_loss_may_have_another_distance() {
        assert_eq!(lost_from(3, 1, 1), [1, 4, 7, 10]);
        assert_eq!(lost_from(3, 5, 1), [5, 8]);
        // Packets of 1000 bytes contain the bytes number 1, 2501, 5001 and 7501.
        assert_eq!(lost_from(2_500, 1, 1_000), [1, 3, 6, 8]);
    }

    /// Packets of 1000 bytes contain the bytes number 2500, 5000, 7500 and 10000.
    #[test]
    fn the_packet_with_the_last_byte_of_an_interval_is_lost() {
        assert_eq!(lost(2_500, 1_000), [3, 5, 8, 10]);
    }
}
