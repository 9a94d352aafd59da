//! LEDBAT (RFC 6817): a background transport that backs off when it adds more than a target delay.

use goodqueue_types::parameters::{Key, TIMER, number};
use goodqueue_types::{Span, Time, parameters};

use crate::cc::window::serve_by_window;
use crate::cc::{AckSample, CongestionControl, CongestionEvent, Needs, Window};
use crate::config::{SlowStart, TcpConfig};

parameters! {
    /// Parameters of LEDBAT.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct LedbatConfig("ledbat") {
        /// Target of the queueing delay.
        ///
        /// RFC 6817 allows at most 100 ms.
        target: Span = Span::from_millis(100) => Key::new(TIMER).example("100ms");
        /// Segments per round trip gained on an empty queue.
        ///
        /// The same is lost per round trip and target of excess delay. RFC 6817 allows at most 1;
        /// larger gains are for experiments, such as those of RFC 7928 section 5.4.
        gain: f64 = 1.0 => number(0.001, 100.0).example("1");
    }
}

/// Number of minima of the base delay that are kept, one per minute (`BASE_HISTORY`).
const HISTORY: usize = 10;
const MINUTE: Span = Span::from_secs(60);
/// Number of samples whose minimum is the current delay (`CURRENT_FILTER`).
const FILTER: usize = 4;
/// Smallest window, in segments (`MIN_CWND`).
const MIN_WINDOW: f64 = 2.0;
/// Share of the target delay at which slow start ends.
const SLOW_START_SHARE: f64 = 0.75;

/// State of LEDBAT. Delays are in seconds.
#[derive(Clone, Debug)]
pub struct Ledbat {
    window: Window,
    config: LedbatConfig,
    base: [f64; HISTORY],
    minute: usize,
    minute_start: Option<Time>,
    current: [f64; FILTER],
    next: usize,
}

impl Ledbat {
    /// Creates the state for a connection with `config`.
    pub fn new(config: &TcpConfig, ledbat: LedbatConfig) -> Self {
        Self {
            window: Window::new(config, SlowStart::Classic),
            config: ledbat,
            base: [f64::INFINITY; HISTORY],
            minute: 0,
            minute_start: None,
            current: [f64::INFINITY; FILTER],
            next: 0,
        }
    }

    /// Takes a sample of the one-way delay with an unknown offset, or of the round-trip time if
    /// there are no timestamps.
    fn measure(&mut self, sample: &AckSample) {
        let now = sample.now;
        let delay = sample
            .measured()
            .one_way_delay_s
            .or(sample.measured().rtt.map(Span::as_secs_f64));
        let Some(delay) = delay else {
            return;
        };
        self.current[self.next % FILTER] = delay;
        self.next += 1;
        let start = *self.minute_start.get_or_insert(now);
        if now.saturating_since(start) >= MINUTE {
            self.minute_start = Some(now);
            self.minute = (self.minute + 1) % HISTORY;
            self.base[self.minute] = delay;
        }
        let base = &mut self.base[self.minute];
        *base = base.min(delay);
    }

    /// Returns the queueing delay in seconds, or none before the first sample.
    fn queueing_delay(&self) -> Option<f64> {
        let least = |values: &[f64]| values.iter().fold(f64::INFINITY, |a, b| a.min(*b));
        (self.next > 0).then(|| least(&self.current) - least(&self.base))
    }

    /// Adjusts the window to the distance from the target (RFC 6817 section 2.4.2).
    fn adjust(&mut self, sample: &AckSample, delay: f64) {
        let target = self.config.target.as_secs_f64();
        let (cwnd, mss) = (self.window.cwnd(), self.window.mss());
        let off_target = (target - delay) / target;
        let gained = self.config.gain * off_target * sample.acked as f64 * mss / cwnd;
        // The window exceeds the bytes in use by at most a segment (`ALLOWED_INCREASE`).
        let in_use = sample
            .measured()
            .prior_in_flight
            .max(sample.measured().in_flight) as f64;
        let grown = (cwnd + gained).min(cwnd.max(in_use + mss));
        self.window.set_cwnd(grown.max(MIN_WINDOW * mss));
    }
}

impl CongestionControl for Ledbat {
    fn on_ack(&mut self, sample: &AckSample) {
        self.measure(sample);
        let delay = self.queueing_delay().unwrap_or(0.0);
        if self.window.in_slow_start() {
            if delay <= SLOW_START_SHARE * self.config.target.as_secs_f64() {
                self.window.slow_start(sample);
                return;
            }
            self.window.leave_slow_start();
        }
        self.adjust(sample, delay);
    }

    fn observe(&mut self, sample: &AckSample) {
        self.measure(sample);
    }

    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        self.window.decrease(event.basis, 0.5);
    }

    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>) {
        self.window.collapse(event.map(|event| event.basis * 0.5));
    }

    serve_by_window!();

    fn needs(&self) -> Needs {
        Needs::Segments
    }

    fn on_undo(&mut self, _now: Time) {
        self.window.undo();
    }
}

#[cfg(test)]
mod tests {
    use goodqueue_types::Rate;

    use super::*;
    use crate::Profile;
    use crate::cc::testbed::Bottleneck;
    use crate::config::CongestionControlConfig;

    #[test]
    fn the_queue_stays_at_the_target() {
        for (target, limit) in [(100, 400), (25, 400), (60, 100)] {
            let target = Span::from_millis(target);
            let mut config = TcpConfig::profile(Profile::Rfc);
            let ledbat = LedbatConfig {
                target,
                ..LedbatConfig::default()
            };
            config.congestion_control = CongestionControlConfig::Ledbat(ledbat);
            let mut path = Bottleneck::new(&config, Rate(10_000_000), Span::from_millis(40), limit);
            path.run(Span::from_secs(60));
            let outcome = path.run(Span::from_secs(60));
            let share = outcome.delay / target.as_secs_f64();
            assert!((0.9..1.1).contains(&share), "{target:?}: {outcome:?}");
            assert!(
                outcome.utilization > 0.99 && outcome.loss == 0.0,
                "{outcome:?}"
            );
        }
    }
}
