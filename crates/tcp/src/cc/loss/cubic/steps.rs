//! CUBIC's congestion avoidance in the steps of Linux: the window grows by whole segments, after a
//! number of acknowledged segments that is recomputed when the window changes or 1/32 s has passed.

use goodqueue_types::{Span, Time};

use super::CubicConfig;

/// Time after which the number is recomputed although the window is the same.
const RECONSIDERED_AFTER: Span = Span::from_micros(31_250);

/// State between two decreases.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    epoch: Option<Epoch>,
    /// Number of acknowledged segments for which the window grows by one.
    per_step: u32,
    /// Time at which `per_step` was computed, and the window in segments for which it holds.
    computed: Option<(Time, u32)>,
    /// Number of segments acknowledged since the last step.
    counted: u32,
    last_sent: Time,
}

/// An epoch of congestion avoidance. Windows are in segments.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// Time from its start to the plateau, in seconds.
    k: f64,
    plateau: u32,
    /// Window that Reno would have, and the segments acknowledged towards its next step.
    reno: u32,
    towards_reno: u32,
}

/// Inputs of a step besides the steps before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings {
    pub now: Time,
    pub config: CubicConfig,
    /// Window of the plateau, in segments, or 0 before the first loss.
    pub w_max: u32,
    pub min_rtt: Span,
}

impl Steps {
    /// Ends the epoch after a decrease. The next ACK begins another.
    pub fn end_epoch(&mut self) {
        *self = Self {
            last_sent: self.last_sent,
            ..Self::default()
        };
    }

    /// Records that data are sent. Time in which the application sent nothing does not count (RFC
    /// 9438 section 4.2).
    pub fn on_send(&mut self, now: Time, idle: bool) {
        if idle && let Some(epoch) = &mut self.epoch {
            let silence = now.saturating_since(self.last_sent);
            epoch.start = epoch.start.saturating_add(silence).min(now);
        }
        self.last_sent = now;
    }

    /// Returns the window, which was `cwnd` segments, after `acked` more were acknowledged.
    pub fn advance(&mut self, cwnd: u32, acked: u32, around: &Surroundings) -> u32 {
        self.reconsider(cwnd, acked, around);
        let mut window = cwnd;
        if self.counted >= self.per_step {
            self.counted = 0;
            window = window.saturating_add(1);
        }
        self.counted = self.counted.saturating_add(acked);
        window = window.saturating_add(self.counted / self.per_step);
        self.counted %= self.per_step;
        window
    }

    fn reconsider(&mut self, cwnd: u32, acked: u32, around: &Surroundings) {
        if let Some(epoch) = &mut self.epoch {
            epoch.towards_reno = epoch.towards_reno.saturating_add(acked);
        }
        let fresh = self.computed.is_some_and(|(at, window)| {
            window == cwnd && around.now.saturating_since(at) <= RECONSIDERED_AFTER
        });
        if fresh {
            return;
        }
        self.computed = Some((around.now, cwnd));
        let epoch = self
            .epoch
            .get_or_insert_with(|| Epoch::new(cwnd, acked, around));
        let target = epoch.target(around);
        self.per_step = match target.checked_sub(cwnd) {
            Some(gap @ 1..) => cwnd / gap,
            // The curve is flat here, so the window grows by one segment per hundred windows.
            _ => cwnd.saturating_mul(100),
        };
        if around.w_max == 0 {
            // No loss has shown the plateau, so the window grows by at least 5 % per round trip.
            self.per_step = self.per_step.min(20);
        }
        if around.config.reno_friendly {
            let ahead = epoch.reno_ahead(cwnd, around.config.beta);
            let catching_up = cwnd.checked_div(ahead).unwrap_or(u32::MAX);
            self.per_step = self.per_step.min(catching_up);
        }
        self.per_step = self.per_step.max(2);
    }
}

impl Epoch {
    /// Begins congestion avoidance with a window of `cwnd` segments (RFC 9438 section 4.2).
    fn new(cwnd: u32, acked: u32, around: &Surroundings) -> Self {
        let below = around.w_max.saturating_sub(cwnd);
        Self {
            start: around.now,
            k: libm::cbrt(f64::from(below) / around.config.c),
            plateau: around.w_max.max(cwnd),
            reno: cwnd,
            towards_reno: acked,
        }
    }

    /// Returns the window on the curve one shortest round-trip time ahead.
    fn target(&self, around: &Surroundings) -> u32 {
        let t = around.now.saturating_since(self.start).as_secs_f64()
            + around.min_rtt.as_secs_f64()
            - self.k;
        let distance = libm::fabs(around.config.c * t * t * t) as u32;
        if t < 0.0 {
            self.plateau.saturating_sub(distance)
        } else {
            self.plateau.saturating_add(distance)
        }
    }

    /// Returns the segments by which Reno, with CUBIC's decrease, would be ahead of `cwnd` (section
    /// 4.3).
    fn reno_ahead(&mut self, cwnd: u32, beta: f64) -> u32 {
        // The kernel keeps this factor in whole eighths: 15 for β = 0.7.
        let eighths = (8.0 * (1.0 + beta) / 3.0 / (1.0 - beta)) as u32;
        let per_step = (cwnd.saturating_mul(eighths) >> 3).max(1);
        // A step is taken when more segments than its number are acknowledged.
        let steps = self.towards_reno.saturating_sub(1) / per_step;
        self.towards_reno -= steps * per_step;
        self.reno = self.reno.saturating_add(steps);
        self.reno.saturating_sub(cwnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After a timeout no plateau is remembered. The window grows by one segment for every twenty
    /// acknowledged, or sooner if Reno would be ahead (15 · 7 / 8 = 13 acknowledged make its window
    /// 8, and then 7 is the number). While the window stays, the number is kept for 1/32 s.
    #[test]
    fn steps_after_a_timeout() {
        let mut steps = Steps::default();
        let mut around = Surroundings {
            now: Time::ZERO,
            config: CubicConfig::default(),
            w_max: 0,
            min_rtt: Span::from_millis(100),
        };
        let mut at = |millis, window: u32| {
            around.now = Time::ZERO + Span::from_millis(millis);
            steps.advance(window, 1, &around)
        };
        for n in 0..8 {
            assert_eq!(at(2 * n, 7), 7);
        }
        for n in 0..7 {
            assert_eq!(at(100 + 2 * n, 7), 7, "the count stays for a while");
        }
        assert_eq!(at(200, 7), 8, "15 are more than 7");
    }

    /// The largest numbers do not overflow.
    #[test]
    fn large_numbers() {
        let around = Surroundings {
            now: Time::MAX,
            config: CubicConfig::default(),
            w_max: u32::MAX,
            min_rtt: Span(u64::MAX),
        };
        let mut steps = Steps::default();
        assert_eq!(steps.advance(u32::MAX, u32::MAX, &around), u32::MAX);
        steps.on_send(Time::MAX, true);
    }
}
