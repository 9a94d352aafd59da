//! GAIMD: the window grows by α segments per round trip and falls to (1 − β) of itself after a loss
//! (Yang and Lam, "General AIMD congestion control", ICNP 2000). Reno is α = 1, β = 1/2.

use goodqueue_types::parameters::{Key, Kind, Refusal, key, number};
use goodqueue_types::{Time, parameters};

use crate::cc::window::serve_by_window;
use crate::cc::{AckSample, CongestionControl, CongestionEvent, SHARE, Window};
use crate::config::{SlowStart, TcpConfig};

parameters! {
    /// Parameters of GAIMD.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct GaimdConfig("gaimd") {
        /// Segments added per round trip.
        alpha: f64 = 1.0 => number(0.001, 1_000.0).example("0.31");
        /// Share of the window given up at a loss.
        beta: f64 = 0.5 => SHARE.example("0.125");
    }
}

impl GaimdConfig {
    /// Keys of a table of TCP that set the parameters beside the control's name.
    pub const SHORT: [Key; 2] = [
        key(
            "alpha",
            Kind::Number {
                min: 0.0,
                max: 1_000.0,
            },
            "1",
            "0.31",
            "Segments added per round trip; for `gaimd` only.",
        ),
        key(
            "beta",
            Kind::Fraction,
            "0.5",
            "0.125",
            "Share of the window given up at a loss; for `gaimd` only.",
        ),
    ];

    /// Checks values of the short keys.
    ///
    /// # Errors
    /// Returns the parameter that is no step of a saw-tooth.
    pub fn check(&self) -> Result<(), Refusal> {
        let Self { alpha, beta } = *self;
        if alpha == 0.0 {
            let help = "write how many segments a round adds";
            return Err(Refusal::new("alpha", "alpha is zero", help));
        }
        if beta == 0.0 || beta >= 1.0 {
            let help = "write a number between 0 and 1, as in beta = 0.5";
            let message = format!("a window cannot shrink by {beta}");
            return Err(Refusal::new("beta", message, help));
        }
        Ok(())
    }
}

/// State of GAIMD.
#[derive(Clone, Debug)]
pub struct Gaimd {
    window: Window,
    alpha: f64,
    beta: f64,
}

impl Gaimd {
    /// Creates the state for a connection with `config`.
    pub fn new(config: &TcpConfig, GaimdConfig { alpha, beta }: GaimdConfig) -> Self {
        Self {
            window: Window::new(config, SlowStart::Classic),
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

    use super::GaimdConfig;
    use crate::cc::testbed::periodic_loss;
    use crate::{CongestionControlConfig, Profile, TcpConfig};

    /// Yang and Lam, without timeouts: one loss every 1/p packets leaves a mean window of √(α (2 −
    /// β) / 2βp), where β is the share that a loss takes. The second pair has Reno's mean window.
    #[test]
    fn the_square_root_law_with_alpha_and_beta() {
        for (alpha, beta) in [(1.0, 0.5), (0.2, 0.125), (0.31, 0.125), (2.0, 0.75)] {
            let mut config = TcpConfig::profile(Profile::Ns2);
            config.congestion_control = CongestionControlConfig::Gaimd(GaimdConfig { alpha, beta });
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
