//! Detection of a queue that marks as RFC 3168 says, by the round-trip time (Briscoe and Ahmed,
//! "TCP Prague Fall-back on Detection of a Classic ECN AQM", arXiv 1911.00710; Linux's
//! `tcp_prague.c`). The queue of such an AQM is deeper than an L4S queue and varies more, so the
//! sender keeps a score of both.

use goodqueue_types::{Span, Time};

use crate::sender::detection::rtt::MinRtt;

/// Weight of a doubling of the mean deviation, and of the depth of the queue, in the score (V and D
/// of the paper).
const WEIGHT: f64 = 0.5;
/// Mean deviation of the round-trip time at which the score stays, in seconds (V₀).
const DEVIATION: f64 = 750e-6;
/// Depth of the queue above which it raises the score, in seconds (D₀).
const DEPTH: f64 = 2e-3;
/// Least time in a logarithm, in seconds. Linux counts whole microseconds.
const MICROSECOND: f64 = 1e-6;
/// Score up to which the queue counts as an L4S queue.
const L4S: f64 = 8.0;
/// Width of the transition, above which the queue counts as a classic one.
const TRANSITION: f64 = 1.0;
/// Largest score. The way from there to `L4S + TRANSITION` is as long as that from 0 to `L4S`.
const LARGEST: f64 = L4S + TRANSITION + L4S;
/// Least share of marks behind a classic queue. Linux computes 1/2 + 1/8.
const MIN_SHARE: f64 = 0.625;
/// Largest binary logarithm of the inverse of the gain of the smoothed round-trip time.
const MAX_GAIN_BITS: u32 = 18;

/// State of the detection. Times are in seconds.
#[derive(Clone, Debug)]
pub struct ClassicQueue {
    srtt: Option<f64>,
    deviation: f64,
    least: MinRtt,
    /// Binary logarithm of the inverse of the gain of `srtt`. That of `deviation` is one larger.
    gain_bits: u32,
    score: f64,
}

impl Default for ClassicQueue {
    fn default() -> Self {
        Self {
            srtt: None,
            deviation: MICROSECOND,
            least: MinRtt::default(),
            gain_bits: MAX_GAIN_BITS,
            score: 0.0,
        }
    }
}

impl ClassicQueue {
    /// Takes the round-trip time of an ACK.
    pub fn on_rtt(&mut self, now: Time, rtt: Span) {
        self.least.update(now, rtt);
        let rtt = rtt.as_secs_f64();
        let Some(srtt) = &mut self.srtt else {
            self.srtt = Some(rtt);
            return;
        };
        let gain = 1.0 / f64::from(1_u32 << self.gain_bits);
        let error = rtt - *srtt;
        *srtt += gain * error;
        self.deviation += gain / 2.0 * (error.abs() - self.deviation);
    }

    /// Sets the gain before a reduction of the window: 2^−(1.5 lg ssthresh + 1), which averages over
    /// the sawtooth of a window of `ssthresh` segments.
    pub fn on_reduction(&mut self, ssthresh: u64) {
        let bits = ssthresh.max(1).ilog2();
        self.gain_bits = (bits + bits / 2 + 1).min(MAX_GAIN_BITS);
    }

    /// Moves the score at the end of a round with feedback: by V·lg(v/V₀), and by D·lg(d/D₀) if the
    /// depth d exceeds D₀.
    pub fn end_round(&mut self) {
        let (Some(srtt), Some(least)) = (self.srtt, self.least.get()) else {
            return;
        };
        let depth = (srtt - least.as_secs_f64()).max(MICROSECOND);
        let raise = libm::log2(self.deviation.max(MICROSECOND) / DEVIATION)
            + libm::log2(depth / DEPTH).max(0.0);
        self.score = (self.score + WEIGHT * raise).clamp(0.0, LARGEST);
    }

    /// Returns the least share of marks with which the window is reduced: 0 for an L4S queue, 0.625
    /// for a classic one, and linear in between.
    pub fn least_share(&self) -> f64 {
        MIN_SHARE * ((self.score - L4S) / TRANSITION).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests;
