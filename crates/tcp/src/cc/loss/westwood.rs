//! Westwood+ (Grieco and Mascolo, "Performance evaluation and comparison of Westwood+, New Reno,
//! and Vegas TCP congestion control", CCR 34(2), 2004). It is Reno, but a loss sets the window to
//! the estimated bandwidth times the shortest round-trip time.

use goodqueue_types::parameters::{Key, TIMER};
use goodqueue_types::{Span, Time, parameters};

use crate::cc::window::serve_by_window;
use crate::cc::{AckSample, CongestionControl, CongestionEvent, Needs, SHARE, Window};
use crate::config::{SlowStart, TcpConfig};

parameters! {
    /// Parameters of Westwood+.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct WestwoodConfig("westwood") {
        /// Weight of the old estimate in each stage of the filter.
        filter: f64 = 0.875 => SHARE.example("0.875");
        /// Shortest interval over which bandwidth is measured.
        interval: Span = Span::from_millis(50) => Key::new(TIMER).example("50ms");
    }
}

/// State of Westwood+.
#[derive(Clone, Debug)]
pub struct Westwood {
    window: Window,
    config: WestwoodConfig,
    rtt: Span,
    least_rtt: Option<Span>,
    /// Bytes delivered since the start of the interval.
    delivered: u64,
    since: Option<Time>,
    /// The two stages of the filter, in bytes per second.
    stages: Option<(f64, f64)>,
}

impl Westwood {
    /// Creates the state for a connection with `config`.
    pub fn new(config: &TcpConfig, westwood: WestwoodConfig) -> Self {
        Self {
            window: Window::new(config, SlowStart::Classic),
            config: westwood,
            rtt: Span::ZERO,
            least_rtt: None,
            delivered: 0,
            since: None,
            stages: None,
        }
    }

    fn measure(&mut self, sample: &AckSample) {
        if let Some(rtt) = sample.measured().rtt {
            self.rtt = rtt;
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        self.delivered += sample.measured().delivered;
        let since = *self.since.get_or_insert(sample.now);
        let span = sample.now.saturating_since(since);
        if span <= self.rtt.max(self.config.interval) {
            return;
        }
        let measured = self.delivered as f64 / span.as_secs_f64();
        let keep = self.config.filter;
        self.stages = Some(match self.stages {
            None => (measured, measured),
            Some((first, second)) => {
                let first = keep * first + (1.0 - keep) * measured;
                (first, keep * second + (1.0 - keep) * first)
            }
        });
        self.delivered = 0;
        self.since = Some(sample.now);
    }

    /// Returns the bandwidth times the shortest round-trip time, or half the window before the
    /// first measurement.
    fn threshold(&self, event: &CongestionEvent) -> f64 {
        match (self.stages, self.least_rtt) {
            (Some((_, bandwidth)), Some(rtt)) => libm::round(bandwidth * rtt.as_secs_f64()),
            _ => event.basis * 0.5,
        }
    }
}

impl CongestionControl for Westwood {
    fn on_ack(&mut self, sample: &AckSample) {
        self.measure(sample);
        self.window.grow(sample, 1.0);
    }

    fn observe(&mut self, sample: &AckSample) {
        self.measure(sample);
    }

    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        // The window never grows here, because a loss is no reason for a larger window.
        let threshold = self.threshold(event).min(self.window.cwnd());
        self.window.decrease_to(threshold);
    }

    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>) {
        let threshold = event.map(|event| self.threshold(event));
        self.window.collapse(threshold);
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

    /// A loss leaves a window that just empties a queue of any size: the bandwidth-delay product,
    /// 34.2 segments.
    #[test]
    fn a_loss_leaves_the_bandwidth_delay_product() {
        for limit in [10, 30, 60] {
            let mut config = TcpConfig::profile(Profile::Rfc);
            config.congestion_control =
                CongestionControlConfig::Westwood(WestwoodConfig::default());
            let rate = Rate(10_000_000);
            let mut path = Bottleneck::new(&config, rate, Span::from_millis(40), limit);
            path.run(Span::from_secs(60));
            let threshold = path.control.ssthresh() as f64 / 1460.0;
            assert!((30.0..=36.5).contains(&threshold), "{limit}: {threshold}");
            let outcome = path.run(Span::from_secs(60));
            assert!(outcome.utilization > 0.97, "{limit}: {outcome:?}");
        }
    }
}
