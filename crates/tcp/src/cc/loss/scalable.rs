//! Scalable TCP (Kelly, "Scalable TCP: improving performance in highspeed wide area networks", CCR
//! 33(2), 2003): the window grows by a fixed amount per segment acknowledged and loses a fixed
//! share per loss.

use goodqueue_types::parameters::number;
use goodqueue_types::{Time, parameters};

use crate::cc::window::serve_by_window;
use crate::cc::{AckSample, CongestionControl, CongestionEvent, SHARE, Window};
use crate::config::{SlowStart, TcpConfig};

parameters! {
    /// Parameters of Scalable TCP.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct ScalableConfig("scalable") {
        /// Segments added per segment acknowledged.
        a: f64 = 0.01 => number(0.00001, 1.0).example("0.01");
        /// Share of the window kept at a loss.
        keep: f64 = 0.875 => SHARE.example("0.875");
    }
}

/// State of Scalable TCP.
#[derive(Clone, Debug)]
pub struct Scalable {
    window: Window,
    config: ScalableConfig,
}

impl Scalable {
    /// Creates the state for a connection with `config`.
    pub fn new(config: &TcpConfig, scalable: ScalableConfig) -> Self {
        Self {
            window: Window::new(config, SlowStart::Classic),
            config: scalable,
        }
    }
}

impl CongestionControl for Scalable {
    fn on_ack(&mut self, sample: &AckSample) {
        let rest = self.window.slow_start(sample) as f64;
        // Below 1/a segments Reno grows faster, so its growth is used (Kelly's legacy window,
        // Linux).
        let share = self.config.a.max(1.0 / self.window.segments());
        self.window.set_cwnd(self.window.cwnd() + share * rest);
    }

    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        self.window
            .decrease_to(libm::round(event.basis * self.config.keep));
    }

    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>) {
        let keep = self.config.keep;
        self.window
            .collapse(event.map(|event| libm::round(event.basis * keep)));
    }

    serve_by_window!();

    fn begin_between_losses(&mut self, peak: f64, phase: f64) {
        self.window
            .begin_at(peak * libm::pow(self.config.keep, 1.0 - phase));
    }

    fn lowers_window(&self) -> bool {
        true
    }

    fn on_undo(&mut self, _now: Time) {
        self.window.undo();
    }
}

#[cfg(test)]
mod tests {
    use goodqueue_types::Span;

    use super::*;
    use crate::Profile;
    use crate::cc::testbed::Path;
    use crate::config::CongestionControlConfig;

    /// Kelly, section 2: recovery from a loss takes log(1 − b) / log(1 + a) = 13.4 round trips,
    /// whatever the window.
    #[test]
    fn recovery_takes_the_same_time_at_any_window() {
        for window in [200, 2_000, 20_000] {
            let mut config = TcpConfig::profile(Profile::Rfc);
            config.congestion_control =
                CongestionControlConfig::Scalable(ScalableConfig::default());
            let mut path = Path::new(&config, Span::from_millis(100));
            path.control.set_window(f64::from(window) * 1460.0);
            path.lose();
            assert!((path.window() / f64::from(window) - 0.875).abs() < 1e-3);
            let mut rounds = 0.0;
            while path.window() < f64::from(window) {
                rounds += path.send(20);
            }
            assert!((rounds - 13.4).abs() < 0.3, "{window}: {rounds}");
        }
    }
}
