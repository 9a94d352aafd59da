//! A sender's window, round trip by round trip: the factor that limits it, its reductions, and its
//! growth.

use crate::Nanos;
use crate::connection::history::View;
use crate::loss::{LastLosses, Place};
use crate::thinned::Thinned;
use crate::thresholds::Thresholds;

/// Largest number of windows, and of decreases, kept of a flow.
const MAX_WINDOWS: usize = 512;

/// Largest growth per round trip, in segments, that counts as congestion avoidance. Reno's window
/// grows by one, or by half with delayed ACKs.
const MAX_GROWTH: u64 = 3;

/// Smallest number of round trips from which growth is estimated.
const MIN_ROUNDS: u32 = 10;

/// Recovery whose effect on the window is not known yet.
#[derive(Clone, Copy, Debug)]
struct Decrease {
    before: u64,
    recovered_at: u64,
}

/// Current round trip and results of the earlier ones.
#[derive(Debug)]
pub struct Rounds {
    /// Sequence position whose acknowledgement ends the round trip.
    end: u64,
    start: Option<Nanos>,
    flight: u64,
    filled_window: bool,
    /// The recovery before this round trip, which shows its effect.
    judged: Option<Decrease>,
    awaited: Option<Decrease>,
    previous: [Option<u64>; 2],
    pause: u32,
    receiver_limited: Nanos,
    window_unknown: bool,
    /// Largest flight.
    pub max_flight: u64,
    flight_time: f64,
    time: f64,
    /// Sum of the growth of flights per round trip after the first recovery, in segments, and
    /// number of round trips.
    grown: (f32, u32),
    has_recovered: bool,
    /// Windows by round trip.
    pub windows: Thinned<u64>,
    /// Ratios of the windows after recoveries to those before.
    pub decreases: Thinned<f64>,
    /// Number of reductions of the window.
    pub reductions: u32,
    /// Number of reductions that follow a recent loss, by place of the loss.
    pub explained: [u32; Place::COUNT],
    /// Number of reductions that follow a recent loss at any place.
    pub after_loss: u32,
}

impl Default for Rounds {
    fn default() -> Self {
        Self {
            end: 0,
            start: None,
            flight: 0,
            filled_window: false,
            judged: None,
            awaited: None,
            previous: [None; 2],
            pause: 0,
            receiver_limited: 0,
            window_unknown: false,
            max_flight: 0,
            flight_time: 0.0,
            time: 0.0,
            grown: (0.0, 0),
            has_recovered: false,
            windows: Thinned::new(MAX_WINDOWS),
            decreases: Thinned::new(MAX_WINDOWS),
            reductions: 0,
            explained: [0; Place::COUNT],
            after_loss: 0,
        }
    }
}

/// Parameters for the judgement of a round trip.
pub struct Judge<'a> {
    pub thresholds: &'a Thresholds,
    /// Payload bytes of a full segment.
    pub mss: u64,
    /// Smoothed round-trip time in nanoseconds, 0 if unknown.
    pub rtt: Nanos,
    pub losses: &'a LastLosses,
}

impl Rounds {
    /// Records new data sent up to `end`, when the sender knew `view`.
    pub fn sent(&mut self, time: Nanos, end: u64, view: View, judge: &Judge<'_>) {
        let over = view.una >= self.end;
        let recovered = self
            .awaited
            .is_some_and(|decrease| view.una >= decrease.recovered_at);
        if over || recovered {
            if over && let Some(start) = self.start {
                self.close(start, time, judge);
            }
            self.start = Some(time);
            self.end = end;
            self.flight = 0;
            self.filled_window = false;
            self.judged = if recovered { self.awaited.take() } else { None };
        }
        let flight = end.saturating_sub(view.una);
        self.flight = self.flight.max(flight);
        self.max_flight = self.max_flight.max(flight);
        let slack = (judge.thresholds.window_slack_segments * judge.mss as f64) as u64;
        self.filled_window |= view.edge > 0 && end.saturating_add(slack) > view.edge;
        // Data were sent beyond the window, so its scale was not seen and its size is unknown.
        self.window_unknown |= view.edge > 0 && end > view.edge + 2 * judge.mss;
    }

    fn close(&mut self, start: Nanos, now: Nanos, judge: &Judge<'_>) {
        let length = (now - start).max(0);
        if self.filled_window {
            self.receiver_limited = self.receiver_limited.saturating_add(length);
        }
        self.flight_time += self.flight as f64 * length as f64;
        self.time += length as f64;
        self.windows.push(self.flight);
        let limits = judge.thresholds;
        if let Some(decrease) = self.judged.filter(|_| !self.filled_window) {
            let least = limits.least_window_segments * judge.mss as f64;
            if decrease.before as f64 >= least {
                self.decreases
                    .push(self.flight as f64 / decrease.before as f64);
            }
        }
        if let Some(before) = self.previous[0].filter(|_| self.has_recovered) {
            let grown = self.flight.saturating_sub(before);
            // A smaller flight is a reduction, and a much larger one is not congestion avoidance.
            if self.flight >= before && grown <= MAX_GROWTH * judge.mss && !self.filled_window {
                let segments = grown as f32 / judge.mss.max(1) as f32;
                self.grown = (self.grown.0 + segments, self.grown.1 + 1);
            }
        }
        self.compare(start, judge);
        self.previous = [Some(self.flight), self.previous[0]];
    }

    /// Counts a reduction if the window fell, and the recent losses before it.
    fn compare(&mut self, start: Nanos, judge: &Judge<'_>) {
        if self.pause > 0 {
            self.pause -= 1;
            return;
        }
        let Some(before) = self.previous.into_iter().flatten().max() else {
            return;
        };
        let fell = self.flight as f64 <= (1.0 - judge.thresholds.reduction) * before as f64;
        if !fell || before < 4 * judge.mss {
            return;
        }
        self.reductions += 1;
        self.pause = 2;
        let recent = judge.thresholds.recent_rtts * judge.rtt as f64;
        let more = judge.thresholds.recent_s * 1e9;
        let since = start.saturating_sub((recent + more) as Nanos);
        let recent = judge.losses.since(since);
        self.after_loss += u32::from(recent.contains(&true));
        for (count, recent) in self.explained.iter_mut().zip(recent) {
            *count += u32::from(recent);
        }
    }

    /// Records the beginning of a fast recovery with `flight` bytes in flight. It ends when
    /// `recovered_at` is acknowledged.
    pub fn recovery_began(&mut self, flight: u64, recovered_at: u64) {
        self.judged = None;
        self.has_recovered = true;
        self.awaited = Some(Decrease {
            before: flight,
            recovered_at,
        });
    }

    /// Discards comparisons with earlier windows, because a cause other than congestion set the
    /// window.
    pub fn interrupted(&mut self) {
        self.awaited = None;
        self.judged = None;
        self.previous = [None; 2];
        self.end = 0;
        self.start = None;
    }

    /// Returns the time in round trips that filled the receiver's window.
    pub fn receiver_limited(&self) -> Nanos {
        if self.window_unknown {
            0
        } else {
            self.receiver_limited
        }
    }

    /// Returns the mean growth of the window per round trip of congestion avoidance, in segments.
    pub fn growth(&self) -> Option<f64> {
        let (segments, rounds) = self.grown;
        (rounds >= MIN_ROUNDS).then(|| f64::from(segments) / f64::from(rounds))
    }

    /// Returns the mean of the flights, weighted by time.
    pub fn mean_flight(&self) -> Option<f64> {
        (self.time > 0.0).then(|| self.flight_time / self.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Damaged times may jump over years repeatedly.
    #[test]
    fn jumping_times_do_not_overflow() {
        let (mut rounds, far) = (Rounds::default(), 100_000_000_000_000_000);
        let thresholds = Thresholds::default();
        let judge = Judge {
            thresholds: &thresholds,
            mss: 1000,
            rtt: 0,
            losses: &LastLosses::default(),
        };
        for round in 1..200_i64 {
            let end = round.cast_unsigned() * 1000;
            let time = if round % 2 == 0 { far } else { -far };
            let (una, edge) = (end - 1000, end);
            rounds.sent(time, end, View { time, una, edge }, &judge);
        }
        assert_eq!(rounds.receiver_limited(), Nanos::MAX);
    }
}
