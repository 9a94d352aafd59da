//! BBR's long-term estimate of the bandwidth (`bbr_lt_bw_sampling` of Linux). If a fifth is lost
//! for several round trips at a steady rate, a policer is assumed, and that rate is kept for a
//! while.

use goodqueue_types::{Span, Time};

/// Smallest and largest number of round trips in an interval, and number for which its rate is
/// kept.
const MIN_ROUNDS: u32 = 4;
const MAX_ROUNDS: u32 = 16;
const KEPT_ROUNDS: u32 = 48;
/// Lost bytes per delivered byte from which a policer is assumed.
const LOSS_SHARE: f64 = 50.0 / 256.0;
/// Difference up to which two rates count as the same, as a share or in bytes per second.
const SAME_SHARE: f64 = 0.125;
const SAME_RATE: f64 = 500.0;

/// Information of one ACK besides the totals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub now: Time,
    /// Total of delivered bytes.
    pub delivered: u64,
    /// Bytes that this ACK shows to be lost.
    pub lost: u64,
    pub round_start: bool,
    pub is_app_limited: bool,
    /// True while BBR cruises. Only then the time for which the rate is kept is counted.
    pub cruising: bool,
}

/// State of the estimate.
#[derive(Clone, Debug, Default)]
pub(super) struct Policer {
    sampling: bool,
    rounds: u32,
    /// Total of lost bytes.
    lost: u64,
    /// Totals of delivered and lost bytes at the start of the interval, and the time of its start.
    since: (u64, u64, Time),
    /// Rate of the last interval, in bytes per second, or 0 for none.
    rate: f64,
    is_in_force: bool,
}

impl Policer {
    /// Returns the rate to keep, in bytes per second, if there is a policer.
    pub fn rate(&self) -> Option<f64> {
        self.is_in_force.then_some(self.rate)
    }

    /// Resets everything except the total of lost bytes.
    pub fn reset(&mut self) {
        *self = Self {
            lost: self.lost,
            ..Self::default()
        };
    }

    fn begin(&mut self, turn: &Turn) {
        self.since = (turn.delivered, self.lost, turn.now);
        self.rounds = 0;
    }

    /// Handles an ACK. Returns true if a rate has just ceased to be kept.
    pub fn on_ack(&mut self, turn: &Turn) -> bool {
        self.lost += turn.lost;
        if self.is_in_force {
            self.rounds += u32::from(turn.cruising && turn.round_start);
            let over = self.rounds >= KEPT_ROUNDS;
            if over {
                self.reset();
            }
            return over;
        }
        if !self.sampling {
            if turn.lost == 0 {
                return false;
            }
            // Deliveries before the first loss used the policer's burst allowance, so the interval
            // begins here.
            self.begin(turn);
            self.sampling = true;
        }
        self.rounds += u32::from(turn.round_start);
        if turn.is_app_limited || self.rounds > MAX_ROUNDS {
            self.reset();
        } else if self.rounds >= MIN_ROUNDS && turn.lost > 0 {
            self.end(turn);
        }
        false
    }

    /// Handles a loss, which may end the interval.
    fn end(&mut self, turn: &Turn) {
        let delivered = (turn.delivered - self.since.0) as f64;
        let lost = (self.lost - self.since.1) as f64;
        let lasted = turn.now.saturating_since(self.since.2);
        if delivered == 0.0 || lost < LOSS_SHARE * delivered || lasted < Span::from_millis(1) {
            return;
        }
        let rate = delivered / lasted.as_secs_f64();
        let difference = (rate - self.rate).abs();
        if self.rate > 0.0 && (difference <= SAME_SHARE * self.rate || difference <= SAME_RATE) {
            self.rate = f64::midpoint(rate, self.rate);
            self.is_in_force = true;
            self.rounds = 0;
            return;
        }
        self.rate = rate;
        self.begin(turn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays round trips of 100 ms in which 80 kB arrive and `loss_share` times as much is lost.
    /// Returns the results of `on_ack`.
    fn rounds(policer: &mut Policer, from: u64, count: u64, loss_share: f64) -> Vec<bool> {
        (from..from + count)
            .map(|round| {
                policer.on_ack(&Turn {
                    now: Time::ZERO + Span::from_millis(100 * round),
                    delivered: 80_000 * round,
                    lost: (80_000.0 * loss_share) as u64,
                    round_start: true,
                    is_app_limited: false,
                    cruising: true,
                })
            })
            .collect()
    }

    /// Two intervals of four round trips at 800 kB/s find the policer, and the rate is kept for 48.
    #[test]
    fn two_equal_intervals_reveal_a_policer() {
        let mut policer = Policer::default();
        rounds(&mut policer, 1, 7, 0.25);
        assert_eq!(policer.rate(), None);
        rounds(&mut policer, 8, 1, 0.25);
        let rate = policer.rate().expect("a policer");
        assert!((rate - 800e3).abs() < 1.0, "{rate}");
        let over = rounds(&mut policer, 9, 48, 0.0);
        assert_eq!(over.iter().position(|over| *over), Some(47));
        assert_eq!(policer.rate(), None);
    }

    /// A policer is assumed from 50 losses per 256 deliveries.
    #[test]
    fn few_losses_are_no_policer() {
        let mut policer = Policer::default();
        rounds(&mut policer, 1, 60, 0.19);
        assert_eq!(policer.rate(), None);
    }
}
