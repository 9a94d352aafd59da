//! Illinois (Liu, Başar and Srikant, "TCP-Illinois: a loss- and delay-based congestion control
//! algorithm for high-speed networks", Performance Evaluation 65, 2008), in the form of Linux: the
//! queueing delay decides how fast the window grows and how much of it a loss takes. The kernel
//! counts growth in 128ths and losses in 64ths of a segment; here both are real numbers.

use goodqueue_types::parameters::{integer, number};
use goodqueue_types::{Span, Time, parameters};

use crate::cc::window::serve_by_window;
use crate::cc::{AckSample, CongestionControl, CongestionEvent, Needs, SHARE, Window};
use crate::config::{SlowStart, TcpConfig};

parameters! {
    /// Parameters of Illinois.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct IllinoisConfig("illinois") {
        /// Segments added per round trip when the queue is longest.
        alpha_min: f64 = 0.3 => number(0.001, 1.0).example("0.3");
        /// Segments added per round trip without a queue.
        alpha_max: f64 = 10.0 => number(1.0, 1_000.0).example("10");
        /// Share of the window given up at a loss without a queue.
        beta_min: f64 = 0.125 => SHARE.example("0.125");
        /// Share of the window given up at a loss when the queue is longest.
        beta_max: f64 = 0.5 => SHARE.example("0.5");
        /// Window in segments below which the window moves as Reno's.
        window_threshold: u32 = 15 => integer(0, 1_000_000).example("15");
        /// Round trips without a queue before growth returns to `alpha_max`.
        theta: u32 = 5 => integer(1, 1_000).example("5");
    }
}

/// Longest round-trip time that counts (Linux: `RTT_MAX`).
const LONGEST_RTT: Span = Span(u32::MAX as u64 / 1_280 * 1_000_000);

/// State of Illinois.
#[derive(Clone, Debug)]
pub struct Illinois {
    window: Window,
    config: IllinoisConfig,
    /// Segments added per round trip, and share of the window that a loss takes.
    alpha: f64,
    beta: f64,
    base_rtt: Option<Span>,
    longest_rtt: Span,
    /// Sum and number of the round-trip times of this round.
    sum: Span,
    samples: u32,
    /// Sequence number beyond which an ACK ends the round.
    round_end: u64,
    /// Highest sequence number sent, as of the last ACK.
    sent_to: u64,
    /// True if the delay has exceeded the lowest hundredth since growth was last largest.
    was_above: bool,
    /// Number of round trips since then with less delay.
    low_rounds: u32,
}

impl Illinois {
    /// Creates the state for a connection with `config`.
    pub fn new(config: &TcpConfig, illinois: IllinoisConfig) -> Self {
        Self {
            window: Window::new(config, SlowStart::Classic),
            config: illinois,
            alpha: illinois.alpha_max,
            beta: illinois.beta_max,
            base_rtt: None,
            longest_rtt: Span::ZERO,
            sum: Span::ZERO,
            samples: 0,
            round_end: 0,
            sent_to: 0,
            was_above: false,
            low_rounds: 0,
        }
    }

    fn measure(&mut self, sample: &AckSample) {
        self.sent_to = sample.sent_to;
        let Some(rtt) = sample.measured().rtt else {
            return;
        };
        let rtt = rtt.min(LONGEST_RTT);
        self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
        self.longest_rtt = self.longest_rtt.max(rtt);
        self.sum += rtt;
        self.samples += 1;
    }

    /// Begins a new round if the ACK ends the present one.
    fn end_round(&mut self, sample: &AckSample) {
        if sample.acked_to > self.round_end {
            self.adjust();
            self.round_end = sample.sent_to;
        }
    }

    /// Adjusts growth and decrease to the round that ends.
    fn adjust(&mut self) {
        if self.window.segments() < f64::from(self.config.window_threshold) {
            (self.alpha, self.beta) = (1.0, 0.5);
        } else if let (Some(base), 1..) = (self.base_rtt, self.samples) {
            // Whole picoseconds, so that equal round-trip times have no delay.
            let mean = self.sum / u64::from(self.samples);
            let delay = mean.saturating_sub(base).as_secs_f64();
            let longest = self.longest_rtt.saturating_sub(base).as_secs_f64();
            self.alpha = self.growth(delay, longest);
            self.beta = self.decrease(delay, longest);
        }
        (self.sum, self.samples) = (Span::ZERO, 0);
    }

    /// Returns the segments added per round trip at a mean delay in seconds, if `longest` is the
    /// longest delay so far: f1 of the paper, with the lowest hundredth as the threshold.
    fn growth(&mut self, delay: f64, longest: f64) -> f64 {
        let IllinoisConfig {
            alpha_min: least,
            alpha_max: most,
            theta,
            ..
        } = self.config;
        let low = longest / 100.0;
        if delay > low {
            self.was_above = true;
            let share = (delay - low) / (longest - low);
            return most / (1.0 + share * (most - least) / least);
        }
        if self.was_above {
            self.low_rounds += 1;
            if self.low_rounds < theta {
                return self.alpha;
            }
            (self.was_above, self.low_rounds) = (false, 0);
        }
        most
    }

    /// Returns the share of the window that a loss takes: f2 of the paper, least up to a tenth of
    /// the longest delay and largest from eight tenths on.
    fn decrease(&self, delay: f64, longest: f64) -> f64 {
        let (least, most) = (self.config.beta_min, self.config.beta_max);
        let (low, high) = (longest / 10.0, longest * 0.8);
        if delay <= low {
            least
        } else if delay >= high {
            most
        } else {
            least + (most - least) * (delay - low) / (high - low)
        }
    }
}

impl CongestionControl for Illinois {
    fn on_ack(&mut self, sample: &AckSample) {
        self.measure(sample);
        self.end_round(sample);
        let rest = self.window.slow_start(sample) as f64;
        let step = self.alpha * rest / self.window.segments();
        self.window.set_cwnd(self.window.cwnd() + step);
    }

    /// Rounds also end while the window is not used. Recovery alone stops them, as in Linux.
    fn observe(&mut self, sample: &AckSample) {
        self.measure(sample);
        if !sample.in_recovery {
            self.end_round(sample);
        }
    }

    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        self.window.decrease(event.basis, 1.0 - self.beta);
    }

    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>) {
        self.window
            .collapse(event.map(|event| event.basis * (1.0 - self.beta)));
        (self.alpha, self.beta) = (1.0, 0.5);
        (self.was_above, self.low_rounds) = (false, 0);
        // A new round begins (Linux: `rtt_reset`).
        (self.sum, self.samples) = (Span::ZERO, 0);
        self.round_end = self.sent_to;
    }

    serve_by_window!();

    fn needs(&self) -> Needs {
        Needs::Segments
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
    use super::*;
    use crate::Profile;
    use crate::cc::SegmentSample;

    fn illinois(segments: u32) -> Illinois {
        let config = TcpConfig::profile(Profile::Rfc);
        let mut control = Illinois::new(&config, IllinoisConfig::default());
        control.set_window(f64::from(segments) * f64::from(config.mss));
        control.set_ssthresh(0);
        control
    }

    /// An ACK that changes no window: up to `acked_to` of `sent_to` bytes, with this round-trip time.
    fn observed(acked_to: u64, sent_to: u64, rtt_ms: u64) -> AckSample {
        AckSample {
            acked_to,
            sent_to,
            segments: Some(SegmentSample {
                rtt: Some(Span::from_millis(rtt_ms)),
                ..SegmentSample::default()
            }),
            ..AckSample::default()
        }
    }

    /// Acknowledges a window of segments with this round-trip time.
    fn round(control: &mut Illinois, rtt_ms: u64) {
        let mss = control.window.mss() as u64;
        let (start, count) = (control.round_end, control.window.segments() as u64);
        for segment in 1..=count {
            control.on_ack(&AckSample {
                acked: mss,
                ..observed(
                    start + segment * mss,
                    start + (segment + count) * mss,
                    rtt_ms,
                )
            });
        }
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }

    /// Growth is `alpha_max` in the lowest hundredth of the delays and `alpha_min` at the longest.
    #[test]
    fn growth_is_convex_in_the_delay() {
        let mut control = illinois(100);
        close(control.growth(0.0, 0.1), 10.0);
        close(control.growth(0.001, 0.1), 10.0);
        close(control.growth(0.1, 0.1), 0.3);
        // Halfway from 0.001 to 0.1: 10 / (1 + 9.7 / 0.3 / 2).
        close(control.growth(0.0505, 0.1), 10.0 / (1.0 + 9.7 / 0.6));
    }

    #[test]
    fn the_decrease_is_linear_from_a_tenth_to_eight_tenths_of_the_longest_delay() {
        let control = illinois(100);
        for (delay, share) in [
            (0.0, 0.125),
            (0.01, 0.125),
            (0.045, 0.3125),
            (0.08, 0.5),
            (0.1, 0.5),
        ] {
            close(control.decrease(delay, 0.1), share);
        }
    }

    #[test]
    fn after_a_queue_growth_is_largest_only_when_five_rounds_had_none() {
        let mut control = illinois(100);
        control.alpha = control.growth(0.1, 0.1);
        for _ in 0..4 {
            control.alpha = control.growth(0.0, 0.1);
            close(control.alpha, 0.3);
        }
        close(control.growth(0.0, 0.1), 10.0);
    }

    #[test]
    fn a_window_without_a_queue_grows_by_ten_segments_per_round_and_loses_an_eighth() {
        let mut control = illinois(100);
        round(&mut control, 40);
        let before = control.window.segments();
        round(&mut control, 40);
        let grown = control.window.segments() - before;
        // The window grows within the round, so that the last ACKs add a little less.
        assert!((9.0..=10.0).contains(&grown), "{grown}");
        let basis = control.window();
        control.on_congestion_event(&CongestionEvent {
            basis,
            ..CongestionEvent::default()
        });
        assert!((control.window() / basis - 0.875).abs() < 1e-3);
    }

    /// Linux's `update_params` comes before the check whether the window limits sending.
    #[test]
    fn a_round_ends_while_the_window_is_not_used_but_not_in_recovery() {
        let mut control = illinois(100);
        control.on_ack(&observed(1, 1_000, 40));
        close(control.alpha, 10.0);
        let end = observed(1_001, 2_000, 80);
        control.observe(&AckSample {
            in_recovery: true,
            ..end
        });
        assert_eq!((control.round_end, control.samples), (1_000, 1));
        control.observe(&end);
        assert_eq!((control.round_end, control.samples), (2_000, 0));
        close(control.alpha, 0.3);
        close(control.beta, 0.5);
    }

    #[test]
    fn a_small_window_moves_as_renos() {
        let mut control = illinois(10);
        round(&mut control, 40);
        round(&mut control, 40);
        close(control.alpha, 1.0);
        close(control.beta, 0.5);
    }

    #[test]
    fn a_timeout_uses_the_current_beta_and_resets_alpha_and_beta_to_those_of_reno() {
        let mut control = illinois(100);
        round(&mut control, 40);
        round(&mut control, 40);
        let basis = control.window();
        control.on_retransmission_timeout(Some(&CongestionEvent {
            basis,
            ..CongestionEvent::default()
        }));
        assert!((control.ssthresh() as f64 / basis - 0.875).abs() < 1e-3);
        close(control.alpha, 1.0);
        close(control.beta, 0.5);
    }

    /// Linux's `rtt_reset` begins a round at `snd_nxt`, so that Reno's values last until all data
    /// sent before the timeout are acknowledged.
    #[test]
    fn a_timeout_begins_a_round_that_ends_with_all_that_was_sent() {
        let mut control = illinois(100);
        control.on_ack(&observed(1, 1_000, 40));
        control.on_ack(&observed(500, 3_000, 40));
        control.on_retransmission_timeout(None);
        control.set_window(100.0 * control.window.mss());
        control.on_ack(&observed(3_000, 4_000, 40));
        close(control.alpha, 1.0);
        control.on_ack(&observed(3_001, 4_000, 40));
        close(control.alpha, 10.0);
    }
}
