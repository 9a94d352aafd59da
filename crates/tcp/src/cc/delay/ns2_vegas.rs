//! Vegas of ns-2.35 (`tcp-vegas.cc`, the algorithm of NetBSD's Vegas). Once per round trip it decides
//! by how much the ACKs of the next one change the window. Numbers are of segments.

use goodqueue_types::{Span, Time};

use super::vegas::VegasConfig;
use crate::cc::{AckSample, CongestionEvent, Window};
use crate::config::TcpConfig;
use crate::sender::stream::FIRST;

/// Smallest window, and the window after a timeout (`v_slowstart_`).
const MIN_WINDOW: f64 = 2.0;

/// State of ns-2's Vegas beside its window.
#[derive(Clone, Debug)]
pub struct Rounds {
    /// Window at the ACK of the first data (`windowInit_`). Before it the window is one segment.
    initial: Option<f64>,
    /// Shortest round-trip time of data in seconds (`v_baseRTT_`). The SYN of ns-2's Vegas has the size of
    /// data, so that of the SYN is no shorter.
    base: f64,
    /// Sum and number of the samples of this round.
    sum: f64,
    samples: u32,
    /// Start of the round: the time, and the sequence number of the first data sent in it.
    begun: Time,
    begins_at: u64,
    /// Growth of the window by each ACK.
    step: f64,
    /// True in the rounds in which slow start grows, which is every other one.
    grows: bool,
}

impl Rounds {
    /// Creates the state of a connection, whose window becomes one segment until data are acknowledged.
    pub fn new(config: &TcpConfig, window: &mut Window) -> Self {
        let mss = window.mss();
        window.set_cwnd(mss);
        Self {
            initial: Some(config.initial_window.bytes(config.mss) as f64 / mss),
            base: f64::MAX,
            sum: 0.0,
            samples: 0,
            begun: Time::ZERO,
            begins_at: FIRST,
            step: 0.0,
            // The round of the SYN had no growth.
            grows: false,
        }
    }

    pub fn on_ack(&mut self, window: &mut Window, config: &VegasConfig, sample: &AckSample) {
        if sample.acked == 0 {
            return;
        }
        let mss = window.mss();
        let rtt = sample.measured().rtt;
        if let Some(segments) = self.initial.take() {
            window.set_cwnd(segments * mss);
            self.take(rtt);
        }
        let waiting = (sample.sent_to - sample.acked_to) as f64 / mss + 1.0;
        if sample.acked_to > self.begins_at {
            self.decide(window, config, sample, waiting);
        }
        let cwnd = window.segments();
        if self.step >= 1.0 && !window.in_slow_start() {
            self.step = 0.0;
        }
        if self.step > 0.0 && cwnd - waiting <= 2.0 {
            window.set_cwnd((cwnd + self.step) * mss);
        }
        self.take(rtt);
    }

    fn take(&mut self, rtt: Option<Span>) {
        if let Some(rtt) = rtt.map(Span::as_secs_f64) {
            self.sum += rtt;
            self.samples += 1;
            self.base = self.base.min(rtt);
        }
    }

    /// Ends a round, and decides on the growth in the next one.
    fn decide(
        &mut self,
        window: &mut Window,
        config: &VegasConfig,
        sample: &AckSample,
        waiting: f64,
    ) {
        let mss = window.mss();
        let rtt = if self.samples > 0 {
            self.sum / f64::from(self.samples)
        } else {
            (sample.now - self.begun).as_secs_f64()
        };
        (self.sum, self.samples) = (0.0, 0);
        let sent = (sample.sent_to - self.begins_at) as f64 / mss;
        (self.begun, self.begins_at) = (sample.now, sample.sent_to);
        if rtt <= 0.0 {
            return;
        }
        if rtt < self.base || sent <= 1.0 {
            self.base = rtt;
        }
        // (expected − actual) · base, rounded: the segments that wait in the queue.
        let excess = libm::trunc(waiting - sent / rtt * self.base + 0.5);
        let cwnd = window.segments();
        self.step = 0.0;
        if window.in_slow_start() {
            self.grows = !self.grows;
            if self.grows && excess > config.gamma {
                window.set_ssthresh((MIN_WINDOW * mss) as u64);
                window.set_cwnd((cwnd - cwnd / 8.0).max(MIN_WINDOW) * mss);
            } else if self.grows {
                self.step = 1.0;
            }
        } else if excess > config.beta {
            window.set_cwnd((cwnd - 1.0).max(MIN_WINDOW) * mss);
        } else if excess < config.alpha {
            self.step = 1.0 / cwnd;
        }
    }
}

/// Takes a quarter of the window after duplicate ACKs, in whole segments. Slow start ends.
pub fn decrease(window: &mut Window, event: &CongestionEvent) {
    let mss = window.mss();
    let whole = libm::floor(event.basis / mss);
    let left = if whole <= 3.0 {
        MIN_WINDOW
    } else {
        whole - libm::floor(whole / 4.0)
    };
    window.set_cwnd(left * mss);
    window.set_ssthresh((MIN_WINDOW * mss) as u64);
}

/// Begins slow start at two segments after a timeout.
pub fn collapse(window: &mut Window, event: Option<&CongestionEvent>) {
    window.collapse(event.map(|event| event.basis * 0.5));
    window.set_cwnd(MIN_WINDOW * window.mss());
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "whole windows are exact numbers")]
mod tests {
    use super::*;
    use crate::Profile;
    use crate::cc::{CongestionControl, SegmentSample, Vegas, VegasVariant};
    use crate::config::CongestionControlConfig;

    /// A sender of segments of 1000 bytes whose ACKs have a given round-trip time.
    struct Flow {
        control: Vegas,
        now: Time,
        acked: u64,
        sent: u64,
    }

    impl Flow {
        fn open() -> Self {
            let vegas = VegasConfig {
                alpha: 1.0,
                beta: 3.0,
                gamma: 1.0,
                variant: VegasVariant::Ns2,
            };
            let mut config = TcpConfig::profile(Profile::Ns2);
            config.congestion_control = CongestionControlConfig::Vegas(vegas);
            Self {
                control: Vegas::new(&config, vegas),
                now: Time::ZERO,
                acked: 0,
                sent: 0,
            }
        }

        /// Acknowledges a segment after the window has been filled. Returns the window.
        fn ack(&mut self, rtt_ms: u64) -> f64 {
            let window = (self.control.window() / 1000.0) as u64;
            self.sent = self.sent.max(self.acked + window);
            self.acked += 1;
            self.now += Span::from_millis(10);
            self.control.on_ack(&AckSample {
                now: self.now,
                acked: 1000,
                acked_to: FIRST + 1000 * self.acked,
                sent_to: FIRST + 1000 * self.sent,
                segments: Some(SegmentSample {
                    rtt: Some(Span::from_millis(rtt_ms)),
                    ..SegmentSample::default()
                }),
                ..AckSample::default()
            });
            self.control.window() / 1000.0
        }
    }

    /// Windows by the rules of `tcp-vegas.cc`, calculated by hand.
    #[test]
    fn slow_start_grows_in_every_other_round_and_ends_with_an_eighth_less() {
        let mut flow = Flow::open();
        assert!((flow.control.window() - 1000.0).abs() < 1e-9);
        // The first data make the window 2, and begin a round that grows.
        assert_eq!([flow.ack(100)], [3.0]);
        // Three segments of a round without growth, then three with it.
        assert_eq!([(); 3].map(|()| flow.ack(100)), [3.0; 3]);
        assert_eq!([(); 3].map(|()| flow.ack(100)), [4.0, 5.0, 6.0]);
        // Six segments without growth. Their mean is 150 ms, of which base is 100 ms, so the round after
        // them finds 6 - 6 * 2 / 3 = 2 segments that wait, more than gamma, when the next decision is due.
        assert_eq!([(); 6].map(|()| flow.ack(150)), [6.0; 6]);
        assert!((flow.ack(150) - 5.25).abs() < 1e-9);
        assert_eq!(flow.control.ssthresh(), 2000);
    }

    #[test]
    fn a_loss_takes_a_quarter_and_a_timeout_leaves_two_segments() {
        let mut flow = Flow::open();
        for (basis, left) in [
            (10_700.0, 8.0),
            (8_000.0, 6.0),
            (4_000.0, 3.0),
            (3_900.0, 2.0),
        ] {
            let event = CongestionEvent {
                basis,
                ..CongestionEvent::default()
            };
            flow.control.on_congestion_event(&event);
            assert!((flow.control.window() / 1000.0 - left).abs() < 1e-9);
            assert_eq!(flow.control.ssthresh(), 2000);
            flow.control.on_retransmission_timeout(Some(&event));
            assert!((flow.control.window() / 1000.0 - 2.0).abs() < 1e-9);
        }
        // Half of 3.9 segments is less than two, the least threshold.
        assert_eq!(flow.control.ssthresh(), 2000);
    }
}
