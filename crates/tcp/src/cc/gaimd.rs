//! GAIMD: α segments more per round trip, (1 − β) of the window after a loss (Yang and Lam,
//! "General AIMD congestion control", ICNP 2000). Reno is α = 1, β = 1/2.

use goodqueue_types::Time;

use super::window::serve_by_window;
use super::{AckSample, CongestionControl, CongestionEvent, Window};

/// State of GAIMD.
#[derive(Clone, Debug)]
pub struct Gaimd {
    window: Window,
    alpha: f64,
    beta: f64,
}

impl Gaimd {
    /// Starts from `window`; `alpha` in segments per round trip, `beta` the share given up.
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
        self.window.decrease(event.basis, 1.0 - self.beta);
    }

    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>) {
        self.window
            .collapse(event.map(|event| event.basis * (1.0 - self.beta)));
    }

    serve_by_window!();

    fn on_undo(&mut self, _now: Time) {
        self.window.undo();
    }
}
