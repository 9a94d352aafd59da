//! DCTCP (RFC 8257): the window falls in proportion to the share of bytes marked.

use goodqueue_types::Time;

use super::window::serve_by_window;
use super::{AckSample, CongestionControl, CongestionEvent, CongestionSignal, Window};
use crate::config::{SlowStart, TcpConfig};

/// Parameters of DCTCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DctcpConfig {
    /// Weight of the newest window in the share of marks.
    pub g: f64,
    /// The share assumed at the start.
    pub initial_alpha: f64,
}

impl Default for DctcpConfig {
    fn default() -> Self {
        Self {
            g: 1.0 / 16.0,
            initial_alpha: 1.0,
        }
    }
}

/// State of DCTCP.
#[derive(Clone, Debug)]
pub struct Dctcp {
    window: Window,
    g: f64,
    /// Smoothed share of bytes marked.
    alpha: f64,
    acked: u64,
    marked: u64,
    window_end: Option<u64>,
}

impl Dctcp {
    /// Starts as `config` says.
    pub fn new(config: &TcpConfig, dctcp: DctcpConfig) -> Self {
        Self {
            window: Window::new(config, SlowStart::Classic),
            g: dctcp.g,
            alpha: dctcp.initial_alpha,
            acked: 0,
            marked: 0,
            window_end: None,
        }
    }

    /// RFC 8257 section 3.3, steps 1 to 8.
    fn count(&mut self, sample: &AckSample) {
        self.acked += sample.delivered.max(sample.acked);
        self.marked += sample.marked;
        if self.window_end.is_some_and(|end| sample.acked_to <= end) || self.acked == 0 {
            return;
        }
        if self.window_end.is_some() {
            let share = (self.marked as f64 / self.acked as f64).min(1.0);
            self.alpha = (1.0 - self.g) * self.alpha + self.g * share;
        }
        self.window_end = Some(sample.sent_to);
        (self.acked, self.marked) = (0, 0);
    }
}

impl CongestionControl for Dctcp {
    fn on_ack(&mut self, sample: &AckSample) {
        self.count(sample);
        self.window.grow(sample, 1.0);
    }

    fn observe(&mut self, sample: &AckSample) {
        self.count(sample);
    }

    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        let keep = match event.signal {
            // Section 3.3, step 9; section 3.5: losses as before.
            CongestionSignal::EcnEcho => 1.0 - self.alpha / 2.0,
            CongestionSignal::Loss => 0.5,
        };
        self.window.decrease_to(libm::round(event.basis * keep));
    }

    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>) {
        self.window.collapse(event.map(|event| event.basis * 0.5));
    }

    serve_by_window!();

    fn on_undo(&mut self, _now: Time) {
        self.window.undo();
    }
}

#[cfg(test)]
mod tests {
    use goodqueue_types::{Rate, Span};

    use super::*;
    use crate::Profile;
    use crate::cc::testbed::Bottleneck;
    use crate::config::CongestionControlConfig;

    fn config() -> TcpConfig {
        let mut config = TcpConfig::profile(Profile::Rfc);
        config.mss = 1000;
        config.congestion_control = CongestionControlConfig::Dctcp(DctcpConfig::default());
        config
    }

    #[test]
    fn alpha_follows_the_share_of_marked_bytes() {
        let mut control = Dctcp::new(
            &config(),
            DctcpConfig {
                initial_alpha: 0.0,
                ..DctcpConfig::default()
            },
        );
        for n in 1..=40u64 {
            control.on_ack(&AckSample {
                acked: 1000,
                delivered: 1000,
                // One of four.
                marked: if n % 4 == 0 { 1000 } else { 0 },
                acked_to: n * 1000,
                // Windows of eight.
                sent_to: n * 1000 + 7000,
                ..AckSample::default()
            });
        }
        // The windows of ACKs 2 to 9, 10 to 17, 18 to 25 and 26 to 33.
        let expected = 0.25 * (1.0 - (15.0_f64 / 16.0).powi(4));
        assert!(
            (control.alpha - expected).abs() < 1e-9,
            "{} {expected}",
            control.alpha
        );
        let before = control.window();
        control.on_congestion_event(&CongestionEvent {
            basis: before,
            signal: CongestionSignal::EcnEcho,
            ..CongestionEvent::default()
        });
        assert!((control.window() / before - (1.0 - expected / 2.0)).abs() < 1e-4);
    }

    /// Alizadeh and others, "Data center TCP", SIGCOMM 2010: the queue stays about the marking
    /// threshold K, and the link busy, with K above a seventh of the bandwidth-delay product.
    #[test]
    fn the_queue_stays_at_the_marking_threshold() {
        let mut path = Bottleneck::new(&config(), Rate(1_000_000_000), Span::from_micros(400), 400);
        path.mark_above = Some(20);
        path.run(Span::from_secs(1));
        let outcome = path.run(Span::from_secs(1));
        let waiting = outcome.delay * 1e9 / 8.0 / 1000.0;
        assert!(outcome.utilisation > 0.99, "{outcome:?}");
        assert!((10.0..25.0).contains(&waiting), "{waiting}");
        assert!(outcome.loss == 0.0);
    }
}
