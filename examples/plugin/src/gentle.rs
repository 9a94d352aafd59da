//! A congestion control: Reno that keeps more of its window at a loss.

use goodqueue_tcp::cc::{AckSample, CongestionControl, CongestionEvent, CustomControl};

/// Slow start and additive increase as Reno's (RFC 5681), and a decrease by an eighth in place of a
/// half.
#[derive(Clone, Debug)]
pub struct Gentle {
    /// Maximum segment size in bytes.
    mss: f64,
    /// Congestion window in bytes.
    window: f64,
    /// Slow-start threshold in bytes.
    ssthresh: u64,
}

/// Share of its window that the control keeps at a loss.
const KEPT: f64 = 0.875;

/// Returns the control for `Scenario::with_control`.
pub fn gentle() -> CustomControl {
    CustomControl::new("gentle", |config| {
        Box::new(Gentle {
            mss: f64::from(config.mss),
            window: f64::from(config.mss),
            ssthresh: u64::MAX,
        })
    })
}

impl Gentle {
    fn reduce(&mut self, event: &CongestionEvent) {
        self.ssthresh = event.decreased(KEPT).max(2.0 * self.mss) as u64;
    }
}

impl CongestionControl for Gentle {
    fn on_ack(&mut self, sample: &AckSample) {
        let acked = sample.acked as f64;
        if self.window < self.ssthresh as f64 {
            // After a timeout one ACK may report many segments, so slow start stops at the threshold.
            self.window = (self.window + acked).min(self.ssthresh as f64);
        } else {
            self.window += self.mss * acked / self.window;
        }
    }

    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        self.reduce(event);
        self.window = self.ssthresh as f64;
    }

    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>) {
        if let Some(event) = event {
            self.reduce(event);
        }
        self.window = self.mss;
    }

    fn window(&self) -> f64 {
        self.window
    }

    fn set_window(&mut self, bytes: f64) {
        self.window = bytes;
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn set_ssthresh(&mut self, bytes: u64) {
        self.ssthresh = bytes;
    }
}
