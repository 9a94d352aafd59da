//! Controls that send at the measured delivery rate.

pub mod bbr;
pub mod bbr3;
mod max_filter;
#[cfg(test)]
mod tests;

use goodqueue_types::Time;
use max_filter::MaxFilter;

/// Growth of the bandwidth below which a round does not count as growing, and number of such rounds
/// that show a full pipe.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Ratio of the pacing rate to the bandwidth (`BBR.PacingMarginPercent`). It is below 1, so that
/// queues drain.
const PACING_MARGIN: f64 = 0.99;
/// Smallest window, in segments (`BBR.MinPipeCwnd`).
const MIN_WINDOW: f64 = 4.0;

/// Returns the segments that leave back to back with version 1. Below 1.2 Mbit/s, here in bytes
/// per second, segments leave one by one (Linux's `bbr_min_tso_rate`).
fn least_burst(pace: f64) -> u32 {
    if pace < 150_000.0 { 1 } else { 2 }
}

/// Time in which ACKs arrived faster than the bandwidth delivers, which shows aggregation of ACKs.
#[derive(Clone, Copy, Debug, Default)]
struct AckEpoch {
    start: Time,
    acked: f64,
}

impl AckEpoch {
    /// Starts anew.
    fn restart(&mut self, now: Time) {
        *self = Self {
            start: now,
            acked: 0.0,
        };
    }

    /// Adds the acknowledged bytes of an ACK. Returns by how many bytes ACKs are ahead of the
    /// bandwidth, in bytes per second.
    fn ahead(&mut self, now: Time, bandwidth: f64, acked: f64) -> f64 {
        let mut expected = bandwidth * now.saturating_since(self.start).as_secs_f64();
        if self.acked <= expected {
            self.restart(now);
            expected = 0.0;
        }
        self.acked += acked;
        self.acked - expected
    }
}

/// Implements the methods of a control that its fields `cwnd`, `ssthresh` and `pace` provide.
macro_rules! serve_by_pace {
    () => {
        fn window(&self) -> f64 {
            self.cwnd
        }

        fn set_window(&mut self, bytes: f64) {
            // An unlimited threshold at the end of recovery does not set the window.
            if bytes < u64::MAX as f64 {
                self.cwnd = bytes;
            }
        }

        fn ssthresh(&self) -> u64 {
            self.ssthresh
        }

        fn set_ssthresh(&mut self, bytes: u64) {
            self.ssthresh = bytes;
        }

        fn pacing_rate(&self) -> Option<Rate> {
            self.pace.map(|pace| Rate((8.0 * pace).max(1.0) as u64))
        }

        fn sets_window_in_recovery(&self) -> bool {
            true
        }

        fn needs(&self) -> Needs {
            Needs::Rates
        }
    };
}

use serve_by_pace;
