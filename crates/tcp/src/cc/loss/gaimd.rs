//! GAIMD: the window grows by α segments per round trip and falls to (1 − β) of itself after a loss
//! (Yang and Lam, "General AIMD congestion control", ICNP 2000). Reno is α = 1, β = 1/2.

use goodqueue_types::Time;

use crate::cc::window::serve_by_window;
use crate::cc::{AckSample, CongestionControl, CongestionEvent, Window};

/// State of GAIMD.
#[derive(Clone, Debug)]
pub struct Gaimd {
    window: Window,
    alpha: f64,
    beta: f64,
}

impl Gaimd {
    /// Starts from `window`. `alpha` is in segments per round trip, and `beta` is the share of the
    /// window that a loss takes.
    pub fn new(window: Window, alpha: f64, beta: f64) -> Self {
        Self {
            window,
            alpha,
            beta,
        }
    }
}

impl CongestionControl for Gaimd {
    #[inline]
    fn on_ack(&mut self, sample: &AckSample) {
        self.window.grow(sample, self.alpha);
    }

    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        self.window.decrease_to(event.decreased(1.0 - self.beta));
    }

    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>) {
        self.window
            .collapse(event.map(|event| event.basis * (1.0 - self.beta)));
    }

    serve_by_window!();

    fn begin_between_losses(&mut self, peak: f64, phase: f64) {
        self.window
            .begin_at(peak * (1.0 - self.beta * (1.0 - phase)));
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

    use crate::cc::testbed::periodic_loss;
    use crate::{CongestionControlConfig, Profile, TcpConfig};

    /// Yang and Lam, without timeouts: one loss every 1/p packets leaves a mean window of √(α (2 −
    /// β) / 2βp), where β is the share that a loss takes. The second pair has Reno's mean window.
    #[test]
    fn the_square_root_law_with_alpha_and_beta() {
        for (alpha, beta) in [(1.0, 0.5), (0.2, 0.125), (0.31, 0.125), (2.0, 0.75)] {
            let mut config = TcpConfig::profile(Profile::Ns2);
            config.congestion_control = CongestionControlConfig::Gaimd { alpha, beta };
            for packets in [10_000, 100_000] {
                let p = 1.0 / packets as f64;
                let law = (alpha * (2.0 - beta) / (2.0 * beta * p)).sqrt();
                let rtt = Span::from_millis(100);
                let periodic = periodic_loss(&config, packets, rtt);
                assert!(
                    (periodic / law - 1.0).abs() < 0.05,
                    "{alpha}, {beta}, {p}: {periodic}, {law}"
                );
            }
        }
    }
}
