//! DCTCP (RFC 8257): the window falls in proportion to the share of marked bytes.

use goodqueue_types::parameters::fraction;
use goodqueue_types::{Time, parameters};

use crate::cc::window::serve_by_window;
use crate::cc::{
    AckSample, CongestionControl, CongestionEvent, CongestionSignal, MarkSample, SHARE, Window,
};
use crate::config::{SlowStart, TcpConfig, WindowArithmetic};

/// Units of Linux's α per 1 (`DCTCP_MAX_ALPHA`).
const UNITS: f64 = 1024.0;

parameters! {
    /// Parameters of DCTCP.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct DctcpConfig("dctcp") {
        /// Weight of the newest window in the share of marks.
        g: f64 = 0.0625 => SHARE.example("0.0625");
        /// Share of marks that is assumed at the start.
        initial_alpha: f64 = 1.0 => fraction().example("0");
    }
}

/// State of DCTCP.
#[derive(Clone, Debug)]
pub struct Dctcp {
    window: Window,
    /// True if windows are whole segments and α has ten bits, as in Linux.
    whole: bool,
    g: f64,
    /// Smoothed share of bytes marked.
    alpha: f64,
    acked: u64,
    marked: u64,
    window_end: Option<u64>,
}

impl Dctcp {
    /// Creates the state for a connection with `config`.
    pub fn new(config: &TcpConfig, dctcp: DctcpConfig) -> Self {
        Self {
            window: Window::new(config, SlowStart::Classic),
            whole: config.details.whole_segment_ssthresh
                && config.details.window_arithmetic == WindowArithmetic::WholeBytes,
            g: dctcp.g,
            alpha: dctcp.initial_alpha,
            acked: 0,
            marked: 0,
            window_end: None,
        }
    }

    /// Returns α after a window of data with this share of marks, as Linux 6.18 computes it
    /// (`dctcp_update_alpha`). A decrease of less than one unit sets α to zero.
    fn alpha_in_ten_bits(&self, share: f64) -> f64 {
        let units = self.alpha * UNITS;
        let less = (units * self.g).floor();
        let kept = if less == 0.0 { 0.0 } else { units - less };
        let more = (share * UNITS * self.g).floor();
        (kept + more).min(UNITS) / UNITS
    }

    /// Returns the window after an echo (RFC 8257 section 3.3, step 9): cwnd falls, whatever is in
    /// flight.
    fn after_echo(&self) -> f64 {
        let cwnd = self.window.cwnd();
        if self.whole {
            // In `dctcp_ssthresh` the reduction is a number of whole segments, and zero if it is
            // less than one.
            let mss = self.window.mss();
            let segments = (cwnd / mss).floor();
            return (segments - (segments * self.alpha / 2.0).floor()) * mss;
        }
        // Reductions come in each round trip and may be less than a segment. The bytes acknowledged
        // towards the next segment therefore count as in equation 3 of RFC 5681. Otherwise the
        // window could not grow.
        libm::round((cwnd + self.window.earned()) * (1.0 - self.alpha / 2.0))
    }
}

impl CongestionControl for Dctcp {
    fn on_ack(&mut self, sample: &AckSample) {
        self.window.grow(sample, 1.0);
    }

    /// Updates α (RFC 8257 section 3.3, steps 1 to 8).
    fn on_marks(&mut self, sample: &MarkSample) {
        self.acked += sample.acked;
        self.marked += sample.marked;
        // A window of data ends with its last byte in Linux, and with the first byte beyond it in
        // the RFC.
        let reached = sample.acked_to + u64::from(self.whole);
        if self.window_end.is_some_and(|end| reached <= end) || self.acked == 0 {
            return;
        }
        if self.window_end.is_some() {
            let share = (self.marked as f64 / self.acked as f64).min(1.0);
            self.alpha = if self.whole {
                self.alpha_in_ten_bits(share)
            } else {
                (1.0 - self.g) * self.alpha + self.g * share
            };
        }
        self.window_end = Some(sample.sent_to);
        (self.acked, self.marked) = (0, 0);
    }

    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        match event.signal {
            CongestionSignal::EcnEcho => self.window.decrease_to(self.after_echo()),
            // RFC 8257 section 3.5 leaves the reaction to losses unchanged.
            CongestionSignal::Loss => self.window.decrease(event.basis, 0.5),
        }
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
            control.on_marks(&MarkSample {
                acked: 1000,
                // One packet of four is marked.
                marked: if n % 4 == 0 { 1000 } else { 0 },
                acked_to: n * 1000,
                // A window of data has eight packets.
                sent_to: n * 1000 + 7000,
            });
        }
        // Four windows of data end: ACKs 2 to 9, 10 to 17, 18 to 25 and 26 to 33.
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

    /// Returns a control with a window of `segments` segments and `bytes` bytes.
    fn with_window(profile: Profile, segments: u64, bytes: u64, alpha: f64) -> Dctcp {
        let mut config = TcpConfig::profile(profile);
        config.mss = 1000;
        let mut control = Dctcp::new(
            &config,
            DctcpConfig {
                initial_alpha: alpha,
                ..DctcpConfig::default()
            },
        );
        control.set_window((segments * 1000 + bytes) as f64);
        control
    }

    /// Returns the event of an echo that finds `in_flight` bytes outstanding, as in each profile.
    fn echo(in_flight: u64) -> CongestionEvent {
        CongestionEvent {
            basis: in_flight as f64,
            signal: CongestionSignal::EcnEcho,
            ..CongestionEvent::default()
        }
    }

    /// Linux 6.18 `dctcp_ssthresh` subtracts the product of window and α, shifted right by eleven
    /// bits, from the window, and keeps at least two segments. A reduction of less than one segment
    /// is zero.
    #[test]
    fn linux_cuts_the_reduction_not_the_window() {
        for (window, ten_bits, expected) in [
            (66_u64, 31_u32, 66_u64), // 2046 / 2048
            (66, 32, 65),             // 2112 / 2048
            (66, 63, 64),             // 4158 / 2048
            (66, 512, 50),            // 16.5
            (5, 300, 5),
            (5, 1024, 3),
            (3, 1024, 2),
            (2, 1024, 2),
            (1000, 1, 1000),
            (1000, 1024, 500),
        ] {
            let mut control = with_window(Profile::Linux, window, 0, f64::from(ten_bits) / 1024.0);
            control.on_congestion_event(&echo(window * 1000));
            let row = (window, ten_bits);
            assert_eq!(control.cwnd(), expected * 1000, "{row:?}");
            assert_eq!(control.ssthresh(), expected * 1000, "{row:?}");
        }
    }

    /// Linux 6.18 `dctcp_update_alpha` with a `dctcp_shift_g` of 4 subtracts α / 16 from α, or all
    /// of α if that is less than 1/1024, and adds 64 times the marked packets over those delivered,
    /// rounded down.
    #[test]
    fn linux_keeps_alpha_in_ten_bits() {
        for (before, marked, delivered, expected) in [
            (1024_u32, 0_u64, 10_u64, 960_u32),
            (960, 0, 10, 900),
            (900, 0, 10, 844), // 56.25
            (17, 0, 10, 16),
            (15, 0, 10, 0),
            (15, 1, 10, 6), // 6.4
            (0, 1, 65, 0),  // 64 / 65
            (0, 2, 65, 1),
            (0, 65, 65, 64),
            (1024, 7, 7, 1024),
        ] {
            let mut control = with_window(Profile::Linux, 10, 0, f64::from(before) / 1024.0);
            control.on_marks(&MarkSample {
                acked: 1000,
                acked_to: 1,
                sent_to: 1000,
                ..MarkSample::default()
            });
            // The window of data ends when all outstanding bytes are acknowledged.
            control.on_marks(&MarkSample {
                acked: delivered * 1000,
                marked: marked * 1000,
                acked_to: 1000,
                sent_to: 2000,
            });
            let row = (before, marked, delivered);
            let units = control.alpha * 1024.0;
            assert!(
                (units - f64::from(expected)).abs() < 1e-9,
                "{row:?}: {units}"
            );
        }
    }

    /// RFC 8257 section 3.3, step 9, lowers cwnd. The bytes in flight exclude the part of cwnd
    /// beyond whole segments, and the bytes that the ACK has just acknowledged.
    #[test]
    fn an_echo_lowers_the_window_not_the_flight() {
        let mut control = with_window(Profile::Rfc, 4, 900, 0.125);
        control.on_congestion_event(&echo(4000));
        assert_eq!(control.cwnd(), 4900 - 306); // 4900 / 16 = 306.25
        // A loss lowers the window by the bytes in flight (RFC 5681 equation 4; RFC 8257 section
        // 3.5).
        let mut control = with_window(Profile::Rfc, 8, 900, 0.125);
        control.on_congestion_event(&CongestionEvent {
            signal: CongestionSignal::Loss,
            ..echo(8000)
        });
        assert_eq!(control.cwnd(), 4000);
    }

    /// Alizadeh and others, "Data center TCP", SIGCOMM 2010: the queue stays near the marking
    /// threshold K, and the link is busy, if K exceeds a seventh of the bandwidth-delay product.
    #[test]
    fn the_queue_stays_at_the_marking_threshold() {
        let mut path = Bottleneck::new(&config(), Rate(1_000_000_000), Span::from_micros(400), 400);
        path.mark_above = Some(20);
        path.run(Span::from_secs(1));
        let outcome = path.run(Span::from_secs(1));
        let waiting = outcome.delay * 1e9 / 8.0 / 1000.0;
        assert!(outcome.utilization > 0.99, "{outcome:?}");
        assert!((10.0..25.0).contains(&waiting), "{waiting}");
        assert!(outcome.loss == 0.0);
    }
}
