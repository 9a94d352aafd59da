//! Vegas (Brakmo and Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet",
//! IEEE JSAC 13(8), 1995), in the form of Linux and ns-3: once per round trip it adjusts the window
//! so that between α and β of its segments wait in the queue. ns-2's differs (`ns2_vegas`).

use goodqueue_types::parameters::{Key, number, words};
use goodqueue_types::{Span, Time, parameters, words};

use super::ns2_vegas::{self, Rounds};
use crate::cc::window::serve_by_window;
use crate::cc::{AckSample, CongestionControl, CongestionEvent, Needs, Window};
use crate::config::{SlowStart, TcpConfig};

/// Key for a number of segments in the queue.
const SEGMENTS: Key = number(0.0, 100_000.0);

parameters! {
    /// Parameters of Vegas, as numbers of segments that wait in the queue.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct VegasConfig("vegas") {
        /// Segments in the queue below which the window grows.
        alpha: f64 = 2.0 => SEGMENTS.example("2");
        /// Segments in the queue above which the window shrinks.
        beta: f64 = 4.0 => SEGMENTS.example("4");
        /// Segments in the queue above which slow start ends.
        gamma: f64 = 1.0 => SEGMENTS.example("1");
        /// Rules of the window: Linux's and ns-3's, or ns-2's, whose default parameters are 1, 3 and 1.
        ///
        /// ns-2's slow start grows in every other round trip, by one segment per ACK, and its loss takes
        /// a quarter of the window. A timeout leaves two segments.
        variant: VegasVariant = VegasVariant::Linux => words::<VegasVariant>().example("ns2");
    }
}

words! {
    /// Implementation that Vegas follows.
    pub enum VegasVariant {
        /// Linux and ns-3.
        Linux = "linux",
        /// `Agent/TCP/Vegas` of ns-2.35.
        Ns2 = "ns2",
    }
}

/// State of Vegas.
#[derive(Clone, Debug)]
pub struct Vegas {
    window: Window,
    config: VegasConfig,
    /// Shortest round-trip time of the connection.
    base_rtt: Option<Span>,
    /// Shortest round-trip time of this round. `samples` counts the samples of the round.
    round_rtt: Span,
    samples: u32,
    round_end: Option<u64>,
    /// State of ns-2's variant, which uses none of the fields above but the window.
    ns2: Option<Box<Rounds>>,
}

impl Vegas {
    /// Creates the state for a connection with `config`.
    pub fn new(config: &TcpConfig, vegas: VegasConfig) -> Self {
        let mut window = Window::new(config, SlowStart::Classic);
        let ns2 = (vegas.variant == VegasVariant::Ns2)
            .then(|| Box::new(Rounds::new(config, &mut window)));
        Self {
            window,
            ns2,
            config: vegas,
            base_rtt: None,
            round_rtt: Span::MAX,
            samples: 0,
            round_end: None,
        }
    }

    /// Adjusts the window at the end of a round trip.
    fn adjust(&mut self, sample: &AckSample) {
        // Two samples may both be of delayed ACKs, so they are too few.
        let Some(base) = self.base_rtt.filter(|_| self.samples > 2) else {
            self.window.grow(sample, 1.0);
            return;
        };
        let (base, rtt) = (base.as_secs_f64(), self.round_rtt.as_secs_f64());
        let (cwnd, mss) = (self.window.segments(), self.window.mss());
        let target = cwnd * base / rtt;
        // This is (Expected - Actual) · BaseRTT of section 3.3, with Expected = cwnd / BaseRTT and
        // Actual = cwnd / RTT. Linux multiplies by RTT, which gives more segments than wait, and
        // rounds down.
        let waiting = cwnd - target;
        if self.window.in_slow_start() {
            if waiting > self.config.gamma {
                self.window
                    .set_cwnd(cwnd.min(libm::floor(target) + 1.0).max(2.0) * mss);
                self.limit_ssthresh();
            } else {
                self.window.slow_start(sample);
            }
        } else if waiting > self.config.beta {
            self.window.set_cwnd((cwnd - 1.0).max(2.0) * mss);
            self.limit_ssthresh();
        } else if waiting < self.config.alpha {
            self.window.set_cwnd((cwnd + 1.0) * mss);
        }
    }

    /// Lowers ssthresh, so that slow start does not resume.
    fn limit_ssthresh(&mut self) {
        let below = (self.window.cwnd() - self.window.mss()).max(2.0 * self.window.mss());
        self.window
            .set_ssthresh(self.window.ssthresh().min(below as u64));
    }
}

impl CongestionControl for Vegas {
    fn on_ack(&mut self, sample: &AckSample) {
        if let Some(rounds) = &mut self.ns2 {
            return rounds.on_ack(&mut self.window, &self.config, sample);
        }
        if let Some(rtt) = sample.measured().rtt {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
            self.round_rtt = self.round_rtt.min(rtt);
            self.samples += 1;
        }
        if self.round_end.is_some_and(|end| sample.acked_to < end) {
            if self.window.in_slow_start() {
                self.window.slow_start(sample);
            }
            return;
        }
        // The round-trip times of a window that is not fully used show no queue.
        if self.round_end.is_some() && sample.acked > 0 {
            self.adjust(sample);
        }
        self.round_end = Some(sample.sent_to);
        self.round_rtt = Span::MAX;
        self.samples = 0;
    }

    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        if self.ns2.is_some() {
            return ns2_vegas::decrease(&mut self.window, event);
        }
        self.window.decrease(event.basis, 0.5);
        self.round_end = None;
    }

    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>) {
        if self.ns2.is_some() {
            return ns2_vegas::collapse(&mut self.window, event);
        }
        self.window.collapse(event.map(|event| event.basis * 0.5));
        self.round_end = None;
    }

    serve_by_window!();

    /// Section 3.1 reads the clock for every segment, not once per round trip.
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

    fn queue(vegas: VegasConfig) -> (f64, f64) {
        let mut config = TcpConfig::profile(Profile::Rfc);
        config.congestion_control = CongestionControlConfig::Vegas(vegas);
        let rate = Rate(10_000_000);
        let mut path = Bottleneck::new(&config, rate, Span::from_millis(40), 400);
        path.run(Span::from_secs(20));
        let outcome = path.run(Span::from_secs(20));
        assert!(outcome.loss == 0.0);
        (outcome.utilization, outcome.delay * 10e6 / 8.0 / 1460.0)
    }

    /// One flow keeps between α and β packets waiting, including the one in service.
    #[test]
    fn alpha_to_beta_packets_wait() {
        let (utilization, waiting) = queue(VegasConfig::default());
        assert!(utilization > 0.99, "{utilization}");
        assert!((2.0..=4.5).contains(&waiting), "{waiting}");
        let (_, waiting) = queue(VegasConfig {
            alpha: 10.0,
            beta: 12.0,
            gamma: 5.0,
            ..VegasConfig::default()
        });
        assert!((10.0..=12.5).contains(&waiting), "{waiting}");
    }
}
