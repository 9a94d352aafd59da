//! Reno: the window grows by one segment per round trip and halves after a loss (RFC 5681).

use goodqueue_types::Time;

use crate::cc::window::serve_by_window;
use crate::cc::{AckSample, CongestionControl, CongestionEvent, Window};

/// State of Reno.
#[derive(Clone, Debug)]
pub struct Reno {
    window: Window,
}

impl Reno {
    /// Starts from `window`.
    pub fn new(window: Window) -> Self {
        Self { window }
    }
}

impl CongestionControl for Reno {
    #[inline]
    fn on_ack(&mut self, sample: &AckSample) {
        self.window.grow(sample, 1.0);
    }

    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        self.window.decrease_to(event.decreased(0.5));
    }

    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>) {
        self.window.collapse(event.map(|event| event.basis * 0.5));
    }

    serve_by_window!();

    fn begin_between_losses(&mut self, peak: f64, phase: f64) {
        self.window.begin_at(peak * (1.0 + phase) / 2.0);
    }

    fn on_undo(&mut self, _now: Time) {
        self.window.undo();
    }
}

#[cfg(test)]
mod tests {
    use goodqueue_types::Span;

    use crate::cc::testbed::{periodic_loss, random_loss};
    use crate::{Profile, TcpConfig};

    /// Mathis, Semke, Mahdavi and Ott, "The macroscopic behavior of the TCP congestion avoidance
    /// algorithm", CCR 1997, equation 3 with every packet acknowledged: W = √(3 / 2p). Windows of
    /// whole segments stay below the law when they are small (at p = 0.01 by 7 to 15 %).
    #[test]
    fn the_square_root_law() {
        let rtt = Span::from_millis(100);
        for packets in [1_000, 10_000, 100_000] {
            for profile in [Profile::Rfc, Profile::Ns2] {
                let p = 1.0 / packets as f64;
                let law = (1.5 / p).sqrt();
                let config = TcpConfig::profile(profile);
                let periodic = periodic_loss(&config, packets, rtt);
                assert!((periodic / law - 1.0).abs() < 0.05, "{p}: {periodic} {law}");
                let random = random_loss(&config, p, rtt, 2_000);
                assert!((random / law - 1.0).abs() < 0.10, "{p}: {random} {law}");
            }
        }
    }
}
