//! The controller of PIE (RFC 8033), separate from any queue: a drop probability that follows the
//! queueing delay.
//!
//! [`PieVars`] is the state of one queue. FQ-PIE has one for each flow and one [`PieParams`].

use super::params::{PieFlavour, PieParams};
use crate::Backlog;
use goodqueue_types::{RandomStream, Span, Time};

/// Bytes that must leave for one measurement of the departure rate (RFC 8033 section 5.2, Linux).
const DQ_THRESHOLD: u64 = 16_384;
/// Bounds on the accumulated probability. Below the first bound no arrival is dropped, and from the
/// second on every arrival is dropped (RFC 8033 section 5.4).
const ACCU_LOW: f64 = 0.85;
const ACCU_HIGH: f64 = 8.5;
/// Time in seconds of low delay after which ns-3 allows another burst.
const NS3_BURST_RESET: f64 = 1.5;

/// Delay above which Linux adds 2 % to the probability at each update.
const LONG_DELAY: Span = Span::from_millis(250);

/// State of ns-3's burst protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Burst {
    /// The next arrival starts a burst allowance.
    Ready,
    /// A burst allowance was given.
    Protecting,
    /// Number of consecutive updates with low delay since the allowance ended.
    Quiet(u32),
}

/// State of the controller for one queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieVars {
    /// Drop probability.
    prob: f64,
    /// Sum of the probabilities of arrivals since the last drop.
    accu_prob: f64,
    /// Queueing delay now, and at the previous update.
    delay: Span,
    delay_old: Span,
    burst_allowance: Span,
    burst: Burst,
    /// Departure rate in bytes per second, or 0 if unknown.
    dq_rate: f64,
    /// Bytes that have left in the current measurement of the rate.
    dq_count: Option<u64>,
    /// Start of that measurement. Without the estimator, time of the last departure.
    dq_start: Option<Time>,
}

impl PieVars {
    /// Returns the state of an empty queue.
    pub fn new(params: &PieParams) -> Self {
        Self {
            prob: 0.0,
            accu_prob: 0.0,
            delay: Span::ZERO,
            delay_old: Span::ZERO,
            burst_allowance: match params.flavour {
                PieFlavour::Ns3 => Span::ZERO,
                PieFlavour::Rfc8033 | PieFlavour::Linux => params.max_burst,
            },
            burst: Burst::Ready,
            dq_rate: 0.0,
            dq_count: None,
            dq_start: None,
        }
    }

    /// Returns the drop probability.
    pub fn probability(&self) -> f64 {
        self.prob
    }

    /// Resets the accumulated probability after a drop.
    pub fn dropped(&mut self) {
        self.accu_prob = 0.0;
    }

    /// Returns true if an ECN-capable packet may be marked instead of dropped at the present
    /// probability.
    pub fn may_mark(&self, params: &PieParams) -> bool {
        params.ecn && self.prob <= params.ecn_threshold
    }

    /// Returns true if an arrival of `frame_bytes` bytes is to be dropped or marked, with `backlog`
    /// before it (RFC 8033 section 4.1).
    pub fn drop_early(
        &mut self,
        params: &PieParams,
        random: &mut RandomStream,
        backlog: Backlog,
        frame_bytes: u64,
    ) -> bool {
        self.renew_burst_on_arrival(params);
        if self.burst_allowance > Span::ZERO {
            return false;
        }
        if params.flavour == PieFlavour::Ns3 && self.burst == Burst::Ready {
            self.burst = Burst::Protecting;
            self.burst_allowance = params.max_burst;
        }
        if self.is_calm(params, backlog) {
            return false;
        }
        let prob = if params.bytemode && frame_bytes <= params.mtu {
            self.prob * frame_bytes as f64 / params.mtu as f64
        } else {
            self.prob
        };
        if params.derandomize {
            self.accu_prob = if prob == 0.0 {
                0.0
            } else {
                self.accu_prob + prob
            };
            if self.accu_prob < ACCU_LOW {
                return false;
            }
            if self.accu_prob >= ACCU_HIGH {
                return true;
            }
        }
        let hit = random.unit() < prob;
        if hit && params.flavour == PieFlavour::Linux {
            self.accu_prob = 0.0;
        }
        hit
    }

    /// Renews the burst allowance of a queue without congestion (RFC 8033 section 4.4).
    fn renew_burst_on_arrival(&mut self, params: &PieParams) {
        if params.flavour == PieFlavour::Rfc8033 && self.prob == 0.0 && self.has_low_delay(params) {
            self.burst_allowance = params.max_burst;
        }
    }

    fn has_low_delay(&self, params: &PieParams) -> bool {
        self.delay < params.target / 2 && self.delay_old < params.target / 2
    }

    /// Returns true if the safeguards that keep the link busy forbid a drop (RFC 8033 section 4.1).
    fn is_calm(&self, params: &PieParams, backlog: Backlog) -> bool {
        let (delay, short) = match params.flavour {
            PieFlavour::Linux => (self.delay, backlog.bytes < 2 * params.mtu),
            PieFlavour::Rfc8033 => (self.delay_old, backlog.bytes <= 2 * params.mtu),
            PieFlavour::Ns3 => (self.delay_old, backlog.packets <= 2),
        };
        short || (delay < params.target / 2 && self.prob < 0.2)
    }

    /// Records the departure of a packet of `frame_bytes` bytes that waited for `sojourn` and left
    /// `backlog_bytes` bytes behind.
    pub fn departed(
        &mut self,
        params: &PieParams,
        now: Time,
        sojourn: Span,
        frame_bytes: u64,
        backlog_bytes: u64,
    ) {
        if params.dq_rate_estimator {
            self.measure_rate(params, now, frame_bytes, backlog_bytes);
            return;
        }
        self.delay = if backlog_bytes == 0 {
            Span::ZERO
        } else {
            sojourn
        };
        if let Some(last) = self.dq_start.replace(now) {
            self.shrink_burst_at_departure(params, now - last);
        }
    }

    fn shrink_burst_at_departure(&mut self, params: &PieParams, elapsed: Span) {
        if params.flavour == PieFlavour::Linux {
            self.burst_allowance = self.burst_allowance.saturating_sub(elapsed);
        }
    }

    /// Adds one departure to the measurement of the departure rate (RFC 8033 section 5.2).
    fn measure_rate(
        &mut self,
        params: &PieParams,
        now: Time,
        frame_bytes: u64,
        backlog_bytes: u64,
    ) {
        if self.dq_count.is_none() && backlog_bytes >= DQ_THRESHOLD {
            self.dq_count = Some(0);
            self.dq_start = Some(now);
        }
        let (Some(count), Some(start)) = (&mut self.dq_count, self.dq_start) else {
            return;
        };
        *count += frame_bytes;
        let elapsed = now - start;
        if *count < DQ_THRESHOLD || elapsed == Span::ZERO {
            return;
        }
        let rate = *count as f64 / elapsed.as_secs_f64();
        let weight = match params.flavour {
            PieFlavour::Linux => 0.125,
            PieFlavour::Rfc8033 => 0.25,
            PieFlavour::Ns3 => 0.5,
        };
        self.dq_rate = if self.dq_rate == 0.0 {
            rate
        } else {
            self.dq_rate + weight * (rate - self.dq_rate)
        };
        self.dq_start = Some(now);
        self.dq_count = (backlog_bytes >= DQ_THRESHOLD).then_some(0);
        self.shrink_burst_at_departure(params, elapsed);
    }

    /// Makes a periodic update with a backlog of `backlog_bytes` bytes (RFC 8033 section 4.2).
    /// Returns false if another update would not change the state.
    pub fn update(&mut self, params: &PieParams, backlog_bytes: u64) -> bool {
        if self.is_renewed(params) {
            self.renew(params);
            return false;
        }
        let before = *self;
        if params.dq_rate_estimator {
            self.delay = if self.dq_rate > 0.0 {
                Span::from_secs_f64(backlog_bytes as f64 / self.dq_rate)
            } else {
                Span::ZERO
            };
        }
        if !self.stays_at_zero(params) {
            self.move_probability(params, backlog_bytes);
        }
        self.update_burst(params);
        self.delay_old = self.delay;
        *self != before
    }

    /// Returns true if an update of Linux without the estimator renews the state and does nothing
    /// else. Most updates of FQ-PIE's many queues are of this kind.
    fn is_renewed(&self, params: &PieParams) -> bool {
        params.flavour == PieFlavour::Linux
            && !params.dq_rate_estimator
            && self.prob == 0.0
            && self.delay == self.delay_old
            && self.has_low_delay(params)
            && self.delay <= LONG_DELAY
    }

    /// Sets everything but the delays to the state of an empty queue.
    fn renew(&mut self, params: &PieParams) {
        *self = Self {
            delay: self.delay,
            delay_old: self.delay_old,
            ..Self::new(params)
        };
    }

    /// Returns true if the probability is zero and the next step is not positive, because the
    /// delay is below the target and has not grown.
    fn stays_at_zero(&self, params: &PieParams) -> bool {
        let bound = params.target.min(LONG_DELAY);
        self.prob == 0.0 && self.delay <= self.delay_old && self.delay <= bound
    }

    fn move_probability(&mut self, params: &PieParams, backlog_bytes: u64) {
        let in_ns3_burst = params.flavour == PieFlavour::Ns3 && self.burst_allowance > Span::ZERO;
        let before = if in_ns3_burst { 0.0 } else { self.prob };
        let step = if in_ns3_burst { 0.0 } else { self.step(params) };
        let raised = before + step;
        let idle = self.delay == Span::ZERO && self.delay_old == Span::ZERO;
        self.prob = match params.flavour {
            // A delay of zero with a backlog is one too small to measure, so the queue is not idle.
            PieFlavour::Linux if idle && backlog_bytes == 0 => {
                let bounded = raised.clamp(0.0, 1.0);
                bounded - bounded / 64.0
            }
            PieFlavour::Rfc8033 | PieFlavour::Ns3 if idle => (raised * 0.98).clamp(0.0, 1.0),
            _ => raised.clamp(0.0, 1.0),
        };
    }

    /// Returns the change of the probability, which is smaller for smaller probabilities (RFC 8033
    /// section 4.3).
    fn step(&self, params: &PieParams) -> f64 {
        let delay = self.delay.as_secs_f64();
        let step = params.alpha * (delay - params.target.as_secs_f64())
            + params.beta * (delay - self.delay_old.as_secs_f64());
        let mut step = step / scale(self.prob);
        if params.cap_adjustment && self.prob >= 0.1 && step > 0.02 {
            step = 0.02;
        }
        // Linux acts faster on very long delays, whatever the gains.
        if params.flavour == PieFlavour::Linux && self.delay > LONG_DELAY {
            step += 0.02;
        }
        step
    }

    fn update_burst(&mut self, params: &PieParams) {
        let low = self.prob == 0.0 && self.has_low_delay(params);
        match params.flavour {
            PieFlavour::Rfc8033 => {
                self.burst_allowance = self.burst_allowance.saturating_sub(params.tupdate);
            }
            PieFlavour::Linux => {
                if low && (!params.dq_rate_estimator || self.dq_rate > 0.0) {
                    self.renew(params);
                }
            }
            PieFlavour::Ns3 => {
                self.burst_allowance = self.burst_allowance.saturating_sub(params.tupdate);
                self.wait_for_quiet(params, low && self.burst_allowance == Span::ZERO);
                if low && (!params.dq_rate_estimator || self.dq_rate > 0.0) {
                    self.dq_rate = 0.0;
                    self.dq_count = None;
                }
            }
        }
    }

    fn wait_for_quiet(&mut self, params: &PieParams, low: bool) {
        let limit = (NS3_BURST_RESET / params.tupdate.as_secs_f64()) as u32;
        self.burst = match self.burst {
            Burst::Protecting if low => Burst::Quiet(0),
            Burst::Quiet(updates) if low && updates >= limit => Burst::Ready,
            Burst::Quiet(updates) if low => Burst::Quiet(updates + 1),
            Burst::Quiet(_) => Burst::Quiet(0),
            other => other,
        };
    }
}

/// Returns the divisor of the step at a probability (RFC 8033 section 4.3).
fn scale(prob: f64) -> f64 {
    const STEPS: [(f64, f64); 6] = [
        (0.000_001, 2048.0),
        (0.000_01, 512.0),
        (0.000_1, 128.0),
        (0.001, 32.0),
        (0.01, 8.0),
        (0.1, 2.0),
    ];
    STEPS
        .iter()
        .find(|(below, _)| prob < *below)
        .map_or(1.0, |(_, scale)| *scale)
}

#[cfg(test)]
mod tests;
